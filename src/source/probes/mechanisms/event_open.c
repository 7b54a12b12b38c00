// SPDX-License-Identifier: BSD-2-Clause
/* The perf events of a trace event. */
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include "event.h"

/*
 * Opens a perf event of it for one thread: 0 for this one, -1 for the whole system. Breakpoints
 * stay in the processes of threads with an event; elsewhere they are removed at the first hit
 * (kernel/trace/trace_uprobe.c, uprobe_perf_func()).
 */
int event__open(int id, pid_t tid, struct perf_event_attr attr)
{
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.size = sizeof(attr);
	attr.config = id;
	return syscall(SYS_perf_event_open, &attr, tid, tid < 0 ? 0 : -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * Threads and, with -f, children inherit the event at fork and so miss no hit. But the scheduler
 * swaps the perf contexts of related tasks (kernel/events/core.c, perf_event_context_sched_out())
 * while the event stays bound to its process, so it would end with the wrong one. From 6.13 on,
 * contexts whose counts can be read per thread are not swapped.
 */
int uprobe_event__open(const struct probe *p, pid_t tid)
{
	struct perf_event_attr attr = {0};

	if (feature__inherited_events()) {
		attr.inherit = 1;
		attr.inherit_thread = p->scope.kind == SCOPE_PROCESSES;
		attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	}
	return event__open(p->programs.event_id, tid, attr);
}

bool uprobe_event__may_open(const struct probe *p)
{
	autoclose int fd = uprobe_event__open(p, 0);

	return fd >= 0;
}
