// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: functions with one instruction each, one for every kind of instruction whose cost under a
 * probe may differ. There are three copies of each, one per kind of record. x86_samples has a row
 * for each copy (name, function, instruction) and ends with an empty row.
 */
#include "x86.h"

#ifdef __x86_64__
#define SITE(name, before, insn, after)                                                            \
	".rept 3\n"                                                                                \
	".text\n"                                                                                  \
	"1: " before "\n"                                                                          \
	"2: " insn "\n"                                                                            \
	"3: " after "\n"                                                                           \
	".section .rodata\n"                                                                       \
	"4: .string \"" name "\"\n"                                                                \
	".section .data.rel.ro, \"aw\"\n"                                                          \
	".quad 4b, 1b, 2b\n"                                                                       \
	".endr\n"

__asm__(".section .data.rel.ro, \"aw\"\n"
	".balign 8\n"
	".globl x86_samples\n"
	".hidden x86_samples\n"
	"x86_samples:\n"
	/* the first one's instruction is at its entry, where a return probe can be attached */
	SITE("nop", "", "nop", "ret") SITE("jcc", "test %eax, %eax", "jne 3f",
					   "ret") SITE("jmp", "", "jmp 3f", "ret")
		SITE("call", "", "call 3f", "ret") SITE("push", "", "push %rax", "pop %rax\nret")
			SITE("ret", "", "ret", "") SITE("mov", "", "mov %rax, %rax", "ret")
				SITE("loop", "mov $1, %ecx", "loop 3f", "ret")
					SITE("ijmp", "lea 3f(%rip), %rax", "jmp *%rax", "ret")
						SITE("icall", "lea 3f(%rip), %rax", "call *%rax",
						     "ret") ".section .data.rel.ro, \"aw\"\n"
							    ".quad 0, 0, 0\n"
							    ".text\n");
#endif
