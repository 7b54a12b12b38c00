// SPDX-License-Identifier: BSD-2-Clause
/* Changes the plan of a running trace into another one. What both have is found by its address and
 * keeps its number; what only the other one has gets a new one. */
#include <errno.h>
#include <stdlib.h>
#include "plan/plan_private.h"
#include "change.h"

struct change {
	const struct plan *now, *next;
	struct plan_change *c;
	/* by number in next: the number in the extended plan */
	uint32_t *object, *function, *site;
	uint32_t *first, *last; /* blocks: one block of next may have been divided */
	bool *found;		/* by block of now */
};

/* ---- functions ---- */

static void match_objects(struct change *k)
{
	for (size_t i = 0; i < k->next->objects.len; i++) {
		const struct plan_object *o = &k->next->objects.data[i];
		uint32_t n = plan__object_of(k->now, o->object);

		if (n == k->now->objects.len) {
			n = k->c->to.objects.len;
			vec__push(&k->c->to.objects, *o);
		}
		k->object[i] = n;
	}
}

/* Functions in order of their starts. */
static int by_function(const void *a, const void *b, void *plan)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct plan_function *f = ((const struct plan *)plan)->functions.data;
	int n = vaddr__order(f[x].object, plan__start(&f[x]), f[y].object, plan__start(&f[y]));

	return n ? n : x < y ? -1 : x > y;
}

static bool is_same_function(const struct plan_function *a, const struct plan_function *b)
{
	if ((a->flags ^ b->flags) & FUNCTION_RANGE || a->nranges != b->nranges)
		return false;
	for (size_t i = 0; i < a->nranges; i++)
		if (a->ranges[i].vaddr != b->ranges[i].vaddr ||
		    a->ranges[i].size != b->ranges[i].size)
			return false;
	return true;
}

static uint32_t find_function(const struct change *k, const id_vec *sorted, uint32_t object,
			      const struct plan_function *f)
{
	const struct plan_function *rows = k->now->functions.data;
	uint64_t start = plan__start(f);
	size_t lo = 0, hi = sorted->len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct plan_function *x = &rows[sorted->data[mid]];

		if (vaddr__order(x->object, plan__start(x), object, start) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < sorted->len; lo++) {
		const struct plan_function *x = &rows[sorted->data[lo]];

		if (x->object != object || plan__start(x) != start)
			break;
		if (is_same_function(x, f))
			return sorted->data[lo];
	}
	return NO_FUNCTION;
}

/* Functions that next doesn't have are no longer traced. */
static void match_functions(struct change *k)
{
	struct plan *to = &k->c->to;
	size_t n = k->now->functions.len;
	autofree bool *found = xcalloc(n + 1, sizeof(*found));
	autofree id_vec sorted = {0};

	for (uint32_t i = 0; i < n; i++)
		vec__push(&sorted, i);
	if (n)
		qsort_r(sorted.data, n, sizeof(*sorted.data), by_function, (void *)k->now);
	for (size_t i = 0; i < k->next->functions.len; i++) {
		const struct plan_function *f = &k->next->functions.data[i];
		uint32_t id = find_function(k, &sorted, k->object[f->object], f);

		if (id == NO_FUNCTION) {
			id = to->functions.len;
			vec__push(&to->functions, *f);
		} else {
			found[id] = true;
		}
		k->function[i] = id;
	}
	for (size_t i = 0; i < n; i++)
		if (!found[i] && plan__traces(k->now, i)) {
			to->functions.data[i].flags |= FUNCTION_REMOVED;
			k->c->removes = true;
		}
}

/* ---- blocks ---- */

static int no_match(const struct change *k, const struct plan_block *b)
{
	const struct plan_function *f = &k->next->functions.data[b->function];

	return err__set(
		EBUSY,
		"the code of %s at 0x%llx would be divided in another way than it is traced now; "
		"start the trace with all of the functions",
		f->name, (unsigned long long)b->start);
}

/* Returns the block that this one of now falls into without a branch; NO_BLOCK if none. */
static uint32_t block_after(const struct plan *now, uint32_t block)
{
	const struct plan_block *b = &now->blocks.data[block];

	return b->site == NO_SITE ? plan__block_at(now, b->object, b->end) : NO_BLOCK;
}

