// SPDX-License-Identifier: BSD-2-Clause
/* Finds the objects, functions, blocks and sites of another plan in the joined one. */
#include <errno.h>
#include "join_private.h"

/* ---- objects ---- */

static int refuse(const struct object *a, const struct object *b)
{
	autofree struct str is = {0}, was = {0};

	object__put_build(b, &is);
	object__put_build(a, &was);
	return err__set(EXDEV,
			"%s is another build (%s) than in the files before (%s); --by-symbol joins "
			"functions of one name whose branches correspond",
			path__base_name(b->path), is.data, was.data);
}

/* Without build-ids, the recorded code decides. */
static bool same_code(const struct plan *p, uint32_t object, const struct object *a,
		      const struct object *b)
{
	const struct plan_function *f;

	vec__each (f, &p->functions)
		for (size_t i = 0; f->object == object && i < f->nranges; i++) {
			const struct range *r = &f->ranges[i];
			size_t na = 0, nb = 0;
			const uint8_t *x = object__bytes(a, r->vaddr, &na);
			const uint8_t *y = object__bytes(b, r->vaddr, &nb);
			size_t n = min_of(min_of(na, nb), r->size);

			if (x && y && memcmp(x, y, n) != 0)
				return false;
		}
	return true;
}

static bool same_build(const struct joining *j, uint32_t object, const struct object *a)
{
	const struct object *b = j->p->objects.data[object].object;

	if (a->build_id_len || b->build_id_len)
		return object__same_build(a, b);
	return !strcmp(a->path, b->path) && same_code(j->p, object, a, b);
}

/* The start of the kernel's code differs from boot to boot. */
static uint64_t base_of(const struct object *o)
{
	const struct segment *s;

	vec__each (s, &o->segments)
		if (s->exec)
			return s->vaddr;
	return 0;
}

static uint32_t own_object(struct joining *j, uint32_t object)
{
	if (j->own[object] == UINT32_MAX) {
		j->own[object] = j->nobjects++;
		vec__push(&j->more->rows.objects, j->p->objects.data[object]);
	}
	return j->own[object];
}

static bool same_name(const struct object *a, const struct object *b)
{
	return a->kind == b->kind && !strcmp(path__base_name(a->path), path__base_name(b->path));
}

/* Returns the first object of this name that is, or isn't, of the same build. */
static uint32_t find_named(const struct joining *j, uint32_t object, bool same)
{
	const struct object *o = j->p->objects.data[object].object;

	for (uint32_t i = 0; i < j->all->objects.len; i++) {
		const struct object *a = j->all->objects.data[i].object;

		if (same_name(a, o) && same_build(j, object, a) == same)
			return i;
	}
	return UINT32_MAX;
}

/* Returns the only file of a plan's objects that has no counterpart of its name in the other plan;
 * UINT32_MAX if there is none, or there are several. */
static uint32_t lone_object(const struct plan *p, const struct plan *other)
{
	const struct plan_object *o, *c;
	uint32_t found = UINT32_MAX;

	vec__each (o, &p->objects) {
		bool known = o->object->kind != OBJECT_ELF;

		vec__each (c, &other->objects)
			known |= same_name(o->object, c->object);
		if (known)
			continue;
		if (found != UINT32_MAX)
			return UINT32_MAX;
		found = o - p->objects.data;
	}
	return found;
}

/* Returns the object that this one replaces under another name, "./prog-2" or "libz.so.1.3";
 * UINT32_MAX if that isn't clear. */
static uint32_t find_renamed(const struct joining *j, uint32_t object)
{
	return j->by_symbol && lone_object(j->p, j->all) == object ? lone_object(j->all, j->p)
								   : UINT32_MAX;
}

static int find_object(struct joining *j, uint32_t object)
{
	const struct object *o = j->p->objects.data[object].object;
	uint32_t same = find_named(j, object, true), other = find_named(j, object, false);

	if (same == UINT32_MAX && other == UINT32_MAX) {
		other = find_renamed(j, object);
		if (other != UINT32_MAX) {
			j->n->renamed = path__base_name(o->path);
			j->n->was = path__base_name(j->all->objects.data[other].path);
		}
	}
	j->own[object] = same;
	j->namesakes[object] = j->by_symbol ? other : UINT32_MAX;
	if (same == UINT32_MAX && other != UINT32_MAX && !j->by_symbol)
		return refuse(j->all->objects.data[other].object, o);
	if (same != UINT32_MAX && object__is_kernel(o))
		j->shifts[object] = base_of(j->all->objects.data[same].object) - base_of(o);
	if (same == UINT32_MAX && other == UINT32_MAX)
		same = own_object(j, object);
	j->n->objects[object] = same == UINT32_MAX ? other : same;
	return 0;
}

static int find_objects(struct joining *j)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < j->p->objects.len; i++)
		err = find_object(j, i);
	return err;
}

/* ---- functions ---- */

