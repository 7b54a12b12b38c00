// SPDX-License-Identifier: BSD-2-Clause
/* Joins plans. First each row gets its number in the joined plan (join_find.c), then the new rows
 * are written with these numbers. */
#include <errno.h>
#include <stdlib.h>
#include "join_private.h"

void plan_numbers__free(struct plan_numbers *n)
{
	free(n->objects);
	free(n->functions);
	free(n->sites);
	free(n->blocks);
	free(n->by_symbol);
	free(n->shifts);
	free(n->untyped);
	free(n->fetched);
	free(n->named);
	vec__free(&n->splits);
	vec__free(&n->ranges);
}

bool plan_increment__is_empty(const struct plan_increment *i)
{
	const struct plan *rows = &i->rows;

	return !rows->named.len && !rows->objects.len && !rows->functions.len && !rows->sites.len &&
	       !rows->blocks.len && !rows->lines.len && !rows->scopes.len && !rows->values.len;
}

/* ---- new rows ---- */

static uint32_t number(const uint32_t *numbers, uint32_t i)
{
	return i == UINT32_MAX ? i : numbers[i];
}

static void add_function(struct joining *j, uint32_t i)
{
	struct plan_function f = j->p->functions.data[i];
	struct range *ranges = NULL;

	f.flags &= ~FUNCTION_REMOVED;
	f.object = joining__object(j, i);
	f.entry_site = number(j->n->sites, f.entry_site);
	f.entry_block = number(j->n->blocks, f.entry_block);
	if (j->n->shifts[i]) {
		ranges = xcalloc(f.nranges, sizeof(*ranges));
		for (size_t r = 0; r < f.nranges; r++) {
			ranges[r] = f.ranges[r];
			ranges[r].vaddr += j->n->shifts[i];
		}
		vec__push(&j->n->ranges, ranges);
		f.ranges = ranges;
	}
	vec__push(&j->more->rows.functions, f);
}

static void add_site(struct joining *j, uint32_t i)
{
	struct plan_site s = j->p->sites.data[i];

	s.object = joining__object(j, s.function);
	s.target += s.target ? joining__moved(j, s.function, s.vaddr) - s.vaddr : 0;
	if (s.compare && joining__moved(j, s.function, s.vaddr) != s.vaddr)
		s.compare = condition__names_address(s.compare) ? NULL : s.compare;
	s.vaddr = joining__moved(j, s.function, s.vaddr);
	s.function = j->n->functions[s.function];
	s.block = number(s.role == ROLE_BRANCH ? j->last : j->n->blocks, s.block);
	j->more->rows.probes += s.probe != PROBE_NONE;
	j->refused += s.probe == PROBE_NONE && s.refusal != PROBE_OK;
	vec__push(&j->more->rows.sites, s);
}

/* Appends the rows of its jump table. */
static void add_table(struct joining *j, struct plan_block *b, const struct plan_block *from)
{
	b->table = j->all->table.len + j->more->rows.table.len;
	for (uint32_t i = 0; i < from->ntable; i++)
		vec__push(&j->more->rows.table, j->n->blocks[j->p->table.data[from->table + i]]);
}

/* The block falls through to next. */
static void end_before(struct plan_block *b, uint32_t next)
{
	b->next = next;
	b->site = NO_SITE;
	b->taken = NO_BLOCK;
	b->ntable = b->noreturn = b->unresolved = b->leaves = 0;
}

static void add_block(struct joining *j, const struct piece *piece)
{
	const struct plan_block *from = &j->p->blocks.data[piece->block];
	struct plan_block b = *from;

	b.object = joining__object(j, b.function);
	b.start = piece->start;
	b.end = piece->end;
	b.site = number(j->n->sites, b.site);
	b.next = number(j->n->blocks, b.next);
	b.taken = number(j->n->blocks, b.taken);
	b.function = j->n->functions[b.function];
	if (piece->next != NO_BLOCK)
		end_before(&b, piece->next);
	else
		add_table(j, &b, from);
	vec__push(&j->more->rows.blocks, b);
}

static uint32_t number_of(const struct joining *j, const struct plan_split *s)
{
	return j->all->blocks.len + s->rest;
}

