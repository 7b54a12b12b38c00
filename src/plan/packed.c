// SPDX-License-Identifier: BSD-2-Clause
/* All tables of a plan as bytes. What a new member needs is decided here: the sizes are asserted.
 */
#include <stdlib.h>
#include "plan/plan_private.h"
#include "packed.h"

_Static_assert(sizeof(struct plan) == 640 || sizeof(void *) != 8, "is the new member packed?");
_Static_assert(sizeof(struct plan_site) == 104 || sizeof(void *) != 8, "has it a pointer?");
_Static_assert(sizeof(struct plan_block) == 56 || sizeof(void *) != 8, "has it a pointer?");
_Static_assert(sizeof(struct plan_function) == 80 || sizeof(void *) != 8, "has it a pointer?");
_Static_assert(sizeof(struct function) == 64 || sizeof(void *) != 8, "is the new member packed?");
_Static_assert(sizeof(struct range) == 32 || sizeof(void *) != 8, "has it a pointer?");

/* clang-format off */
#define SCALARS(x) \
	x(unknown_code) x(all_code) x(probes) x(skipped) x(ifunc_unknown) x(placement) \
	x(unprobed_rets) x(entries_only) x(retires) x(counts_all) x(edgeless) x(return_probes) \
	x(mutes) x(late_entries) x(tests) x(executes)
#define TABLES(x) \
	x(sites_by_address) x(blocks_by_address) x(blocks) x(table) x(breaks) x(sides) x(extents) \
	x(gaps) x(undecoded)
/* clang-format on */

uint32_t object_vec__number(const object_vec *objects, const struct object *o)
{
	for (size_t i = 0; i < objects->len; i++)
		if (objects->data[i] == o)
			return i;
	return NO_OBJECT;
}

/* ---- to bytes ---- */

static bool pack_objects(struct pack *k, const struct plan *p, const object_vec *objects)
{
	const struct plan_object *o;
	const struct plan_stub *s;
	uint64_t n = p->objects.len;

	pack__value(k, &n);
	vec__each (o, &p->objects) {
		uint32_t number = object_vec__number(objects, o->object);

		/* what was found of instructions' states is the object's */
		if (number == NO_OBJECT || o->kernel || o->object->states.len)
			return false;
		pack__value(k, &number);
	}
	n = p->stubs.len;
	pack__value(k, &n);
	vec__each (s, &p->stubs) {
		uint32_t number = object_vec__number(objects, s->object);

		if (number == NO_OBJECT)
			return false;
		pack__value(k, &number);
		pack__value(k, &s->vaddr);
	}
	return true;
}

static void pack_function(struct pack *k, const struct function *f)
{
	struct function copy = *f;
	uint64_t n = f->ranges.len;
	const struct range *r;

	copy.object = NULL;
	memset(&copy.ranges, 0, sizeof(copy.ranges));
	pack__number(k, (const char **)&copy.name);
	pack__number(k, (const char **)&copy.raw);
	pack__value(k, &copy);
	pack__value(k, &n);
	vec__each (r, &f->ranges) {
		struct range named = *r;

		pack__number(k, (const char **)&named.name);
		pack__value(k, &named);
	}
}

/* Functions own their names and ranges, which rows point to. */
static bool pack_functions(struct pack *k, const struct plan *p, const object_vec *objects)
{
	const struct plan_data *data = p->priv;
	uint64_t n = p->functions.len;

	if (data->functions.len != n)
		return false;
	pack__value(k, &n);
	for (uint64_t i = 0; i < n; i++) {
		struct plan_function row = p->functions.data[i];
		const struct function *f = &data->functions.data[i];
		uint32_t object = object_vec__number(objects, f->object);

		if (object == NO_OBJECT || row.name != f->name || row.nranges != f->ranges.len)
			return false;
		row.name = row.raw = NULL;
		row.ranges = NULL;
		pack__value(k, &row);
		pack__value(k, &object);
		pack_function(k, f);
	}
	return true;
}

static void pack_sites(struct pack *k, const struct plan *p)
{
	const struct plan_site *s;
	uint64_t n = p->sites.len;

	pack__value(k, &n);
	vec__each (s, &p->sites) {
		struct plan_site copy = *s;

		copy.test = s->test ? (const void *)1 : NULL;
		pack__number(k, &copy.mnemonic);
		pack__number(k, &copy.compare);
		pack__number(k, &copy.variable_a);
		pack__number(k, &copy.variable_b);
		pack__value(k, &copy);
		if (s->test)
			pack__value(k, s->test);
	}
}

/* What is added to a plan after it was built. */
static bool is_as_built(const struct plan *p)
{
	return !p->kept.len && !p->lines.len && !p->line_files.len && !p->scopes.len &&
	       !p->scope_ranges.len && !p->reserved.len && !p->named.len && !p->fields.len &&
	       !p->values.len && !p->enumerators.len && !p->conditions.len && p->objects.len;
}

