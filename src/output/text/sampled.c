// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples as tables, for summary: the functions by how often a sample was taken in them (self), and
 * in what they called (total); of all threads, by thread and by CPU; and the stacks in which most
 * were taken. Then when samples were taken:
 * from one to the next is at least a period, and more where a CPU ran what isn't traced, or had
 * interrupts disabled.
 */
#include <stdlib.h>
#include "output/stats/stats.h"
#include "sampled.h"
#include "util/fit.h"
#include "text.h"

#define MOST_ROWS   16 /* of a table; the others are counted */
#define MOST_TABLES 16 /* of threads */
#define BAR	    40

#define ALL UINT32_MAX

struct tables {
	sampled_vec rows;
	struct map64 index; /* scope << 32 | function -> 1 + index into rows */
	uint64_t *threads;  /* samples of each */
};

static struct sampled *row_of(struct tables *t, uint32_t scope, uint32_t function)
{
	uint64_t *slot = map64__put(&t->index, (uint64_t)scope << 32 | function);

	if (!*slot) {
		vec__push(&t->rows, (struct sampled){.scope = scope, .function = function});
		*slot = t->rows.len;
	}
	return &t->rows.data[*slot - 1];
}

static void take_node(struct tables *t, const struct stats_node *n)
{
	const uint32_t scopes[] = {ALL, n->thread};

	t->threads[n->thread] += n->calls;
	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++) {
		struct sampled *r = row_of(t, scopes[i], n->function);

		r->self += n->calls;
		r->total += n->recursive || n->parent == NO_NODE ? 0 : n->count;
	}
}

