/* SPDX-License-Identifier: BSD-2-Clause */
/* growth: functions that are added to a running trace, and removed from it. */
#ifndef BBTRACE_SESSION_GROWTH_H
#define BBTRACE_SESSION_GROWTH_H

#include "session/counts/counting.h"
#include "live.h"
#include "select/planning.h"

/* All of it is borrowed but the plans. */
struct growth {
	struct planning *planning;
	struct plan *plan;
	struct sources *sources;
	struct live *live;
	struct counting *counting;
	size_t objects;		   /* of planning's targets, that live has */
	struct output_wants wants; /* of the output, and of the file */
	VEC(struct plan *) plans;  /* whose names and ranges the plan has now */
	int failed; /* what ends the trace: as what sources__take() returned; 0: nothing */
};
/* What changed: the number of functions and of probes. */
struct growth_change {
	size_t functions, attached, detached, refused;
};
/*
 * text: words as of a command line, in quotes if they have blanks (targets__find_more()). Returns
 * when the probes are in place. On an error, which has a message, the trace goes on as before,
 * unless failed says otherwise.
 */
int growth__add(struct growth *g, const char *text, struct growth_change *out);
/* Removes functions: calls of them that run are not seen to end. */
int growth__remove(struct growth *g, const char *text, struct growth_change *out);
void growth__free(struct growth *g);

#endif
