/* SPDX-License-Identifier: BSD-2-Clause */
/* stack_show: shows the threads of a process as text and as JSON. */
#ifndef BBTRACE_VERBS_STACK_STACK_SHOW_H
#define BBTRACE_VERBS_STACK_STACK_SHOW_H

#include "verbs/core/core.h"
#include "stack.h"

/* What is shown. All but snapshot and the options are made by stack.c. */
struct stacks {
	const struct snapshot *snapshot;
	struct core *core;
	struct core_place *places;
	struct wait *waits;  /* by thread */
	size_t cycle, first; /* threads that wait for each other; 0: none. The first's index */
	bool json, lines, kernel;
};
void stack_show__head(const struct stacks *s, struct str *to);
/* stack is NULL if it isn't known. */
void stack_show__thread(const struct stacks *s, size_t i, const struct core_thread *stack,
			struct str *to);

#endif
