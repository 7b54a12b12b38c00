/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sample_profile: how often each line of each function ran, by its distance from the function's
 * declaration, with what was inlined in it where it was, and which functions each line has called:
 * what the profiles of clang (autofdo.c) and gcc (autofdo_gcc.c) consist of. Private to src/output;
 * pure.
 */
#ifndef BBTRACE_OUTPUT_WEIGHTS_SAMPLE_PROFILE_H
#define BBTRACE_OUTPUT_WEIGHTS_SAMPLE_PROFILE_H

#include "output/stats/runs.h"

/* A function of the source, or what was inlined at a place in one. */
struct profile_body {
	uint32_t parent;		/* index; NO_BODY: a function */
	uint32_t offset, discriminator; /* of the call that was inlined, in the parent */
	uint32_t name;			/* index in names */
	uint64_t total;			/* of all its lines, and those of what was inlined */
	uint64_t head;			/* how often it was entered */
	bool is_part; /* it was split off a function, see sample_parts.c: it has no counts in the
			 end */
};
#define NO_BODY UINT32_MAX

/* A place in a body. */
struct profile_spot {
	uint32_t body, offset, discriminator;
};

/* How often a block at a spot ran. Of one copy of the body the hottest block counts; several
 * copies, as of a loop that was unrolled, add up. */
struct profile_line {
	struct profile_spot at;
	uint32_t copy; /* its scope */
	uint64_t count;
};

struct profile_callee {
	struct profile_spot at;
	uint32_t name; /* index in names */
	uint64_t count;
};

struct profile_part_call {
	uint32_t part, caller; /* bodies */
	uint64_t count;
};

/* What the compiler that reads it makes of debug information. */
struct profile_style {
	/* From a discriminator: the one by which blocks of a line are distinguished. */
	uint32_t (*discriminator)(uint32_t dwarf);
	bool whole_names; /* not cut at the first period */
	bool direct;	  /* with the callees of direct calls */
};

struct sample_profile {
	const struct profile_style *style;
	const struct stats *stats;
	const struct plan *plan;
	struct runs runs;
	VEC(char *) names; /* 0: "" */
	VEC(struct profile_body) bodies;
	VEC(uint32_t) order;		    /* of bodies, see sample_profile__within() */
	VEC(struct profile_line) lines;	    /* one for each spot, sorted by it */
	VEC(struct profile_callee) callees; /* sorted by spot, then name */
	struct map64 by_name;		    /* hash of a name -> 1 + index */
	struct map64 by_place;		    /* hash of parent, place and name -> 1 + index */
	VEC(struct profile_part_call) part_calls;
	uint32_t *of_scope; /* its body, NO_BODY: it has no place in the source */
	uint32_t block;	    /* the present one */
};

void sample_profile__init(struct sample_profile *p, struct output *o,
			  const struct profile_style *style);
void sample_profile__free(struct sample_profile *p);

/* The bodies that were inlined in parent are order[*first] and the n - 1 after it, by place;
 * NO_BODY: the functions, the hottest first. Returns n. */
size_t sample_profile__within(const struct sample_profile *p, uint32_t parent, size_t *first);
/* Likewise its lines. */
size_t sample_profile__lines(const struct sample_profile *p, uint32_t body, size_t *first);
/* The functions that a line has called. */
size_t sample_profile__callees(const struct sample_profile *p, const struct profile_spot *at,
			       size_t *first);

/* ---- of its parts ---- */

/* The body of this name there; call->body NO_BODY: the function. */
uint32_t sample_profile__body(struct sample_profile *p, const struct profile_spot *call,
			      uint32_t name);
/* Counts of parts go where they belong, and their bodies have none. Before lines are joined. */
void sample_profile__divide_parts(struct sample_profile *p);

#endif
