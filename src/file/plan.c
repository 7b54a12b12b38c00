// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds a plan from a trace file, and extends it. The replay trusts a plan's indices, so each of
 * them is checked here.
 */
#include <errno.h>
#include <stdlib.h>
#include "file/format.h"

#define MAX_BLOCKS (16u << 20)
#define MAX_BLOCK  (1ull << 30) /* bytes */

/* An increment, and how many rows the plan has with it. */
struct making {
	const struct plan *p; /* before it */
	struct file_rows *rows;
	struct plan_increment more;
	size_t objects, functions, sites, blocks, table, line_files, scopes;
	bool counts; /* the file has no events */
};

/* Returns true for an index below n, and for the value that means none. */
static bool is_index(uint32_t i, size_t n)
{
	return i < n || i == UINT32_MAX;
}

static bool good_function(const struct making *m, const struct plan_function *f)
{
	return f->name && f->object < m->objects && is_index(f->entry_site, m->sites) &&
	       is_index(f->entry_block, m->blocks) && f->nranges;
}

static bool good_site(const struct making *m, const struct plan_site *s)
{
	return s->object < m->objects && s->function < m->functions && s->block < m->blocks &&
	       s->kind < BRANCH_KINDS && s->refusal < PROBE_REFUSALS && s->probe < PROBE_HOWS &&
	       s->role < ROLES && s->traps <= 2 &&
	       (s->role == ROLE_BRANCH ? s->mnemonic != NULL : s->kind == BRANCH_NONE);
}

/* The first plan's sites have their probes from the start; that is before any object. */
static bool good_change(const struct making *m, const struct plan_site *s)
{
	size_t row = s - m->more.rows.sites.data;

	return !m->p->objects.len || m->counts ||
	       plan_site__may_become(row < m->more.amended_sites.len
					     ? &m->p->sites.data[m->more.amended_sites.data[row]]
					     : NULL,
				     s);
}

static bool good_block(const struct making *m, const struct plan_block *b)
{
	return b->object < m->objects && b->function < m->functions &&
	       b->end - b->start <= MAX_BLOCK && is_index(b->site, m->sites) &&
	       is_index(b->next, m->blocks) && is_index(b->taken, m->blocks) &&
	       b->table <= m->table && b->ntable <= m->table - b->table && b->quick <= QUICK_MAX;
}

static bool good_extent(const struct making *m, const struct plan_extent *extent)
{
	return extent->object < m->objects && extent->function < m->functions &&
	       extent->start < extent->end;
}

static bool good_gap(const struct making *m, const struct plan_gap *gap)
{
	return gap->object < m->objects && gap->function < m->functions && gap->start < gap->end;
}

static bool good_line(const struct making *m, const struct plan_line *l)
{
	return l->object < m->objects && (!l->line || l->file < m->line_files);
}

/* A scope's parent is before it; first: the number of the increment's first one. */
static bool good_scope(const struct making *m, const struct plan_scope *s, size_t first)
{
	size_t number = first + (s - m->more.rows.scopes.data);

	return s->object < m->objects && (s->parent == NO_SCOPE || s->parent < number) &&
	       (!s->line || s->file < m->line_files) && s->call_file <= m->line_files;
}

static bool good_scope_range(const struct making *m, const struct plan_scope_range *r)
{
	return r->object < m->objects && r->scope < m->scopes && r->start < r->end;
}

/* Lookups are by object and address, so the rows must be sorted by these. */
#define in_order(row, first, address)                                                              \
	((row) == (first) || (row)[-1].object < (row)->object ||                                   \
	 ((row)[-1].object == (row)->object && (row)[-1].address <= (row)->address))

static bool is_good_source(const struct making *m)
{
	const struct plan *rows = &m->more.rows;
	const struct plan_scope_range *r;
	const struct plan_scope *scope;
	const struct plan_line *l;

	vec__each (l, &rows->lines)
		if (!good_line(m, l) || !in_order(l, rows->lines.data, vaddr))
			return false;
	vec__each (scope, &rows->scopes)
		if (!good_scope(m, scope, m->p->scopes.len))
			return false;
	vec__each (r, &rows->scope_ranges)
		if (!good_scope_range(m, r) || !in_order(r, rows->scope_ranges.data, start))
			return false;
	return true;
}

