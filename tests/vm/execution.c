// SPDX-License-Identifier: BSD-2-Clause
/*
 * execution MODE [N]: functions made of the instructions that a uprobe's program may do itself, and
 * whatever could tell that from the processor's doing. Prints what it saw, the same untraced.
 *
 *	run	calls them N times, with the registers and flags that they leave
 *	storm	the same under a signal every 3 ms, whose handler calls them, too
 *	faults	pop, ret and jmp with memory that can't be read, and to where nothing can be
 *	step	a child is single-stepped through them: each address
 *	watch	a child's return address is watched by a debug register: how often it is read
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_SIZE 4096

/* Each function of the table is called on a stack of its own with these registers; state has those
 * behind it. */
struct state {
	uint64_t in[4], out[16], flags;
};
struct state state __attribute__((used));
uint64_t own_sp __attribute__((used));
uint8_t *own_stack __attribute__((used));
void call_on(void (*fn)(void));
void moves(void), ends(void), pops(void), jumps(void), by_table(void), clears(void), deep(void);
extern const char functions_begin[], functions_end[];
extern uint64_t places[2];

__asm__(".text\n"
	"call_on:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, own_sp(%rip); mov own_stack(%rip), %rsp; mov %rdi, %rax\n"
	"	pushq $0x8d7; popf\n"
	"	mov state(%rip), %rdi; mov state+8(%rip), %rsi; mov state+16(%rip), %rdx\n"
	"	mov state+24(%rip), %rcx; mov %rdi, %rbx; mov %rsi, %rbp; mov %rdx, %r12\n"
	"	mov %rcx, %r13; mov %rdi, %r14; mov %rsi, %r15\n"
	"	push $1; push $2; push $3; push $4\n"
	"	call *%rax\n"
	"	mov %rax, state+32(%rip); mov %rcx, state+40(%rip); mov %rdx, state+48(%rip)\n"
	"	mov %rbx, state+56(%rip); mov %rsp, state+64(%rip); mov %rbp, state+72(%rip)\n"
	"	mov %rsi, state+80(%rip); mov %rdi, state+88(%rip); mov %r8, state+96(%rip)\n"
	"	mov %r9, state+104(%rip); mov %r10, state+112(%rip); mov %r11, state+120(%rip)\n"
	"	mov %r12, state+128(%rip); mov %r13, state+136(%rip); mov %r14, state+144(%rip)\n"
	"	mov %r15, state+152(%rip)\n"
	"	pushf; pop state+160(%rip); pushq $2; popf\n"
	"	mov own_sp(%rip), %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n"
	"functions_begin:\n"
#define FUNCTION(name, text)                                                                       \
	".globl " #name "\n.type " #name ", @function\n" #name ":\n" text ".size " #name           \
	", .-" #name "\n"
	FUNCTION(moves,
		 "	endbr64; mov %rdi, %rax; lea 3(%rax,%rax,2), %r8; mov %esi, %r9d\n"
		 "	mov $-5, %r10; mov $0x12345678, %r11d; lea places(%rip), %rsi; ret\n")
	/* flags: of what a witness is put on */
	FUNCTION(pops,
		 "	mov %rsi, %rax; test $1, %dil; jz 1f; sub $0x28, %rsp; add $0x28, %rsp\n"
		 "	jmp 2f\n1:	sub $-0x80, %rsp; lea -0x80(%rsp), %rsp\n"
		 "2:	push %r12; push %r13; test $2, %dil; jz 3f\n"
		 "	pop %r8; pop %r9; ret\n3:	pop %rbx; pop %rbp; repz ret\n")
		FUNCTION(ends, "	mov %edi, %eax; test $1, %dil; jz 1f; ret $16\n1:	ret $0x20\n") FUNCTION(
			jumps,
			"	lea 1f(%rip), %r8; mov %r8, %rdx; jmp *%rdx\n	ud2\n1:	mov %rdi, %rax; ret\n")
			FUNCTION(
				by_table,
				"	mov %rdi, %rax; and $1, %edi; lea places(%rip), %r8\n"
				"	jmp *(%r8,%rdi,8)\n"
				"by_table_0:	lea 1(%rax), %rax; ret\nby_table_1:	lea 2(%rax), %rax; ret\n")
				FUNCTION(clears, "	mov $0, %eax; ret\n") FUNCTION(
					deep,
					"	mov %rsp, %rbp; sub $0x7fffffff, %rsp; mov %rbp, %rsp; ret\n") "functions_end:\n"
													       ".data\nplaces: .quad by_table_0, by_table_1\n.text\n");

static void (*const all[])(void) = {moves, pops, ends, jumps, by_table, clears, deep};
static uint64_t hash = 0xcbf29ce484222325;

static void add(uint64_t v)
{
	for (int i = 0; i < 8; i++, v >>= 8)
		hash = (hash ^ (v & 0xff)) * 0x100000001b3;
}

