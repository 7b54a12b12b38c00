// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include "interrupt.h"
#include "process_ends.h"

volatile sig_atomic_t interrupted, counts_asked_for;
static volatile sig_atomic_t forward_to, wakes = -1;
static struct source *volatile stops;
static volatile bool cuts;
static volatile uint64_t first; /* ns: time of the first signal; 0 if none came */

/* A terminal and timeout(1) may send the same signal twice within this time. */
#define AT_ONCE_NS 300000000

static void on_signal(int sig, siginfo_t *info, void *context)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	int kept = errno;

	if (stops)
		source__stop(stops);
	if (stops && (cuts || first) && now - first > AT_ONCE_NS)
		source__cut(stops);
	first = first ? first : now;
	/* CMD gets the signals of the terminal's keys itself */
	if (forward_to && info->si_code <= 0)
		kill(forward_to, sig);
	interrupted = sig;
	process_ends__wake(wakes);
	errno = kept;
}

void interrupt__catch(pid_t cmd)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, old;

	forward_to = cmd;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN) /* nohup(1) */
		sigaction(SIGHUP, &sa, NULL);
}

static void on_question(int sig)
{
	int kept = errno;

	counts_asked_for = 1;
	process_ends__wake(wakes);
	errno = kept;
}

void interrupt__asks(void)
{
	struct sigaction sa = {.sa_handler = on_question, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &sa, NULL);
}

void interrupt__stops(struct source *s)
{
	stops = s;
}

void interrupt__cuts(void)
{
	cuts = true;
}

void interrupt__wakes(int wakeup)
{
	wakes = wakeup;
}
