/* SPDX-License-Identifier: BSD-2-Clause */
/* The open calls of a thread: how they begin and end (calls.c), and their list (call_list.c).
 * Pointers to calls are valid until the next push, remove, abandon or resume. */
#ifndef BBTRACE_TRACE_CALLS_H
#define BBTRACE_TRACE_CALLS_H

#include "replay.h"

/* Returns the number of active calls. */
unsigned calls__depth(const struct thread *th);
/* Returns the innermost active call; NULL if there is none. */
struct call *calls__top(struct thread *th);
/* Returns the innermost active call that is further out than c; NULL if there is none. */
struct call *calls__caller(struct thread *th, const struct call *c);
struct call *calls__push(struct trace *t, struct thread *th, const struct call *f);
/* Adds copies of from's calls, further in than those of to. */
void calls__copy(struct thread *to, const struct thread *from);
/* Removes a call that returned. */
void calls__remove(struct thread *th, struct call *f);
/* Control has come back to the innermost call. */
void calls__resume_top(struct thread *th);
/* Removes a call that ended unseen, and counts it. */
void calls__abandon(struct trace *t, struct thread *th, struct call *f);
/* Abandons c, and with it the calls that ended in a tail call of it. */
void calls__abandon_chain(struct trace *t, struct thread *th, struct call *c);
void calls__abandon_all(struct trace *t, struct thread *th);
/* Removes all calls when the trace ends; those that run count as open. */
void calls__leave_open(struct trace *t, struct thread *th);
/* What stands before each call has changed. */
void calls__relink(struct thread *th);
void calls__suspend_above(struct thread *th, size_t i);
/* As calls__suspend_above(), but suspends the call itself, too. */
void calls__suspend_from(struct thread *th, const struct call *c);
/* Makes the calls dormant that are deeper on the stack than sp. */
void calls__suspend_below(struct thread *th, uint64_t sp);
/* Returns true if a dormant call may be in this stack slot. */
bool calls__may_reuse(const struct thread *th, uint64_t sp);
void calls__reuse(struct trace *t, struct thread *th, uint64_t sp);
/* An event shows that f runs: makes the calls that f made dormant. */
struct call *calls__make_current(struct thread *th, struct call *f);
/* Returns the innermost call entered with this stack pointer, preferably an active one; NULL if
 * there is none. */
struct call *calls__at(struct thread *th, uint64_t sp);
/* Returns the innermost call of the function whose frame may contain sp; NULL if there is none. */
struct call *calls__enclosing(struct thread *th, uint32_t function, uint64_t sp);

#endif
