/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracer: the process that traces others by ptrace(2): what each stop asks for, signals, new
 * threads and programs, attaching to processes that run, and releasing all. It uses text/, space/
 * and target/.
 *
 * It waits for any stop, and does what that stop asks for. It waits for one thread only where that
 * is sent to execute an instruction, or a system call (an injected call, src/arch/tracee.h): mostly
 * for microseconds, and never for longer than STOP_NS (tracee.c) if the thread waits in the kernel.
 * A thread may be killed at any time: then each request fails with -ESRCH, which is ignored, since
 * its end is reported, too.
 *
 * First to read: tracer__serve(), tracer__stopped(), thread__done().
 */
#ifndef BBTRACE_SOURCE_INLINE_SUPERVISOR_TRACER_H
#define BBTRACE_SOURCE_INLINE_SUPERVISOR_TRACER_H

#include "source/inline/text/text.h"
#include "supervisor.h"

/* ---- go_on.c ---- */
/* Resumes the thread as necessary: with stops at system calls if those are watched. */
void thread__go_on(struct thread *t, int sig);
/* What was to be done to the thread is done: it is resumed, or held. */
void thread__done(struct thread *t);
/* Returns true if it is to be held as soon as it is not within a system call, and has no signal to
 * take. */
bool thread__stops_soon(const struct thread *t);

/* ---- detach.c ---- */
/* Its process is detached, and why is reported: it uses gs for something else, or will ... */
void thread__refuse(struct thread *t, const char *why);
void thread__refuse_gs(struct thread *t);
void tracer__detach_all(struct tracer *s);
void space__detach(struct tracer *s, struct space *space);
/* Stops the threads that have to stop; NULL: those that have not executed a program yet. */
void space__stop(struct tracer *s, struct space *space);
/* Tries again, after something has changed. */
void space__try_detach(struct tracer *s, struct space *space);
/* For spaces that have waited long enough for threads that don't stop. Returns true if there are
 * more that wait. */
bool tracer__insist(struct tracer *s);
/* A thread has stopped whose space was detached without it: sig, or 0, is what it has stopped by.
 */
void thread__follow(struct thread *t, int sig);
/* A thread isn't in it any more, for which others may have been held. Takes a reference; NULL: does
 * nothing. */
void space__was_left(struct tracer *s, struct space *space);
/* For a process with a memory of its own, whose only thread this is, stopped. */
void thread__detach_alone(struct thread *t);
/* Stopped; it is free then. */
void thread__detach(struct thread *t, int sig);
/*
 * Takes the pending signals that the supervisor's own BPF programs have sent, which the program
 * must not get. The thread is stopped, and is to be resumed with sig. Returns the signal with which
 * it is to be resumed now; -ESRCH if it is gone; -EAGAIN if it waits in the kernel.
 */
int thread__take_own_signals(struct thread *t, int sig);

/* ---- signals.c ---- */
/* The thread has stopped by a signal. */
void signals__stopped(struct thread *t, int status);
/* The first stop after a signal was passed on. Returns true if it was only for this. */
bool signals__delivered(struct thread *t, int status);
/* The thread was held after this fault of its own had stopped it. */
void signals__deliver_fault(struct thread *t);
/* At a stop before and after a system call. */
void signals__system_call(struct thread *t, bool entry);

/* ---- timers.c ---- */
/* The thread has stopped by a signal. Returns true if it waits, and the thread was resumed. */
bool timers__wait(struct thread *t, int sig);
/* Sends the one that waits, if any. */
void timers__send(struct thread *t);
/* Sends those that are due. */
void timers__look(struct tracer *s);

/* ---- cores.c ---- */
/* The thread is about to end its process by a signal that dumps its memory: stops all others of its
 * space and takes them out of the copies, those that stop within a second. They wait for the end.
 */
void thread__clear_others(struct thread *t);
/* Returns true if it is one of those that wait. Then the stop is kept. */
bool tracer__keeps(struct tracer *s, struct thread *t, const struct stop *stop);
/* The process has not ended after all, or should have: its threads are resumed. */
void tracer__release(struct tracer *s);