static uint64_t key_of(const struct plan_function *f, uint32_t object, uint64_t start)
{
	/* The size of a part of a function identifies it, too. */
	uint64_t key[] = {object, start, f->flags & FUNCTION_RANGE ? f->ranges[0].size : 0};

	return map64__hash(key, sizeof(key));
}

static uint64_t name_key(const struct plan_function *f, uint32_t object)
{
	const char *name = f->raw ? f->raw : f->name;

	return map64__hash(name, strlen(name)) ^ (object + 1) * 0x9e3779b97f4a7c15ull;
}

static bool is_range(const struct plan_function *f)
{
	return f->flags & FUNCTION_RANGE;
}

static void index_functions(struct joining *j)
{
	for (size_t i = j->all->functions.len; i-- > 0;) {
		const struct plan_function *f = &j->all->functions.data[i];

		*map64__put(&j->starts, key_of(f, f->object, f->ranges[0].vaddr)) = i + 1;
		if (j->by_symbol)
			*map64__put(&j->starts, name_key(f, f->object)) = i + 1;
	}
}

/* Returns true if the blocks and branches of two functions have the same places in them. */
static bool corresponds(const struct joining *j, const struct plan_function *a,
			const struct plan_function *b)
{
	if (a->nranges != b->nranges || is_range(a) != is_range(b))
		return false;
	for (size_t r = 0; r < a->nranges; r++) {
		uint64_t x = a->ranges[r].vaddr, y = b->ranges[r].vaddr, size = a->ranges[r].size;
		size_t ia = plan__blocks_from(j->all, a->object, x);
		size_t ib = plan__blocks_from(j->p, b->object, y);

		if (size != b->ranges[r].size)
			return false;
		for (;; ia++, ib++) {
			const struct plan_block *k = NULL, *l = NULL;

			if (ia < j->all->blocks.len)
				k = &j->all->blocks.data[j->all->blocks_by_address.data[ia]];
			if (ib < j->p->blocks.len)
				l = &j->p->blocks.data[j->p->blocks_by_address.data[ib]];
			if (k && (k->object != a->object || k->start - x >= size))
				k = NULL;
			if (l && (l->object != b->object || l->start - y >= size))
				l = NULL;
			if (!k && !l)
				break;
			if (!k || !l || k->start - x != l->start - y || k->end - x != l->end - y ||
			    (k->site == NO_SITE) != (l->site == NO_SITE))
				return false;
			if (k->site != NO_SITE &&
			    j->all->sites.data[k->site].kind != j->p->sites.data[l->site].kind)
				return false;
		}
	}
	return true;
}

static uint32_t find_by_symbol(struct joining *j, const struct plan_function *f)
{
	uint32_t object = j->namesakes[f->object];
	const uint64_t *known = map64__get(&j->starts, name_key(f, object));
	const struct plan_function *a = known ? &j->all->functions.data[*known - 1] : NULL;
	const char *name = f->raw ? f->raw : f->name;

	if (!a || a->object != object || strcmp(a->raw ? a->raw : a->name, name) != 0 ||
	    !corresponds(j, a, f))
		return NO_FUNCTION;
	return *known - 1;
}

static uint32_t find_by_place(struct joining *j, const struct plan_function *f)
{
	uint32_t object = j->own[f->object];
	uint64_t start = f->ranges[0].vaddr + j->shifts[f->object];
	const uint64_t *known = map64__get(&j->starts, key_of(f, object, start));
	const struct plan_function *a = known ? &j->all->functions.data[*known - 1] : NULL;

	return a && a->object == object && a->ranges[0].vaddr == start && is_range(a) == is_range(f)
		       ? *known - 1
		       : NO_FUNCTION;
}

/* Amends a function that was only probed at its rets, and is traced now. */
static void amend(struct joining *j, uint32_t number, const struct plan_function *f)
{
	struct plan_function row = j->all->functions.data[number];

	if (!(row.flags & FUNCTION_HELPER) || f->flags & FUNCTION_HELPER)
		return;
	row.flags &= ~FUNCTION_HELPER;
	vec__push(&j->more->amended_functions, number);
	vec__push(&j->more->rows.functions, row);
}

static uint32_t find_function(struct joining *j, uint32_t i)
{
	const struct plan_function *f = &j->p->functions.data[i];
	uint32_t found = find_by_place(j, f);

	if (found != NO_FUNCTION || j->namesakes[f->object] == UINT32_MAX)
		return found;
	found = find_by_symbol(j, f);
	j->n->by_symbol[i] = found != NO_FUNCTION;
	j->n->mapped += found != NO_FUNCTION;
	j->n->apart += found == NO_FUNCTION;
	return found;
}

static void find_functions(struct joining *j)
{
	for (uint32_t i = 0; i < j->p->functions.len; i++) {
		const struct plan_function *f = &j->p->functions.data[i];
		uint32_t found = find_function(j, i);

		j->n->functions[i] = found;
		if (found != NO_FUNCTION) {
			const struct plan_function *a = &j->all->functions.data[found];

			j->n->shifts[i] = a->ranges[0].vaddr - f->ranges[0].vaddr;
			amend(j, found, f);
			continue;
		}
		own_object(j, f->object);
		j->n->shifts[i] = j->shifts[f->object];
		j->n->functions[i] = j->all->functions.len + j->new_functions.len;
		vec__push(&j->new_functions, i);
	}
}

