/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths: how often each whole path of a function ran, and how long it took. Private to src/output;
 * pure.
 *
 * src/plan/graph/acyclic.h defines a path. A path counts if all of it was seen; what else ran is
 * counted apart, by what is missing of it.
 */
#ifndef BBTRACE_OUTPUT_PATHS_PATHS_H
#define BBTRACE_OUTPUT_PATHS_PATHS_H

#include "output/stats/stats.h"
#include "plan/graph/acyclic.h"

/* The most nodes of the tree of paths; those beyond are counted apart. */
#define PATHS_NODES (1u << 20)

enum apart {
	APART_NOT,
	APART_BEFORE,  /* it began before the trace, or where no path is known to begin */
	APART_UNKNOWN, /* a part of it is lost or unknown */
	APART_LEFT,    /* the call went on elsewhere: an exception, longjmp(3) */
	APART_OPEN,    /* its end was not seen */
	APART_MORE,    /* beyond PATHS_NODES */
	APARTS
};

/* A beginning of paths: those that have begun, and taken the same edges up to now. */
struct paths_node {
	uint32_t parent; /* NO_NODE: a beginning */
	uint32_t way;	 /* from there; of a beginning its first block */
	uint32_t path;	 /* that ended here: index into paths + 1; 0: none */
};

struct path_row {
	uint32_t function, node;
	uint32_t start; /* its first block */
	bool is_entry;	/* it begins at the function's entry; else after a back edge */
	uint64_t count, timed;
	uint64_t near; /* of the timed: where it began or ended has no event, the next one's time is
			  taken */
	uint64_t ns, min, max;
	struct stats_net net;
	uint64_t number; /* by path_counts__end(); 0: it has none */
};

struct paths_function {
	uint64_t calls,
		/* whole paths: that begin at the entry; that begin after a back edge */
		loops;
	uint64_t apart[APARTS];
	uint64_t ns;	/* of its paths, by path_counts__end() */
	bool net;	/* likewise: of all of them the time without tracing is known */
	uint32_t first; /* by path_counts__end(): its paths are rows[first … first + n) */
	uint32_t n;
};

struct path_counts {
	const struct plan *plan;
	struct acyclic *ways;
	bool *jumped_into; /* by function: plan__is_jumped_into() */
	struct paths_function *functions;
	size_t nfunctions;
	VEC(struct paths_node) nodes;
	VEC(struct path_row) rows;
	struct map64 children; /* node << 32 | way -> index into nodes */
	struct map64 begins;   /* function, block, at the entry -> likewise */
	struct map64 threads;  /* step__thread_key() -> struct path_thread * */
	struct path_thread *last;
	uint64_t last_key;
	struct map64 callees; /* site -> name of what it called first, const char * */
};

void path_counts__init(struct path_counts *p, const struct plan *plan);
void path_counts__plan_extended(struct path_counts *p);
void path_counts__step(struct path_counts *p, const struct step *s);
/* Ends all paths; sorts the rows: by function, costliest first. */
void path_counts__end(struct path_counts *p);
void path_counts__free(struct path_counts *p);

/* ---- what a path consists of (parts.c) ---- */

struct path_part {
	uint32_t site; /* a conditional, an indirect jump, or a call */
	uint32_t way;  /* of a call WAY_NOT_TAKEN */
};
typedef VEC(struct path_part) path_parts;
/* How it ends. */
struct path_end {
	enum path_edge edge; /* PATH_LOOPS, PATH_ENDS */
	uint32_t block;	     /* its last one */
	uint32_t site;	     /* of that: NO_SITE: it falls through */
	uint32_t to;	     /* PATH_LOOPS: the loop's first block */
};
/* Appends its parts in order. */
void path__parts(struct path_counts *p, const struct path_row *row, path_parts *parts,
		 struct path_end *end);
uint64_t path__number(struct path_counts *p, const struct path_row *row);

/* ---- what the formats share (paths.c) ---- */

/* Sets the functions of which anything ran and that are shown, costliest first. */
void paths_format__functions(const struct output *o, id_vec *out);
int paths_format__begin(struct output *o);
void paths_format__extend(struct output *o);
int paths_format__take(struct output *o, const struct step *s);
void paths_format__drop(struct output *o);
#define PATHS_FORMAT                                                                               \
	.wants = {.events = OUTPUT_STEPS,                                                          \
		  .path_times = true,                                                              \
		  .durations = true,                                                               \
		  .lines = true,                                                                   \
		  .scopes = true},                                                                 \
	.size = sizeof(struct path_counts), .at_end = true, .begin = paths_format__begin,          \
	.plan_extended = paths_format__extend, .step = paths_format__take,                         \
	.free = paths_format__drop

#endif
