// SPDX-License-Identifier: BSD-2-Clause
/*
 * late STEP HOW [lowers]: calls late(), or lowers(), with the trap flag set. Its STEPth single
 * step, from the one behind the call on, ends in a handler that returns, jumps out, or kills.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAP_FLAG 0x100

static int steps, last, sum;
static const char *how;
static sigjmp_buf back;

/* six instructions that the kernel steps, and one that it emulates */
__asm__(".text\n.globl late\n.type late, @function\n.p2align 4\nlate:\n"
	"mov %rdi, %rax\n"
	"lea 1(%rax), %rax\n"
	"add $2, %rax\n"
	"mov %rax, %r10\n"
	"xor %r11d, %r11d\n"
	"add %r10, %r11\n"
	"push %rbx\n"
	"mov %r11, %rbx\n"
	"pop %rbx\n"
	"ret\n"
	".size late, . - late\n");
int late(int n);

/* five that change the stack and access memory */
__asm__(".text\n.globl lowers\n.type lowers, @function\n.p2align 4\nlowers:\n"
	"mov %rdi, -8(%rsp)\n"
	"sub $72, %rsp\n"
	"mov 64(%rsp), %rax\n"
	"mov %rax, (%rsp)\n"
	"add sum(%rip), %eax\n"
	"push %rbx\n"
	"mov 8(%rsp), %rbx\n"
	"pop %rbx\n"
	"add $72, %rsp\n"
	"ret\n"
	".size lowers, . - lowers\n");

/* the first step ends in front of the function's first instruction */
#define STEPPED(name, callee)                                                                      \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name          \
		":\npush %rbx\npushf\norq $0x100, (%rsp)\npopf\ncall " #callee                     \
		"\npop %rbx\nret\n.size " #name ", . - " #name "\n");                              \
	int name(int n)
STEPPED(stepped, late);
STEPPED(stepped_lowers, lowers);

__attribute__((noinline, noipa)) int work(int n)
{
	return n + 1;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	if (++steps < last)
		return;
	u->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	sum += work(sig);
	if (!strcmp(how, "jump"))
		siglongjmp(back, 1);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "term"))
		signal(SIGTERM, SIG_DFL), kill(getpid(), SIGTERM);
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	last = atoi(argv[1]);
	how = argv[2];
	sigaction(SIGTRAP, &sa, NULL);
	for (int i = 0; i < 2; i++) {
		steps = 0;
		if (!sigsetjmp(back, 1))
			sum += argc > 3 ? stepped_lowers(i) : stepped(i);
	}
	printf("%d\n", sum);
	return 0;
}
