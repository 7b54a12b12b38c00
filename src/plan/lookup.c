// SPDX-License-Identifier: BSD-2-Clause
/* Lookups in a finished plan. */
#include <stdlib.h>
#include "plan_private.h"

/* Returns, of n rows in order of object and field, the index of the first one that is not before
 * this place; n if there is none. row is an expression with the index i_. */
#define FIND(n, row, field, want_object, want)                                                     \
	({                                                                                         \
		size_t lo_ = 0, hi_ = (n), i_;                                                     \
		while (lo_ < hi_) {                                                                \
			i_ = (lo_ + hi_) / 2;                                                      \
			if (vaddr__order((row)->object, (row)->field, want_object, want) < 0)      \
				lo_ = i_ + 1;                                                      \
			else                                                                       \
				hi_ = i_;                                                          \
		}                                                                                  \
		lo_;                                                                               \
	})
#define BY_ADDRESS(p, rows) (&(p)->rows.data[(p)->rows##_by_address.data[i_]])

size_t plan__blocks_from(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	return FIND(p->blocks_by_address.len, BY_ADDRESS(p, blocks), start, object, vaddr);
}

size_t plan__sites_from(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	return FIND(p->sites_by_address.len, BY_ADDRESS(p, sites), vaddr, object, vaddr);
}

uint32_t plan__block_at(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	size_t i = plan__blocks_from(p, object, vaddr);
	uint32_t block = i < p->blocks_by_address.len ? p->blocks_by_address.data[i] : NO_BLOCK;

	return block != NO_BLOCK && p->blocks.data[block].object == object &&
			       p->blocks.data[block].start == vaddr
		       ? block
		       : NO_BLOCK;
}

uint32_t plan__block_holding(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	size_t i = plan__blocks_from(p, object, vaddr + 1);
	uint32_t block = i ? p->blocks_by_address.data[i - 1] : NO_BLOCK;
	const struct plan_block *b = i ? &p->blocks.data[block] : NULL;

	return b && b->object == object && vaddr - b->start < b->end - b->start ? block : NO_BLOCK;
}

/* at the same address: by id */
static int by_site(const void *a, const void *b, void *plan)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct plan_site *sites = ((const struct plan *)plan)->sites.data;
	int n = vaddr__order(sites[x].object, sites[x].vaddr, sites[y].object, sites[y].vaddr);

	return n ? n : x < y ? -1 : x > y;
}

static int by_block(const void *a, const void *b, void *plan)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct plan_block *blocks = ((const struct plan *)plan)->blocks.data;
	int n = vaddr__order(blocks[x].object, blocks[x].start, blocks[y].object, blocks[y].start);

	return n ? n : x < y ? -1 : x > y;
}

/* Usually the rows are already in order. */
static void sort_ids(id_vec *ids, uint32_t n, int (*compare)(const void *, const void *, void *),
		     struct plan *p)
{
	bool sorted = true;

	ids->len = 0;
	for (uint32_t i = 0; i < n; i++) {
		vec__push(ids, i);
		sorted = sorted && (!i || compare(&ids->data[i - 1], &ids->data[i], p) < 0);
	}
	if (!sorted)
		qsort_r(ids->data, n, sizeof(*ids->data), compare, p);
}

void plan__index(struct plan *p)
{
	sort_ids(&p->sites_by_address, p->sites.len, by_site, p);
	sort_ids(&p->blocks_by_address, p->blocks.len, by_block, p);
}

uint32_t plan__site_at(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	size_t i = plan__sites_from(p, object, vaddr);
	uint32_t site = i < p->sites_by_address.len ? p->sites_by_address.data[i] : NO_SITE;

	return site != NO_SITE && p->sites.data[site].object == object &&
			       p->sites.data[site].vaddr == vaddr
		       ? site
		       : NO_SITE;
}

uint32_t plan__hooked_at(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	size_t i = plan__sites_from(p, object, vaddr - min_of(vaddr, (uint64_t)UINT8_MAX));

	for (; i < p->sites_by_address.len; i++) {
		uint32_t site = p->sites_by_address.data[i];
		const struct plan_site *s = &p->sites.data[site];

		if (s->object != object || s->vaddr > vaddr)
			break;
		if (s->vaddr + s->probe_at == vaddr && plan_site__is_hooked(s))
			return site;
	}
	return NO_SITE;
}

bool plan__is_break(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	uint32_t block = plan__block_holding(p, object, vaddr);
	const struct plan_break *b;

	vec__each (b, &p->breaks)
		if (b->block == block && b->vaddr == vaddr)
			return true;
	return false;
}

