// SPDX-License-Identifier: BSD-2-Clause
/* The supervisor's process: waits for threads to stop, and for bbtrace. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "tracer.h"

#define LAST_WORDS_MS 1000
#define LOOK_MS	      1000
#define SOON_MS	      10
#define INSIST_MS     50

static void take_rings(struct tracer *s)
{
	uint64_t ignored;

	(void)!read(s->rung, &ignored, sizeof(ignored));
	tracer__answer(s);
}

static void take_signals(const struct tracer *s)
{
	struct signalfd_siginfo ignored;

	/* there is at most one */
	(void)!read(s->signals, &ignored, sizeof(ignored));
}

/* Nothing reports them. */
static void look_for_strays(struct tracer *s)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	if (now - s->looked < LOOK_MS * 1000000ull || s->quitting)
		return;
	s->looked = now;
	tracer__release(s);
	tracer__find_strays(s);
	text__look(s);
}

/* If the supervisor does nothing for this long, it ends, and the kernel detaches from all threads:
 * they continue by themselves. */
#define WATCHDOG_S 10

static void arm_watchdog(void)
{
	const struct itimerval limit = {.it_value.tv_sec = WATCHDOG_S};
	static uint64_t armed;
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	if (armed && now - armed < 1000000000ull)
		return;
	armed = now;
	setitimer(ITIMER_REAL, &limit, NULL);
}

static struct timespec patience(struct tracer *s)
{
	uint64_t ms = s->untimes ? SOON_MS : tracer__insist(s) ? INSIST_MS : LOOK_MS;
	uint64_t ns = ms * 1000000, now = now_ns(CLOCK_MONOTONIC);

	if (s->timers_due)
		ns = min_of(ns, s->timers_due > now ? s->timers_due - now : 0);
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

static void wait_for_something(struct tracer *s)
{
	struct pollfd fds[] = {
		{.fd = s->signals, .events = POLLIN},
		{.fd = s->rung, .events = POLLIN},
		{.fd = s->socket, .events = (short)(POLLIN | (s->out.len ? POLLOUT : 0))}};
	struct timespec most = patience(s);

	arm_watchdog();
	if (ppoll(fds, ARRAY_SIZE(fds), &most, NULL) < 0)
		return;
	look_for_strays(s);
	if (fds[0].revents)
		take_signals(s);
	if (fds[1].revents)
		take_rings(s);
	if (fds[2].revents & POLLOUT)
		tracer__flush(s);
	if (!(fds[2].revents & ~POLLOUT) || !tracer__take_requests(s))
		return;
	close(s->socket);
	s->socket = -1;
	tracer__detach_all(s);
}

/*
 * Stops that follow so soon are waited for without sleep. To be woken takes 30 us and more on a
 * virtual machine, for the thread as for the supervisor: a program whose signals come as fast would
 * get no further, and its handlers would nest. A handler mostly returns within microseconds.
 */
#define SOON_NS	   200000
#define SOON_MOST  16
#define SOON_MANY  4
#define HANDLER_NS 50000
/* If a yield takes longer, another process uses this CPU, too: the supervisor, which would have to
 * wait for its turn, sleeps for SHARED_NS instead. */
#define YIELD_NS  20000
#define SHARED_NS 10000000

static void handle(struct tracer *s, const struct stop *stop)
{
	if (now_ns(CLOCK_MONOTONIC) - s->handled < SOON_NS)
		s->soon += s->soon < SOON_MOST;
	else
		s->soon /= 2;
	tracer__stopped(s, stop);
	s->handled = now_ns(CLOCK_MONOTONIC);
}

static bool expects_stop(struct tracer *s)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	uint64_t limit = s->soon >= SOON_MANY ? SOON_NS : s->expects ? HANDLER_NS : 0;

	if (now - s->handled > limit || now < s->shared_until) {
		s->expects = false;
		return false;
	}
	sched_yield();
	if (now_ns(CLOCK_MONOTONIC) - now > YIELD_NS)
		s->shared_until = now + SHARED_NS;
	return true;
}

static void last_words(struct tracer *s)
{
	struct notice notice = {.type = NOTICE_GONE};
	struct pollfd fd = {.fd = s->socket, .events = POLLOUT};

	tracer__notify(s, &notice, -1);
	while (s->out.len && s->socket >= 0 && poll(&fd, 1, LAST_WORDS_MS) > 0 &&
	       !(fd.revents & (POLLERR | POLLHUP)))
		tracer__flush(s);
}

static int begin(struct tracer *s, const struct supervisor_options *o, struct start_answer *a)
{
	pid_t command = o->command;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	s->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	s->rung = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (s->signals < 0 || s->rung < 0)
		return -errno;
	if (!command)
		return tracer__stop_running(s, o->pids, o->npids, a);
	if (ptrace(PTRACE_SEIZE, command, 0, TRACER_OPTIONS))
		return -errno;
	tracer__add_thread(s, command, tracer__add_process(s, command))->state = THREAD_RUNNING;
	return 0;
}

static void notify_what_is_not_seen(struct tracer *s)
{
	const struct notice notice = {
		.type = NOTICE_NOTE,
		.text = "this kernel doesn't report when a program sets the gs segment, which --engine "
			"inline needs: one that does may be harmed (bbtrace doctor)"};

	if (s->gs_way == GS_BY_NOTHING)
		tracer__notify(s, &notice, -1);
}

void tracer__serve(const struct supervisor_options *o, int socket)
{
	struct tracer s = {.plan = o->plan,
			   .copies = o->copies,
			   .arch = o->plan->arch,
			   .tracee = o->plan->arch->tracee,
			   .follow = o->follow,
			   .unfit = o->unfit,
			   .command = o->command,
			   .stacks = o->stacks,
			   .disarmed = o->disarmed,
			   .socket = socket,
			   .signals = -1,
			   .rung = -1,
			   .gs_entry = -1};
	struct start_answer answer = {0};
	struct stop stop;

	arm_watchdog();
	gs__watch(&s);
	text__watch(&s);
	answer.err = begin(&s, o, &answer);
	if (!answer.err && o->drop_privileges)
		answer.err = o->drop_privileges();
	if (!answer.err && !processes__can_be_compared())
		answer.err = -ENOSYS;
	if (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) < 0 || answer.err)
		_exit(0); /* nothing was changed, and the kernel detaches from all threads */
	notify_what_is_not_seen(&s);
	if (!o->command)
		tracer__begin_running(&s);
	while (s.threads.len || s.early.len) {
		while (tracer__next(&s, &stop)) {
			arm_watchdog();
			handle(&s, &stop);
		}
		if (tracer__sees_paused(&s))
			tracer__change_disarmed(&s);
		tracer__see_untimed(&s);
		timers__look(&s);
		if ((s.threads.len || s.early.len) && !expects_stop(&s))
			wait_for_something(&s);
	}
	last_words(&s);
	_exit(0);
}
