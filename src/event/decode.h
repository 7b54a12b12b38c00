/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode: records of the kernel side (bpf/wire.h) as events. Compact records are expanded by what
 * the thread's last full one said, and targets that the kernel side could not read are looked up in
 * the program's file.
 */
#ifndef BBTRACE_EVENT_DECODE_H
#define BBTRACE_EVENT_DECODE_H

#include "event/event.h"
#include "plan/plan.h"

struct decoder;
/* plan must outlive it. */
struct decoder *decoder__new(const struct plan *plan);
void decoder__free(struct decoder *d);
/*
 * A record of the ring, size bytes, aligned for 8; all of them are to be given, in their order.
 * settled: a time, CLOCK_MONOTONIC ns: all records that were made before it have been given.
 * The event is valid until the next call. NULL: no record of this plan (a message is set).
 */
const struct event *decoder__event(struct decoder *d, const void *record, size_t size,
				   uint64_t settled);

#endif