static bool is_good(const struct making *m)
{
	const struct plan *rows = &m->more.rows;
	const struct plan_function *f;
	const struct plan_extent *extent;
	const struct plan_gap *gap;
	const struct plan_block *b;
	const struct plan_site *s;
	const uint32_t *jump;

	if ((!m->objects && !m->p->named.len && !rows->named.len) || m->sites > PLAN_MAX_SITES ||
	    m->blocks > MAX_BLOCKS)
		return false;
	vec__each (f, &rows->functions)
		if (!good_function(m, f))
			return false;
	vec__each (s, &rows->sites)
		if (!good_site(m, s) || !good_change(m, s))
			return false;
	vec__each (b, &rows->blocks)
		if (!good_block(m, b))
			return false;
	vec__each (jump, &rows->table)
		if (*jump >= m->blocks)
			return false;
	vec__each (extent, &rows->extents)
		if (!good_extent(m, extent) || !in_order(extent, rows->extents.data, start))
			return false;
	vec__each (gap, &rows->gaps)
		if (!good_gap(m, gap) || !in_order(gap, rows->gaps.data, start))
			return false;
	return is_good_source(m);
}

/* ---- what the file stores in another form than the plan ---- */

/* The rows that the increment replaces, by table. */
static bool take_amended(struct making *m)
{
	const struct file_amended *a;

	vec__each (a, &m->rows->amended) {
		if (a->table == BLOCK_FUNCTION && a->row < m->p->functions.len)
			vec__push(&m->more.amended_functions, a->row);
		else if (a->table == BLOCK_SITE && a->row < m->p->sites.len)
			vec__push(&m->more.amended_sites, a->row);
		else if (a->table == BLOCK_BLOCK && a->row < m->p->blocks.len)
			vec__push(&m->more.amended_blocks, a->row);
		else
			return false;
	}
	return m->more.amended_functions.len <= m->more.rows.functions.len &&
	       m->more.amended_sites.len <= m->more.rows.sites.len &&
	       m->more.amended_blocks.len <= m->more.rows.blocks.len;
}

static void count_rows(struct making *m)
{
	const struct plan *rows = &m->more.rows;

	m->objects = m->p->objects.len + rows->objects.len;
	m->functions = m->p->functions.len + rows->functions.len - m->more.amended_functions.len;
	m->sites = m->p->sites.len + rows->sites.len - m->more.amended_sites.len;
	m->blocks = m->p->blocks.len + rows->blocks.len - m->more.amended_blocks.len;
	m->table = m->p->table.len + rows->table.len;
	m->line_files = m->p->line_files.len + rows->line_files.len;
	m->scopes = m->p->scopes.len + rows->scopes.len;
}

/* The ranges of a function are consecutive rows. An amended one keeps those that it has. */
static bool take_ranges(struct making *m, struct pool *pool)
{
	size_t n = m->rows->ranges.len, next = 0, amended = m->more.amended_functions.len;
	const struct file_range *rows = m->rows->ranges.data;
	struct range *ranges = pool__take(pool, n * sizeof(*ranges));

	if (!ranges)
		return false;
	for (size_t i = 0; i < n; i++)
		ranges[i] = (struct range){rows[i].vaddr, rows[i].size, (char *)rows[i].name,
					   rows[i].offset};
	for (size_t i = 0; i < m->more.rows.functions.len; i++) {
		struct plan_function *fn = &m->more.rows.functions.data[i];

		fn->ranges = ranges + next;
		fn->nranges = i < amended; /* plan__extend() fills them in */
		for (; i >= amended && next < n &&
		       rows[next].function == m->p->functions.len + i - amended;
		     next++)
			fn->nranges++;
	}
	return next == n;
}

static void take_objects(struct making *m, const struct file_objects *objects)
{
	for (size_t i = m->p->objects.len; i < objects->planned.len; i++) {
		const struct object *o = objects->all.data[objects->planned.data[i]];

		vec__push(&m->more.rows.objects,
			  (struct plan_object){o, o->path, o->machine, o->kind != OBJECT_ELF,
					       o->kind == OBJECT_MODULE});
	}
}

static bool take_stubs(struct making *m, const struct file_objects *objects)
{
	const struct file_stub *s;

	vec__each (s, &m->rows->stubs) {
		if (s->object >= objects->all.len)
			return false;
		vec__push(&m->more.rows.stubs,
			  (struct plan_stub){objects->all.data[s->object], s->vaddr});
	}
	return true;
}

static bool take_line_files(struct making *m)
{
	const struct file_line_file *f;

	vec__each (f, &m->rows->line_files) {
		if (!f->path)
			return false;
		vec__push(&m->more.rows.line_files, xstrdup(f->path));
	}
	return true;
}

