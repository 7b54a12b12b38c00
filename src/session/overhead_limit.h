/* SPDX-License-Identifier: BSD-2-Clause */
/* --max-overhead: when tracing takes too much of the traced processes' time. See brake.c. */
#ifndef BBTRACE_CMD_BRAKE_H
#define BBTRACE_CMD_BRAKE_H

#include "source/source.h"
#include "trace/trace.h"

/* A process at the last verdict, ns. */
struct brake_look {
	uint32_t pid;
	uint64_t cpu, tracing;
};

struct brake {
	unsigned most;		 /* percent; 0: off */
	struct inliner *inliner; /* copies cost, too; NULL: there are none */
	struct map64 index;	 /* pid -> index into looks + 1 */
	VEC(struct brake_look) looks;
	uint64_t lost;	  /* events, at the last verdict */
	uint64_t next;	  /* when to look again */
	unsigned over;	  /* verdicts in a row */
	unsigned percent; /* the last one */
};
#define BRAKE_CPU 200000000 /* ns of the processes' CPU time between two verdicts */

unsigned brake__percent(uint64_t tracing, uint64_t cpu);
/* A verdict: of that much CPU time tracing took so much, ns. True: twice in a row it was too much.
 */
bool brake__judge(struct brake *b, uint64_t tracing, uint64_t cpu);
/* What a process has used until now, cpu 0: it has ended. Adds what is new to the two sums. */
void brake__look(struct brake *b, struct brake_look now, uint64_t *tracing, uint64_t *cpu);
/* To be called now and then; time: ns. True: the trace has to end. */
bool brake__tick(struct brake *b, const struct trace *t, uint64_t time);
/* Says why it ended, which sites cost most, and what would cost less. */
void brake__tell(const struct brake *b, const struct trace *t, const struct plan *plan);
void brake__free(struct brake *b);

#endif