uint32_t plan__site_of(const struct plan *p, uint32_t object, uint64_t vaddr, enum site_role role)
{
	for (size_t i = plan__sites_from(p, object, vaddr); i < p->sites_by_address.len; i++) {
		const struct plan_site *s = &p->sites.data[p->sites_by_address.data[i]];

		if (s->object != object || s->vaddr != vaddr)
			break;
		if (s->role == role)
			return p->sites_by_address.data[i];
	}
	return NO_SITE;
}

uint32_t plan__object_of(const struct plan *p, const struct object *o)
{
	uint32_t i = 0;

	while (i < p->objects.len && p->objects.data[i].object != o)
		i++;
	return i;
}

/* For plans without extents (made by unit tests): requested functions first, then the innermost. */
static uint32_t by_ranges(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	uint32_t best = NO_FUNCTION;
	unsigned best_class = 0;
	uint64_t best_start = 0;

	for (uint32_t i = 0; i < p->functions.len; i++) {
		const struct plan_function *f = &p->functions.data[i];
		unsigned class = f->flags & FUNCTION_HELPER ? 2 : f->flags & FUNCTION_RANGE ? 1 : 0;

		for (size_t r = 0; f->object == object && r < f->nranges; r++) {
			uint64_t start = f->ranges[r].vaddr;

			if (vaddr - start >= f->ranges[r].size)
				continue;
			if (best != NO_FUNCTION &&
			    (class > best_class || (class == best_class && start <= best_start)))
				continue;
			best = i;
			best_class = class;
			best_start = start;
		}
	}
	return best;
}

uint32_t plan__function_at(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	size_t i;

	if (!p->extents.len)
		return by_ranges(p, object, vaddr);
	i = FIND(p->extents.len, &p->extents.data[i_], end, object, vaddr + 1);
	if (i == p->extents.len || p->extents.data[i].object != object ||
	    vaddr < p->extents.data[i].start)
		return NO_FUNCTION;
	return p->extents.data[i].function;
}

uint64_t plan_function__size(const struct plan_function *f)
{
	uint64_t size = 0;

	for (size_t i = 0; i < f->nranges; i++)
		size += f->ranges[i].size;
	return size;
}

bool plan__is_undecoded(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	size_t i = FIND(p->gaps.len, &p->gaps.data[i_], end, object, vaddr + 1);

	return i < p->gaps.len && p->gaps.data[i].object == object &&
	       vaddr >= p->gaps.data[i].start;
}

size_t plan__lines_from(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	return FIND(p->lines.len, &p->lines.data[i_], vaddr, object, vaddr);
}

size_t plan__scope_ranges_from(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	/* Ranges of an object don't overlap, so their ends ascend, too. */
	return FIND(p->scope_ranges.len, &p->scope_ranges.data[i_], end, object, vaddr + 1);
}

const struct plan_line *plan__line_at(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	size_t i = FIND(p->lines.len, &p->lines.data[i_], vaddr, object, vaddr + 1);
	const struct plan_line *l = i ? &p->lines.data[i - 1] : NULL;

	return l && l->object == object && l->line ? l : NULL;
}

const struct plan_line *plan__line_before(const struct plan *p, uint32_t object, uint64_t vaddr,
					  uint64_t from)
{
	size_t i = FIND(p->lines.len, &p->lines.data[i_], vaddr, object, vaddr + 1);

	for (; i && p->lines.data[i - 1].object == object && p->lines.data[i - 1].vaddr >= from;
	     i--)
		if (p->lines.data[i - 1].line)
			return &p->lines.data[i - 1];
	return NULL;
}

uint32_t plan__scope_at(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	size_t i = FIND(p->scope_ranges.len, &p->scope_ranges.data[i_], start, object, vaddr + 1);
	const struct plan_scope_range *r = i ? &p->scope_ranges.data[i - 1] : NULL;

	return r && r->object == object && vaddr < r->end ? r->scope : NO_SCOPE;
}

uint64_t plan__scope_end(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	size_t i = FIND(p->scope_ranges.len, &p->scope_ranges.data[i_], start, object, vaddr + 1);
	const struct plan_scope_range *r = i ? &p->scope_ranges.data[i - 1] : NULL;

	if (r && r->object == object && vaddr < r->end)
		return r->end;
	r = i < p->scope_ranges.len ? &p->scope_ranges.data[i] : NULL;
	return r && r->object == object ? r->start : UINT64_MAX;
}

const char *plan__name_at(const struct plan *p, uint32_t function, uint64_t vaddr, uint64_t *offset)
{
	const struct plan_function *f = &p->functions.data[function];

	if ((f->flags & FUNCTION_HELPER) && !f->raw)
		return NULL;
	for (size_t i = 0; i < f->nranges; i++) {
		const struct range *r = &f->ranges[i];

		if (vaddr - r->vaddr >= r->size)
			continue;
		*offset = vaddr - r->vaddr + r->offset;
		return r->name ? r->name : f->name;
	}
	*offset = vaddr - plan__start(f);
	return f->name;
}

