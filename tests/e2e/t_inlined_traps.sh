#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline and programs that trap for themselves: by breakpoints and by the step flag they see each of their own
# instructions, and no other; and handlers of sent signals that change the pc, also from code that isn't copied.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

source_program traps c -O1 -fno-pie -no-pie <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#define FUNCTION(name, body) \
	__asm__(".globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n" body ".size " #name ", .-" #name "\n")
#define NOINLINE __attribute__((noipa))
static void catch(int sig, void (*fn)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a = {.sa_sigaction = fn, .sa_flags = SA_SIGINFO | flags};

	sigaction(sig, &a, NULL);
}

/* ---- breakpoints ---- */

long broken(long n), breaks_first(long n);
FUNCTION(breaks_first, "int3\nlea 1(%rdi), %rax\ntest $1, %dil\nje 1f\nint3\ninc %rax\n1: ret\n");
FUNCTION(broken, "push %rbx\nmov %rdi, %rbx\n1: call breaks_first\nint3\nmov %rax, %rdi\ndec %rbx\nint3\njg 1b\nint3\n"
	"pop %rbx\nret\n");
static int breaks;
static unsigned long at;
static void on_break(int sig, siginfo_t *si, void *context)
{
	const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	breaks += ((const unsigned char *)r[REG_RIP])[-1] == 0xcc && si->si_code == SI_KERNEL;
	at = at * 31 + r[REG_RIP] + r[REG_RAX];
}
static void breakpoints(void)
{
	long sum = 0;

	catch(SIGTRAP, on_break, 0);
	for (int i = 0; i < 20; i++)
		sum = sum * 3 + broken(i);
	printf("%d breakpoints, %lx, %ld\n", breaks, at, sum);
}

/* ---- the step flag ---- */

long leaf(long n), stepped(long n), copies(char *to, const char *from);
FUNCTION(leaf, "endbr64\nlea 1(%rdi), %rax\ntest $1, %dil\nje 1f\ninc %rax\n1: ret\n");
FUNCTION(copies, "mov $5, %ecx\ncld\nrep movsb\nmov %rdi, %rax\nret\n");
FUNCTION(stepped, "push %rbx\npush %rbp\nmov %rdi, %rbx\nxor %ebp, %ebp\n"
	"pushf\norq $0x100, (%rsp)\npopf\n" /* from here on */
	"1: mov %rbx, %rdi\ncall leaf\nadd %rax, %rbp\nlea to(%rip), %rdi\nlea from(%rip), %rsi\ncall copies\n"
	"dec %rbx\njg 1b\nmov %ebp, %eax\ncmp $9, %eax\njl 2f\nxor $3, %eax\n2: mov $3, %ecx\n3: loop 3b\n"
	"pushf\nandq $~0x100, (%rsp)\npopf\nmov %ebp, %eax\npop %rbp\npop %rbx\nret\n");
char to[8], from[8] = "copied";
static unsigned nsteps;
static struct {
	unsigned long pc, rbp, rsp;
} steps[20000];
static void on_step(int sig, siginfo_t *si, void *context)
{
	const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (nsteps == 20000 || si->si_code != TRAP_TRACE)
		abort();
	steps[nsteps].pc = r[REG_RIP];
	steps[nsteps].rbp = r[REG_RBP];
	steps[nsteps++].rsp = r[REG_RSP] & 15;
}
static void step(void)
{
	long sum = 0;

	catch(SIGTRAP, on_step, 0);
	for (int i = 1; i < 5; i++)
		sum = sum * 3 + stepped(i);
	printf("%u steps, %ld\n", nsteps, sum);
	for (unsigned i = 0; i < nsteps; i++)
		printf("%lx %lx %lx\n", steps[i].pc, steps[i].rbp, steps[i].rsp);
}

/* ---- sent signals ---- */

/* Only its handler ends the loop; the second one isn't a function. */
long spins(long n);
FUNCTION(spins, "xor %eax, %eax\n1: inc %rax\ntest %rdi, %rdi\njne 1b\nspins_end: lea 5(%rdi), %rax\nret\n");
__asm__("bare: test %rdi, %rdi\njne bare\nret\n");
long bare(long n);
extern const char spins_end[];
static int ends;
static void on_end(int sig, siginfo_t *si, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (r[REG_RIP] - (greg_t)spins < 0 || r[REG_RIP] - (greg_t)spins > 64)
		return;
	r[REG_RIP] = (greg_t)spins_end;
	ends++;
}
/* From code that isn't copied into the middle of a function. */
static void on_bare(int sig, siginfo_t *si, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (r[REG_RIP] - (greg_t)bare < 0 || r[REG_RIP] - (greg_t)bare > 8)
		return;
	r[REG_RIP] = (greg_t)spins_end;
	ends++;
}
static void every(int which, int us)
{
	struct itimerval t = {{0, us}, {0, us}};

	setitimer(which, &t, NULL);
}
static void changes(void)
{
	long sum = 0;

	catch(SIGALRM, on_end, 0);
	catch(SIGPROF, on_end, SA_NODEFER);
	every(ITIMER_REAL, 1000);
	every(ITIMER_PROF, 3000);
	for (int i = 1; i < 100; i++)
		sum = sum * 3 + spins(i);
	every(ITIMER_PROF, 0);
	catch(SIGALRM, on_bare, 0);
	for (int i = 1; i < 100; i++)
		sum = sum * 3 + bare(i);
	every(ITIMER_REAL, 0);
	printf("%d %ld\n", ends > 0, sum);
}

/* ---- two tasks, which a timer switches ---- */

static greg_t tasks[2][NGREG];
static volatile int current, finished;
static volatile unsigned long sums[2], calls[2];
NOINLINE long called(long n)
{
	return n % 7 ? n * 3 : n + 1;
}
NOINLINE void task(int i)
{
	unsigned long sum = 0;

	for (long n = 0; n < 30000; n++) {
		sum = sum * 31 + called(n + i);
		calls[i]++;
	}
	sums[i] = sum;
	finished |= 1 << i;
	while (finished != 3)
		;
}
static void on_switch(int sig, siginfo_t *si, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	greg_t flags = r[REG_CSGSFS];

	if (finished == 3 && !current)
		return;
	memcpy(tasks[current], r, sizeof(tasks[0]));
	current = !current;
	memcpy(r, tasks[current], sizeof(tasks[0]));
	r[REG_CSGSFS] = flags;
}
static void never(void)
{
	for (;;)
		;
}
static void second(void)
{
	task(1);
	never();
}
static void switches(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));

	tasks[1][REG_RIP] = (greg_t)second;
	tasks[1][REG_RSP] = (greg_t)(stack + sizeof(stack) - 8);
	tasks[1][REG_EFL] = 0x202;
	catch(SIGALRM, on_switch, 0);
	every(ITIMER_REAL, 300);
	task(0);
	/* the other one waits for that, too */
	while (current != 0)
		;
	every(ITIMER_REAL, 0);
	printf("%lx %lx %lu\n", sums[0], sums[1], calls[0] + calls[1]);
}
int main(int argc, char **argv)
{
	switch (argv[1][0]) {
	case 'b':
		breakpoints();
		break;
	case 's':
		step();
		break;
	case 'c':
		changes();
		break;
	case 't':
		switches();
		break;
	}
	return 0;
}
END
for run in breaks steps changes tasks; do
	timeout "$PATIENCE" "$T/traps" $run >"$T/plain"
	is $? 0 "$run: it runs without a tracer"
	for options in '-o' '--placement witness -F json -o' '-c -F json -o'; do
		set -f
		# shellcheck disable=SC2086 # words
		bb user "$T/traps" '*' --engine inline $options "$T/json" -- "$T/traps" $run
		set +f
		same "$T/out" "$T/plain" "$run ${options%% *}: it sees what it sees without a tracer" ||
			diag "$status $(head -c 2000 "$T/err")"
	done
done
# what a handler continues with is logged
bb user "$T/traps" called task --engine inline -F json -o "$T/json" -- "$T/traps" tasks
read -r _ _ calls <"$T/out"
is "$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "called"')" "$calls" 'tasks that a timer switches: each call is told'
is "$(json "$T/json" '$e->{event} eq "unknown"')" 0 'and nothing is unknown'
done_testing