/* ---- places ---- */

uint32_t joining__object(const struct joining *j, uint32_t function)
{
	uint32_t number = j->n->functions[function];

	return number < j->all->functions.len ? j->all->functions.data[number].object
					      : j->own[j->p->functions.data[function].object];
}

/* In another build, each part of a function may be elsewhere. */
uint64_t joining__moved(const struct joining *j, uint32_t function, uint64_t vaddr)
{
	const struct plan_function *f = &j->p->functions.data[function];
	const struct plan_function *a;

	if (!j->n->by_symbol[function])
		return vaddr + j->n->shifts[function];
	a = &j->all->functions.data[j->n->functions[function]];
	for (size_t i = 0; i < f->nranges; i++)
		if (vaddr - f->ranges[i].vaddr <= f->ranges[i].size)
			return vaddr - f->ranges[i].vaddr + a->ranges[i].vaddr;
	return vaddr + j->n->shifts[function];
}

/* Returns where the joined plan's next block begins or ends. */
static uint64_t next_start(const struct joining *j, uint32_t object, uint64_t vaddr, uint64_t end)
{
	size_t i = plan__blocks_from(j->all, object, vaddr);
	const struct plan_block *b;

	if (i >= j->all->blocks.len)
		return end;
	b = &j->all->blocks.data[j->all->blocks_by_address.data[i]];
	return b->object == object ? min_of(b->start, end) : end;
}

/* Returns the number of the part of a block from vaddr on, and sets *to to its end. */
static uint32_t find_part(struct joining *j, uint32_t i, uint32_t object, uint64_t vaddr,
			  uint64_t end, uint64_t *to)
{
	uint32_t at = plan__block_at(j->all, object, vaddr), around;

	if (at != NO_BLOCK) {
		*to = j->all->blocks.data[at].end;
		if (*to <= vaddr) /* a damaged file's */
			*to = end;
		return at;
	}
	around = plan__block_holding(j->all, object, vaddr);
	*to = around == NO_BLOCK ? next_start(j, object, vaddr, end)
				 : min_of(end, j->all->blocks.data[around].end);
	if (around != NO_BLOCK)
		vec__push(&j->splits, (struct plan_split){around, j->new_blocks.len});
	vec__push(&j->new_blocks, (struct piece){i, vaddr, *to, NO_BLOCK});
	return j->all->blocks.len + j->new_blocks.len - 1;
}

/* How many parts of blocks are looked for, by block of either plan. */
#define PARTS_MOST 16

/* Finds the block, which may be a part of a block of the joined plan, or several blocks there. */
static void find_block(struct joining *j, uint32_t i)
{
	const struct plan_block *b = &j->p->blocks.data[i];
	uint32_t object = joining__object(j, b->function), before = NO_BLOCK;
	uint64_t at = joining__moved(j, b->function, b->start), end = at + (b->end - b->start);

	if (end <= at) /* a damaged file's */
		end = at + 1;
	do {
		uint32_t part = find_part(j, i, object, at, end, &at);

		if (before == NO_BLOCK)
			j->n->blocks[i] = part;
		else if (before >= j->all->blocks.len)
			j->new_blocks.data[before - j->all->blocks.len].next = part;
		before = part;
		/* blocks of a damaged file may overlap without end */
	} while (at < end && j->parts++ < PARTS_MOST * (j->p->blocks.len + j->all->blocks.len));
	j->last[i] = before;
}

/* Addresses that the kernel's code names move with it. */
static bool same_compare(const struct joining *j, const struct plan_site *a,
			 const struct plan_site *b)
{
	if (!a->compare || !b->compare)
		return a->compare == b->compare;
	return !strcmp(a->compare, b->compare) ||
	       (!j->n->by_symbol[b->function] && j->n->shifts[b->function] &&
		condition__names_address(a->compare) && condition__names_address(b->compare));
}

static void find_site(struct joining *j, uint32_t i)
{
	const struct plan_site *s = &j->p->sites.data[i];
	uint32_t at = plan__site_of(j->all, joining__object(j, s->function),
				    joining__moved(j, s->function, s->vaddr), s->role);

	if (at == NO_SITE) {
		at = j->all->sites.len + j->new_sites.len;
		vec__push(&j->new_sites, i);
	} else {
		j->differs[at] |= j->all->sites.data[at].compare &&
				  !same_compare(j, &j->all->sites.data[at], s);
	}
	j->n->sites[i] = at;
}

int joining__find(struct joining *j)
{
	int err = find_objects(j);

	if (err)
		return err;
	index_functions(j);
	find_functions(j);
	for (uint32_t i = 0; i < j->p->blocks.len; i++)
		find_block(j, i);
	for (uint32_t i = 0; i < j->p->sites.len; i++)
		find_site(j, i);
	return 0;
}
