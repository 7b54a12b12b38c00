/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source: where events come from. Public header of src/source.
 *
 * The probes of the running kernel are one source (probes/), a trace file that is read again is
 * another (recorded.c). Each is opened by a function of its own, and used through its operations
 * from then on. Several can run at once: their events are merged in order of time.
 */
#ifndef BBTRACE_SOURCE_H
#define BBTRACE_SOURCE_H

#include "event/event.h"
#include "file/file.h"
#include "source/probes/probes.h"

/* What takes the events. Pointers are valid during the call. Non-zero stops the source, which
 * returns it. */
struct source_sink {
	void *ctx;
	int (*event)(void *ctx, const struct event *e);
	int (*sideband)(void *ctx, const struct sideband_event *e);
	/* Events of a thread that were lost behind its last one; pid 0: nobody knows whose; 0
	 * events: hits that are none by themselves. */
	int (*lost)(void *ctx, uint32_t pid, uint32_t tid, uint64_t count);
	/* Hits that were missed, of whichever process, traced or not. */
	void (*missed)(void *ctx, uint64_t hits);
};

#define SOURCE_ENDED 2 /* there will be no more events */

struct source;
struct source_ops {
	const char *name;
	/* Can this machine do it at all? 0, or -errno with a message. */
	int (*check)(void);
	/* Everything is put in place, silent. -EINTR: interrupted. */
	int (*attach)(struct source *s);
	/* From now on there are events. */
	void (*start)(struct source *s);
	/* No event from now on; those that were not taken yet stay to be taken. Async-signal-safe.
	 */
	void (*stop)(struct source *s);
	/* Waits at most timeout_ms for events and gives all that there are to sink, in order of
	 * time. 0; SOURCE_ENDED; -errno, or what sink returned. */
	int (*take)(struct source *s, int timeout_ms, const struct source_sink *sink);
	/* A time, CLOCK_MONOTONIC ns: what happened before it has been taken. */
	uint64_t (*settled)(const struct source *s);
	/* After stop: what is left, then the losses that no event told of. */
	int (*losses)(struct source *s, const struct source_sink *sink);
	/* Detaches and frees it. */
	void (*close)(struct source *s);
};

/* What each source begins with. */
struct source {
	const struct source_ops *ops;
};
extern const struct source_ops probes_ops, recorded_ops;

/* ---- several of them as one (sources.c) ---- */

struct sources;
struct sources *sources__new(void);
/* Takes it over. */
void sources__add(struct sources *s, struct source *source);
/* As the operations of a source. Events of several are merged in order of time, those of one stay
 * in their order. */
int sources__attach(struct sources *s);
void sources__start(struct sources *s);
void sources__stop(struct sources *s);
int sources__take(struct sources *s, int timeout_ms, const struct source_sink *sink);
uint64_t sources__settled(const struct sources *s);
int sources__losses(struct sources *s, const struct source_sink *sink);
/* Closes and frees them all. */
void sources__close(struct sources *s);

/* ---- a trace file (recorded.c) ---- */

/* Of calls, begin, object and mapped are called, with ctx: the rest of a file goes to the sink.
 * calls and reader must outlive it. Errors of take are those of trace_reader__next(). */
struct source *recorded__open(struct trace_reader *reader, const struct trace_calls *calls,
			      void *ctx);

#endif