bool plan__pack(const struct plan *p, const object_vec *objects, const struct pack_sink *out)
{
	struct pack k = {.sink = out};
	bool whole = is_as_built(p);

	if (whole) {
#define PACK(member) pack__value(&k, &p->member);
		SCALARS(PACK)
		whole = pack_objects(&k, p, objects) && pack_functions(&k, p, objects);
		pack_sites(&k, p);
#define PACK_ROWS(member) pack__rows(&k, &p->member);
		TABLES(PACK_ROWS)
	}
	pack__end(&k);
	return whole;
}

/* ---- from bytes ---- */

static const struct object *unpack_object(struct unpack *u, const object_vec *objects)
{
	uint32_t number;

	unpack__value(u, &number);
	u->bad |= number >= objects->len;
	return u->bad ? NULL : objects->data[number];
}

static void unpack_objects(struct unpack *u, struct plan *p, const object_vec *objects)
{
	uint64_t n;

	unpack__value(u, &n);
	for (uint64_t i = 0; i < n && !u->bad; i++) {
		const struct object *o = unpack_object(u, objects);

		if (o)
			vec__push(&p->objects, (struct plan_object){.object = o,
								    .path = o->path,
								    .machine = o->machine});
	}
	p->arch = p->objects.len ? arch__by_machine(p->objects.data[0].machine) : NULL;
	u->bad |= !p->arch;
	unpack__value(u, &n);
	for (uint64_t i = 0; i < n && !u->bad; i++) {
		struct plan_stub s = {unpack_object(u, objects)};

		unpack__value(u, &s.vaddr);
		vec__push(&p->stubs, s);
	}
}

static char *unpack_own(struct unpack *u, char *number)
{
	const char *s = number;

	unpack__string(u, &s);
	return s ? xstrdup(s) : NULL;
}

static void unpack_function(struct unpack *u, struct function *f, const object_vec *objects)
{
	const struct object *o = unpack_object(u, objects);
	uint64_t n;

	unpack__value(u, f);
	f->object = o;
	f->name = unpack_own(u, f->name);
	f->raw = unpack_own(u, f->raw);
	memset(&f->ranges, 0, sizeof(f->ranges));
	unpack__value(u, &n);
	for (uint64_t i = 0; i < n && !u->bad; i++) {
		struct range *r = vec__add(&f->ranges);

		unpack__value(u, r);
		r->name = unpack_own(u, r->name);
	}
}

static void unpack_functions(struct unpack *u, struct plan *p, const object_vec *objects)
{
	struct plan_data *data = p->priv;
	uint64_t n;

	unpack__value(u, &n);
	for (uint64_t i = 0; i < n && !u->bad; i++) {
		struct plan_function *row = vec__add(&p->functions);
		struct function *f = vec__add(&data->functions);

		unpack__value(u, row);
		unpack_function(u, f, objects);
		row->name = f->name;
		row->raw = f->raw;
		row->ranges = f->ranges.data;
		row->nranges = f->ranges.len;
	}
}

static void unpack_sites(struct unpack *u, struct plan *p)
{
	struct plan_data *data = p->priv;
	uint64_t n;

	unpack__value(u, &n);
	for (uint64_t i = 0; i < n && !u->bad; i++) {
		struct plan_site *s = vec__add(&p->sites);
		bool tests;

		unpack__value(u, s);
		tests = s->test;
		s->test = NULL;
		unpack__string(u, &s->mnemonic);
		unpack__string(u, &s->compare);
		unpack__string(u, &s->variable_a);
		unpack__string(u, &s->variable_b);
		if (tests) {
			struct test *t = xcalloc(1, sizeof(*t));

			unpack__value(u, t);
			vec__push(&data->tests, t);
			s->test = t;
		}
	}
}

/* The plan owns the strings of its sites. */
static void give_strings(struct unpack *u, struct plan_data *data)
{
	vec__append(&data->compares.all, &u->strings);
	vec__free(&u->strings);
}

struct plan *plan__unpack(const void *bytes, size_t len, const object_vec *objects)
{
	struct plan *p = xcalloc(1, sizeof(*p));
	struct plan_data *data = p->priv = xcalloc(1, sizeof(struct plan_data));
	struct unpack u;
	bool whole;

	unpack__begin(&u, bytes, len);
#define UNPACK(member) unpack__value(&u, &p->member);
	SCALARS(UNPACK)
	unpack_objects(&u, p, objects);
	unpack_functions(&u, p, objects);
	unpack_sites(&u, p);
#define UNPACK_ROWS(member) unpack__rows(&u, &p->member);
	TABLES(UNPACK_ROWS)
	give_strings(&u, data);
	whole = unpack__is_whole(&u);
	unpack__end(&u);
	if (whole)
		return p;
	plan__free(p);
	return NULL;
}