/* One block may be several in now, if code that isn't traced any more jumps between them. */
static int match_block(struct change *k, uint32_t i)
{
	const struct plan_block *b = &k->next->blocks.data[i];
	uint32_t at = plan__block_at(k->now, k->object[b->object], b->start);

	if (k->object[b->object] >= k->now->objects.len || at == NO_BLOCK) {
		k->first[i] = k->last[i] = k->c->to.blocks.len;
		(void)vec__add(&k->c->to.blocks);
		return 0;
	}
	k->first[i] = at;
	while (k->now->blocks.data[at].end < b->end) {
		k->found[at] = true;
		at = block_after(k->now, at);
		if (at == NO_BLOCK)
			return no_match(k, b);
	}
	k->found[at] = true;
	k->last[i] = at;
	return k->first[i] != at && k->now->blocks.data[at].end != b->end ? no_match(k, b) : 0;
}

static uint32_t new_first(const struct change *k, uint32_t block)
{
	return block == NO_BLOCK ? NO_BLOCK : k->first[block];
}

static uint32_t new_site(const struct change *k, uint32_t site)
{
	return site == NO_SITE ? NO_SITE : k->site[site];
}

/* Returns the part of a block of next that holds this address. */
static uint32_t part_at(const struct change *k, uint32_t block, uint64_t vaddr)
{
	uint32_t at = k->first[block];

	while (at != k->last[block] && k->now->blocks.data[at].end <= vaddr)
		at = block_after(k->now, at);
	return at;
}

static bool is_same_table(const struct change *k, const struct plan_block *old,
			  const struct plan_block *b)
{
	for (uint32_t i = 0; i < b->ntable && b->ntable == old->ntable; i++)
		if (k->now->table.data[old->table + i] !=
		    k->first[k->next->table.data[b->table + i]])
			return false;
	return b->ntable == old->ntable;
}

static void put_block(struct change *k, uint32_t i)
{
	const struct plan_block *b = &k->next->blocks.data[i];
	struct plan *to = &k->c->to;
	uint32_t at = k->last[i], function = k->function[b->function];
	struct plan_block *out = &to->blocks.data[at];
	uint64_t start = k->first[i] == at ? b->start : out->start;
	uint32_t table = out->table;
	bool same = at < k->now->blocks.len && is_same_table(k, out, b);

	for (uint32_t part = k->first[i]; part != at; part = block_after(k->now, part))
		to->blocks.data[part].function = function;
	*out = *b;
	out->start = start;
	out->object = k->object[b->object];
	out->function = function;
	out->site = new_site(k, b->site);
	out->next = new_first(k, b->next);
	out->taken = new_first(k, b->taken);
	out->table = same ? table : to->table.len;
	for (uint32_t t = 0; t < b->ntable && !same; t++)
		vec__push(&to->table, k->first[k->next->table.data[b->table + t]]);
}

/* ---- sites ---- */

static int match_site(struct change *k, uint32_t i)
{
	const struct plan_site *s = &k->next->sites.data[i], *old;
	uint32_t id = plan__site_of(k->now, k->object[s->object], s->vaddr, s->role);

	if (id == NO_SITE) {
		k->site[i] = k->c->to.sites.len;
		(void)vec__add(&k->c->to.sites);
		return 0;
	}
	k->site[i] = id;
	old = &k->now->sites.data[id];
	if (!plan_site__is_hooked(old) || !plan_site__is_hooked(s) ||
	    (old->entry == s->entry && old->probe_at == s->probe_at && old->kind == s->kind))
		return 0;
	return no_match(k, &k->next->blocks.data[s->block]);
}

/* The copy continues to log the site in any case. */
static void show_logged(struct change *k, uint32_t id, bool before, bool now)
{
	if (before != now)
		vec__push(&k->c->logged, id);
	k->c->removes |= before && !now;
}

static void put_site(struct change *k, uint32_t i)
{
	const struct plan_site *s = &k->next->sites.data[i];
	uint32_t id = k->site[i];
	struct plan_site *out = &k->c->to.sites.data[id];
	const struct plan_site *old = id < k->now->sites.len ? &k->now->sites.data[id] : NULL;
	bool had = old && plan_site__is_hooked(old), logs = old && old->logs;
	bool shown = old && old->probe == PROBE_INLINE;
	uint8_t probe_at = out->probe_at;

	*out = *s;
	if (old && old->compare && s->compare && !strcmp(old->compare, s->compare)) {
		out->compare = old->compare;
		out->test = old->test;
		out->variable_a = old->variable_a;
		out->variable_b = old->variable_b;
	}
	out->object = k->object[s->object];
	out->function = k->function[s->function];
	out->block = part_at(k, s->block, s->vaddr);
	out->kept = 0;
	out->logs = logs;
	if (logs) {
		out->probe = plan_site__is_hooked(s) ? PROBE_INLINE : PROBE_NONE;
		out->probe_at = probe_at;
		show_logged(k, id, shown, out->probe == PROBE_INLINE);
		return;
	}
	if (plan_site__is_hooked(s) && !had)
		vec__push(&k->c->attach, id);
	if (!had || plan_site__is_hooked(s))
		return;
	vec__push(&k->c->detach, id);
	k->c->removes = true;
}

