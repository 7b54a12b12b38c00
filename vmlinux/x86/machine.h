/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* x86: arch/x86/include/asm/ptrace.h. Included once, by vmlinux.h. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};
