/* SPDX-License-Identifier: BSD-2-Clause */
/* totals: the counters of a run, each described once. Private to src/output; pure. */
#ifndef BBTRACE_OUTPUT_BASE_TOTALS_H
#define BBTRACE_OUTPUT_BASE_TOTALS_H

#include "output/output.h"

struct total {
	const char *name;
	struct json_key key; /* the key of the same */
	const char *before;  /* text; NULL: not in the summary line */
	const char *after;
	const char *one; /* instead of after, if it is 1; NULL: the same */
	bool rare;	 /* text: omitted if 0 */
	bool second;	 /* text: only together with the previous one */
	bool bound;	 /* text: may be a lower bound, by totals.at_least */
	bool flag;	 /* JSON: true, or omitted */
	bool nonzero;	 /* JSON: omitted if 0 */
	size_t offset;	 /* of a uint64_t in struct trace_totals */
};
extern const struct total totals[];
extern const size_t ntotals;

static inline uint64_t total__of(const struct total *row, const struct trace_totals *t)
{
	return *(const uint64_t *)((const char *)t + row->offset);
}

/* Puts them as members of an object. */
void totals__json(const struct trace_totals *t, struct json *j);

#endif