/* Moves a VEC to one with another type name and the same element type. */
#define move(to, from)                                                                             \
	((to)->data = (from)->data, (to)->len = (from)->len, (to)->cap = (from)->cap,              \
	 (from)->data = NULL, (from)->len = (from)->cap = 0)

/* The strings of rows are the file's. */
static bool take_named(struct making *m)
{
	const struct plan_named *n;
	const struct plan_field *f;
	size_t next = 0;

	vec__each (n, &m->rows->named) {
		uint32_t number = n - m->rows->named.data;

		if (!n->name || n->kind >= NAMED_KINDS)
			return false;
		plan__add_named(&m->more.rows, n->kind, n->name);
		for (; next < m->rows->fields.len; next++) {
			f = &m->rows->fields.data[next];
			if (f->named != number || !f->name || f->kind >= NAMED_TYPES ||
			    f->known > 64 || f->offset > NAMED_DATA || f->size > NAMED_DATA ||
			    f->count > max_of(f->size, 1u))
				break;
			plan__add_field(&m->more.rows, f);
		}
	}
	return next == m->rows->fields.len;
}

/* Ascending: lookups are by function, and by enumeration. */
static bool take_values(struct making *m)
{
	struct plan *rows = &m->more.rows;
	const struct plan_enumerator *e;
	const struct plan_value *v;

	vec__each (e, &m->rows->enumerators) {
		if (!e->name ||
		    (e > m->rows->enumerators.data && e[-1].enumeration > e->enumeration))
			return false;
		vec__push(&rows->enumerators,
			  (struct plan_enumerator){xstrdup(e->name), e->value, e->enumeration});
	}
	vec__each (v, &m->rows->values) {
		if (!v->name || v->of_return > 1 || v->kind >= KINDS_OF_VALUES ||
		    v->from >= FROMS || v->fetched > VALUES_FETCHED || v->bit_at > 63 ||
		    v->bits > 64 || (v > m->rows->values.data && v[-1].function > v->function))
			return false;
		plan__add_value(rows, v);
	}
	return true;
}

static void take_tables(struct making *m)
{
	const struct file_plan *counts = &m->rows->plan.data[0];
	struct plan *to = &m->more.rows;

	move(&to->functions, &m->rows->functions);
	move(&to->sites, &m->rows->sites);
	move(&to->blocks, &m->rows->blocks);
	move(&to->table, &m->rows->jumps);
	move(&to->extents, &m->rows->extents);
	move(&to->gaps, &m->rows->gaps);
	move(&to->lines, &m->rows->lines);
	move(&to->scopes, &m->rows->scopes);
	move(&to->scope_ranges, &m->rows->scope_ranges);
	to->unprobed_rets = counts->unprobed_rets;
	to->probes = counts->probes;
	to->skipped = counts->skipped;
	to->ifunc_unknown = counts->ifunc_unknown;
}

static bool take_rows(struct making *m, const struct file_objects *objects, struct pool *pool)
{
	take_tables(m);
	take_objects(m, objects);
	if (!take_amended(m) || !take_ranges(m, pool) || !take_stubs(m, objects) ||
	    !take_line_files(m) || !take_named(m) || !take_values(m))
		return false;
	count_rows(m);
	return is_good(m);
}

/* What an increment can't change. */
static void take_head(struct plan *p, const struct file_plan *row)
{
	p->arch = arch__by_machine(row->machine);
	p->return_probes = row->return_probes;
	p->entries_only = row->entries_only;
	p->counts_all = row->counts_all;
	p->placement = row->placement;
}

static void free_making(struct making *m)
{
	plan_increment__free(&m->more);
}

int file_plan__extend(struct plan *p, struct file_rows *rows, const struct file_objects *objects,
		      struct pool *pool)
{
	CLEANUP(free_making)
	struct making m = {.p = p, .rows = rows, .counts = rows->meta.data[0].counts};
	const struct file_plan *row = &rows->plan.data[0];

	if (!p->arch)
		take_head(p, row);
	if (!p->arch)
		return err__set(ENOTSUP,
				"it was recorded on an architecture (e_machine %u) that this "
				"bbtrace doesn't know: use a newer one",
				row->machine);
	if (!take_rows(&m, objects, pool))
		return -EBADMSG;
	plan__extend(p, &m.more);
	rows->plan.len = rows->ranges.len = rows->stubs.len = rows->line_files.len = 0;
	rows->amended.len = rows->named.len = rows->fields.len = 0;
	rows->values.len = rows->enumerators.len = 0;
	return 0;
}
