/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode: turns records of the BPF program (bpf/wire.h) into events. Compact records are expanded
 * from the thread's last full record. Targets that the BPF program could not read are looked up in
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
 * Decodes one record of the ring buffer: size bytes, 8-byte aligned. Every record must be passed,
 * in order. settled is a CLOCK_MONOTONIC time in ns: all records made before it have been passed.
 * The event is valid until the next call. NULL: the record doesn't belong to this plan (a message
 * is set).
 */
const struct event *decoder__event(struct decoder *d, const void *record, size_t size,
				   uint64_t settled);

#endif