static int most_first(const void *a, const void *b)
{
	const struct sampled *x = a, *y = b;

	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static void put_share(struct str *s, uint64_t n, uint64_t all, const char *more)
{
	unsigned permille = all ? (unsigned __int128)n * 1000 / all : 0;

	str__printf(s, "%9llu%s %3u.%u%%", (unsigned long long)n, more, permille / 10,
		    permille % 10);
}

void sampled__put_name(struct output *o, uint32_t function)
{
	const struct stats_node node = {.function = function};
	const char *name = stats__name(o->state, &node);

	fit__name(&o->buffer, function == STATS_THREAD ? "[no stack]" : name, text__most_name(o));
}

static void put_row(struct output *o, const struct sampled *r, uint64_t all)
{
	struct str *s = &o->buffer;

	put_share(s, r->self, all, o->more);
	put_share(s, r->total, all, o->more);
	str__puts(s, "  ");
	sampled__put_name(o, r->function);
	str__putc(s, '\n');
}

/* Rows of one scope, most samples first. */
static void put_table(struct output *o, const struct sampled *rows, size_t n, uint64_t all)
{
	size_t shown = min_of(n, (size_t)MOST_ROWS);

	str__printf(&o->buffer, "%*s%*s  function\n", 16 + (int)strlen(o->more), "self",
		    16 + (int)strlen(o->more), "total");
	for (size_t i = 0; i < shown; i++)
		if (rows[i].self || rows[i].total)
			put_row(o, &rows[i], all);
	if (n > shown)
		str__printf(&o->buffer, "(%zu more functions)\n", n - shown);
}

static size_t scope_len(const struct sampled *rows, size_t n)
{
	size_t len = 0;

	while (len < n && rows[len].scope == rows->scope)
		len++;
	return len;
}

static void put_total(struct output *o, uint64_t n)
{
	const struct stats *p = o->state;

	str__printf(&o->buffer, ": %llu%s samples", (unsigned long long)n, o->more);
	if (n != p->samples)
		str__printf(&o->buffer, ", %.1f%%", 100.0 * n / p->samples);
}

static void put_thread(struct output *o, const struct tables *t, uint32_t thread)
{
	const struct stats *p = o->state;
	const struct stats_thread *th = &p->threads.data[thread];
	struct str *s = &o->buffer;

	str__printf(s, "\nThread %u/%u ", th->pid, th->tid);
	str__shown(s, th->comm[0] ? th->comm : "[no name]");
	put_total(o, t->threads[thread]);
	str__putc(s, '\n');
}

/* One thread alone has the table of all. */
static void put_threads(struct output *o, const struct tables *t)
{
	const struct stats *p = o->state;
	size_t shown = 0, n;

	if (p->threads.len < 2)
		return;
	for (size_t i = 0; i < t->rows.len; i += n) {
		const struct sampled *rows = &t->rows.data[i];

		n = scope_len(rows, t->rows.len - i);
		if (rows->scope == ALL || !t->threads[rows->scope] || shown++ >= MOST_TABLES)
			continue;
		put_thread(o, t, rows->scope);
		put_table(o, rows, n, t->threads[rows->scope]);
	}
	if (shown > MOST_TABLES)
		str__printf(&o->buffer, "\n(%zu more threads)\n", shown - MOST_TABLES);
}

/* ---- stacks ---- */

#define MOST_STACKS 5
#define MOST_FRAMES 12

static int more_calls_first(const void *a, const void *b)
{
	const struct stats_node *const *x = a, *const *y = b;

	if ((*x)->calls != (*y)->calls)
		return (*x)->calls < (*y)->calls ? 1 : -1;
	return *x < *y ? -1 : *x > *y;
}

/* Innermost frame first, a line each; then the thread's name. */
static void put_stack(struct output *o, const stats_nodes *nodes, const struct stats_node *n)
{
	const struct stats *p = o->state;
	struct str *s = &o->buffer;
	int margin = 16 + (int)strlen(o->more);
	unsigned frames = 0;

	put_share(s, n->calls, p->samples, o->more);
	for (; n->parent != NO_NODE; n = &nodes->data[n->parent]) {
		if (frames++ >= MOST_FRAMES)
			continue;
		str__printf(s, "%*s  ", frames > 1 ? margin : 0, "");
		sampled__put_name(o, n->function);
		str__putc(s, '\n');
	}
	if (frames > MOST_FRAMES)
		str__printf(s, "%*s  (%u more)\n", margin, "", frames - MOST_FRAMES);
	str__printf(s, "%*s  thread ", frames ? margin : 0, "");
	str__shown(s, stats__name(p, n));
	str__putc(s, '\n');
}

size_t sampled__each_stack(struct output *o, size_t most,
			   void (*fn)(struct output *o, const stats_nodes *nodes,
				      const struct stats_node *n))
{
	VEC(const struct stats_node *) by_calls = {0};
	const struct stats_node *n;
	stats_nodes nodes;
	size_t len;

	stats__by_name(o->state, &nodes);
	vec__each (n, &nodes)
		if (n->calls)
			vec__push(&by_calls, n);
	vec__sort(&by_calls, more_calls_first);
	len = by_calls.len;
	for (size_t i = 0; i < min_of(len, most); i++)
		fn(o, &nodes, by_calls.data[i]);
	vec__free(&by_calls);
	vec__free(&nodes);
	return len;
}

static void put_stacks(struct output *o)
{
	size_t n;

	str__puts(&o->buffer, "\nStacks:\n");
	n = sampled__each_stack(o, MOST_STACKS, put_stack);
	if (n > MOST_STACKS)
		str__printf(&o->buffer, "(%zu more stacks)\n", n - MOST_STACKS);
}

/* ---- CPUs ---- */

static int by_cpu(const void *a, const void *b)
{
	const struct stats_cpu *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void put_bar(struct str *s, uint64_t n, uint64_t most, const char *more)
{
	unsigned width = most ? (unsigned __int128)n * BAR / most : 0;

	str__puts(s, "  |");
	for (unsigned i = 0; i < BAR; i++)
		str__putc(s, i < width || (!i && n) ? '@' : ' ');
	str__printf(s, "| %llu%s\n", (unsigned long long)n, more);
}

static void put_by_cpu(struct output *o)
{
	const struct stats *p = o->state;
	const struct stats_cpu *c;
	uint64_t most = 0;

	vec__each (c, &p->cpus)
		most = max_of(most, c->samples);
	str__puts(&o->buffer, "\nSamples by CPU:\n");
	vec__each (c, &p->cpus) {
		str__printf(&o->buffer, "%11u", c->cpu);
		put_bar(&o->buffer, c->samples, most, o->more);
	}
}

static void put_cell(struct str *s, uint64_t ns)
{
	struct str text = {0};

	put_duration(&text, ns);
	put_right(s, text.data, 9);
	str__free(&text);
}

static void put_intervals(struct output *o, const struct stats_cpu *c)
{
	struct str *s = &o->buffer;
	uint64_t counts[64], most = 0;

	str__printf(s, "\nCPU %u, from one sample to the next: mean ", c->cpu);
	put_duration(s, c->intervals.sum / c->intervals.n);
	str__puts(s, ", p50 ");
	put_duration(s, histogram__quantile(&c->intervals, 500));
	str__puts(s, ", p99 ");
	put_duration(s, histogram__quantile(&c->intervals, 990));
	str__puts(s, ", max ");
	put_duration(s, c->intervals.max);
	str__putc(s, '\n');
	histogram__log2(&c->intervals, counts);
	for (int i = 0; i < 64; i++)
		most = max_of(most, counts[i]);
	for (int i = 0; i < 64; i++) {
		if (!counts[i])
			continue;
		put_cell(s, i ? 1ull << i : 0);
		str__puts(s, " ..");
		put_cell(s, 2ull << min_of(i, 62));
		put_bar(s, counts[i], most, "");
	}
}

static void put_cpu_tables(struct output *o)
{
	const struct stats *p = o->state;
	VEC(struct sampled) rows = {0};
	const struct stats_on_cpu *r;
	const struct stats_cpu *c;
	size_t n;

	vec__each (r, &p->on_cpu)
		vec__push(&rows, (struct sampled){r->cpu, r->function, r->self, r->total});
	vec__sort(&rows, most_first);
	n = 0;
	vec__each (c, &p->cpus) {
		size_t len = scope_len(rows.data + n, rows.len - n);

		if (p->cpus.len > 1) {
			str__printf(&o->buffer, "\nCPU %u", c->cpu);
			put_total(o, c->samples);
			str__putc(&o->buffer, '\n');
			put_table(o, rows.data + n, len, c->samples);
		}
		n += len;
	}
	vec__free(&rows);
}

static void put_cpus(struct output *o)
{
	struct stats *p = o->state;
	const struct stats_cpu *c;

	if (!p->cpus.len)
		return;
	vec__sort(&p->cpus, by_cpu);
	put_cpu_tables(o);
	put_by_cpu(o);
	vec__each (c, &p->cpus)
		if (c->intervals.n && !p->added_up)
			put_intervals(o, c);
}

static struct tables tables_of(const struct stats *p)
{
	struct tables t = {.threads = xcalloc(p->threads.len + 1, sizeof(*t.threads))};
	const struct stats_node *n;

	vec__each (n, &p->nodes)
		take_node(&t, n);
	vec__sort(&t.rows, most_first);
	return t;
}

struct sampled_all sampled__all(const struct stats *p)
{
	struct tables t = tables_of(p);
	size_t n = 0;

	map64__free(&t.index);
	for (size_t i = 0; i < t.rows.len; i++)
		if (t.rows.data[i].scope == ALL)
			t.rows.data[n++] = t.rows.data[i];
	t.rows.len = n;
	return (struct sampled_all){.functions = t.rows, .threads = t.threads};
}

void samples__put_tables(struct output *o)
{
	const struct stats *p = o->state;
	struct tables t = tables_of(p);
	size_t first = 0;

	while (first < t.rows.len && t.rows.data[first].scope != ALL)
		first++;
	str__puts(&o->buffer, "All");
	put_total(o, p->samples);
	if (p->period) {
		str__puts(&o->buffer, ", a period is ");
		put_duration(&o->buffer, p->period);
	}
	str__putc(&o->buffer, '\n');
	put_table(o, t.rows.data + first, t.rows.len - first, p->samples);
	put_stacks(o);
	put_threads(o, &t);
	put_cpus(o);
	str__putc(&o->buffer, '\n');
	free(t.threads);
	map64__free(&t.index);
	vec__free(&t.rows);
}
