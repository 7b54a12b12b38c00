// SPDX-License-Identifier: BSD-2-Clause
/*
 * What bbtrace top shows: the functions by the samples since the screen before, the threads that
 * took most of them, and the stacks, one a line, outermost function first. On a terminal each
 * screen replaces the one before; it has as many rows as fit.
 */
#include <stdlib.h>
#include "sampled.h"
#include "text.h"

#define MOST_THREADS 4
#define MOST_STACKS  4
#define FRAMES	     24 /* of a stack: the innermost ones */
#define ROWS	     20 /* if it is no terminal */
#define LEAST_ROWS   3
/* the lines around the table: the samples, the threads, two heads, a blank one, the last one */
#define OTHER_LINES 6

static void put_share(struct str *s, uint64_t n, uint64_t all)
{
	unsigned permille = all ? (unsigned __int128)n * 1000 / all : 0;

	str__printf(s, "%3u.%u%%", permille / 10, permille % 10);
}

/* ---- threads ---- */

/* Index of the thread with the most samples, which is then removed; the number of threads if there
 * is none. */
static size_t take_busiest(const struct stats *p, uint64_t *samples, uint64_t *taken)
{
	size_t best = p->threads.len;

	for (size_t i = 0; i < p->threads.len; i++)
		if (samples[i] && (best == p->threads.len || samples[i] > samples[best]))
			best = i;
	if (best < p->threads.len) {
		*taken = samples[best];
		samples[best] = 0;
	}
	return best;
}

static void put_threads(struct str *s, const struct stats *p, uint64_t *samples)
{
	uint64_t n = 0;

	for (unsigned shown = 0; shown < MOST_THREADS; shown++) {
		size_t i = take_busiest(p, samples, &n);
		const struct stats_thread *t = &p->threads.data[i];

		if (i == p->threads.len)
			break;
		str__puts(s, shown ? ", " : "busiest threads: ");
		str__shown(s, t->comm[0] ? t->comm : "[no name]");
		str__printf(s, "-%u ", t->tid);
		put_share(s, n, p->samples);
	}
	str__putc(s, '\n');
}

/* ---- stacks ---- */

static void put_stack(struct output *o, const stats_nodes *nodes, const struct stats_node *n)
{
	const struct stats *p = o->state;
	struct str *s = &o->buffer;
	const struct stats_node *frames[FRAMES];
	unsigned len = 0;
	bool more = false;

	str__puts(s, "  ");
	put_share(s, n->calls, p->samples);
	for (; n->parent != NO_NODE; n = &nodes->data[n->parent]) {
		if (len < FRAMES)
			frames[len++] = n;
		else
			more = true;
	}
	str__puts(s, "  ");
	str__shown(s, stats__name(p, n));
	str__puts(s, more ? ": ... " : ": ");
	while (len--) {
		sampled__put_name(o, frames[len]->function);
		str__puts(s, len ? " > " : "");
	}
	str__putc(s, '\n');
}

static void put_stacks(struct output *o)
{
	str__puts(&o->buffer, "\nstacks:\n");
	sampled__each_stack(o, MOST_STACKS, put_stack);
}

/* ---- the screen ---- */

static size_t rows_of(const struct output *o)
{
	unsigned around = OTHER_LINES + MOST_STACKS;

	if (o->options.rows)
		return o->options.rows;
	if (!o->options.height)
		return ROWS;
	return max_of((int)o->options.height - (int)around, LEAST_ROWS);
}

static void put_functions(struct output *o, const sampled_vec *functions)
{
	const struct stats *p = o->state;
	size_t rows = min_of(functions->len, rows_of(o));
	struct str *s = &o->buffer;

	str__puts(s, "    self   total  function\n");
	for (size_t i = 0; i < rows; i++) {
		str__puts(s, "  ");
		put_share(s, functions->data[i].self, p->samples);
		str__puts(s, "  ");
		put_share(s, functions->data[i].total, p->samples);
		str__puts(s, "  ");
		sampled__put_name(o, functions->data[i].function);
		str__putc(s, '\n');
	}
	if (rows < functions->len)
		str__printf(s, "(%zu more functions)\n", functions->len - rows);
}

static void put_samples(struct output *o)
{
	const struct stats *p = o->state;
	struct str *s = &o->buffer;

	str__printf(s, "%llu%s samples", (unsigned long long)p->samples, o->more);
	if (p->period) {
		str__puts(s, " of ");
		put_duration(s, p->period);
		str__puts(s, ": ");
		put_duration(s, p->samples * p->period);
		str__puts(s, " of CPU time");
	}
	str__putc(s, '\n');
}

/* The root of the stacks has no samples. */
static void drop_empty(sampled_vec *functions)
{
	size_t n = 0;

	for (size_t i = 0; i < functions->len; i++)
		if (functions->data[i].self || functions->data[i].total)
			functions->data[n++] = functions->data[i];
	functions->len = n;
}

static void put_screen(struct output *o)
{
	struct stats *p = o->state;
	struct sampled_all all;

	stats__end(p);
	put_samples(o);
	if (!p->samples) {
		str__puts(&o->buffer, "no traced thread ran: all sleep, or wait; bbtrace stack PID "
				      "shows where\n");
		return;
	}
	all = sampled__all(p);
	drop_empty(&all.functions);
	put_threads(&o->buffer, p, all.threads);
	put_functions(o, &all.functions);
	put_stacks(o);
	vec__free(&all.functions);
	free(all.threads);
}

/* Home, and nothing below. */
#define CLEAR "\033[H\033[J"

static int top__interval(struct output *o, uint64_t time, const struct trace_totals *t)
{
	if (o->options.clears)
		str__puts(&o->buffer, CLEAR);
	put_screen(o);
	return 0;
}

/* The last screen stays. */
static int top__end(struct output *o, const struct trace_totals *t)
{
	const struct stats *p = o->state;

	if (p->samples)
		return top__interval(o, 0, t);
	return 0;
}

const struct output_format output_top = {
	.name = "top",
	.cuts = true,
	.wants = {.events = OUTPUT_STEPS},
	.help = "functions by samples",
	.size = sizeof(struct stats),
	AGGREGATES,
	.interval = top__interval,
	.end = top__end,
};
