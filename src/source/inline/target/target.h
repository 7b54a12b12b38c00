/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * target: threads of traced processes, their registers, their memory, and system calls that they
 * are made to execute. The lowest room of the supervisor's process; state.h has its state. It
 * decides nothing: its callers decide which thread is stopped, resumed or detached.
 *
 * First to read: thread__resume_wait(), thread__call(), space__swap().
 */
#ifndef BBTRACE_SOURCE_INLINE_TARGET_TARGET_H
#define BBTRACE_SOURCE_INLINE_TARGET_TARGET_H

#include "state.h"

/* The C library names it where the kernel has it. Where it hasn't, there are no copies either. */
#ifndef PT_SYSEMU
#define PTRACE_SYSEMU 31
#endif

/* ---- notify.c ---- */
void tracer__notify(struct tracer *s, const struct notice *notice, int fd); /* takes fd */
void tracer__notify_text(struct tracer *s, uint32_t type, const struct process *p, uint32_t object,
			 const char *text);
void tracer__flush(struct tracer *s);

/* ---- tables.c ---- */
struct thread *tracer__thread(const struct tracer *s, pid_t tid);
struct thread *tracer__add_thread(struct tracer *s, pid_t tid, struct process *p);
struct process *tracer__process(const struct tracer *s, pid_t pid);
struct process *tracer__add_process(struct tracer *s, pid_t pid);
/* Drops its stops that were not handled yet. */
void tracer__forget_stops(struct tracer *s, pid_t tid);
/* NULL at the end. */
struct thread *tracer__each(const struct tracer *s, size_t *i);
/* Iterates over those that share this memory. */
struct thread *tracer__each_in(const struct tracer *s, const struct space *space, size_t *i);
struct process *tracer__each_process(const struct tracer *s, size_t *i);
/* Keeps the stop of a child whose parent has not reported it. */
void tracer__early(struct tracer *s, const struct stop *stop);

/* ---- tracee.c ---- */
uint64_t thread__get(struct thread *t, enum tracee_reg reg);
void thread__set(struct thread *t, enum tracee_reg reg, uint64_t value);
int thread__load_regs(struct thread *t);
int thread__store_regs(struct thread *t);
/* Lets it run, by this request, with this signal. */
int thread__resume(struct thread *t, int request, int sig);
/*
 * The same, but waits for its next stop and returns that status; 0 if it is gone. STATUS_LATE: it
 * waits in the kernel for longer than others can. If it is THREAD_STOPPED then, it has given that
 * up, and has stopped where the instruction begins for which it waited; else it runs.
 */
#define STATUS_LATE (-1)
int thread__resume_wait(struct thread *t, int request, int sig);
/* Sets the mask of its signals. Returns false if it is gone. */
bool thread__mask(struct thread *t, uint64_t *out);
bool thread__set_mask(struct thread *t, uint64_t mask);
/* Returns true if it has a shadow stack, which has to change with what a stepped call or ret
 * does. */
bool thread__has_shadow_stack(pid_t tid);
/* The stop that it is in must not be reported again, though it isn't resumed. */
void thread__take_stop(struct thread *t);
/* Returns true if there is a stop or an end of any thread. */
bool tracer__next(struct tracer *s, struct stop *out);
/* Returns true if it is in a system call that will be executed again. The kernel does that, unless
 * the thread is made to do something else before: thread__restart_call() sets its registers so that
 * it executes the call itself. */
bool thread__is_in_call(struct thread *t);
void thread__restart_call(struct thread *t);

/* ---- causes.c ---- */
bool thread__stopped_for_text(const struct thread *t, int status);
bool siginfo__is_fault(const siginfo_t *si);
/* By the step flag. */
bool siginfo__is_step(const siginfo_t *si);
/* Returns true if it uses gs for something other than its log. */
bool thread__has_own_gs(struct thread *t);
/* Returns true if it has stopped because it has set gs (gs.c): the program must not get that
 * signal. uses: it is known to use gs; else SIGURG may be that of a socket. */
bool siginfo__is_for_gs(const siginfo_t *si, bool uses);
bool thread__stopped_for_gs(const struct thread *t, int status, bool uses);

/* ---- slot.c ---- */
struct log_ring *area__ring(const struct area *a, uint32_t slot);
/* Returns its address in the program. */
uint64_t area__slot_base(const struct area *a, uint32_t slot);
/* Returns true if the program uses the register that finds the ring. */
bool thread__lost_slot(struct thread *t);
uint64_t thread__position(struct thread *t);
/* While this is set, a full ring is not waited for. */
void thread__hurry(struct thread *t);
/* While its log waits for the reader, a stopped thread that is stepped has to wait, too: for some
 * milliseconds, then it hurries. */
void thread__await_reader(struct thread *t);
/* Returns true if it waits for an answer (bell.c). That may be wrong at any time. */
bool thread__asks(const struct thread *t);
void thread__take_question(struct thread *t);

/* ---- held.c ---- */
/* Sends a signal that arrives later than it did. Its information is held here (t->held); if nobody
 * is here any more when it arrives, its code is SENT_ANEW. */
#define SENT_ANEW (-1000)
void thread__send_anew(struct thread *t, int sig);
/* Replaces *si, and the information of the thread's stop, by what was held, if the signal was sent
 * again. */
void thread__take_held(struct thread *t, siginfo_t *si);
/* This stop, by what can't be blocked, is for later. */
void thread__put_off(struct thread *t, int status);
void thread__send_put_off(struct thread *t);

/* ---- loaded.c ---- */
/* Returns the copies that addr is in, or of whose object it is code. */
const struct loaded *space__copies_at(const struct space *s, uint64_t addr);
const struct loaded *space__object_at(const struct space *s, uint64_t addr);
/* Returns the copies that addr is in, or on the way to, where the original has another instruction
 * or none. */
