// SPDX-License-Identifier: BSD-2-Clause
/*
 * Does what is hard for copied functions, and says whether all was as it should be.
 *   inlined signals   what handlers see and do
 *   inlined mix [N]   threads, children, timers and jumps; prints a number that is always the same
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include "prog.h"

static volatile int wrong;
#define CHECK(x) ((x) ? (void)0 : (void)(wrong++, fprintf(stderr, "%d: %s\n", __LINE__, #x)))

/* ---- where code is, by the loader ---- */

static struct {
	uintptr_t start, end;
} code[64];
static int ncodes;

static int add_code(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size, (void)data;
	for (int i = 0; i < info->dlpi_phnum && ncodes < 64; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		code[ncodes].start = info->dlpi_addr + p->p_vaddr;
		code[ncodes++].end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	return 0;
}

static int in_code(uintptr_t pc)
{
	for (int i = 0; i < ncodes; i++)
		if (pc >= code[i].start && pc < code[i].end)
			return 1;
	return 0;
}

/* ---- work, with branches of all kinds ---- */

static NOINLINE unsigned step(unsigned x, int kind)
{
	switch (kind) {
	case 0:
		return x * 3 + 1;
	case 1:
		return x ^ x >> 7;
	case 2:
		return x & 1 ? x / 2 : x + 5;
	case 3:
		return x << 3 | x >> 29;
	case 4:
		return x - 77;
	default:
		return x * 1103515245 + 12345;
	}
}

static NOINLINE int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

static NOINLINE unsigned work(unsigned seed, int n)
{
	unsigned values[200], sum = 0;

	for (int i = 0; i < n; i++) {
		seed = step(seed, i % 7);
		values[i % 200] = seed;
	}
	qsort(values, n < 200 ? n : 200, sizeof(*values), compare);
	for (int i = 0; i < (n < 200 ? n : 200); i++)
		sum = sum * 31 + values[i];
	return sum;
}

/* ---- handlers ---- */

static volatile int ticks, stray, lost_frames;
static unsigned expected;

static NOINLINE void on_tick(int sig, siginfo_t *si, void *context)
{
	const ucontext_t *u = context;
	int saved = errno;

	(void)sig, (void)si;
	ticks++;
	stray += !in_code((uintptr_t)u->uc_mcontext.gregs[REG_RIP]) && ncodes;
	CHECK(work(9, 50) == expected);
	errno = saved;
}

/* Does an unwinder come to main from here? */
static NOINLINE void on_tick_unwind(int sig, siginfo_t *si, void *context)
{
	extern int main(int argc, char **argv);
	void *frames[64];
	int n = backtrace(frames, 64), found = 0;

	on_tick(sig, si, context);
	for (int i = 0; i < n; i++)
		found |= (uintptr_t)frames[i] - (uintptr_t)main < 4096;
	lost_frames += !found;
}

static void catch (int sig, void (*fn)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a = {.sa_sigaction = fn, .sa_flags = SA_SIGINFO | flags};

	sigaction(sig, &a, NULL);
}

static void every(int us)
{
	struct itimerval t = {{0, us}, {0, us}};

	setitimer(ITIMER_REAL, &t, NULL);
}

static NOINLINE void timers(void)
{
	unsigned first = work(1, 200);

	catch (SIGALRM, on_tick_unwind, SA_RESTART);
	every(500);
	while (ticks < 200)
		CHECK(work(1, 200) == first);
	every(0);
	CHECK(!stray);
	CHECK(!lost_frames);
}

/* A handler that goes on behind the instruction. */
ASM_FUNCTION(peek, "	mov (%rdi),%eax\n"
		   "peek_behind:\n"
		   "	test %eax,%eax\n"
		   "	je 1f\n"
		   "	add $5,%eax\n"
		   "1:	ret\n");
int peek(const int *p);
extern const char peek_behind[];
static volatile int faults;

static NOINLINE void on_fault(int sig, siginfo_t *si, void *context)
{
	ucontext_t *u = context;

	(void)sig;
	CHECK(si->si_addr == (void *)8);
	CHECK((uintptr_t)u->uc_mcontext.gregs[REG_RIP] == (uintptr_t)peek);
	u->uc_mcontext.gregs[REG_RAX] = ++faults;
	u->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)peek_behind;
}

static NOINLINE void fault(void)
{
	int n = 3;

	catch (SIGSEGV, on_fault, 0);
	for (int i = 1; i <= 20; i++) {
		CHECK(peek((const int *)8) == i + 5);
		CHECK(peek(&n) == 8);
	}
	CHECK(faults == 20);
}

static sigjmp_buf back;
static NOINLINE void on_jump(int sig, siginfo_t *si, void *context)
{
	(void)si, (void)context;
	siglongjmp(back, sig);
}

static NOINLINE void jumps(void)
{
	volatile int n = 0;

	catch (SIGSEGV, on_jump, SA_ONSTACK);
	for (volatile int i = 0; i < 50; i++)
		if (!sigsetjmp(back, 1))
			n += peek((const int *)8);
		else
			n += 2;
	CHECK(n == 100);
}

