/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of records for each thread (bpf/ring.h), which is not read until its last records are
 * needed: when it ends, is killed, forks or calls exec, when its process maps a file, or when the
 * trace is dumped or ends.
 */
#ifndef BBTRACE_SOURCE_PROBES_STREAM_OWN_RINGS_H
#define BBTRACE_SOURCE_PROBES_STREAM_OWN_RINGS_H

#include "source/probes/session.h"

/* Before the BPF object is loaded: whether there will be such rings, and the sizes of the maps. */
void own_rings__size(struct probe *p, struct wire_config *config);
/* After it. 0, or -errno with a message. */
int own_rings__open(struct probe *p);
void own_rings__close(struct own_rings *r);
/* Passes on what a thread, the threads of a process, or all have recorded up to this time and was
 * not passed on yet. What was overwritten before is reported as a gap. */
int own_rings__give_thread(struct probe *p, uint32_t tid, uint64_t until,
			   const struct source_sink *sink);
int own_rings__give_process(struct probe *p, uint32_t pid, uint64_t until,
			    const struct source_sink *sink);
int own_rings__give_all(struct probe *p, const struct source_sink *sink);
/* Before an event of the ring of all: what its thread recorded before; and if that ends, all. */
int own_rings__before(struct probe *p, const struct event *e, const struct source_sink *sink);
/* What could not be recorded, or shown. */
int own_rings__report(struct probe *p, const struct source_sink *sink);

#endif
