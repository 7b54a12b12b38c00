/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source: where events come from. Public header of src/source.
 *
 * Sources are the probes in programs and in the running kernel (probes/), the logs of copied
 * functions with these probes (inline/), and a trace file that is read again (recorded.c). Each has
 * its own function to open it; after that it is used through struct source_ops.
 */
#ifndef BBTRACE_SOURCE_SOURCE_H
#define BBTRACE_SOURCE_SOURCE_H

#include "event/event.h"
#include "file/file.h"
#include "source/inline/inline.h"
#include "source/probes/probes.h"

/* Callbacks that receive events. Pointers are valid during the call. A non-zero result stops the
 * source and is returned by it. */
struct source_sink {
	void *ctx;
	int (*event)(void *ctx, const struct event *e);
	int (*sideband)(void *ctx, const struct sideband_event *e);
	/* The thread's records after its last event were lost: at least count events. pid 0: the
	 * thread is unknown. count 0: only records that are no events (witnesses). */
	int (*lost)(void *ctx, uint32_t pid, uint32_t tid, uint64_t count);
	void (*missed)(void *ctx, const struct missed *m);
	/* What probes counted since the last time. NULL: nothing counts. */
	int (*counted)(void *ctx, const struct count *n);
	/* What a thread has logged next: takes words from its beginning instead of their events,
	 * *n of them, and brings run->thread to after them. NULL: takes none. */
	int (*run)(void *ctx, const struct event_run *run, size_t *n);
	/* The conditions of the plan left out these numbers of invocations, and of hits in them,
	 * which had no events. May be NULL. */
	void (*muted)(void *ctx, uint64_t invocations, uint64_t hits);
	/* source_ops.losses takes long: this many bytes of log wait to be decoded, fewer from call
	 * to call. May be NULL. */
	void (*rest)(void *ctx, uint64_t bytes);
};

#define SOURCE_ENDED 2 /* there are no more events */

/* How long to wait for events: at most this time, and until fd is readable. fd -1: none. */
struct source_wait {
	int timeout_ms;
	int fd;
};

/* What a source knows of itself, at any time: each fills in what it has, or adds it. */
struct source_facts {
	enum probe_spares spares; /* which processes that aren't traced it doesn't slow down … */
	const char *unspared;	  /* … and why no more, if the filters name processes; or NULL */
	bool definitions;	  /* it has definitions in tracefs, which are deleted at the end */
	bool filtered;		  /* threads were where it records, which the filters leave out */
	bool nothing;		  /* after losses: it could be put into no process */
	unsigned verified_insns;  /* of its BPF programs */
	uint64_t left_children;	  /* without -f: of the traced processes, which were not traced */
	uint64_t counted_twice;	  /* hits that may have been, by change */
	uint64_t unseen_ends;	  /* it counts: threads, of any process, whose end was not seen */
	/* Those that the filters name, with -f also their children; empty: any process. */
	const pid_vec *processes;
};

struct source;
/* One that is NULL is that of the inner source. If that has none either, it is of no meaning, and
 * there is nothing to do. */
struct source_ops {
	/* Puts everything in place; there are no events yet. -EINTR: interrupted. */
	int (*attach)(struct source *s);
	/* Events are recorded from here on. */
	void (*start)(struct source *s);
	/* No more events are recorded; those recorded before can still be taken.
	 * Async-signal-safe. */
	void (*stop)(struct source *s);
	/* Waits for events and passes all that are ready to sink, in order of time. 0;
	 * SOURCE_ENDED; -errno, or what sink returned. */
	int (*take)(struct source *s, struct source_wait wait, const struct source_sink *sink);
	/* A time, CLOCK_MONOTONIC ns: all events before it have been taken. */
	uint64_t (*settled)(const struct source *s);
	/* Passes all events up to now, without waiting for later ones. NULL: none ever wait. */
	int (*catch_up)(struct source *s, const struct source_sink *sink);
	/* Passes what was counted since the last time, up to now; NULL: it doesn't count. */
	int (*counts)(struct source *s, const struct source_sink *sink);
	/* Passes the hits that were missed since the last time; NULL: only losses does. */
	void (*misses)(struct source *s, const struct source_sink *sink);
	/* After stop: passes the remaining events and counts, then the losses that no event
	 * reported. */
	int (*losses)(struct source *s, const struct source_sink *sink);
	/* Detaches and frees it. */
	void (*close)(struct source *s);
	/* After stop: events that are left are not passed any more, but counted as lost. NULL:
	 * there are never many. Async-signal-safe. */
	void (*cut)(struct source *s);
	/*
	 * After stop: takes its probes away, so that what it traces costs nothing, until unpark
	 * puts them back, before start. What can't be taken away stays and is silent. 0, or -errno
	 * with a message; unpark: nothing is there then. NULL: there is nothing to take away.
	 */
	int (*park)(struct source *s);
	int (*unpark)(struct source *s);

	/* ---- what is known of it; all may be NULL ---- */

	void (*facts)(const struct source *s, struct source_facts *out);
	/* Appends the names of the mechanisms in use. */
	void (*mechanisms)(const struct source *s, struct str *out);
	/* Switches of recording that were lost: how many; *last: the index of the last one. */
	uint64_t (*lost_switches)(const struct source *s, size_t *last);
	/* What it has cost each process until now, ns, beside the events' own costs. */
	void (*each_cost)(struct source *s, void (*fn)(void *ctx, uint32_t pid, uint64_t ns),
			  void *ctx);
	/* Which filters threads pass: for a source that logs what they do. */
	struct thread_filters (*thread_filters)(struct source *s);

