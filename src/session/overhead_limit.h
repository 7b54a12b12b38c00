/* SPDX-License-Identifier: BSD-2-Clause */
/* --max-overhead: when tracing takes too much of the traced processes' time. See overhead_limit.c.
 */
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
	unsigned most;		 /* percent; 0: off */
	struct sources *sources; /* what they cost beside their events; NULL: nothing */
	bool copies;		 /* functions run as copies, which cost, too */
	struct map64 index;	 /* pid -> index into looks + 1 */
	VEC(struct overhead_look) looks;
	uint64_t lost;	  /* events, at the last verdict */
	uint64_t next;	  /* when to look again */
	unsigned over;	  /* verdicts in a row */
	unsigned percent; /* the last one */
};
#define BRAKE_CPU 200000000 /* ns of the processes' CPU time between two verdicts */

unsigned overhead_limit__percent(uint64_t tracing, uint64_t cpu);
/* A verdict: of that much CPU time tracing took so much, ns. True: twice in a row it was too much.
 */
bool overhead_limit__judge(struct overhead_limit *b, uint64_t tracing, uint64_t cpu);
/* What a process has used until now, cpu 0: it has ended. Adds what is new to the two sums. */
void overhead_limit__look(struct overhead_limit *b, struct overhead_look now, uint64_t *tracing,
			  uint64_t *cpu);
/* To be called now and then; time: ns. True: the trace has to end. */
bool overhead_limit__tick(struct overhead_limit *b, const struct trace *t, uint64_t time);
/* Says why it ended, which sites cost most, and what would cost less. */
void overhead_limit__report(const struct overhead_limit *b, const struct trace *t,
			    const struct plan *plan);
void overhead_limit__free(struct overhead_limit *b);

#endif
