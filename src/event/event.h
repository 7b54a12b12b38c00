/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event: what happened to a thread, decoded and independent of the machine and of the mechanism
 * that told it. Front door of src/event.
 */
#ifndef BBTRACE_EVENT_H
#define BBTRACE_EVENT_H

#include "util/util.h"

/* ---- what happens to processes, beside the probes ---- */

enum sideband_type {
	SIDEBAND_FORK,
	SIDEBAND_EXEC,
	SIDEBAND_COMM,
	SIDEBAND_EXIT,
	SIDEBAND_MAP,
	SIDEBAND_LOST,	/* so many side events were lost */
	SIDEBAND_GAP,	/* of this process some events were not seen, nobody knows how many */
	SIDEBAND_INNER, /* in a PID namespace of its own the process is number count */
};

struct sideband_event {
	enum sideband_type type;
	uint64_t time; /* ns, CLOCK_MONOTONIC */
	uint32_t pid, tid, ppid, ptid;
	uint64_t start, len, offset; /* MAP */
	uint32_t major, minor;	     /* MAP */
	uint64_t ino;		     /* MAP */
	uint64_t count;		     /* LOST, INNER */
	const char *text; /* COMM, EXEC: the name; MAP: the path. Valid during the call */
};

#endif
