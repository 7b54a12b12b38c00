/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source: where events come from. Public header of src/source.
 *
 * Sources are the probes in the running kernel (probes/) and a trace file that is read again
 * (recorded.c). Each has its own function to open it; after that it is used through struct
 * source_ops. Several sources can run at once: their events are merged in order of time.
 */
#ifndef BBTRACE_SOURCE_H
#define BBTRACE_SOURCE_H

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
	 * *n of them, and brings run->thread to behind them. NULL: takes none. */
	int (*run)(void *ctx, const struct event_run *run, size_t *n);
	/* So many invocations were left out by the conditions of the plan: so many hits had no
	 * events. NULL: nobody asks. */
	void (*muted)(void *ctx, uint64_t invocations, uint64_t hits);
};

#define SOURCE_ENDED 2 /* there are no more events */

/* How long to wait for events: at most this time, and until fd is readable. fd -1: none. */
struct source_wait {
	int timeout_ms;
	int fd;
};

struct source;
struct source_ops {
	const char *name;
	/* Whether this machine supports the source: 0, or -errno with a message. */
	int (*check)(void);
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
	/* Passes all events up to now, without waiting for later ones; NULL: there are none that
	 * wait. */
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
};

/* The first member of every source. */
struct source {
	const struct source_ops *ops;
};
extern const struct source_ops probes_ops, recorded_ops;

/* ---- several sources as one (sources.c) ---- */

struct sources;
struct sources *sources__new(void);
/* Takes ownership of source. */
void sources__add(struct sources *s, struct source *source);
/* The operations of a source, on all of them. Events are merged in order of time; those of one
 * source stay in its order. */
int sources__attach(struct sources *s);
void sources__start(struct sources *s);
void sources__stop(struct sources *s);
void sources__cut(struct sources *s);
int sources__take(struct sources *s, struct source_wait wait, const struct source_sink *sink);
uint64_t sources__settled(const struct sources *s);
int sources__catch_up(struct sources *s, const struct source_sink *sink);
int sources__counts(struct sources *s, const struct source_sink *sink);
void sources__misses(struct sources *s, const struct source_sink *sink);
int sources__losses(struct sources *s, const struct source_sink *sink);
int sources__park(struct sources *s);
int sources__unpark(struct sources *s);
/* Closes and frees them all. */
void sources__close(struct sources *s);

/* ---- a trace file (recorded.c) ---- */

/* Of calls, begin, object and mapped are called, with ctx; the rest of the file goes to the sink.
 * calls and reader must outlive the source. take returns the errors of trace_reader__next(). */
struct source *recorded__open(struct trace_reader *reader, const struct trace_calls *calls,
			      void *ctx);

#endif