/* Splits of one block are in order of address: each is cut off the rest. */
static int by_split(const void *a, const void *b, void *pieces)
{
	const struct plan_split *x = a, *y = b;
	const struct piece *p = pieces;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return p[x->rest].start < p[y->rest].start ? -1 : 1;
}

/* Shortens the block: it ends where the rest begins. */
static void shorten(struct joining *j, const struct plan_split *s)
{
	struct plan_block b = j->all->blocks.data[s->block];

	b.end = j->new_blocks.data[s->rest].start;
	end_before(&b, number_of(j, s));
	vec__push(&j->more->amended_blocks, s->block);
	vec__push(&j->more->rows.blocks, b);
}

/* Moves the branch at the block's end to its last part. */
static void move_site(struct joining *j, const struct plan_split *s)
{
	uint32_t site = j->all->blocks.data[s->block].site;
	struct plan_site row;

	if (site == NO_SITE)
		return;
	row = j->all->sites.data[site];
	row.block = number_of(j, s);
	if (j->differs[site])
		row.compare = NULL;
	j->differs[site] = false;
	vec__push(&j->more->amended_sites, site);
	vec__push(&j->more->rows.sites, row);
}

/* Amended rows precede the new ones. */
static void split_blocks(struct joining *j)
{
	vec__sort_by(&j->splits, by_split, j->new_blocks.data);
	for (size_t i = 0; i < j->splits.len; i++) {
		const struct plan_split *s = &j->splits.data[i];

		if (!i || s[-1].block != s->block)
			shorten(j, s);
		if (i + 1 == j->splits.len || s[1].block != s->block)
			move_site(j, s);
		vec__push(&j->n->splits, (struct plan_split){s->block, number_of(j, s)});
	}
}

/* What one of the plans doesn't have for a conditional, the joined plan doesn't have either: there,
 * control may enter between the comparison and the branch, or it is another build. */
static void drop_compares(struct joining *j)
{
	for (uint32_t i = 0; i < j->all->sites.len; i++) {
		struct plan_site row = j->all->sites.data[i];

		if (!j->differs[i])
			continue;
		row.compare = NULL;
		vec__push(&j->more->amended_sites, i);
		vec__push(&j->more->rows.sites, row);
	}
}

/* ---- source ---- */

static uint32_t file_number(struct joining *j, struct map64 *files, const struct plan *all_files,
			    uint32_t file)
{
	const char *name = j->p->line_files.data[file];
	uint64_t *known = map64__put(files, map64__hash(name, strlen(name)));

	if (*known && *known <= all_files->line_files.len &&
	    !strcmp(all_files->line_files.data[*known - 1], name))
		return *known - 1;
	if (*known > all_files->line_files.len &&
	    !strcmp(j->more->rows.line_files.data[*known - 1 - all_files->line_files.len], name))
		return *known - 1;
	vec__push(&j->more->rows.line_files, xstrdup(name));
	*known = all_files->line_files.len + j->more->rows.line_files.len;
	return *known - 1;
}

/* Returns true if the line of any code in [start, end) is known. */
static bool has_lines(const struct plan *p, uint32_t object, uint64_t start, uint64_t end)
{
	const struct plan_line *first = plan__line_at(p, object, start);

	if (first && first->line)
		return true;
	for (size_t i = plan__lines_from(p, object, start);
	     i < p->lines.len && p->lines.data[i].object == object && p->lines.data[i].vaddr < end;
	     i++)
		if (p->lines.data[i].line)
			return true;
	return false;
}

static void add_lines(struct joining *j, struct map64 *files, const struct plan_extent *e,
		      uint32_t object)
{
	struct plan_line end = {.vaddr = joining__moved(j, e->function, e->end - 1) + 1,
				.object = object};
	bool any = false;

	for (size_t i = plan__lines_from(j->p, e->object, e->start);
	     i < j->p->lines.len && j->p->lines.data[i].object == e->object &&
	     j->p->lines.data[i].vaddr < e->end;
	     i++) {
		struct plan_line l = j->p->lines.data[i];

		l.object = object;
		l.vaddr = joining__moved(j, e->function, l.vaddr);
		l.file = l.line ? file_number(j, files, j->all, l.file) : 0;
		vec__push(&j->more->rows.lines, l);
		any = true;
	}
	if (any)
		vec__push(&j->more->rows.lines, end);
}

