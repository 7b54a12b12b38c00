// SPDX-License-Identifier: BSD-2-Clause
/* The increments that turn one plan into another, whose rows have the same numbers. */
#include <stdlib.h>
#include "plan/plan_private.h"
#include "change.h"

/* Puts the rows that differ, then the new ones. */
#define DIFFER(table, amended_, same)                                                              \
	do {                                                                                       \
		for (uint32_t i_ = 0; i_ < now->table.len; i_++)                                   \
			if (!(same)) {                                                             \
				vec__push(&out->amended_, i_);                                     \
				vec__push(&out->rows.table, to->table.data[i_]);                   \
			}                                                                          \
		for (size_t i_ = now->table.len; i_ < to->table.len; i_++)                         \
			vec__push(&out->rows.table, to->table.data[i_]);                           \
	} while (0)
#define SAME(table) !memcmp(&now->table.data[i_], &to->table.data[i_], sizeof(*now->table.data))

/* By function: it is new, or its extents or gaps are not those of now. */
static bool *find_moved(const struct plan *to, const struct plan *now)
{
	bool *moved = xcalloc(to->functions.len + 1, sizeof(*moved));
	autofree uint64_t *sums = xcalloc(to->functions.len + 1, 2 * sizeof(*sums));
	const struct plan_extent *e;
	const struct plan_gap *g;

	/* Extents differ only by what a function encloses, and then in their sizes. */
	vec__each (e, &now->extents)
		sums[2 * e->function] -= e->end - e->start;
	vec__each (e, &to->extents)
		sums[2 * e->function] += e->end - e->start;
	vec__each (g, &now->gaps)
		sums[2 * g->function + 1] -= g->end - g->start;
	vec__each (g, &to->gaps)
		sums[2 * g->function + 1] += g->end - g->start;
	for (size_t i = 0; i < to->functions.len; i++)
		moved[i] = plan__traces(to, i) &&
			   (i >= now->functions.len || sums[2 * i] || sums[2 * i + 1]);
	return moved;
}

/* Sets what turns now into to. */
static void put_difference(const struct plan *to, const struct plan *now,
			   struct plan_increment *out)
{
	autofree bool *moved = find_moved(to, now);
	const struct plan_extent *e;
	const struct plan_gap *g;

	for (size_t i = now->objects.len; i < to->objects.len; i++)
		vec__push(&out->rows.objects, to->objects.data[i]);
	for (size_t i = now->table.len; i < to->table.len; i++)
		vec__push(&out->rows.table, to->table.data[i]);
	DIFFER(functions, amended_functions, SAME(functions) && !moved[i_]);
	DIFFER(sites, amended_sites, SAME(sites));
	DIFFER(blocks, amended_blocks, SAME(blocks));
	vec__each (e, &to->extents)
		if (moved[e->function])
			vec__push(&out->rows.extents, *e);
	vec__each (g, &to->gaps)
		if (moved[g->function])
			vec__push(&out->rows.gaps, *g);
	vec__append(&out->rows.breaks, &to->breaks);
	vec__append(&out->rows.sides, &to->sides);
	out->recounts = true;
	out->rows.unprobed_rets = to->unprobed_rets;
	out->rows.probes = to->probes;
	out->rows.skipped = to->skipped;
	out->rows.ifunc_unknown = to->ifunc_unknown;
}

/* Rows of now stay as they are until nothing uses them any more. */
static void keep_rows(struct plan *to, const struct plan *now)
{
	memcpy(to->functions.data, now->functions.data,
	       now->functions.len * sizeof(*now->functions.data));
	memcpy(to->sites.data, now->sites.data, now->sites.len * sizeof(*now->sites.data));
	memcpy(to->blocks.data, now->blocks.data, now->blocks.len * sizeof(*now->blocks.data));
	to->extents.len = to->gaps.len = to->breaks.len = to->sides.len = 0;
	vec__append(&to->extents, &now->extents);
	vec__append(&to->gaps, &now->gaps);
	vec__append(&to->breaks, &now->breaks);
	vec__append(&to->sides, &now->sides);
}

static void set_changing(struct plan *to, const id_vec *sites)
{
	const uint32_t *id;

	vec__each (id, sites)
		to->sites.data[*id].probe = PROBE_CHANGING;
}

void plan_change__begin(const struct plan_change *c, const struct plan *now,
			struct plan_increment *out)
{
	struct plan to = {.skipped = c->to.skipped,
			  .probes = c->to.probes,
			  .ifunc_unknown = c->to.ifunc_unknown,
			  .unprobed_rets = c->to.unprobed_rets};
	char *const *file;

	vec__append(&to.objects, &c->to.objects);
	vec__append(&to.functions, &c->to.functions);
	vec__append(&to.sites, &c->to.sites);
	vec__append(&to.blocks, &c->to.blocks);
	vec__append(&to.table, &c->to.table);
	vec__append(&to.extents, &c->to.extents);
	vec__append(&to.gaps, &c->to.gaps);
	vec__append(&to.breaks, &c->to.breaks);
	vec__append(&to.sides, &c->to.sides);
	if (c->removes)
		keep_rows(&to, now);
	set_changing(&to, &c->attach);
	set_changing(&to, &c->logged);
	/* What counts continues to until nothing needs it. */
	if (now->placement != PLACEMENT_COUNT)
		set_changing(&to, &c->detach);
	*out = (struct plan_increment){0};
	put_difference(&to, now, out);
	vec__append(&out->rows.stubs, &c->to.stubs);
	vec__append(&out->rows.lines, &c->to.lines);
	vec__append(&out->rows.scopes, &c->to.scopes);
	vec__append(&out->rows.scope_ranges, &c->to.scope_ranges);
	vec__each (file, &c->to.line_files)
		vec__push(&out->rows.line_files, xstrdup(*file));
	plan__free_tables(&to);
}

void plan_change__end(struct plan_change *c, const struct plan *now, struct plan_increment *out)
{
	const uint32_t *id;

	vec__each (id, &c->attach) {
		const struct plan_site *s = &now->sites.data[*id];

		if (s->probe == PROBE_NONE)
			plan__refuse(&c->to, *id, s->refusal);
	}
	*out = (struct plan_increment){0};
	put_difference(&c->to, now, out);
}
