/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * arm64: arch/arm64/include/asm/ptrace.h. In the kernel the first members are also those of a
 * struct user_pt_regs, which is what contexts of programs are. Included once, by vmlinux.h.
 */
struct user_pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
struct pt_regs {
	__u64 regs[31], sp, pc, pstate;
	__u64 orig_x0;
	__s32 syscallno;
};
