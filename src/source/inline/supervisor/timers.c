// SPDX-License-Identifier: BSD-2-Clause
/*
 * Signals of timers that come faster than they can be passed on. A thread would get no further, and
 * handlers that leave by siglongjmp() would nest until their stack is full. So such a signal waits
 * while its thread has had only a small part of the time since the one before: untraced it would
 * have run meanwhile. What the timer sends until then becomes one with it, as if it was pending.
 */
#include <sys/ptrace.h>
#include "tracer.h"

/* It waits while the thread had less than this part of the time since the signal before it, or
 * seems to be in the handler of that one, but not for longer after that one. */
#define LEAST_PART    2
#define STARVED_NS    4000000ull
#define IN_HANDLER_NS 20000000ull
/* Until it is sent again, at most. */
#define WAIT_NS 1000000ull
/* The frame of a handler on the same stack is this far below what was interrupted; another stack is
 * farther away. */
#define FRAME_LEAST 512
#define FRAME_MOST  65536
#define STACK_MOST  (16u << 20)

static bool is_of_timer(const siginfo_t *si)
{
	return si->si_code == SI_TIMER ||
	       (si->si_code == SI_KERNEL &&
		(si->si_signo == SIGALRM || si->si_signo == SIGVTALRM || si->si_signo == SIGPROF));
}

static bool is_pending(struct thread *t, int sig)
{
	struct __ptrace_peeksiginfo_args from = {.nr = 1};
	siginfo_t si;

	for (; ptrace(PTRACE_PEEKSIGINFO, t->tid, &from, &si) == 1; from.off++)
		if (si.si_signo == sig && si.si_code == SENT_ANEW)
			return true;
	return false;
}

/* A thread that was interrupted while it waits has no use for more time; and where a call says that
 * a signal has come, its handler has to have run. */
static bool was_interrupted(struct thread *t)
{
	return thread__is_in_call(t) ||
	       (!thread__load_regs(t) && t->tracer->tracee->interrupted(t->regs));
}

static bool is_starved(const struct timer_signal *s, uint64_t passed, uint64_t ran)
{
	return passed < STARVED_NS && ran && ran - s->ran < passed / LEAST_PART;
}

/* By the stack pointer: siglongjmp() permits the next signal before it leaves the handler. */
static bool seems_in_handler(const struct timer_signal *s, uint64_t passed, uint64_t sp)
{
	uint64_t distance = sp < s->sp ? s->sp - sp : sp - s->sp;
	bool below = sp < s->sp && distance >= FRAME_LEAST && distance < FRAME_MOST;

	return passed < IN_HANDLER_NS && (below || distance > STACK_MOST);
}

static bool has_to_wait(struct thread *t)
{
	struct timer_signal *s = &t->timer;
	uint64_t now = now_ns(CLOCK_MONOTONIC), passed = now - s->passed;
	uint64_t ran = thread__run_time((uint32_t)t->tid), sp = thread__get(t, TRACEE_SP);

	if (s->passed && (is_starved(s, passed, ran) || seems_in_handler(s, passed, sp)) &&
	    !was_interrupted(t)) {
		s->due = now + min_of(passed, WAIT_NS);
		if (!t->tracer->timers_due || s->due < t->tracer->timers_due)
			t->tracer->timers_due = s->due;
		return true;
	}
	s->passed = now;
	s->ran = ran;
	s->sp = sp;
	return false;
}

/* A signal of this number waits, or was sent again; another one has come, or that. Returns true if
 * it is not to be passed on. */
static bool take(struct thread *t, const siginfo_t *si)
{
	struct timer_signal *s = &t->timer;

	if (is_of_timer(si)) {
		if (s->info.si_code == SI_TIMER && si->si_code == SI_TIMER)
			s->info.si_overrun += si->si_overrun + 1; /* timer_getoverrun(2) */
		if (s->due || is_pending(t, si->si_signo))
			return true;
	} else if (si->si_code != SENT_ANEW) {
		return false;
	}
	if (has_to_wait(t))
		return true;
	ptrace(PTRACE_SETSIGINFO, t->tid, 0, &s->info);
	s->info.si_signo = 0;
	return false;
}

bool timers__wait(struct thread *t, int sig)
{
	struct timer_signal *s = &t->timer;
	siginfo_t si;
	bool waits;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
		return false;
	if (s->info.si_signo == sig) {
		waits = take(t, &si);
	} else {
		waits = !s->info.si_signo && is_of_timer(&si) && has_to_wait(t);
		if (waits)
			s->info = si;
	}
	if (waits)
		thread__done(t);
	return waits;
}

void timers__send(struct thread *t)
{
	if (t->timer.due)
		thread__send_anew(t, t->timer.info.si_signo);
	t->timer.due = 0;
}

void timers__look(struct tracer *s)
{
	uint64_t next = 0, now;
	struct thread *t;
	size_t i = 0;

	if (!s->timers_due || (now = now_ns(CLOCK_MONOTONIC)) < s->timers_due)
		return;
	while ((t = tracer__each(s, &i))) {
		if (t->timer.due <= now)
			timers__send(t);
		else if (!next || t->timer.due < next)
			next = t->timer.due;
	}
	s->timers_due = next;
}