/* ---- loader.c ---- */
/* A program that runs is stopped: finds its loader. */
void loader__find(struct thread *t);
/* A program was executed, and not one of its instructions. */
void loader__begin(struct thread *t);
/* A bell was rung: makes the threads stop that ask. */
void tracer__answer(struct tracer *s);
/* The thread has stopped, not at a system call. If it makes a request from its beacon, what was
 * loaded gets copies, and it returns from there; then this returns true. */
bool loader__stopped(struct thread *t);
void loader__system_call(struct thread *t, bool entry, uint64_t number, const uint64_t args[6]);

/* ---- children.c ---- */
/* Returns true if the child has stopped already: *early is to be handled. */
bool thread__made_child(struct thread *t, int event, pid_t child, struct stop *early);
void thread__start(struct thread *t);
void thread__executed(struct thread *t);
/* Looks for threads and children that were made without a tracer (CLONE_UNTRACED). */
void tracer__find_strays(struct tracer *s);

/* ---- stops.c ---- */
void tracer__stopped(struct tracer *s, const struct stop *stop);

/* ---- check.c ---- */
int __attribute__((format(printf, 3, 4)))
start_answer__refuse(struct start_answer *a, int err, const char *format, ...);
/* Stopped; with what it executes for its process. */
int thread__check(struct thread *t, struct start_answer *a);
/* Returns whether the process has code that sets gs. */
int process__check_code(struct tracer *s, pid_t pid, struct start_answer *a);
/* All that is stopped, and what shares its memory. */
int tracer__check(struct tracer *s, struct start_answer *a);

/* ---- seize.c ---- */
/* Seizes a thread, and makes it stop. Returns 1; 0 if it has ended, or is traced already; or -errno
 * and why not. */
int process__seize(struct tracer *s, struct process *p, uint32_t tid, struct start_answer *a);
/* Stops those of its threads that run. */
void process__interrupt(const struct tracer *s, const struct process *p);
/* Collects the stops of threads that were asked to stop. Others are resumed. */
void tracer__collect(struct tracer *s);
/* Waits until all running threads are stopped, or those of p. */
int tracer__await_stops(struct tracer *s, const struct process *p, struct start_answer *a);

/* ---- prepare.c ---- */
/* Before a process that runs is stopped: makes its copies. 0, also if none could be made; or -errno
 * and why it can't be traced. */
int process__prepare(struct tracer *s, struct process *p, struct start_answer *a);
void tracer__unprepare(struct tracer *s);

/* ---- running.c ---- */
/* Stops all threads of these processes; nothing is changed yet. 0, or -errno and why. */
int tracer__stop_running(struct tracer *s, const uint32_t *pids, size_t n, struct start_answer *a);
/* Puts the copies in place, takes threads into them, and resumes them. */
void tracer__begin_running(struct tracer *s);

/* ---- pause.c ---- */
/* As tracer__sees_paused(). */
bool tracer__pause(struct tracer *s);
/* Returns true if all threads are stopped now and it is for tracer__change_disarmed(); otherwise
 * that they are is reported. */
bool tracer__sees_paused(struct tracer *s);
void tracer__go_on(struct tracer *s);

/* ---- disarm.c ---- */
/* Stops all threads, removes the springboards or puts them back, reports that, and resumes all. */
void tracer__set_disarmed(struct tracer *s, bool disarmed);
/* All threads are stopped. */
void tracer__change_disarmed(struct tracer *s);

/* ---- untimed.c ---- */
/* Changes the copies of spaces where all threads are stopped for that. */
void tracer__see_untimed(struct tracer *s);

/* ---- requests.c ---- */
/* Returns -EPIPE if bbtrace is gone. */
int tracer__take_requests(struct tracer *s);

/* ---- serve.c ---- */
void __attribute__((noreturn)) tracer__serve(const struct supervisor_options *o, int socket);

#endif
