/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One tracefs event with many probes: definitions in uprobe_events or kprobe_events that share one
 * name are one event (Documentation/trace/kprobetrace.rst, uprobetracer.rst). tracefs is reached
 * through a mount of our own that is nowhere in the tree and goes away with its file descriptor.
 */
#ifndef BBTRACE_PROBE_TRACEFS_H
#define BBTRACE_PROBE_TRACEFS_H

#include "util/util.h"

enum tracefs_kind { TRACEFS_UPROBE, TRACEFS_KPROBE };

/* A file descriptor of tracefs's root; -errno with the message set. */
int tracefs__mount(void);
/* Opens uprobe_events or kprobe_events for appending. */
int tracefs__open(int root, enum tracefs_kind kind);
/* Appends one definition line. -errno as the kernel said. */
int tracefs__define(int fd, const char *line);
/* Deletes the event of this process, where it exists. */
int tracefs__delete(int root, enum tracefs_kind kind);
/* The id of this process's event, for perf_event_open(2). */
int tracefs__event_id(int root, enum tracefs_kind kind);
/* "bbtrace_PID/user_PID" or "bbtrace_PID/kernel_PID": not all files tell the group. */
void tracefs__event_name(enum tracefs_kind kind, pid_t pid, char *out, size_t size);
/*
 * Hits of this process's kernel event that were missed, because they came while the same CPU was
 * handling a kprobe (kprobe_profile, Documentation/trace/kprobetrace.rst). -errno: not known.
 */
int64_t tracefs__missed(int root);
/* Deletes the definitions that killed bbtrace processes left behind; how many. */
int tracefs__sweep(int root);

#endif
