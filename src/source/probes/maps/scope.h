/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scope: the processes that the filters name, so that no others need breakpoints. Filters by name,
 * user or cgroup don't name processes: with them every process that maps the file is slowed at each
 * hit.
 */
#ifndef BBTRACE_SOURCE_PROBES_MAPS_SCOPE_H
#define BBTRACE_SOURCE_PROBES_MAPS_SCOPE_H

#include "source/source.h"

enum scope_kind {
	SCOPE_ALL,	   /* unknown: every process */
	SCOPE_PROCESSES,   /* these, without their children */
	SCOPE_DESCENDANTS, /* these and their future children */
};

struct scope {
	enum scope_kind kind;
	pid_vec pids; /* the processes, with SCOPE_DESCENDANTS also their current children */
	bool threads; /* only some of their threads */
	pid_vec tids; /* which */
};

void scope__find(struct scope *s, const struct probe_filters *f);
void scope__free(struct scope *s);
/* SCOPE_DESCENDANTS: adds children that were forked since; true: there were some. */
bool scope__grow(struct scope *s);
/* Appends the current threads in the scope. */
void scope__threads(const struct scope *s, pid_vec *out);

#endif
