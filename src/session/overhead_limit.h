/* SPDX-License-Identifier: BSD-2-Clause */
/* overhead_limit: --max-overhead: ends a trace that takes too much of the traced processes'
 * time. */
#ifndef BBTRACE_SESSION_OVERHEAD_LIMIT_H
#define BBTRACE_SESSION_OVERHEAD_LIMIT_H

#include "source/source.h"
#include "trace/trace.h"

/* A process at the last verdict, ns. */
struct overhead_look {
	uint32_t pid;
	uint64_t cpu, tracing;
};

struct overhead_limit {
	unsigned most; /* percent; 0: off */
	/* they report costs other than those of their events; NULL if none does */
	struct source *source;
	bool copies;	    /* functions run as copies, which cost time, too */
	struct map64 index; /* pid -> index into looks + 1 */
	VEC(struct overhead_look) looks;
	uint64_t lost;	  /* number of lost events at the last verdict */
	uint64_t next;	  /* time of the next look */
	unsigned over;	  /* number of verdicts in a row that are too high */
	unsigned percent; /* of the last verdict */
};
#define VERDICT_CPU 200000000 /* ns of the processes' CPU time between two verdicts */

unsigned overhead_limit__percent(uint64_t tracing, uint64_t cpu);
/* Adds a verdict: tracing took `tracing` of `cpu`, ns. Returns true if it was too much twice in
 * a row. */
bool overhead_limit__judge(struct overhead_limit *b, uint64_t tracing, uint64_t cpu);
/* Adds what a process has used since the last look to the two sums. cpu 0: it has ended. */
void overhead_limit__look(struct overhead_limit *b, struct overhead_look now, uint64_t *tracing,
			  uint64_t *cpu);
/* Called from time to time; time is in ns. Returns true if the trace has to end. */
bool overhead_limit__tick(struct overhead_limit *b, const struct trace *t, uint64_t time);
/* Notes why it ended, which sites cost most, and what would cost less. */
void overhead_limit__report(const struct overhead_limit *b, const struct trace *t,
			    const struct plan *plan);
void overhead_limit__free(struct overhead_limit *b);

#endif
