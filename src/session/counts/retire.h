/* SPDX-License-Identifier: BSD-2-Clause */
/* retire: removes probes that have shown what they can show (--once, --retire N). */
#ifndef BBTRACE_SESSION_COUNTS_RETIRE_H
#define BBTRACE_SESSION_COUNTS_RETIRE_H

#include "cli/request.h"

struct tally;
struct retire {
	uint64_t hits; /* a site retires after this number of hits; 0: none does */
	/* a conditional retires only after both sides were seen, or its unseen side is observed */
	bool strict;
	uint64_t *last; /* strict: the hits at the last look, by site; owned */
	uint64_t removed, rounds;
	bool over; /* the probes can't be changed any more */
};
struct retire retire__begin(const struct request *req, const struct plan *plan);
void retire__end(struct retire *r);
/* Retires sites by what was counted so far. Changes the plan and the probes. Returns 0, or
 * -errno if they could not be changed. */
int retire__tick(struct retire *r, struct plan *plan, struct source *source, struct tally *tally);
/* Notes which probes are left, and what they cost. */
void retire__report(const struct retire *r, const struct plan *plan, const struct tally *tally);

#endif