static void add_scope(struct joining *j, struct map64 *files, uint32_t *scopes, uint32_t i,
		      const struct plan_extent *e, uint32_t object)
{
	struct plan_scope s = j->p->scopes.data[i];

	s.parent = s.parent == NO_SCOPE ? NO_SCOPE : scopes[s.parent] - 1;
	s.object = object;
	s.file = s.line ? file_number(j, files, j->all, s.file) : 0;
	if (s.call_file)
		s.call_file = 1 + file_number(j, files, j->all, s.call_file - 1);
	s.entry = s.entry ? joining__moved(j, e->function, s.entry) : 0;
	vec__push(&j->more->rows.scopes, s);
	scopes[i] = j->all->scopes.len + j->more->rows.scopes.len;
}

/* Returns the number that a scope gets; those that it was inlined in are before it. scopes has 1 +
 * the numbers of the known ones. */
static uint32_t scope_number(struct joining *j, struct map64 *files, uint32_t *scopes, uint32_t i,
			     const struct plan_extent *e, uint32_t object)
{
	id_vec chain = {0};

	for (; i != NO_SCOPE && !scopes[i]; i = j->p->scopes.data[i].parent)
		vec__push(&chain, i);
	for (; chain.len; chain.len--) {
		i = *vec__last(&chain);
		add_scope(j, files, scopes, i, e, object);
	}
	vec__free(&chain);
	return scopes[i] - 1;
}

static void add_scopes(struct joining *j, struct map64 *files, uint32_t *scopes,
		       const struct plan_extent *e, uint32_t object)
{
	const struct plan *p = j->p;

	for (size_t i = plan__scope_ranges_from(p, e->object, e->start);
	     i < p->scope_ranges.len && p->scope_ranges.data[i].object == e->object &&
	     p->scope_ranges.data[i].start < e->end;
	     i++) {
		struct plan_scope_range row = p->scope_ranges.data[i];

		row.object = object;
		row.scope = scope_number(j, files, scopes, row.scope, e, object);
		row.start = joining__moved(j, e->function, max_of(row.start, e->start));
		row.end = joining__moved(j, e->function, min_of(row.end, e->end) - 1) + 1;
		vec__push(&j->more->rows.scope_ranges, row);
	}
}

/* Adds the lines of new code. */
static void add_source(struct joining *j)
{
	autofree uint32_t *scopes = xcalloc(j->p->scopes.len + 1, sizeof(*scopes));
	const struct plan_extent *e;
	struct map64 files = {0};

	if (!j->p->lines.len)
		return;
	line_files__begin(j->all, &files);
	vec__each (e, &j->p->extents) {
		uint32_t object = joining__object(j, e->function);
		uint64_t start = joining__moved(j, e->function, e->start);

		if (!has_lines(j->p, e->object, e->start, e->end) ||
		    has_lines(j->all, object, start, start + (e->end - e->start)))
			continue;
		add_lines(j, &files, e, object);
		add_scopes(j, &files, scopes, e, object);
	}
	map64__free(&files);
}

static void add_extents(struct joining *j)
{
	const struct plan_extent *e;
	const struct plan_gap *g;

	vec__each (e, &j->p->extents)
		if (j->n->functions[e->function] >= j->all->functions.len)
			vec__push(
				&j->more->rows.extents,
				(struct plan_extent){joining__moved(j, e->function, e->start),
						     joining__moved(j, e->function, e->end - 1) + 1,
						     joining__object(j, e->function),
						     j->n->functions[e->function]});
	vec__each (g, &j->p->gaps)
		if (j->n->functions[g->function] >= j->all->functions.len)
			vec__push(&j->more->rows.gaps,
				  (struct plan_gap){joining__moved(j, g->function, g->start),
						    joining__moved(j, g->function, g->end - 1) + 1,
						    joining__object(j, g->function),
						    j->n->functions[g->function]});
}

/* ---- named events ---- */

static bool same_fields(const struct plan *a, uint32_t x, const struct plan *b, uint32_t y)
{
	size_t n, m;
	const struct plan_field *f = plan__fields(a, x, &n), *g = plan__fields(b, y, &m);

	for (size_t i = 0; n == m && i < n; i++)
		if (strcmp(f[i].name, g[i].name) || !same_text(f[i].type, g[i].type) ||
		    f[i].offset != g[i].offset || f[i].size != g[i].size ||
		    f[i].count != g[i].count || f[i].kind != g[i].kind || f[i].known != g[i].known)
			return false;
	return n == m;
}

