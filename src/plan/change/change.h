/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * change: how a plan grows and changes while a trace runs. Part of the public headers of src/plan;
 * uses the data and the lookups of plan.h. First: plan__change(), plan__extend(), plan__refuse().
 */
#ifndef BBTRACE_PLAN_CHANGE_CHANGE_H
#define BBTRACE_PLAN_CHANGE_CHANGE_H

#include "plan/plan.h"

/*
 * What a plan gains while a trace runs. rows has the tables' rows and the new counts. The first
 * rows of three tables replace the rows that amended_... number; the others are appended. All
 * numbers in rows are those of the extended plan. A site is PROBE_CHANGING from before its probe is
 * attached until it is in place, and from before it is removed until it is gone. Extents and gaps
 * of an amended function replace those that it has, if there are any.
 */
struct plan_increment {
	struct plan rows;
	VEC(uint32_t) amended_functions; /* their ranges stay */
	VEC(uint32_t) amended_sites, amended_blocks;
	bool recounts; /* rows.breaks and rows.sides replace the plan's */
};
/*
 * Returns true if a site may become this one; before is NULL for a new site. A site neither gains
 * nor loses its events at once: in between it is PROBE_CHANGING, since no probe is attached
 * everywhere at one moment.
 */
bool plan_site__may_become(const struct plan_site *before, const struct plan_site *after);
/* Extends the plan. Names, ranges and mnemonics are borrowed and must outlive it. */
void plan__extend(struct plan *p, struct plan_increment *i);
/* Frees the tables. */
void plan_increment__free(struct plan_increment *i);

/*
 * How the plan of a running trace becomes another one, in two increments (change.c, difference.c):
 * plan_change__begin() is applied before probes are attached and removed, and plan_change__end()
 * when all are in place and all events until then were replayed. Probes that count are only removed
 * after that.
 */
struct plan_change {
	struct plan to;	       /* its rows have the numbers of the extended plan */
	id_vec attach, detach; /* sites */
	id_vec logged; /* sites of copies whose events are shown from now on, or no longer */
	bool removes;  /* some functions, or probes, are no longer traced */
};
/*
 * next must have been built with now as plan_options.before, and its names must outlive now.
 * Functions that it doesn't have become FUNCTION_REMOVED. Returns -EBUSY if a probe that is in
 * place would change its meaning.
 */
int plan__change(const struct plan *now, const struct plan *next, struct plan_change *out);
void plan_change__begin(const struct plan_change *c, const struct plan *now,
			struct plan_increment *out);
/* Sites that the kernel has refused meanwhile (plan__refuse(now)) stay refused. */
void plan_change__end(struct plan_change *c, const struct plan *now, struct plan_increment *out);
void plan_change__free(struct plan_change *c);

/* A probe could not be attached: removes it from the site and updates the counts. */
void plan__refuse(struct plan *p, uint32_t site, enum probe_refusal why);

#endif
