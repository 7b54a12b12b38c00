/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One tracefs event with many probes: definitions in uprobe_events or kprobe_events that share one
 * name are one event (Documentation/trace/kprobetrace.rst, uprobetracer.rst). Where tracefs is
 * mounted is src/target's to know (kernel_fs__open()).
 *
 * A definition is deleted only when its event is closed, for the kernel doesn't look: of an event
 * with several probes it frees all but the last one while they are armed, and the next hit or exec
 * is an oops (kernel/trace/trace_uprobe.c, unregister_trace_uprobe(): "goto unreg"; seen on Linux
 * 6.1 and 7.2).
 */
#ifndef BBTRACE_PROBE_TRACEFS_H
#define BBTRACE_PROBE_TRACEFS_H

#include "util/util.h"

/* KRETPROBE: the return probes beside the kprobes, an event of its own in the same file. Nothing
 * but its name and its id is asked for: it is opened, locked and deleted with the kprobes'. */
enum tracefs_kind { TRACEFS_UPROBE, TRACEFS_KPROBE, TRACEFS_KRETPROBE };

/* Whose definitions: a bbtrace by the number that its own PID namespace gives it, and that
 * namespace by its inode. */
struct tracer {
	uint32_t ns;
	pid_t pid;
};

struct tracer tracer__own(void);
/* Is its PID namespace this one's own? */
bool tracer__is_neighbour(struct tracer t);
/* Is this the initial PID namespace, which numbers the processes of all? */
bool tracer__sees_all(void);

/* A file descriptor of tracefs's root, which is mounted where it isn't; -errno with the message
 * set. */
int tracefs__mount(void);
/* Could this be defined? Mounts nothing. 0, or -errno with the message set. */
int tracefs__check(enum tracefs_kind kind);
/* Opens uprobe_events or kprobe_events for appending; from then on this tracer counts as one that
 * lives, until its process has ended and who else shares its files. */
int tracefs__open(int root, enum tracefs_kind kind);
/* Appends one definition line. -errno as the kernel said. */
int tracefs__define(int fd, const char *line);
/* Deletes a tracer's event, with KPROBE both of them, which is closed. */
int tracefs__undefine(int fd, enum tracefs_kind kind, struct tracer t);
/* That of this process, where it exists. */
int tracefs__delete(int root, enum tracefs_kind kind);
/* The id of this process's event, for perf_event_open(2). */
int tracefs__event_id(int root, enum tracefs_kind kind);
/* "bbtrace_PID/user_PID" or "bbtrace_PID/kernel_PID": not all files tell the group. In an inner PID
 * namespace its inode comes behind each PID. pid: as bbtrace's own namespace numbers it. */
void tracefs__event_name(enum tracefs_kind kind, pid_t pid, char *out, size_t size);
/*
 * Hits of this process's kernel event that were missed, because they came while the same CPU was
 * handling a kprobe (kprobe_profile, Documentation/trace/kprobetrace.rst). -errno: not known.
 */
int64_t tracefs__missed(int root);

/* ---- for leftovers.c ---- */

int tracefs__open_file(int root, enum tracefs_kind kind);
int tracefs__read(int root, enum tracefs_kind kind, char **text);
/* The next definition of a bbtrace in what was read; behind its name, NULL: none. */
const char *tracefs__next_tracer(const char *text, struct tracer *t);
/* Only one open file at a time holds a tracer's lock. -EAGAIN: it lives, or is being deleted. */
int tracefs__lock(int fd, struct tracer t, bool wait);
void tracefs__unlock(int fd, struct tracer t);

/* Deletes the definitions that killed bbtrace processes left behind, in the tracefs of this root.
 */
void leftovers__sweep(int root);
/* The same where one is mounted already; else nothing. */
void leftovers__sweep_mounted(void);

#endif
