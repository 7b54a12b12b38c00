// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "coverage.h"

/* How often a block of a line ran. place is its function, or its scope, numbered after all
 * functions. */
struct part {
	uint32_t file, line, place;
	uint64_t count;
};

struct building {
	struct coverage *c;
	VEC(struct part) parts;
};

static void count(struct coverage_ratio *r, uint64_t count)
{
	if (count == RUNS_UNKNOWN) {
		r->unknown++;
		return;
	}
	r->all++;
	r->ran += count > 0;
}

/* ---- order ---- */

static int by_path(const void *a, const void *b, void *files)
{
	const char *x = ((char *const *)files)[*(const uint32_t *)a];
	const char *y = ((char *const *)files)[*(const uint32_t *)b];
	size_t m = path__base_name(x) - x, n = path__base_name(y) - y;
	int order = strncmp(x, y, min_of(m, n));

	return order ? order : m != n ? (m < n ? -1 : 1) : strcmp(x + m, y + n);
}

static uint32_t *ranks_of(const struct plan *plan)
{
	size_t n = plan->line_files.len;
	uint32_t *rank = xcalloc(n + 1, sizeof(*rank));
	autofree uint32_t *order = xcalloc(n + 1, sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_path, plan->line_files.data);
	for (uint32_t i = 0; i < n; i++)
		rank[order[i]] = i;
	return rank;
}

static int by_line_and_place(const void *a, const void *b, void *rank)
{
	const struct part *x = a, *y = b;
	int n = coverage__order(rank, x->file, x->line, y->file, y->line);

	return n ? n : x->place < y->place ? -1 : x->place > y->place;
}

