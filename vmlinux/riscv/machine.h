/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * RISC-V: arch/riscv/include/asm/ptrace.h. The first members are also those of a struct
 * user_regs_struct, which is what contexts of programs are. Included once, by vmlinux.h.
 */
struct pt_regs {
	unsigned long epc, ra, sp, gp, tp, t0, t1, t2, s0, s1, a0, a1, a2, a3, a4, a5, a6, a7;
	unsigned long s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, t3, t4, t5, t6;
	unsigned long status, badaddr, cause, orig_a0;
};