const struct loaded *space__detour_at(const struct space *s, uint64_t addr);
/* Returns true if, with its springboards, the original can't be executed from there on. */
bool space__is_changed(const struct space *s, uint64_t addr);
void loaded__init_states(struct loaded *l);
void loaded__copy_states(struct loaded *l); /* of a fork: its own */
void loaded__free_states(struct loaded *l);

/* ---- memory.c ---- */
/* Becomes what it is to be, if it is as expected: what the program has put there stays. */
enum swapped { SWAP_NOTHING, SWAP_DONE, SWAP_FOREIGN };
enum swapped bytes__swap(uint8_t *is, const uint8_t *expected, const uint8_t *becomes, size_t n);
/* Returns -1 with errno. */
int process__open_memory(pid_t pid, int flags);
void space__open_memory(struct space *s, struct process *p);
bool space__read(const struct space *s, uint64_t addr, void *out, size_t n);
/* What is in one page is written at once, if its memory is open for writing; else a stopped thread
 * of it writes words. Returns false if there is none. */
bool space__write(const struct space *s, uint64_t addr, const void *bytes, size_t n);
/*
 * All writes to the program's text use this, except where a patch is one of many (loaded__write()):
 * it writes over what is expected there, or nothing. Returns true if the bytes are there now. All
 * threads that could execute it, or write there, are stopped.
 */
bool space__swap(const struct space *s, uint64_t addr, const uint8_t *expected,
		 const uint8_t *becomes, size_t n);

/* ---- open_memory.c ---- */
/* Stopped as for thread__call(): for writing, if that can be. */
void thread__open_memory(struct thread *t);

/* ---- stop_others.c ---- */
/* Stops all other threads of its space, and waits for that until then (ns); 0: for seconds, on a
 * busy machine. Their stops are reported later, like any. Returns false if one runs on. */
bool thread__stop_others(const struct thread *than, uint64_t until);
/* Returns true if it has stopped or ended, and that is still to be reported. */
bool thread__has_stopped(pid_t tid);
/* Stops all other threads of its space, whose stops are reported later, like any. than: NULL for
 * all. */
bool space__stop_others(const struct tracer *s, const struct space *space,
			const struct thread *than, uint64_t until);

/* ---- inject.c ---- */
/* Sends it to this code, which is written to addr: its registers are stored. Returns false if it is
 * gone. */
bool thread__send(struct thread *t, uint64_t addr, const struct injected_code *code);
/* The thread is stopped, and is in the same state afterwards; a system call that it was in is
 * executed again then. Returns the system call's result; -EPERM if a filter may end it for that. */
int64_t thread__call(struct thread *t, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		     uint64_t e, uint64_t f);
/*
 * It opens this file, by a path shorter than OPEN_PATH. opened is called while it is still where it
 * has done that, with its descriptor's number and the address of OPEN_ROOM bytes that nothing uses.
 */
#define OPEN_PATH 32
#define OPEN_ROOM 8
typedef void thread_opened_fn(struct thread *t, int number, uint64_t room, struct fetched *file);
void thread__open(struct thread *t, const char *path, int flags, thread_opened_fn *opened,
		  struct fetched *file);

/* ---- late.c ---- */
/* The thread is late with that: from now on nothing is done to it before it has stopped. */
void thread__is_late(struct thread *t, const struct injected *e, uint64_t at, uint64_t end);
/* What a stop of a late thread means: it runs again; it has done what it was made to do, and is to
 * be resumed; it has given that up, and the stop is its own. */
enum late_end { LATE_GOES_ON, LATE_DONE, LATE_UNDONE };
enum late_end thread__end_late(struct thread *t, int status);

/* ---- dispatch.c ---- */
/* While it is made to make a call, a program does not answer its system calls itself. */
void thread__stop_dispatch(struct thread *t, struct dispatch *was);
void thread__resume_dispatch(struct thread *t, struct dispatch *was);
/* A system call that the program is to answer was not executed. */
bool siginfo__is_dispatch(const siginfo_t *si);
/* The same for a stop. */
bool thread__is_dispatched(const struct thread *t, int status);

/* ---- seccomp.c ---- */
/* Returns how many filters a thread has; UINT32_MAX if it may hardly do anything. */
uint32_t thread__filters(pid_t tid);
/* For a stopped thread: returns true if they allow what it is made to do. This needs CAP_SYS_ADMIN.
 * *opens: it is allowed to open files, too. */
bool thread__filters_allow(struct thread *t, uint32_t *filters, bool *opens);
/* Returns true if its process has no more filters than were known to allow it. */
bool thread__may_call(const struct thread *t);

/* ---- fetch.c ---- */
/* A copy of the process's descriptor of that number. -1: errno; *out is to be closed all the same.
 */
int thread__fetch(const struct thread *t, int number, struct fetched *out);
/* Closes the process's descriptor, if it is still that of this file, or its file could not be
 * fetched. */
void thread__close_fetched(struct thread *t, const struct fetched *f);

/* ---- text_calls.c ---- */
/* From now on, a thread that this process traces stops before it returns from a system call by
 * which it changes code that has copies. */
void text__watch(struct tracer *s);
/* Return true if this thread was sent this signal by that, which can be asked once; and if others
 * wrote since this was asked. */
bool text__took_call(const struct tracer *s, pid_t tid, int sig);
bool text__foreigners_wrote(struct tracer *s);
/* Its objects have changed, or another process has its memory now. */
void space__watch_text(const struct tracer *s, const struct space *space);
void text__forget_process(const struct tracer *s, pid_t pid);

#endif