static bool is_shown(const struct plan *p, uint32_t function)
{
	return plan__traces(p, function) && !(p->functions.data[function].flags & FUNCTION_HELPER);
}

/* Removes sites that next doesn't have: those of functions that are no longer shown lose their
 * probes. */
static void remove_sites(struct change *k)
{
	struct plan *to = &k->c->to;
	autofree bool *found = xcalloc(k->now->sites.len + 1, sizeof(*found));

	for (size_t i = 0; i < k->next->sites.len; i++)
		if (k->site[i] < k->now->sites.len)
			found[k->site[i]] = true;
	for (uint32_t i = 0; i < k->now->sites.len; i++) {
		struct plan_site *s = &to->sites.data[i];

		if (found[i] || is_shown(to, s->function))
			continue;
		if (plan_site__is_hooked(s)) {
			vec__push(&k->c->detach, i);
			k->c->removes = true;
		}
		if (s->logs)
			show_logged(k, i, s->probe == PROBE_INLINE, false);
		s->probe = PROBE_NONE;
	}
}

/* ---- the other tables ---- */

static void put_functions(struct change *k)
{
	for (size_t i = 0; i < k->next->functions.len; i++) {
		const struct plan_function *f = &k->next->functions.data[i];
		uint32_t id = k->function[i];
		struct plan_function *out = &k->c->to.functions.data[id], old = *out;

		*out = *f;
		out->object = k->object[f->object];
		out->entry_site = new_site(k, f->entry_site);
		out->entry_block = new_first(k, f->entry_block);
		if (id >= k->now->functions.len)
			continue;
		out->name = old.name;
		out->raw = old.raw;
		out->ranges = old.ranges;
	}
}

/* Puts the extents of next; plan__extend() applies them to the extended plan. */
static void put_extents(struct change *k)
{
	const struct plan_extent *e;
	const struct plan_gap *g;

	vec__each (e, &k->next->extents)
		vec__push(&k->c->to.extents,
			  (struct plan_extent){e->start, e->end, k->object[e->object],
					       k->function[e->function]});
	vec__each (g, &k->next->gaps)
		vec__push(&k->c->to.gaps, (struct plan_gap){g->start, g->end, k->object[g->object],
							    k->function[g->function]});
	vec__sort(&k->c->to.extents, extent__order);
	vec__sort(&k->c->to.gaps, extent__order);
}

static bool has_stub(const struct plan *p, const struct plan_stub *stub)
{
	const struct plan_stub *s;

	vec__each (s, &p->stubs)
		if (s->object == stub->object && s->vaddr == stub->vaddr)
			return true;
	return false;
}

/* Returns true if the next plan has this code, and the present one doesn't. */
static bool is_new(const struct change *k, uint32_t object, uint64_t vaddr)
{
	uint32_t function = plan__function_at(k->next, object, vaddr);

	return function != NO_FUNCTION && k->function[function] >= k->now->functions.len;
}

/* Puts the lines of code that had none before. */
static void put_lines(struct change *k)
{
	uint32_t before = k->now->line_files.len;
	const struct plan_line *l;
	char **file;

	vec__each (file, &k->next->line_files)
		vec__push(&k->c->to.line_files, xstrdup(*file));
	vec__each (l, &k->next->lines)
		if (is_new(k, l->object, l->vaddr))
			vec__push(&k->c->to.lines,
				  (struct plan_line){l->vaddr, k->object[l->object],
						     before + l->file, l->line, l->discriminator});
}

