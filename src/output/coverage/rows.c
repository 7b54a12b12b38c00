// SPDX-License-Identifier: BSD-2-Clause
/* What coverage's rows are made by: which code belongs to the whole, where it is, how counts add
 * up. */
#include "coverage.h"

bool coverage__has_function(const struct coverage *c, uint32_t function)
{
	return function < c->plan->functions.len &&
	       !(c->plan->functions.data[function].flags & FUNCTION_HELPER) &&
	       (!c->options->functions || c->options->functions[function]);
}

bool coverage__has_block(const struct coverage *c, uint32_t block)
{
	return coverage__has_function(c, c->plan->blocks.data[block].function);
}

int coverage__order(const uint32_t *rank, uint32_t file, uint32_t line, uint32_t file2,
		    uint32_t line2)
{
	if (!line || !line2)
		return !line - !line2;
	if (file != file2)
		return rank[file] < rank[file2] ? -1 : 1;
	return line < line2 ? -1 : line > line2;
}

void coverage__set_line(const struct plan_line *l, uint32_t *file, uint32_t *line)
{
	*file = l && l->line ? l->file : 0;
	*line = l ? l->line : 0;
}

uint64_t coverage__sum(uint64_t a, uint64_t b)
{
	return a == RUNS_UNKNOWN ? b : b == RUNS_UNKNOWN ? a : a + min_of(b, RUNS_UNKNOWN - 1 - a);
}
