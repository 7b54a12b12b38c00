/* SPDX-License-Identifier: BSD-2-Clause */
/* event: one trace event with many probes, of programs (event.c) or of the kernel (kprobe_event.c).
 */
#ifndef BBTRACE_SOURCE_PROBES_MECHANISMS_EVENT_H
#define BBTRACE_SOURCE_PROBES_MECHANISMS_EVENT_H

#include "source/probes/session.h"
#include "tracefs.h"

struct perf_event_attr;
/*
 * Opens a perf event of it for one thread: 0 for this one, -1 for the whole system. Breakpoints
 * stay in the processes of threads with an event; elsewhere they are removed at the first hit
 * (kernel/trace/trace_uprobe.c, uprobe_perf_func()).
 */
int event__open(int id, pid_t tid, struct perf_event_attr attr);
/* Returns a descriptor of the definitions, after those of killed tracers were deleted; name is the
 * event's. */
int event__begin(struct attachment *a, enum tracefs_kind kind, const struct plan *plan, char *name,
		 size_t size);
/* Opens the event, if probes were defined. -EINVAL, -EINTR with a message. */
int event__end(struct probe *p, struct attachment *a, enum tracefs_kind kind, uint32_t defined);
/* Opens it for the system, or for the threads that are traced, and attaches the program. */
int event__open_all(struct probe *p, struct attachment *a, enum tracefs_kind kind);

#endif