static uint8_t *new_stack(void)
{
	uint8_t *p = mmap((void *)0x200000000000, 65536, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	return p + STACK_SIZE;
}

static void call_all(unsigned i)
{
	uint64_t r = i * 0x9e3779b97f4a7c15ull;

	for (unsigned f = 0; f < sizeof(all) / sizeof(*all); f++) {
		for (int k = 0; k < 4; k++)
			state.in[k] = r = r * 6364136223846793005ull + 1442695040888963407ull;
		call_on(all[f]);
		for (int k = 0; k < 16; k++)
			add(state.out[k]);
		add(state.flags & 0xcd5);
	}
}

/* ---- storm ---- */

static volatile unsigned alarms, wrong;

static void on_alarm(int signal)
{
	static unsigned long (*volatile calls[])(unsigned long) = {(void *)moves, (void *)clears,
								   (void *)jumps};
	unsigned long n = ++alarms;

	(void)signal;

	if (calls[0](n) != n || calls[1](n) != 0 || calls[2](n) != n)
		wrong++;
}

static void storm(unsigned n)
{
	struct itimerval t = {{0, 3000}, {0, 3000}};
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction a = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
	for (unsigned i = 0; i < n || alarms < 50; i++)
		call_all(i % 16), hash = i % 16 == 15 ? 0 : hash;
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	printf("storm: %u wrong\n", wrong);
}

/* ---- faults ---- */

static sigjmp_buf back;
void fault_pop(void), fault_ret(void), fault_jump(void), fault_where(void);
__asm__(FUNCTION(
	fault_pop,
	"	mov %rdi, %rax; test %rax, %rax; jz 1f; nop\n1:	mov %rdi, %rsp; pop %rbx; ret\n")
		FUNCTION(fault_ret, "	mov %rdi, %rax; mov %rdi, %rsp; ret\n")
			FUNCTION(fault_jump, "	mov %rdi, %rax; jmp *8(%rax)\n")
				FUNCTION(fault_where, "	mov %rdi, %rax; jmp *%rax\n"));

static void on_fault(int signal, siginfo_t *info, void *context)
{
	const greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	char line[200];

	snprintf(line, sizeof(line), "signal %d code %d addr %p ip %+lld sp %llx\n", signal,
		 info->si_code, info->si_addr, g[REG_RIP] - (long long)fault_pop, g[REG_RSP]);
	fputs(line, stdout);
	siglongjmp(back, 1);
}

static void fault(void (*fn)(void), uint64_t with)
{
	state.in[0] = with;
	if (!sigsetjmp(back, 1))
		call_on(fn);
}

static void faults(void)
{
	static const uint64_t where[] = {8, 0x8000000000000000, 0x00007ffffffff000,
					 0x0000800000000000, 0xffffffff81000000};
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_ONSTACK | SA_SIGINFO};
	uint64_t *page = (uint64_t *)(own_stack + 32768);

	sigaltstack(&stack, NULL);
	for (int s = SIGILL; s <= SIGSEGV; s++)
		if (s == SIGILL || s == SIGSEGV || s == SIGBUS || s == SIGTRAP)
			sigaction(s, &a, NULL);
	for (unsigned i = 0; i < sizeof(where) / sizeof(*where); i++) {
		fault(fault_pop, where[i]);
		fault(fault_ret, where[i]);
		fault(fault_jump, where[i]);
		fault(fault_where, where[i]);
		*page = page[1] = where[i];
		fault(fault_ret, (uintptr_t)page);
		fault(fault_jump, (uintptr_t)page);
	}
}

/* ---- a debugger ---- */

static int is_in(uint64_t ip)
{
	return ip >= (uintptr_t)functions_begin && ip < (uintptr_t)functions_end;
}

static pid_t child_of_all(void)
{
	pid_t child = fork();

	if (child)
		return waitpid(child, NULL, 0), child;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (unsigned i = 0; i < 3; i++)
		call_all(i);
	_exit(hash % 100);
}

static void step(void)
{
	pid_t child = child_of_all();
	unsigned long steps = 0;
	struct user_regs_struct r;
	int status;

	for (;;) {
		ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
		waitpid(child, &status, 0);
		if (WIFEXITED(status))
			break;
		ptrace(PTRACE_GETREGS, child, NULL, &r);
		if (!is_in(r.rip))
			continue;
		steps++;
		add(r.rip - (uintptr_t)functions_begin);
		add(r.rsp);
		add(r.rax);
		add(r.eflags & ~0x10100ul);
	}
	printf("step: %lu steps, %016lx, exit %d\n", steps, (unsigned long)hash,
	       WEXITSTATUS(status));
}

/* Behind four words that were pushed is the return address; reads and writes of it trap. */
static void watch(void)
{
	pid_t child = child_of_all();
	uint64_t slot = (uintptr_t)own_stack - 40;
	unsigned hits = 0;
	int status;

	ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[0]), slot);
	if (ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[7]), 0xb0001))
		printf("watch: %s\n", strerror(errno));
	for (;;) {
		ptrace(PTRACE_CONT, child, NULL, NULL);
		waitpid(child, &status, 0);
		if (WIFEXITED(status))
			break;
		hits += WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
	}
	printf("watch: %u hits, exit %d\n", hits, WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	unsigned n = argc > 2 ? atoi(argv[2]) : 100;

	setvbuf(stdout, NULL, _IOLBF, 0);
	own_stack = new_stack();
	if (!strcmp(mode, "run"))
		for (unsigned i = 0; i < n; i++)
			call_all(i);
	else if (!strcmp(mode, "storm"))
		storm(n);
	else if (!strcmp(mode, "faults"))
		faults();
	else if (!strcmp(mode, "step"))
		step();
	else if (!strcmp(mode, "watch"))
		watch();
	else
		return 2;
	if (!strcmp(mode, "run"))
		printf("run: %016lx\n", (unsigned long)hash);
	return 0;
}