/* Events of another kernel may have other fields: then they are separate events. */
static uint32_t find_named(const struct plan *all, const struct plan *p, uint32_t which)
{
	const struct plan_named *n = &p->named.data[which];
	uint32_t i = 0;

	while (i < all->named.len &&
	       (all->named.data[i].kind != n->kind || strcmp(all->named.data[i].name, n->name) ||
		!same_fields(all, i, p, which)))
		i++;
	return i;
}

static void add_named(struct joining *j)
{
	struct plan *rows = &j->more->rows;

	for (uint32_t i = 0; i < j->p->named.len; i++) {
		size_t n;
		const struct plan_field *f = plan__fields(j->p, i, &n);
		uint32_t known = find_named(j->all, j->p, i);

		j->n->named[i] =
			known < j->all->named.len ? known : j->all->named.len + rows->named.len;
		if (known < j->all->named.len)
			continue;
		plan__add_named(rows, j->p->named.data[i].kind, j->p->named.data[i].name);
		for (size_t k = 0; k < n; k++)
			plan__add_field(rows, &f[k]);
	}
}

/* ---- the whole ---- */

static void add_rows(struct joining *j)
{
	struct plan *rows = &j->more->rows;
	const struct piece *piece;
	const uint32_t *i;

	rows->probes = j->all->probes;
	rows->skipped = j->all->skipped;
	rows->ifunc_unknown = max_of(j->all->ifunc_unknown, j->p->ifunc_unknown);
	split_blocks(j);
	drop_compares(j);
	vec__each (i, &j->new_functions)
		add_function(j, *i);
	vec__each (piece, &j->new_blocks)
		add_block(j, piece);
	vec__each (i, &j->new_sites)
		add_site(j, *i);
	/* Where probes count, most of what is refused follows from other counts. */
	rows->skipped += min_of(j->refused, j->p->skipped);
	add_extents(j);
	add_source(j);
	add_named(j);
	joining__add_values(j);
}

static void allocate(struct joining *j)
{
	const struct plan *p = j->p;

	*j->n = (struct plan_numbers){
		.objects = xcalloc(p->objects.len + 1, sizeof(uint32_t)),
		.functions = xcalloc(p->functions.len + 1, sizeof(uint32_t)),
		.sites = xcalloc(p->sites.len + 1, sizeof(uint32_t)),
		.named = xcalloc(p->named.len + 1, sizeof(uint32_t)),
		.blocks = xcalloc(p->blocks.len + 1, sizeof(uint32_t)),
		.by_symbol = xcalloc(p->functions.len + 1, sizeof(bool)),
		.shifts = xcalloc(p->functions.len + 1, sizeof(uint64_t)),
	};
	*j->more = (struct plan_increment){0};
	j->namesakes = xcalloc(p->objects.len + 1, sizeof(uint32_t));
	j->shifts = xcalloc(p->objects.len + 1, sizeof(uint64_t));
	j->own = xcalloc(p->objects.len + 1, sizeof(uint32_t));
	j->last = xcalloc(p->blocks.len + 1, sizeof(uint32_t));
	j->differs = xcalloc(j->all->sites.len + 1, sizeof(bool));
	j->nobjects = j->all->objects.len;
}

static void free_joining(struct joining *j)
{
	map64__free(&j->starts);
	free(j->namesakes);
	free(j->shifts);
	free(j->own);
	free(j->last);
	free(j->differs);
	vec__free(&j->new_blocks);
	vec__free(&j->new_sites);
	vec__free(&j->new_functions);
	vec__free(&j->splits);
}

int plan__join(const struct plan *all, const struct plan *p, bool by_symbol,
	       struct plan_increment *more, struct plan_numbers *numbers)
{
	CLEANUP(free_joining)
	struct joining j = {.all = all, .p = p, .by_symbol = by_symbol, .more = more, .n = numbers};
	int err;

	allocate(&j);
	if (all->arch && all->arch != p->arch)
		return err__set(EXDEV, "it is of %s, and the files before are of %s", p->arch->name,
				all->arch->name);
	err = joining__find(&j);
	if (err)
		return err;
	add_rows(&j);
	return 0;
}
