// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code that no known control flow reaches: behind a jump to an address in a variable; behind a trap
 * that is handled; behind a call of a function that traps and is made to return.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>
#include "prog.h"

int leaf(int n), computed(int n), trapped(int n), made_to_return(int n), shared(int n);
void traps_only(void);
extern char computed_there[], shared_there[];
void *volatile computed_to = computed_there, *volatile shared_to = shared_there;

ASM_FUNCTION(leaf, "test $1, %edi\n"
		   "jz 1f\n"
		   "lea 3(%rdi), %eax\n"
		   "ret\n"
		   "1: lea 1(%rdi), %eax\n"
		   "ret\n");

/* all of it is out of sight, its ret as well */
ASM_FUNCTION(computed, "push %rbx\n"
		       "mov %edi, %ebx\n"
		       "mov computed_to(%rip), %rax\n"
		       "jmp *%rax\n"
		       "computed_there:\n"
		       "test $2, %ebx\n"
		       "jz 1f\n"
		       "add $7, %ebx\n"
		       "1: mov %ebx, %edi\n"
		       "call leaf\n"
		       "test $4, %eax\n"
		       "jz 2f\n"
		       "inc %eax\n"
		       "2: mov %eax, %edi\n"
		       "call leaf\n"
		       "cmp $9, %eax\n"
		       "jb 3f\n"
		       "dec %eax\n"
		       "3: pop %rbx\n"
		       "ret\n");

/* control comes back to where it is seen */
ASM_FUNCTION(shared, "push %rbx\n"
		     "mov %edi, %ebx\n"
		     "test $1, %edi\n"
		     "jz 1f\n"
		     "mov shared_to(%rip), %rax\n"
		     "jmp *%rax\n"
		     "1: lea 5(%rbx), %edi\n"
		     "call leaf\n"
		     "cmp $6, %eax\n"
		     "ja 2f\n"
		     "inc %eax\n"
		     "2: pop %rbx\n"
		     "ret\n"
		     "shared_there:\n"
		     "call leaf\n"
		     "cmp $8, %eax\n"
		     "jb 1b\n"
		     "jmp 2b\n");

ASM_FUNCTION(trapped, "lea 1(%rdi), %eax\n"
		      "ud2\n"
		      "test $1, %edi\n"
		      "jz 1f\n"
		      "add $2, %eax\n"
		      "1: ret\n");

ASM_FUNCTION(traps_only, "ud2\n"
			 "hlt\n");

ASM_FUNCTION(made_to_return, "push %rbx\n"
			     "mov %edi, %ebx\n"
			     "call traps_only\n"
			     "lea 2(%rbx), %eax\n"
			     "test $2, %ebx\n"
			     "jz 1f\n"
			     "mov %ebx, %edi\n"
			     "call leaf\n"
			     "1: pop %rbx\n"
			     "ret\n");

/* On behind the trap, or where traps_only() would return to. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)signal;
	(void)info;
	if (regs[REG_RIP] == (greg_t)(void *)traps_only) {
		regs[REG_RIP] = *(greg_t *)regs[REG_RSP];
		regs[REG_RSP] += 8;
	} else {
		regs[REG_RIP] += 2;
	}
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	int sum = 0;

	sigaction(SIGILL, &action, NULL);
	for (int i = 0; i < 8; i++)
		sum = sum * 2 + computed(i) + shared(i) + trapped(i) + made_to_return(i);
	printf("%d\n", sum);
	return 0;
}
