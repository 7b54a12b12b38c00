// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds a plan from a trace file. The replay trusts a plan's indices, so each of them is checked
 * here.
 */
#include <errno.h>
#include <stdlib.h>
#include "file/format.h"

#define MAX_BLOCKS (16u << 20)

struct making {
	struct plan *p;
	const struct file_rows *rows;
	size_t nobjects;
};

/* Is it an index below n, or the value for none? */
static bool is_index(uint32_t i, size_t n)
{
	return i < n || i == UINT32_MAX;
}

static bool good_function(const struct making *m, const struct plan_function *f)
{
	return f->name && f->object < m->nobjects && is_index(f->entry_site, m->p->sites.len) &&
	       is_index(f->entry_block, m->p->blocks.len) && f->nranges;
}

static bool good_site(const struct making *m, const struct plan_site *s)
{
	return s->object < m->nobjects && s->function < m->p->functions.len &&
	       s->block < m->p->blocks.len && s->kind < BRANCH_KINDS &&
	       s->refusal < PROBE_REFUSALS && s->role < ROLES &&
	       (s->role == ROLE_BRANCH ? s->mnemonic != NULL : s->kind == BRANCH_NONE);
}

static bool good_block(const struct making *m, const struct plan_block *b)
{
	const struct plan *p = m->p;

	return b->object < m->nobjects && b->function < p->functions.len &&
	       is_index(b->site, p->sites.len) && is_index(b->next, p->blocks.len) &&
	       is_index(b->taken, p->blocks.len) && b->table <= p->table.len &&
	       b->ntable <= p->table.len - b->table;
}

static bool good_extent(const struct making *m, const struct plan_extent *extent)
{
	return extent->object < m->nobjects && extent->function < m->p->functions.len &&
	       extent->start < extent->end;
}

static bool good_gap(const struct making *m, const struct plan_gap *gap)
{
	return gap->object < m->nobjects && gap->function < m->p->functions.len &&
	       gap->start < gap->end;
}

static bool good_line(const struct making *m, const struct plan_line *l)
{
	return l->object < m->nobjects && (!l->line || l->file < m->p->line_files.len);
}

/* Lookups are by object and address, so the rows must be sorted by these. */
#define in_order(row, first, address)                                                              \
	((row) == (first) || (row)[-1].object < (row)->object ||                                   \
	 ((row)[-1].object == (row)->object && (row)[-1].address <= (row)->address))

static bool is_good(const struct making *m)
{
	const struct plan *p = m->p;
	const struct plan_function *f;
	const struct plan_extent *extent;
	const struct plan_gap *gap;
	const struct plan_block *b;
	const struct plan_line *l;
	const struct plan_site *s;
	const uint32_t *jump;

	if (!m->nobjects || p->sites.len > PLAN_MAX_SITES || p->blocks.len > MAX_BLOCKS)
		return false;
	vec__each (f, &p->functions)
		if (!good_function(m, f))
			return false;
	vec__each (s, &p->sites)
		if (!good_site(m, s))
			return false;
	vec__each (b, &p->blocks)
		if (!good_block(m, b) || !in_order(b, p->blocks.data, start))
			return false;
	vec__each (jump, &p->table)
		if (*jump >= p->blocks.len)
			return false;
	vec__each (extent, &p->extents)
		if (!good_extent(m, extent) || !in_order(extent, p->extents.data, start))
			return false;
	vec__each (gap, &p->gaps)
		if (!good_gap(m, gap) || !in_order(gap, p->gaps.data, start))
			return false;
	vec__each (l, &p->lines)
		if (!good_line(m, l) || !in_order(l, p->lines.data, vaddr))
			return false;
	return true;
}

/* ---- what the file stores in another form than the plan ---- */

/* The ranges of a function are consecutive rows. */
static bool take_ranges(struct making *m, struct pool *pool)
{
	size_t n = m->rows->ranges.len, next = 0;
	const struct file_range *rows = m->rows->ranges.data;
	struct range *ranges = pool__take(pool, n * sizeof(*ranges));

	if (!ranges)
		return false;
	for (size_t i = 0; i < n; i++)
		ranges[i] = (struct range){rows[i].vaddr, rows[i].size, (char *)rows[i].name,
					   rows[i].offset};
	for (size_t f = 0; f < m->p->functions.len; f++) {
		struct plan_function *fn = &m->p->functions.data[f];

		fn->ranges = ranges + next;
		for (fn->nranges = 0; next < n && rows[next].function == f; next++)
			fn->nranges++;
	}
	return next == n;
}

static void take_objects(struct making *m, const struct file_objects *objects)
{
	for (size_t i = 0; i < objects->nplanned; i++) {
		const struct object *o = objects->all.data[i];

		vec__push(&m->p->objects,
			  (struct plan_object){o, o->path, o->machine, o->kind != OBJECT_ELF,
					       o->kind == OBJECT_MODULE});
	}
	m->nobjects = objects->nplanned;
}

static bool take_stubs(struct making *m)
{
	const struct file_stub *s;

	vec__each (s, &m->rows->stubs) {
		if (s->object >= m->nobjects)
			return false;
		vec__push(&m->p->stubs,
			  (struct plan_stub){m->p->objects.data[s->object].object, s->vaddr});
	}
	return true;
}

static bool take_line_files(struct making *m)
{
	const struct file_line_file *f;

	vec__each (f, &m->rows->line_files) {
		if (!f->path)
			return false;
		vec__push(&m->p->line_files, xstrdup(f->path));
	}
	return true;
}

/* Older files lack the column: all rows have role 0. */
static void tell_roles(struct plan *p)
{
	struct plan_site *s;

	vec__each (s, &p->sites)
		if (s->role == ROLE_BRANCH && !s->mnemonic)
			s->role = s->entry ? ROLE_ENTRY : ROLE_WITNESS;
}

static void take_head(struct plan *p, const struct file_plan *row)
{
	p->arch = arch__by_machine(row->machine);
	p->unprobed_rets = row->unprobed_rets;
	p->return_probes = row->return_probes;
	p->placement = row->placement;
	p->probes = row->probes;
	p->skipped = row->skipped;
	p->ifunc_unknown = row->ifunc_unknown;
}

/* Moves a VEC to one with another type name and the same element type. */
#define move(to, from)                                                                             \
	((to)->data = (from)->data, (to)->len = (from)->len, (to)->cap = (from)->cap,              \
	 (from)->data = NULL, (from)->len = (from)->cap = 0)

int file_plan__make(struct file_rows *rows, const struct file_objects *objects, struct pool *pool,
		    struct plan **out)
{
	struct plan *p = xcalloc(1, sizeof(*p));
	struct making m = {.p = p, .rows = rows};

	take_head(p, &rows->plan.data[0]);
	move(&p->functions, &rows->functions);
	move(&p->sites, &rows->sites);
	move(&p->blocks, &rows->blocks);
	move(&p->table, &rows->jumps);
	move(&p->extents, &rows->extents);
	move(&p->gaps, &rows->gaps);
	move(&p->lines, &rows->lines);
	take_objects(&m, objects);
	tell_roles(p);
	plan__index_sites(p);
	*out = p;
	if (!p->arch)
		return err__set(ENOTSUP,
				"it was recorded on an architecture (e_machine %u) that this "
				"bbtrace doesn't know: use a newer one",
				rows->plan.data[0].machine);
	return take_ranges(&m, pool) && take_stubs(&m) && take_line_files(&m) && is_good(&m)
		       ? 0
		       : -EBADMSG;
}
