// SPDX-License-Identifier: BSD-2-Clause
/* Shared by the aggregating formats, whose state starts with struct stats and is rendered at the
 * end. */
#include "stats.h"

int aggregate__begin(struct output *o)
{
	struct stats *p = o->state;

	stats__init(p, o->plan);
	p->no_returns = o->options.events && !(o->options.events & PLAN_RETURN);
	return 0;
}

void aggregate__plan_extended(struct output *o)
{
	stats__plan_extended(o->state);
}

int aggregate__step(struct output *o, const struct step *step)
{
	stats__step(o->state, step);
	return 0;
}

void aggregate__branch(struct output *o, uint32_t site, bool taken, const struct location *to,
		       uint64_t n)
{
	stats__branch(o->state, site, taken, to, n);
}

void aggregate__run(struct output *o, const struct passed_run *run)
{
	stats__run(o->state, run);
}

void aggregate__count(struct output *o, const struct edge_counts *c)
{
	stats__count(o->state, c);
	if (o->options.functions)
		stats__leave_out(o->state, o->options.functions);
}

void aggregate__free(struct output *o)
{
	stats__free(o->state);
}

void put_elapsed(struct output *o, uint64_t time, const struct trace_totals *t)
{
	uint64_t ms = (time - min_of(time, o->options.start_time)) / 1000000;

	str__printf(&o->buffer, "-- %llu.%03llu s", (unsigned long long)(ms / 1000),
		    (unsigned long long)(ms % 1000));
	if (t->missed)
		str__printf(&o->buffer, ", at most %llu hits missed, of all processes",
			    (unsigned long long)t->missed);
	str__putc(&o->buffer, '\n');
}

#define FULL (64 << 10)

int aggregate__flush_full(struct output *o)
{
	return o->buffer.len >= FULL ? output__flush(o) : 0;
}
