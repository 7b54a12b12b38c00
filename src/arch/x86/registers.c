// SPDX-License-Identifier: BSD-2-Clause
/* x86-64: the registers by number: their names, and where they are in a block of registers. */
#include "x86.h"

const char *const x86_reg_names[X86_FLAGS + 1] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
	"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip", "flags",
};

#if defined(__x86_64__)
#include <stddef.h>
#include <sys/user.h>

unsigned long long *x86__general(struct user_regs_struct *r, uint8_t reg)
{
	static const uint16_t at[] = {
#define AT(name) offsetof(struct user_regs_struct, name)
		AT(rax), AT(rcx), AT(rdx), AT(rbx), AT(rsp), AT(rbp), AT(rsi), AT(rdi), AT(r8),
		AT(r9),	 AT(r10), AT(r11), AT(r12), AT(r13), AT(r14), AT(r15), AT(rip), AT(eflags)};

	return (unsigned long long *)(void *)((char *)r + at[reg]);
}
#endif