/* A pointer to a function that can't be read. */
static NOINLINE int call_through(int (**fn)(const int *), const int *arg)
{
	return (*fn)(arg) + 1;
}

static NOINLINE void bad_pointers(void)
{
	int (*good)(const int *) = peek;
	int four = 4;
	volatile int n = 0;

	catch (SIGSEGV, on_jump, 0);
	for (volatile int i = 0; i < 20; i++)
		if (!sigsetjmp(back, 1))
			n += call_through((int (**)(const int *))16, &four);
		else
			n += call_through(&good, &four);
	CHECK(n == 200);
}

static volatile int received[8], nreceived;
static NOINLINE void on_value(int sig, siginfo_t *si, void *context)
{
	(void)sig, (void)context;
	CHECK(si->si_code == SI_QUEUE && si->si_pid == getpid());
	received[nreceived++ & 7] = si->si_value.sival_int;
}

static NOINLINE void values(void)
{
	sigset_t set, old;

	catch (SIGRTMIN, on_value, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, &old);
	for (int i = 0; i < 8; i++)
		sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i * 11});
	CHECK(!nreceived);
	sigprocmask(SIG_SETMASK, &old, NULL);
	CHECK(nreceived == 8);
	for (int i = 0; i < 8; i++)
		CHECK(received[i] == i * 11);
}

static volatile int traps;
static NOINLINE void on_trap(int sig, siginfo_t *si, void *context)
{
	(void)sig, (void)si, (void)context;
	traps++;
}

static NOINLINE void trap(void)
{
	catch (SIGTRAP, on_trap, 0);
	for (int i = 0; i < 3; i++)
		__asm__ volatile("int3");
	raise(SIGTRAP);
	CHECK(traps == 4);
}

static NOINLINE void waits(void)
{
	int ends[2], before = ticks;
	sigset_t none;
	char byte;

	CHECK(!pipe(ends));
	catch (SIGALRM, on_tick, 0);
	every(3000);
	CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR);
	sigemptyset(&none);
	CHECK(sigsuspend(&none) == -1 && errno == EINTR);
	every(0);
	CHECK(ticks > before);
	CHECK(!stray);
}

/* The core of a child that is ended has to be right; its status is. */
static NOINLINE void ends(void)
{
	static const int signals[] = {SIGSEGV, SIGFPE, SIGTERM, SIGKILL, SIGABRT};

	for (unsigned i = 0; i < COUNT(signals); i++) {
		int status = 0;
		pid_t pid = fork();

		if (!pid) {
			signal(signals[i], SIG_DFL);
			for (unsigned n = 0;; n = work(n, 100))
				if (n)
					raise(signals[i]);
		}
		while (waitpid(pid, &status, 0) < 0)
			;
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
	}
}

/* ---- all at once ---- */

static void *thread(void *arg)
{
	unsigned sum = 0, n = (unsigned)(uintptr_t)arg;

	for (unsigned i = 0; i < n; i++)
		sum = sum * 7 + work(i, 200);
	return (void *)(uintptr_t)sum;
}

static NOINLINE unsigned mix(unsigned n)
{
	pthread_t threads[4];
	volatile unsigned sum = 0;
	int status = 0;
	void *result;
	pid_t pid;

	for (unsigned i = 0; i < COUNT(threads); i++)
		pthread_create(&threads[i], NULL, thread, (void *)(uintptr_t)(n * 10 + i));
	pid = fork();
	if (!pid)
		_exit(work(n, 200) % 251);
	for (volatile int i = 0; i < 10; i++) {
		pthread_kill(threads[i % 4], SIGUSR1);
		if (!sigsetjmp(back, 1))
			sum += peek((const int *)8);
		else
			sum = sum * 5 + 1;
	}
	while (waitpid(pid, &status, 0) < 0)
		;
	for (unsigned i = 0; i < COUNT(threads); i++) {
		pthread_join(threads[i], &result);
		sum = sum * 9 + (unsigned)(uintptr_t)result;
	}
	return sum * 3 + (unsigned)status;
}

static void signals(void)
{
	dl_iterate_phdr(add_code, NULL);
	timers();
	fault();
	jumps();
	bad_pointers();
	values();
	trap();
	waits();
	ends();
	printf("%s\n", wrong ? "wrong" : "right");
}

int main(int argc, char **argv)
{
	unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 20, sum = 0;

	expected = work(9, 50);
	if (argc > 1 && !strcmp(argv[1], "signals")) {
		signals();
		return wrong != 0;
	}
	catch (SIGUSR1, on_tick, SA_RESTART);
	catch (SIGALRM, on_tick, SA_RESTART);
	catch (SIGSEGV, on_jump, 0);
	every(700);
	for (unsigned i = 0; i < n; i++)
		sum = sum * 11 + mix(i);
	every(0);
	printf("%u%s\n", sum, wrong ? " wrong" : "");
	return wrong != 0;
}
