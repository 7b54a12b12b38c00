/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock: from ticks of the time stamp counter to CLOCK_MONOTONIC, by samples of both. Private to
 * src/source/inline. For one thread.
 */
#ifndef BBTRACE_SOURCE_INLINE_MERGE_CLOCK_H
#define BBTRACE_SOURCE_INLINE_MERGE_CLOCK_H

#include "util/util.h"

struct ticks_clock;
/* ticks: reads the counter. Takes some milliseconds. */
struct ticks_clock *ticks_clock__new(uint64_t (*ticks)(void));
void ticks_clock__free(struct ticks_clock *c);
/* Compares both clocks, unless that was done a moment ago. */
void ticks_clock__sample(struct ticks_clock *c);
/* Returns the time in ns; ctx is the clock. A tick that is still to come has the present time. */
uint64_t ticks_clock__ns(void *ctx, uint64_t ticks);
/* How many ticks are about a second. */
uint64_t ticks_clock__second(const struct ticks_clock *c);
/* Prints, with -v, how fast it ticks, and how the two clocks drift. */
void ticks_clock__report(const struct ticks_clock *c);

#endif
