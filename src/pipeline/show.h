/* SPDX-License-Identifier: BSD-2-Clause */
/* show: passes events and sideband events to the output, for live traces and trace files alike. */
#ifndef BBTRACE_PIPELINE_SHOW_H
#define BBTRACE_PIPELINE_SHOW_H

#include "cli/request.h"

struct merged_plan;
struct recorder;
struct tally;

#define UNTRACED_SHOWN 1000

struct show {
	const struct plan *plan;
	struct trace *trace;
	struct report_filter *filter; /* NULL if all steps pass */
	struct last *last;	      /* --last: keeps the steps; NULL: they are output at once */
	struct output *output;	      /* NULL if steps are only counted */
	/* its plan is the output's; NULL: that is the plan of the trace */
	struct merged_plan *joined;
	struct recorder *recorder; /* of the run in work */
	struct spaces *spaces;
	bool undated;			    /* events may be older than the mappings before them */
	bool inlines;			    /* read from which functions code was inlined */
	VEC(const struct object *) objects; /* of the kernel, to resolve addresses */
	struct resolver resolver;
	uint64_t limit;	   /* of printed events; 0 if none */
	bool cut;	   /* the limit or --head is reached: the rest is not read */
	bool brief;	   /* totals are noted only if something is missing */
	uint64_t hits;	   /* number of hits of traced functions' probes */
	uint64_t added_up; /* of these, hits without an event (show__run()) */
	uint64_t sideband_lost;
	struct trace_totals totals;
	struct tally *tally;	/* set if probes count; NULL if they make events */
	missed_vec missed;	/* by site, or by the mechanism that missed them */
	untraced_vec untraced;	/* the first UNTRACED_SHOWN */
	struct map64 executing; /* processes whose program is not mapped yet */
	struct map64 not_fully; /* processes that are not fully traced */
	uint64_t nuntraced;	/* number of these */
	struct map64 reported;	/* -v: processes whose PID in their own namespace was printed */
};

/* Takes ownership of spaces; output is borrowed. */
void show__open(struct show *s, const struct plan *plan, const struct trace_options *options,
		struct spaces *spaces, struct output *output, uint64_t limit);
void show__close(struct show *s);
/* Reads which functions an object's code was inlined from, if that is wanted. */
void show__read_inlined(const struct show *s, const struct object *o);
/* To be called when the plan was extended. */
void show__plan_extended(struct show *s);
/* Passes only steps that match, from now on. */
void show__filter(struct show *s, const struct report_filter_options *options);
/* Makes a tally: probes count instead of making events. */
void show__count(struct show *s);
/* Adds a count. */
int show__counted(struct show *s, const struct count *n);
/* Passes the counts so far to the output. */
void show__give_counts(struct show *s);
/* Passes the counts that were given last to another output, too. */
void show__pass_counts(struct show *s, struct output *o);
/* Passes the branches that were added up so far to the output. */
void show__add_up(struct show *s);
/* Sets all counts to 0. */
void show__reset_counts(struct show *s);
/* Keeps only the last branches of each thread; again: drops those that are kept. */
void show__keep_last(struct show *s, const struct request *req);
/* Outputs the kept branches of a process now. ends: and then drops them. */
int show__dump(struct show *s, uint32_t pid, bool newest_first, bool ends);
/* Kernel: adds an object for resolving addresses. */
void show__object(struct show *s, const struct object *o);
/* Returns 0; 1 if the limit is reached; -errno. */
int show__event(struct show *s, const struct event *e);
/* As trace__feed_run(), if nothing needs the steps of branches: sets *n to the number of words.
 * recorder keeps the records; NULL if none does. */
int show__run(struct show *s, const struct event_run *run, struct recorder *recorder, size_t *n);
/* Returns the mapping of a MAP event; the path is borrowed. */
struct map sideband__map(const struct sideband_event *e);
int show__sideband(struct show *s, const struct sideband_event *e);
int show__lost(struct show *s, uint32_t pid, uint32_t tid, uint64_t count);
/* A part of the file is lost. */
int show__damage(struct show *s, const struct trace_damage *d);
/* Hits that probes missed, in all processes. */
void show__missed(struct show *s, const struct missed *m);
/* Ends the input; what is kept is not output. */
int show__end(struct show *s);
/* Passes the kept branches of a thread to fn, or outputs them if fn is NULL. */
int show__give_thread(struct show *s, uint32_t pid, uint32_t tid, bool newest_first, step_fn fn,
		      void *ctx);
/* Ends the input and outputs what is kept. newest_first: for --last. */
int show__finish(struct show *s, bool newest_first);
/* Returns the counters of the steps that passed. */
const struct trace_totals *show__totals(struct show *s);
/* Adds a copy of the row, unless it is there already, or UNTRACED_SHOWN are. */
void untraced__add(untraced_vec *all, const struct untraced *row);
/* Writes the rows into a trace file. */
int untraced__write(const untraced_vec *all, struct trace_writer *w);
/* Frees the rows, and what they hold. */
void untraced__free(untraced_vec *u);
/* Prints the summary on stderr, and a note if names may be missing. */
void show__summary(struct show *s);

#endif
