/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers that fire each 100 or 200 us. `ticks leave`: a handler on an alternate stack leaves by
 * siglongjmp(), 1000 times. `ticks count SIGNAL`: each expiration is in si_overrun or comes as a
 * signal; each has its value. `ticks once`: one-shot timers, each of which has to come. Prints
 * "right", or what is wrong.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define PERIOD_NS 100000

static sigjmp_buf back;
static volatile sig_atomic_t inside;
static volatile long left, seen, expirations, wrong;

__attribute__((noinline)) static long work(long n)
{
	long s = 0;

	for (long i = 0; i < n; i++) {
		if (i % 3)
			s += i;
		else
			s ^= i;
		__asm__ volatile("" : "+r"(s));
	}
	return s;
}

static void on_leave(int sig)
{
	(void)sig;
	if (inside) {
		left++;
		siglongjmp(back, 1);
	}
}

static int leave(void)
{
	struct sigaction action = {.sa_handler = on_leave, .sa_flags = SA_ONSTACK};
	struct itimerval timer = {{0, 200}, {0, 200}}; /* microseconds */
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};

	sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (left < 1000) {
		if (!sigsetjmp(back, 1)) {
			inside = 1;
			for (;;)
				work(1000);
		}
		inside = 0;
	}
	puts("right");
	return 0;
}

static void on_count(int sig, siginfo_t *si, void *context)
{
	(void)sig, (void)context;
	seen++;
	expirations += 1 + si->si_overrun;
	wrong += si->si_code != SI_TIMER || si->si_value.sival_int != 4711;
}

static timer_t begin(int sig, long period)
{
	struct sigaction action = {.sa_sigaction = on_count, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = sig, .sigev_value.sival_int = 4711};
	struct itimerspec when = {{0, period}, {0, PERIOD_NS}}; /* the interval, the first */
	timer_t timer;

	sigaction(sig, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL)) {
		perror("timer");
		exit(2);
	}
	return timer;
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int count(int sig)
{
	struct itimerspec off = {0};
	long long began = now(), most;
	timer_t timer = begin(sig, PERIOD_NS);
	long all;

	for (int i = 0; i < 20000; i++)
		work(1000);
	/* the last one may be as late as it likes */
	for (all = seen; seen == all;)
		work(1000);
	all = expirations;
	most = (now() - began) / PERIOD_NS;
	timer_settime(timer, 0, &off, NULL);
	if (wrong || all > most + 1 || all < most - most / 4 - 100)
		printf("%ld expirations of %lld, %ld with another value\n", all, most, wrong);
	else
		puts("right");
	return 0;
}

static int once(void)
{
	for (int i = 0; i < 500; i++) {
		long before = seen;
		timer_t timer = begin(SIGALRM, 0);

		while (seen == before)
			work(10);
		timer_delete(timer);
	}
	puts(wrong || seen != 500 ? "wrong" : "right");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "leave"))
		return leave();
	if (argc == 2 && !strcmp(argv[1], "once"))
		return once();
	if (argc == 3 && !strcmp(argv[1], "count"))
		return count(!strcmp(argv[2], "rt") ? SIGRTMIN : SIGALRM);
	fprintf(stderr, "usage: ticks leave|once|count alrm|count rt\n");
	return 2;
}
