/* SPDX-License-Identifier: BSD-2-Clause */
/* The open calls of a thread. See calls.c. Pointers to calls are valid until the next push, remove,
 * kill or wake. */
#ifndef BBTRACE_TRACE_CALLS_H
#define BBTRACE_TRACE_CALLS_H

#include "replay.h"

/* Calls open and within reach. */
unsigned calls__depth(const struct thread *th);
/* The innermost of them, NULL: none. */
struct call *calls__top(struct thread *th);
struct call *calls__push(struct trace *t, struct thread *th, const struct call *f);
/* It returned. */
void calls__remove(struct thread *th, struct call *f);
/* It ended unseen: counted. */
void calls__abandon(struct trace *t, struct thread *th, struct call *f);
void calls__abandon_all(struct trace *t, struct thread *th);
void calls__suspend_above(struct thread *th, size_t i);
/* As calls__suspend_above(), the call itself too. */
void calls__suspend_from(struct thread *th, const struct call *c);
void calls__suspend_below(struct thread *th, uint64_t sp);
void calls__reuse(struct trace *t, struct thread *th, uint64_t sp);
/* An event shows that f runs: what was inside of it is out of reach. */
struct call *calls__make_current(struct thread *th, struct call *f);
/* The innermost call entered with this stack pointer, one that is awake first; NULL: none. */
struct call *calls__at(struct thread *th, uint64_t sp);
/* The innermost call of function whose stack encloses sp; NULL: none. */
struct call *calls__enclosing(struct thread *th, uint32_t function, uint64_t sp);

#endif