uint64_t plan__start(const struct plan_function *f)
{
	return f->nranges ? f->ranges[0].vaddr - f->ranges[0].offset : 0;
}

bool plan__stub_leads_in(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	const struct plan_stub *s;

	vec__each (s, &p->stubs)
		if (s->vaddr == vaddr && s->object == p->objects.data[object].object)
			return true;
	return false;
}

static bool has_no_event(const struct plan_site *s)
{
	return s->probe == PROBE_NONE || plan_site__is_counted(s);
}

bool plan__reports_entry(const struct plan *p, uint32_t site)
{
	const struct plan_site *s = &p->sites.data[site];
	const struct plan_block *b = &p->blocks.data[s->block];
	const struct plan_function *f;

	/* With overlapping code, a block of one function may end in another's range. */
	if (b->site != site || b->function == NO_FUNCTION || b->function != s->function)
		return false;
	f = &p->functions.data[b->function];
	return !(f->flags & (FUNCTION_HELPER | FUNCTION_RANGE)) && f->entry_block == s->block &&
	       f->entry_site != NO_SITE && f->entry_site != site &&
	       has_no_event(&p->sites.data[f->entry_site]);
}

uint64_t plan__entry_delay(const struct plan *p, uint32_t function)
{
	const struct plan_function *f = &p->functions.data[function];
	const struct plan_site *s = f->entry_site == NO_SITE ? NULL : &p->sites.data[f->entry_site];

	if (!s || !plan_site__has_events(s) || f->entry_block == NO_BLOCK)
		return 0;
	return s->vaddr + s->probe_at - p->blocks.data[f->entry_block].start;
}

bool plan__entry_is_probed(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	uint32_t block = plan__block_at(p, object, vaddr);
	const struct plan_function *f;

	if (block == NO_BLOCK || p->blocks.data[block].function == NO_FUNCTION)
		return false;
	f = &p->functions.data[p->blocks.data[block].function];
	return f->entry_block == block && f->entry_site != NO_SITE &&
	       plan_site__has_events(&p->sites.data[f->entry_site]);
}

static bool has_own_record(const struct plan *p, const struct plan_function *f, unsigned events)
{
	const struct plan_site *entry =
		f->entry_site == NO_SITE ? NULL : &p->sites.data[f->entry_site];

	if (f->flags & FUNCTION_REMOVED)
		return true;
	if (f->flags & FUNCTION_HELPER)
		return !(events & PLAN_RETURN); /* its rets report the returns of others */
	if (events & PLAN_BRANCH && f->unprobed)
		return false;
	return f->flags & FUNCTION_RANGE ||
	       (entry && plan_site__has_events(entry) && !entry->repeats);
}

/* Returns true for a tail call, a shared tail, or a fall-through into the next function: one ret
 * ends two calls. */
static bool joins_calls(const struct plan *p, const struct plan_block *b)
{
	return b->leaves || (b->next != NO_BLOCK && b->function != NO_FUNCTION &&
			     p->blocks.data[b->next].function != b->function);
}

static bool is_odd_ret(const struct plan_site *s)
{
	return s->kind == BRANCH_RET && s->sp_delta;
}

bool plan__has_record_per_event(const struct plan *p, unsigned events)
{
	const struct plan_function *f;
	const struct plan_block *b;
	const struct plan_site *s;

	vec__each (f, &p->functions)
		if (!has_own_record(p, f, events))
			return false;
	if (!(events & PLAN_RETURN))
		return true;
	vec__each (b, &p->blocks)
		if (plan__traces(p, b->function) && joins_calls(p, b))
			return false;
	vec__each (s, &p->sites)
		if (plan__traces(p, s->function) && is_odd_ret(s))
			return false;
	return !p->return_probes && !p->unprobed_rets;
}

bool plan__read_pointer(const struct plan *p, uint32_t site, uint64_t vaddr, uint64_t *value)
{
	const struct plan_site *s = &p->sites.data[site];
	const struct object *o = p->objects.data[s->object].object;
	const struct segment *segment = o ? object__segment_at(o, vaddr) : NULL;
	const uint8_t *bytes;
	size_t avail;

	if (p->objects.data[s->object].kernel || !segment || segment->write)
		return false;
	bytes = object__bytes(o, vaddr, &avail);
	if (!bytes || avail < s->operand.size)
		return false;
	*value = 0;
	memcpy(value, bytes, s->operand.size);
	return true;
}