	/* ---- while it is attached: 0, or -errno with a message. NULL: -ENOTSUP ---- */

	/*
	 * The plan's sites have changed: attaches those that count now (PROBE_COUNT) and detaches
	 * the others. Each hit in between is counted once. On an error nothing has changed.
	 */
	int (*change)(struct source *s);
	/*
	 * Attaches the probes of sites that plan__extend() has added, or that get a probe now: they
	 * are PROBE_CHANGING. An entry gets its return probe, too. Those that the kernel refuses
	 * are reported by plan__refuse(). On an error, with a message that says what to do instead,
	 * none is attached. -ENOSPC: more sites than there is room for.
	 */
	int (*attach_sites)(struct source *s, const uint32_t *sites, size_t n);
	/*
	 * Detaches the probes of these sites, which are PROBE_CHANGING. Each hit of other sites
	 * meanwhile is recorded or counted once. A breakpoint that can't be removed stays, with a
	 * note on what it costs, and its hits are ignored.
	 */
	int (*detach_sites)(struct source *s, const uint32_t *sites, size_t n);
	/* Markers were added to options.markers: attaches those from this one on. On an error none.
	 */
	int (*attach_markers)(struct source *s, size_t from);
	/* Hits are recorded from here on. -ENOSPC: all debug registers are in use. */
	int (*watch)(struct source *s, const struct probe_watch *w);
	/* Gives up all capabilities permanently but keep and those that it still needs, root's
	 * user, and system calls (rights__forbid()). On an error something was kept. */
	int (*drop_privileges)(struct source *s, uint64_t keep, unsigned forbidden);

	/* ---- the same, without an answer; all may be NULL ---- */

	/* The watched value as it is now was seen last, unless there was a hit. */
	void (*note_value)(struct source *s, const struct probe_watch *w);
	/* A child of bbtrace, which is not traced where no filter names processes, or is no longer
	 * there. */
	void (*exclude)(struct source *s, uint32_t pid, bool excluded);
	/* Drops the sideband events so far. From here on, only those of the traced processes are
	 * passed, if the filters name processes. */
	void (*forget_sideband)(struct source *s);
};

/* The first member of every source. */
struct source {
	const struct source_ops *ops;
	struct source *inner; /* a source whose events it passes on with its own; or NULL */
};

/* ---- the operations of a source, or of its inner ones (source.c); NULL has no facts ---- */

int source__attach(struct source *s);
void source__start(struct source *s);
void source__stop(struct source *s);
void source__cut(struct source *s);
int source__take(struct source *s, struct source_wait wait, const struct source_sink *sink);
uint64_t source__settled(const struct source *s);
int source__catch_up(struct source *s, const struct source_sink *sink);
int source__counts(struct source *s, const struct source_sink *sink);
void source__misses(struct source *s, const struct source_sink *sink);
int source__losses(struct source *s, const struct source_sink *sink);
int source__park(struct source *s);
int source__unpark(struct source *s);
struct source_facts source__facts(const struct source *s);
void source__mechanisms(const struct source *s, struct str *out);
uint64_t source__lost_switches(const struct source *s, size_t *last);
void source__each_cost(struct source *s, void (*fn)(void *ctx, uint32_t pid, uint64_t ns),
		       void *ctx);
/* -ENOTSUP, with a message: the source can't. */
int source__change(struct source *s);
int source__attach_sites(struct source *s, const uint32_t *sites, size_t n);
int source__detach_sites(struct source *s, const uint32_t *sites, size_t n);
int source__attach_markers(struct source *s, size_t from);
int source__watch(struct source *s, const struct probe_watch *w);
int source__drop_privileges(struct source *s, uint64_t keep, unsigned forbidden);
void source__note_value(struct source *s, const struct probe_watch *w);
void source__exclude(struct source *s, uint32_t pid, bool excluded);
void source__forget_sideband(struct source *s);
/* Closes the source with its inner ones. NULL: nothing. */
void source__close(struct source *s);

/* ---- the probes (probes/) ---- */

/* Loads what the plan needs; plan and options must outlive it. Errors: -EPERM (with the capability
 * that is missing), -ENOTSUP, -ENOMEM, ... Attaching enters what the kernel
 * refuses into the plan with plan__refuse(). */
int probes__open(struct plan *plan, const struct probe_options *options, struct source **out);
/* Can probes of programs that are attached so (NULL: by the best mechanism) do instructions that
 * would be single-stepped: plan_options.executes? *err, with a message: why the kernel can't. */
bool probes__can_execute(const char *attach, int *err);

/* ---- copies that log (inline/) ---- */

/* Starts the supervisor of the command, or the processes. plan and copies must outlive it. 0, or
 * -errno with a message. */
int inlined__start(const struct inline_options *options, struct inliner **out);
/* A source of what inner reports, the probes, and of what the copies log. Takes ownership of inner;
 * the inliner must outlive it. */
struct source *inlined__source(struct inliner *i, struct source *inner);
/* Detaches from all processes. i NULL: nothing. */
void inlined__end(struct inliner *i);

/* ---- a trace file (recorded.c) ---- */

/* Of calls, begin, object and mapped are called, with ctx; the rest of the file goes to the sink.
 * calls and reader must outlive the source. take returns the errors of trace_reader__next(). */
struct source *recorded__open(struct trace_reader *reader, const struct trace_calls *calls,
			      void *ctx);

#endif
