/* SPDX-License-Identifier: BSD-2-Clause */
/* live: a trace in progress: replays, renders and records what the probes report. Connects
 * src/source and src/output. */
#ifndef BBTRACE_SESSION_LIVE_H
#define BBTRACE_SESSION_LIVE_H

#include "dumps.h"
#include "held.h"
#include "pipeline/write/record.h"
#include "pipeline/show.h"
#include "select/events/watch.h"

struct live {
	struct show show;
	struct recorder *recorder; /* NULL if nothing is recorded */
	struct source_sink sink;
	struct watch_hits *watches; /* NULL if there are no watchpoints */
	unsigned own_numbers; /* number of bbtrace's own PIDs in /proc's NSpid; 0: not read yet */
	bool count_the_dead;  /* exit events may have been lost, so dead threads are searched */
	VEC(struct sideband_event) dead;
	struct perf_maps *generated;
	struct held held; /* samples that wait for names of generated code */
	bool holds;	  /* there are no other events, whose order they would leave */
	struct dumps dumps;
	uint64_t found_dead; /* time of that search; CLOCK_MONOTONIC, ns */
	bool closed;	     /* recording has stopped: later events are left out */
	/* Called when a thread executes a switch, or maps a file (switching.h); NULL if not
	 * needed. */
	int (*switched)(void *ctx, const struct event *e);
	void (*mapped)(void *ctx, const struct sideband_event *e);
	void *switched_ctx;
	/* As source_sink.rest; NULL if it is not needed. */
	void (*rest)(void *ctx, uint64_t bytes);
	void *rest_ctx;
};

void live__open(struct live *l, const struct plan *plan, const struct targets *targets,
		const struct trace_options *options, struct output *output,
		struct recorder *recorder, uint64_t limit);
/* Reads the names and mappings of running processes: of pids, or of all if empty. */
void live__rescan(struct live *l, const pid_vec *pids);
/* Called after each poll: ends threads whose exit event was lost. All events before settled have
 * been processed. Returns 0, or what the sink returns. */
int live__tick(struct live *l, uint64_t now, uint64_t settled);
/* Passes on what is held back: nothing follows. */
int live__give_held(struct live *l);
void live__close(struct live *l);

#endif
