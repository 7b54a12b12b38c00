/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One tracefs event with many probes: definitions in uprobe_events or kprobe_events that share one
 * name are one event (Documentation/trace/kprobetrace.rst, uprobetracer.rst). kernel_fs__open()
 * knows where tracefs is mounted.
 *
 * A definition is deleted only after its event is closed, since the kernel doesn't check that: of
 * an event with several probes it frees all but the last one while they are armed, and the next hit
 * or exec is an oops (kernel/trace/trace_uprobe.c, unregister_trace_uprobe(): "goto unreg"; seen on
 * Linux 6.1 and 7.2).
 */
#ifndef BBTRACE_SOURCE_PROBES_MECHANISMS_TRACEFS_H
#define BBTRACE_SOURCE_PROBES_MECHANISMS_TRACEFS_H

#include "util/util.h"

/* KRETPROBE: the return probes, a separate event in the kprobes' file. Only its name and id are
 * needed: it is opened, locked and deleted together with the kprobes. */
enum tracefs_kind { TRACEFS_UPROBE, TRACEFS_KPROBE, TRACEFS_KRETPROBE };

/* The owner of definitions: a bbtrace's PID in its own PID namespace, and that namespace's
 * inode. */
struct tracer {
	uint32_t ns;
	pid_t pid;
};

struct tracer tracer__own(void);
/* Returns true if its PID namespace is this process's own. */
bool tracer__is_neighbour(struct tracer t);
/* Returns true if this is the initial PID namespace, where all processes are visible. */
bool tracer__sees_all(void);

/* A descriptor of tracefs's root, mounting it if necessary; or -errno with a message. */
int tracefs__mount(void);
/* Opens uprobe_events or kprobe_events for appending. From then on this tracer counts as live,
 * until its process and those that share its files have ended. */
int tracefs__open(int root, enum tracefs_kind kind);
/* Appends one definition line. Returns the kernel's -errno. */
int tracefs__define(int fd, const char *line);
/*
 * Deletes the definition of this process's event in use that has the argument at=ADDR, of a kprobe:
 * the kernel waits for its hits (kernel/trace/trace_kprobe.c, unregister_trace_kprobe()). Returns
 * -EBUSY if it is the event's last one, -ENOENT if there is none.
 */
int tracefs__remove(int root, enum tracefs_kind kind, uint64_t addr);
/* Deletes as many as possible. */
void tracefs__remove_all(int root, enum tracefs_kind kind, const uint64_t *addresses, size_t n);
/* Deletes a tracer's closed event; with KPROBE, both events. */
int tracefs__undefine(int fd, enum tracefs_kind kind, struct tracer t);
/* Deletes the event of this process, if it exists. */
int tracefs__delete(int root, enum tracefs_kind kind);
/* The id of this process's event, for perf_event_open(2). */
int tracefs__event_id(int root, enum tracefs_kind kind);
/* "bbtrace_PID/user_PID" or "bbtrace_PID/kernel_PID": not all files show the group. In an inner PID
 * namespace its inode follows each PID. pid: in bbtrace's own namespace. */
void tracefs__event_name(enum tracefs_kind kind, pid_t pid, char *out, size_t size);
/*
 * Reports how many hits of each probe of this process's kernel event were missed, because they came
 * while the same CPU was handling a kprobe (kprobe_profile, Documentation/trace/kprobetrace.rst).
 * at is the probe's address; 0 if not known. Returns -errno if not known.
 */
typedef void (*missed_fn)(void *ctx, uint64_t at, uint64_t hits);
int tracefs__misses(int root, missed_fn fn, void *ctx);
/* The same from the files' texts (kprobe_profile.c). event is "GROUP/NAME", whose probes have an
 * argument at=ADDR. */
int kprobe_profile__read(const char *profile, const char *definitions, const char *event,
			 missed_fn fn, void *ctx);

/* ---- for leftovers.c ---- */

int tracefs__open_file(int root, enum tracefs_kind kind);
int tracefs__read(int root, enum tracefs_kind kind, char **text);
/* Finds the next definition of a bbtrace in text; returns the position after its name, NULL:
 * none. */
const char *tracefs__next_tracer(const char *text, struct tracer *t);
/* Takes a tracer's lock, which only one open file can hold. -EAGAIN: the tracer is live, or being
 * deleted. */
int tracefs__lock(int fd, struct tracer t, bool wait);
void tracefs__unlock(int fd, struct tracer t);

/* ---- what other tracers leave or are still closing (leftovers.c, event_close.c) ---- */

struct plan;
/* While one of these descriptors or its copies are open, an event is being closed whose probes'
 * instructions the kernel has copied. Returns -1 if that can't be signaled. */
int tracefs__begin_closing(int root);
/* Waits until none of these is open, for a minute. Returns -EBUSY with a message if one still
 * is. */
int tracefs__await_closings(int root);
/* The same if a file of the plan changed so recently that such a copy may be of its old bytes. */
int closings__await(int root, const struct plan *plan);

/* Before attaching: deletes the definitions that killed bbtrace processes have left in the tracefs
 * of this root, and awaits closings. Returns 0 or -EBUSY. */
int leftovers__handle(int root, const struct plan *plan);
/* The same if tracefs is mounted already. */
int leftovers__handle_mounted(const struct plan *plan);

#endif
