// SPDX-License-Identifier: BSD-2-Clause
/* Extends a plan while a trace runs: rows are appended, and existing rows are amended. */
#include <stdlib.h>
#include "plan/plan_private.h"
#include "change.h"

bool plan_site__may_become(const struct plan_site *before, const struct plan_site *after)
{
	bool had = before && plan_site__has_events(before);

	return had == plan_site__has_events(after) || after->probe == PROBE_CHANGING ||
	       (before && before->probe == PROBE_CHANGING);
}

/* The first rows of more replace those that amended numbers; the rest is appended. */
#define EXTEND(vec, more, amended)                                                                 \
	do {                                                                                       \
		for (size_t i_ = 0; i_ < (more)->len; i_++)                                        \
			if (i_ < (amended)->len)                                                   \
				(vec)->data[(amended)->data[i_]] = (more)->data[i_];               \
			else                                                                       \
				vec__push(vec, (more)->data[i_]);                                  \
	} while (0)

/* The ranges of a function don't change. */
static void keep_ranges(struct plan *p, struct plan_increment *i)
{
	for (size_t f = 0; f < i->amended_functions.len; f++) {
		const struct plan_function *old = &p->functions.data[i->amended_functions.data[f]];

		i->rows.functions.data[f].ranges = old->ranges;
		i->rows.functions.data[f].nranges = old->nranges;
	}
}

int extent__order(const void *a, const void *b)
{
	const struct plan_extent *x = a, *y = b;

	return vaddr__order(x->object, x->start, y->object, y->start);
}
_Static_assert(sizeof(struct plan_gap) == sizeof(struct plan_extent) &&
		       offsetof(struct plan_gap, object) == offsetof(struct plan_extent, object),
	       "both are sorted by extent__order");

/* ---- extents and gaps that are replaced ---- */

static bool overlaps(const struct plan_extent *e, const struct plan *rows)
{
	size_t lo = 0, hi = rows->extents.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct plan_extent *x = &rows->extents.data[mid];

		if (vaddr__order(x->object, x->end, e->object, e->start + 1) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < rows->extents.len && rows->extents.data[lo].object == e->object &&
	       rows->extents.data[lo].start < e->end;
}

/* By function: it has new extents. */
static bool *find_replaced(const struct plan *p, const struct plan_increment *i)
{
	const struct plan_extent *e;
	bool *replaced;

	if (!i->amended_functions.len || !i->rows.extents.len)
		return NULL;
	replaced = xcalloc(p->functions.len + 1, sizeof(*replaced));
	vec__each (e, &i->rows.extents)
		if (e->function < p->functions.len)
			replaced[e->function] = true;
	return replaced;
}

/* Drops the extents of functions that have new ones. What is no longer traced gives way. */
static void drop_extents(struct plan *p, const struct plan_increment *i)
{
	autofree bool *replaced = find_replaced(p, i);
	size_t extents = 0, gaps = 0;

	if (!replaced)
		return;
	for (size_t k = 0; k < p->extents.len; k++) {
		struct plan_extent e = p->extents.data[k];

		if (!replaced[e.function] &&
		    (plan__traces(p, e.function) || !overlaps(&e, &i->rows)))
			p->extents.data[extents++] = e;
	}
	for (size_t k = 0; k < p->gaps.len; k++)
		if (!replaced[p->gaps.data[k].function])
			p->gaps.data[gaps++] = p->gaps.data[k];
	p->extents.len = extents;
	p->gaps.len = gaps;
}

static void replace_counting(struct plan *p, const struct plan_increment *i)
{
	p->breaks.len = p->sides.len = 0;
	vec__append(&p->breaks, &i->rows.breaks);
	vec__append(&p->sides, &i->rows.sides);
}

/* Both tables are in order of functions, and so is the merged one: values of a joined plan are
 * added to functions that it already had. */
static void take_values(struct plan *p, struct plan *rows)
{
	struct plan merged = {0};
	size_t old = 0;
	const struct plan_value *v;

	vec__each (v, &rows->values) {
		while (old < p->values.len && p->values.data[old].function <= v->function)
			vec__push(&merged.values, p->values.data[old++]);
		vec__push(&merged.values, *v);
	}
	while (old < p->values.len)
		vec__push(&merged.values, p->values.data[old++]);
	vec__free(&p->values);
	p->values = merged.values;
	vec__append(&p->enumerators, &rows->enumerators);
	rows->values.len = rows->enumerators.len = 0;
}

/* The first plan of a trace file is an increment of an empty one. */
static void take_named(struct plan *p, struct plan *rows)
{
	struct plan_field *f;

	vec__each (f, &rows->fields)
		f->named += p->named.len;
	vec__append(&p->named, &rows->named);
	vec__append(&p->fields, &rows->fields);
	rows->named.len = rows->fields.len = 0;
	take_values(p, rows);
}

void plan__extend(struct plan *p, struct plan_increment *i)
{
	char **file;

	keep_ranges(p, i);
	drop_extents(p, i);
	vec__append(&p->objects, &i->rows.objects);
	EXTEND(&p->functions, &i->rows.functions, &i->amended_functions);
	EXTEND(&p->sites, &i->rows.sites, &i->amended_sites);
	EXTEND(&p->blocks, &i->rows.blocks, &i->amended_blocks);
	vec__append(&p->table, &i->rows.table);
	vec__append(&p->stubs, &i->rows.stubs);
	vec__append(&p->extents, &i->rows.extents);
	vec__append(&p->gaps, &i->rows.gaps);
	vec__append(&p->lines, &i->rows.lines);
	vec__append(&p->scopes, &i->rows.scopes);
	vec__append(&p->scope_ranges, &i->rows.scope_ranges);
	if (i->recounts)
		replace_counting(p, i);
	vec__each (file, &i->rows.line_files)
		vec__push(&p->line_files, xstrdup(*file));
	take_named(p, &i->rows);
	vec__sort(&p->extents, extent__order);
	vec__sort(&p->gaps, extent__order);
	lines__sort(p);
	scopes__sort(p);
	p->unprobed_rets |= i->rows.unprobed_rets;
	p->probes = i->rows.probes;
	p->skipped = i->rows.skipped;
	p->ifunc_unknown = i->rows.ifunc_unknown;
	placement__count_unprobed(p);
	plan__index(p);
}

void plan_increment__free(struct plan_increment *i)
{
	plan__free_tables(&i->rows);
	vec__free(&i->amended_functions);
	vec__free(&i->amended_sites);
	vec__free(&i->amended_blocks);
}