static int order_of_sites(const struct plan *p, uint32_t a, uint32_t b)
{
	const struct plan_site *x = &p->sites.data[a], *y = &p->sites.data[b];

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static int by_place(const void *a, const void *b, void *ctx)
{
	const struct building *build = ctx;
	const struct coverage_side *x = a, *y = b;
	int n = coverage__order(build->c->rank, x->file, x->line, y->file, y->line);

	if (!n)
		n = order_of_sites(build->c->plan, x->site, y->site);
	return n ? n : x->side < y->side ? -1 : x->side > y->side;
}

/* What is not known adds nothing to what is. */
static uint64_t most_of(uint64_t a, uint64_t b)
{
	return a == RUNS_UNKNOWN ? b : b == RUNS_UNKNOWN ? a : max_of(a, b);
}

/* ---- lines ---- */

struct adding {
	struct building *b;
	uint32_t block;
};

static void add_piece(void *ctx, const struct plan_piece *piece)
{
	struct adding *a = ctx;
	const struct plan *p = a->b->c->plan;
	uint32_t place = piece->scope == NO_SCOPE ? p->blocks.data[a->block].function
						  : p->functions.len + piece->scope;

	vec__push(&a->b->parts, (struct part){piece->row->file, piece->row->line, place,
					      a->b->c->runs.blocks[a->block]});
}

static void sum_up_lines(struct building *b)
{
	struct coverage *c = b->c;
	const struct part *p = b->parts.data, *end = vec__end(&b->parts);

	vec__sort_by(&b->parts, by_line_and_place, c->rank);
	while (p < end) {
		const struct part *line = p;
		struct coverage_line row = {line->file, line->line, RUNS_UNKNOWN};

		while (p < end && p->file == line->file && p->line == line->line) {
			uint32_t place = p->place;
			uint64_t most = RUNS_UNKNOWN;

			for (; p < end && p->file == line->file && p->line == line->line &&
			       p->place == place;
			     p++)
				most = most_of(most, p->count);
			row.count = coverage__sum(row.count, most);
		}
		vec__push(&c->by_line, row);
	}
}

/* ---- sides of branches ---- */

static void add_side(struct building *b, const struct coverage_side *of, uint32_t side, uint64_t n)
{
	struct coverage_side row = *of;

	row.side = side;
	row.count = n;
	count(&b->c->total.sides, n);
	count(&b->c->code[b->c->plan->sites.data[of->site].function].sides, n);
	vec__push(&b->c->by_side, row);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

struct exits {
	VEC(uint64_t) to;
};

static uint64_t times_to(const struct stats_site *ps, uint64_t vaddr)
{
	const struct stats_target *t;
	uint64_t sum = 0;

	vec__each (t, &ps->targets)
		if (t->to.object && t->to.vaddr == vaddr)
			sum += t->count;
	/* it may be one of those that were not distinguished */
	return !sum && (ps->more || ps->unknown_target) ? RUNS_UNKNOWN : sum;
}

/* Adds where a jump through a table can lead, and where it has led: the table may be known only in
 * part. */
static void add_table(struct building *b, const struct plan_block *k, struct coverage_side *row)
{
	const struct plan *p = b->c->plan;
	const struct stats_site *ps = &b->c->runs.stats->sites[k->site];
	const struct stats_target *t;
	struct exits exits = {0};
	uint32_t side = 0;

	for (uint32_t i = 0; i < k->ntable; i++)
		if (p->table.data[k->table + i] != NO_BLOCK)
			vec__push(&exits.to, p->blocks.data[p->table.data[k->table + i]].start);
	vec__each (t, &ps->targets)
		if (t->to.object && !strcmp(t->to.object, p->objects.data[k->object].path))
			vec__push(&exits.to, t->to.vaddr);
	vec__sort(&exits.to, by_number);
	row->table = true;
	for (size_t i = 0; i < exits.to.len; i++) {
		if (i && exits.to.data[i] == exits.to.data[i - 1])
			continue;
		row->to = exits.to.data[i];
		add_side(b, row, side++,
			 row->runs == RUNS_UNKNOWN ? RUNS_UNKNOWN : times_to(ps, row->to));
	}
	vec__free(&exits.to);
}

static void add_sides(struct building *b, uint32_t block)
{
	const struct plan *p = b->c->plan;
	const struct plan_block *k = &p->blocks.data[block];
	const struct plan_site *s = &p->sites.data[k->site];
	const struct stats_site *ps = &b->c->runs.stats->sites[k->site];
	struct coverage_side row = {.site = k->site, .runs = b->c->runs.blocks[block]};
	bool known = b->c->runs.known;

	/* clang gives the jump of a switch no line */
	coverage__set_line(
		s->kind == BRANCH_IJMP
			? plan__line_before(p, s->object, s->vaddr,
					    p->functions.data[k->function].ranges[0].vaddr)
			: plan__line_at(p, s->object, s->vaddr),
		&row.file, &row.line);
	if (s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP) {
		add_side(b, &row, 0, known ? ps->not_taken : RUNS_UNKNOWN);
		add_side(b, &row, 1, known ? ps->taken : RUNS_UNKNOWN);
	} else if (s->kind == BRANCH_IJMP && k->ntable) {
		add_table(b, k, &row);
	}
}

/* Numbers the branches of a line: 0, 1, ... in order of address. */
static void number_branches(struct building *b)
{
	struct coverage *c = b->c;

	vec__sort_by(&c->by_side, by_place, b);
	for (size_t i = 1; i < c->by_side.len; i++) {
		const struct coverage_side *before = &c->by_side.data[i - 1];
		struct coverage_side *s = &c->by_side.data[i];

		if (s->line == before->line && s->file == before->file)
			s->branch = before->branch + (s->site != before->site);
	}
}

/* ---- by file ---- */

/* The rows of the file, from the end of those of the file before. */
#define ROWS_OF(f, rows, vec)                                                                      \
	do {                                                                                       \
		(rows)->first = (rows)->end;                                                       \
		while ((rows)->end < (vec)->len && (vec)->data[(rows)->end].line &&                \
		       (vec)->data[(rows)->end].file == (f)->file)                                 \
			(rows)->end++;                                                             \
	} while (0)

/* The file of a row that comes first. */
#define FIRST_OF(c, first, rows, vec)                                                              \
	do {                                                                                       \
		uint32_t file_ = (rows)->end < (vec)->len && (vec)->data[(rows)->end].line         \
					 ? (vec)->data[(rows)->end].file                           \
					 : NO_FILE;                                                \
		if (file_ != NO_FILE &&                                                            \
		    ((first) == NO_FILE || (c)->rank[file_] < (c)->rank[first]))                   \
			(first) = file_;                                                           \
	} while (0)
#define NO_FILE UINT32_MAX

bool coverage__next_file(const struct coverage *c, struct coverage_file *f)
{
	uint32_t file = NO_FILE;

	FIRST_OF(c, file, &f->functions, &c->by_function);
	FIRST_OF(c, file, &f->lines, &c->by_line);
	FIRST_OF(c, file, &f->sides, &c->by_side);
	if (file == NO_FILE)
		return false;
	f->file = file;
	ROWS_OF(f, &f->functions, &c->by_function);
	ROWS_OF(f, &f->lines, &c->by_line);
	ROWS_OF(f, &f->sides, &c->by_side);
	return true;
}

struct coverage_ratio coverage__functions(const struct coverage *c, const struct coverage_rows *r)
{
	struct coverage_ratio ratio = {0};

	for (size_t i = r->first; i < r->end; i++)
		count(&ratio, c->by_function.data[i].calls);
	return ratio;
}

struct coverage_ratio coverage__lines(const struct coverage *c, const struct coverage_rows *r)
{
	struct coverage_ratio ratio = {0};

	for (size_t i = r->first; i < r->end; i++)
		count(&ratio, c->by_line.data[i].count);
	return ratio;
}

struct coverage_ratio coverage__sides(const struct coverage *c, const struct coverage_rows *r)
{
	struct coverage_ratio ratio = {0};

	for (size_t i = r->first; i < r->end; i++)
		count(&ratio, c->by_side.data[i].count);
	return ratio;
}

/* ---- the whole ---- */

/* Code without lines is reported, and left out. */
static void keep_lines(struct coverage *c)
{
	size_t n = c->by_function.len, sides = c->by_side.len;

	while (n && !c->by_function.data[n - 1].line)
		n--;
	while (sides && !c->by_side.data[sides - 1].line)
		sides--;
	c->total.without_lines = c->by_function.len - n;
	c->total.functions = coverage__functions(c, &(struct coverage_rows){0, n});
	c->total.sides = coverage__sides(c, &(struct coverage_rows){0, sides});
	c->total.blocks = (struct coverage_ratio){0};
}

static uint64_t count_files(const struct coverage *c)
{
	struct coverage_file f = {0};
	uint64_t n = 0;

	while (coverage__next_file(c, &f))
		n++;
	return n;
}

void coverage__init(struct coverage *c, const struct stats *p, const struct output_options *o)
{
	struct building b = {.c = c};
	size_t line = 0;

	*c = (struct coverage){.plan = p->plan, .options = o, .rank = ranks_of(p->plan)};
	runs__init(&c->runs, p, o);
	c->code = xcalloc(p->plan->functions.len + 1, sizeof(*c->code));
	for (size_t i = 0; i < p->plan->blocks_by_address.len; i++) {
		uint32_t block = p->plan->blocks_by_address.data[i];
		const struct plan_block *k = &p->plan->blocks.data[block];

		if (!coverage__has_block(c, block))
			continue;
		count(&c->total.blocks, c->runs.blocks[block]);
		count(&c->code[k->function].blocks, c->runs.blocks[block]);
		plan__each_piece(p->plan, block, &line, add_piece, &(struct adding){&b, block});
		if (k->site != NO_SITE)
			add_sides(&b, block);
	}
	coverage__find_functions(c);
	c->total.functions = coverage__functions(c, &(struct coverage_rows){0, c->by_function.len});
	sum_up_lines(&b);
	coverage__fill_lines(c);
	c->total.lines = coverage__lines(c, &(struct coverage_rows){0, c->by_line.len});
	number_branches(&b);
	vec__free(&b.parts);
	if (c->by_line.len)
		keep_lines(c);
	c->total.files = count_files(c);
}

void coverage__free(struct coverage *c)
{
	runs__free(&c->runs);
	free(c->rank);
	free(c->code);
	vec__free(&c->by_function);
	vec__free(&c->by_line);
	vec__free(&c->by_side);
}

/* ---- text ---- */

bool output__coverage(const struct output *o, struct output_coverage *out)
{
	struct coverage c;

	if (!o->format->covers)
		return false;
	coverage__init(&c, o->state, &o->options);
	*out = c.total;
	coverage__free(&c);
	return true;
}
