/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * show: the one way from records and side events to what is shown, be they live or out of a trace
 * file.
 */
#ifndef BBTRACE_CMD_SHOW_H
#define BBTRACE_CMD_SHOW_H

#include "cmd.h"

struct show {
	const struct plan *plan;
	struct trace *trace;
	struct report_filter *filter; /* NULL: all steps are given out */
	struct last *last;	      /* --last: steps wait here; NULL: they go out at once */
	struct output *output;	      /* NULL: nothing is rendered, only counted */
	struct spaces *spaces;
	VEC(const struct object *) objects; /* kernel: where addresses may lie */
	struct resolver resolver;
	uint64_t limit; /* of printed events; 0: none */
	uint64_t sideband_lost;
	struct trace_totals totals;
	struct map64 told; /* -v: processes whose number in their own PID namespace was told */
};

/* Takes spaces and pick over; output is borrowed. */
void show__open(struct show *s, const struct plan *plan, const struct trace_options *options,
		struct spaces *spaces, struct output *output, uint64_t limit);
void show__close(struct show *s);
/* From now on only what is picked. */
void show__filter(struct show *s, const struct report_filter_options *options);
/* Only the last so many branches of each thread. */
void show__keep_last(struct show *s, uint64_t branches);
/* Kernel: another object in which addresses may lie. */
void show__object(struct show *s, const struct object *o);
/* 0; 1: the limit is reached; -errno. */
int show__event(struct show *s, const struct event *e);
int show__sideband(struct show *s, const struct sideband_event *e);
int show__lost(struct show *s, uint32_t pid, uint32_t tid, uint64_t count);
/* Hits that probes missed, of all processes. */
void show__missed(struct show *s, uint64_t hits);
/* There is no more. newest_first: of --last. */
int show__finish(struct show *s, bool newest_first);
/* Counters as what is given out has them. */
const struct trace_totals *show__totals(struct show *s);
/* The summary on stderr, and a note where names may lack. */
void show__summary(struct show *s);

#endif
