/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes that are removed when they have shown what they can show (--once, --retire N). */
#ifndef BBTRACE_SESSION_COUNTS_RETIRE_H
#define BBTRACE_SESSION_COUNTS_RETIRE_H

#include "cli/request.h"

struct tally;
struct retire {
	uint64_t hits; /* after so many a site retires; 0: none does */
	bool strict; /* a conditional not before both sides were seen, or its unseen side is watched
		      */
	uint64_t *last; /* strict: by site: hits at the last look; owned */
	uint64_t removed, rounds;
	bool over; /* the probes can't be changed any more */
};
struct retire retire__begin(const struct request *req, const struct plan *plan);
void retire__end(struct retire *r);
/* Which sites retire by what was counted up to now. Changes the plan and the probes; 0, or -errno:
 * they could not be changed. */
int retire__tick(struct retire *r, struct plan *plan, struct sources *sources, struct tally *tally);
/* Notes what stays, and what that costs. */
void retire__report(const struct retire *r, const struct plan *plan, const struct tally *tally);

#endif
