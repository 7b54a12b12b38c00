// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions that lower the stack pointer, load and store before their first instruction that a
 * kernel emulates, and fault there. The handler mends the page, or leaves by siglongjmp, by turns.
 * With an argument, the function of that name faults without a handler.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include "prog.h"

typedef long function(long *where);
function behind, first, branches, calls, indirect, returns;
long leaf(long n);

ASM_FUNCTION(leaf, "lea 1(%rdi), %rax\nret\n");
/* the entry is told at the push, */
ASM_FUNCTION(behind, "sub $40, %rsp\n"
		     "mov (%rdi), %rax\n"
		     "mov %rax, 8(%rsp)\n"
		     "push %rbx\n"
		     "mov 16(%rsp), %rbx\n"
		     "lea 1(%rbx), %rax\n"
		     "pop %rbx\n"
		     "add $40, %rsp\n"
		     "ret\n");
ASM_FUNCTION(first, "mov (%rdi), %rax\n"
		    "push %rbx\n"
		    "pop %rbx\n"
		    "ret\n");
/* the conditional, */
ASM_FUNCTION(branches, "lea -24(%rsp), %rsp\n"
		       "mov %rdi, 16(%rsp)\n"
		       "mov (%rdi), %rax\n"
		       "add 16(%rsp), %rax\n"
		       "test $1, %al\n"
		       "je 1f\n"
		       "inc %rax\n"
		       "1: sub 16(%rsp), %rax\n"
		       "add $24, %rsp\n"
		       "ret\n");
/* and the call, if rdi isn't shown */
ASM_FUNCTION(calls, "sub $504, %rsp\n"
		    "mov (%rdi), %rdi\n"
		    "mov %rdi, 496(%rsp)\n"
		    "call leaf\n"
		    "add $504, %rsp\n"
		    "ret\n");

static long (*const leaves[])(long) = {leaf};
long (*const *where_leaves)(long) = leaves;

/* or a branch that the kernel steps as well */
ASM_FUNCTION(indirect, "sub $24, %rsp\n"
		       "mov %rdi, 8(%rsp)\n"
		       "mov (%rdi), %rsi\n"
		       "mov where_leaves(%rip), %rax\n"
		       "call *(%rax)\n"
		       "sub 8(%rsp), %rax\n"
		       "add $24, %rsp\n"
		       "ret\n");
ASM_FUNCTION(returns, "mov (%rdi), %rax\n"
		      "add $5, %rax\n"
		      "ret\n");

static const struct {
	const char *name;
	function *f;
} functions[] = {{"behind", behind}, {"first", first},	     {"branches", branches},
		 {"calls", calls},   {"indirect", indirect}, {"returns", returns}};

static sigjmp_buf back;
static int faults;
static long *page;

static void protect(int how)
{
	mprotect(page, 4096, how);
}

NOINLINE void handler(int sig)
{
	if (faults++ % 3 == 1)
		siglongjmp(back, sig);
	protect(PROT_READ);
}

NOINLINE long attempt(function *f, long *where)
{
	if (sigsetjmp(back, 1))
		return -1;
	return f(where) + 2;
}

int main(int argc, char **argv)
{
	long sum = 0;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*page = 3;
	if (argc < 2)
		signal(SIGSEGV, handler);
	for (unsigned i = 0; i < 8 * COUNT(functions); i++) {
		if (argc > 1 && strcmp(argv[1], functions[i % COUNT(functions)].name))
			continue;
		protect(argc > 1 || i & 4 ? PROT_NONE : PROT_READ);
		sum = sum * 3 + attempt(functions[i % COUNT(functions)].f, page);
	}
	printf("%ld\n", sum);
	return 0;
}
