/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timeline: what each thread did when. Private to src/output; pure.
 *
 * One pass in constant memory: for each thread how many events each interval of time has, and of
 * all threads the longest calls. Implied steps have no time and don't count.
 */
#ifndef BBTRACE_OUTPUT_PAGES_TIMELINE_H
#define BBTRACE_OUTPUT_PAGES_TIMELINE_H

#include "trace/trace.h"
#include "util/json.h"

#define TIMELINE_LANES	 64   /* threads; the others share one more lane */
#define TIMELINE_BUCKETS 1024 /* intervals */
#define TIMELINE_CALLS	 8192
#define TIMELINE_DEPTH	 256 /* deeper calls that don't return are not shown */
#define TIMELINE_POINTS	 10000

struct timeline_bucket {
	uint64_t events, lost, unknown;
	/* ns in traced calls that returned; in the shared lane, of all its threads */
	uint64_t busy;
};

struct timeline_call {
	uint64_t start, ns;
	uint32_t function, depth;
	uint16_t lane;
	bool open;	     /* it didn't return: ns is until its thread or the trace ended */
	char *args, *result; /* as they are shown; NULL: not known; owned */
};

struct timeline_open {
	uint64_t start;
	uint32_t function; /* NO_FUNCTION: its entry was not seen */
	char *args;	   /* owned */
};

struct timeline_lane {
	uint32_t pid, tid;
	uint64_t goroutine;
	char comm[16];
	bool shared;
	uint64_t last; /* the time of its last timed step; 0: none */
	unsigned nopen;
	struct timeline_open open[TIMELINE_DEPTH]; /* by depth */
	struct timeline_bucket buckets[TIMELINE_BUCKETS];
};

/* A mark, or that recording stopped or started. */
struct timeline_point {
	uint64_t time;
	enum step_type type;
	char *text;   /* of a mark; owned */
	int32_t lane; /* whose thread's; -1: none's */
};

struct timeline {
	struct map64 index; /* step__thread_key() -> 1 + lane */
	struct timeline_lane *lanes[TIMELINE_LANES + 1];
	unsigned nlanes;
	unsigned shift; /* a bucket is 1 << shift ns; bucket 0 begins at base << shift */
	uint64_t base;
	uint64_t first, last;	     /* of all times; last 0: none */
	uint32_t run;		     /* of several traces: the one whose steps come */
	uint64_t run_last;	     /* its last time */
	struct timeline_call *calls; /* a heap: the shortest is the first */
	size_t ncalls;
	VEC(struct timeline_point) points;
	uint64_t omitted; /* calls that are not among them, each at most as long as the first */
};

/* values: the arguments of an entry, or the result of a return, as they are shown; NULL if not
 * known. */
void timeline__step(struct timeline *t, const struct step *step, const char *values);
/* Adds the calls that are still open; once. */
void timeline__end(struct timeline *t);
/* Appends a JSON object; its times are ns from t->first, which is begin ns after the start. */
void timeline__json(const struct timeline *t, uint64_t start_time, struct json *j);
void timeline__free(struct timeline *t);

#endif