/* Puts the scopes of such code. A scope's parent is of the same function. */
static void put_scopes(struct change *k)
{
	uint32_t before = k->now->line_files.len, number = k->now->scopes.len;
	autofree uint32_t *numbers = xcalloc(k->next->scopes.len + 1, sizeof(*numbers));
	const struct plan_scope_range *r;

	vec__each (r, &k->next->scope_ranges)
		for (uint32_t s = r->scope;
		     is_new(k, r->object, r->start) && s != NO_SCOPE && !numbers[s];
		     s = k->next->scopes.data[s].parent)
			numbers[s] = 1;
	for (size_t i = 0; i < k->next->scopes.len; i++) {
		struct plan_scope s = k->next->scopes.data[i];

		if (!numbers[i])
			continue;
		numbers[i] = ++number;
		s.object = k->object[s.object];
		s.file += s.line ? before : 0;
		s.call_file += s.call_file ? before : 0;
		s.parent = s.parent == NO_SCOPE ? NO_SCOPE : numbers[s.parent] - 1;
		vec__push(&k->c->to.scopes, s);
	}
	vec__each (r, &k->next->scope_ranges)
		if (numbers[r->scope])
			vec__push(&k->c->to.scope_ranges,
				  (struct plan_scope_range){r->start, r->end, k->object[r->object],
							    numbers[r->scope] - 1});
}

static int by_block(const void *a, const void *b)
{
	const struct plan_break *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static int by_site(const void *a, const void *b)
{
	const struct plan_side *x = a, *y = b;

	return x->site < y->site ? -1 : x->site > y->site;
}

static void put_counting(struct change *k)
{
	struct plan *to = &k->c->to;
	const struct plan_break *b;
	const struct plan_side *s;

	vec__each (b, &k->next->breaks)
		vec__push(&to->breaks,
			  (struct plan_break){b->vaddr, part_at(k, b->block, b->vaddr)});
	vec__each (b, &k->now->breaks)
		if (!k->found[b->block])
			vec__push(&to->breaks, *b);
	vec__each (s, &k->next->sides)
		vec__push(&to->sides,
			  (struct plan_side){k->site[s->site], k->site[s->witness], s->taken});
	vec__sort(&to->breaks, by_block);
	vec__sort(&to->sides, by_site);
}

static void put_rest(struct change *k)
{
	struct plan *to = &k->c->to;
	const struct plan_stub *stub;
	const struct plan_site *s;

	vec__each (stub, &k->next->stubs)
		if (!has_stub(k->now, stub))
			vec__push(&to->stubs, *stub);
	put_extents(k);
	put_lines(k);
	put_scopes(k);
	put_counting(k);
	to->arch = k->now->arch;
	to->placement = k->now->placement;
	to->entries_only = k->now->entries_only;
	to->unprobed_rets = k->next->unprobed_rets;
	to->skipped = k->next->skipped;
	to->ifunc_unknown = k->next->ifunc_unknown;
	to->probes = 0;
	vec__each (s, &to->sites)
		to->probes += s->probe != PROBE_NONE;
}

/* ---- the whole ---- */

static int change(struct change *k)
{
	struct plan *to = &k->c->to;
	int err = 0;

	vec__append(&to->objects, &k->now->objects);
	vec__append(&to->functions, &k->now->functions);
	vec__append(&to->sites, &k->now->sites);
	vec__append(&to->blocks, &k->now->blocks);
	vec__append(&to->table, &k->now->table);
	match_objects(k);
	match_functions(k);
	for (uint32_t i = 0; !err && i < k->next->blocks.len; i++)
		err = match_block(k, i);
	for (uint32_t i = 0; !err && i < k->next->sites.len; i++)
		err = match_site(k, i);
	if (err)
		return err;
	for (uint32_t i = 0; i < k->next->blocks.len; i++)
		put_block(k, i);
	for (uint32_t i = 0; i < k->next->sites.len; i++)
		put_site(k, i);
	put_functions(k);
	remove_sites(k);
	put_rest(k);
	return 0;
}

int plan__change(const struct plan *now, const struct plan *next, struct plan_change *out)
{
	struct change k = {
		.now = now,
		.next = next,
		.c = out,
		.object = xcalloc(next->objects.len + 1, sizeof(uint32_t)),
		.function = xcalloc(next->functions.len + 1, sizeof(uint32_t)),
		.site = xcalloc(next->sites.len + 1, sizeof(uint32_t)),
		.first = xcalloc(next->blocks.len + 1, sizeof(uint32_t)),
		.last = xcalloc(next->blocks.len + 1, sizeof(uint32_t)),
		.found = xcalloc(now->blocks.len + 1, sizeof(bool)),
	};
	int err;

	*out = (struct plan_change){0};
	err = change(&k);
	if (err)
		plan_change__free(out);
	free(k.object);
	free(k.function);
	free(k.site);
	free(k.first);
	free(k.last);
	free(k.found);
	return err;
}

void plan_change__free(struct plan_change *c)
{
	plan__free_tables(&c->to);
	vec__free(&c->attach);
	vec__free(&c->detach);
	vec__free(&c->logged);
}
