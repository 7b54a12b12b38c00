/* SPDX-License-Identifier: BSD-2-Clause */
/* growth: adds functions to a running trace, and removes functions from it. */
#ifndef BBTRACE_SESSION_GROWTH_H
#define BBTRACE_SESSION_GROWTH_H

#include "session/counts/counting.h"
#include "live.h"
#include "select/planning.h"

/* All of it is borrowed, except the plans. */
struct growth {
	struct planning *planning;
	struct plan *plan;
	struct source *source;
	struct live *live;
	struct counting *counting;
	size_t objects;		   /* number of the objects of planning's targets that live has */
	struct output_wants wants; /* the needs of output and trace file */
	VEC(struct plan *) plans;  /* plans that own names and ranges of the present one */
	int failed; /* what ends the trace: as source__take() returned it; 0 if nothing does */
};
/* What changed: numbers of functions and of probes. */
struct growth_change {
	size_t functions, attached, detached, refused;
};
/*
 * Adds functions. text: words as of a command line (targets__find_more()), quoted if they have
 * blanks. Returns when the probes are in place. On an error, which has a message, the trace
 * continues as before, unless failed is set.
 */
int growth__add(struct growth *g, const char *text, struct growth_change *out);
/* Removes functions. Returns of calls that run are not seen. */
int growth__remove(struct growth *g, const char *text, struct growth_change *out);
void growth__free(struct growth *g);

#endif
