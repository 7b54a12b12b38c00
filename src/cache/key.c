// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keys: BLAKE2b over all inputs, each with its length. It resists collisions, so nobody can make a
 * program whose plan is found for another one.
 */
#include <elf.h>
#include <link.h>
#include <sodium.h>
#include "key.h"

/* Fewer bytes of code are planned faster than a file is found. */
#define CODE_MIN (16u << 10)

struct digest {
	crypto_generichash_state state;
};

static void begin(struct digest *d, const char *what)
{
	crypto_generichash_init(&d->state, NULL, 0, KEY_SIZE);
	crypto_generichash_update(&d->state, (const uint8_t *)what, strlen(what) + 1);
}

static void put(void *ctx, const void *data, size_t len)
{
	crypto_generichash_state *state = &((struct digest *)ctx)->state;
	uint64_t n = len;

	crypto_generichash_update(state, (const uint8_t *)&n, sizeof(n));
	if (len)
		crypto_generichash_update(state, data, len);
}

static void put_number(struct digest *d, uint64_t n)
{
	crypto_generichash_update(&d->state, (const uint8_t *)&n, sizeof(n));
}

static void put_text(struct digest *d, const char *text)
{
	put_number(d, !!text);
	if (text)
		put(d, text, strlen(text));
}

static void end(struct digest *d, struct key *out)
{
	crypto_generichash_final(&d->state, out->bytes, KEY_SIZE);
}

void key__of_bytes(const void *data, size_t len, struct key *out)
{
	crypto_generichash(out->bytes, KEY_SIZE, data, len, NULL, 0);
}

/* ---- this build: the build-ids of bbtrace and its libraries ---- */

struct builds {
	struct digest *d;
	bool missing; /* some have none */
};

/* Returns true if a note of the segment is a build-id, and adds it (elf(5), "Notes"). */
static bool put_build_id(struct digest *d, const uint8_t *at, size_t len)
{
	const ElfW(Nhdr) * n;
	size_t size;

	for (; len >= sizeof(*n); at += size, len -= size) {
		n = (const ElfW(Nhdr) *)(const void *)at;
		size = sizeof(*n) + (((size_t)n->n_namesz + 3) & ~3ul) +
		       (((size_t)n->n_descsz + 3) & ~3ul);
		if (size > len)
			return false;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == sizeof("GNU") && n->n_descsz) {
			put(d, at + size - ((n->n_descsz + 3) & ~3ul), n->n_descsz);
			return true;
		}
	}
	return false;
}

static int put_build(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct builds *b = ctx;
	bool found = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum && !found; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const void *at = (const void *)(info->dlpi_addr + p->p_vaddr);

		found = p->p_type == PT_NOTE && put_build_id(b->d, at, p->p_memsz);
	}
	b->missing |= !found;
	return b->missing;
}

/* The library that formats instructions is loaded first, if there is one, so that it is among them.
 */
static bool put_this_build(struct digest *d, const struct object *o)
{
	const struct arch *arch = arch__by_machine(o->machine);
	struct builds b = {d};
	const struct segment *s;
	char text[128];

	vec__each (s, &o->segments)
		if (s->exec && s->bytes && s->size && arch && arch->format)
			arch->format(s->bytes, s->size, s->vaddr, text, sizeof(text));
	dl_iterate_phdr(put_build, &b);
	return !b.missing;
}

/* ---- of a plan ---- */

static bool add_object(object_vec *objects, const struct object *o)
{
	if (object_vec__number(objects, o) != NO_OBJECT)
		return true;
	if (o->kind != OBJECT_ELF)
		return false;
	vec__push(objects, o);
	return true;
}

static bool find_objects(const function_vec *functions, const struct plan_options *o,
			 object_vec *objects)
{
	const struct function *f;

	vec__each (f, functions)
		if (!add_object(objects, f->object))
			return false;
	for (size_t i = 0; i < o->nstubs; i++)
		if (!add_object(objects, o->stubs[i].object))
			return false;
	return true;
}

static void put_functions(struct digest *d, const function_vec *functions,
			  const object_vec *objects)
{
	const struct function *f;
	const struct range *r;

	put_number(d, functions->len);
	vec__each (f, functions) {
		put_number(d, object_vec__number(objects, f->object));
		put_text(d, f->name);
		put_text(d, f->raw);
		put_number(d, f->entry);
		put_number(d, f->flags);
		put_number(d, f->arguments);
		put_number(d, f->ranges.len);
		vec__each (r, &f->ranges) {
			put_number(d, r->vaddr);
			put_number(d, r->size);
			put_text(d, r->name);
			put_number(d, r->offset);
		}
	}
}

static void put_costs(struct digest *d, const struct cost_row *costs)
{
	for (; costs && costs->mechanism; costs++) {
		put_text(d, costs->mechanism);
		put_number(d, costs->kernel);
		put(d, costs->cost, sizeof(costs->cost));
	}
}

_Static_assert(sizeof(struct plan_options) == 136 || sizeof(void *) != 8, "is it in the key?");

static void put_options(struct digest *d, const struct plan_options *o, const object_vec *objects)
{
	const uint64_t numbers[] = {
		o->events,   o->placement,  o->path_ends,	 o->exact_flags,   o->late_entries,
		o->executes, o->entry_regs, o->patchable_unsafe, o->return_probes, o->count_all,
		o->tests,    o->mutes,	    o->retire,		 o->nstubs,
	};

	put(d, numbers, sizeof(numbers));
	put_text(d, o->mechanism);
	put_costs(d, o->costs);
	for (size_t i = 0; i < o->nstubs; i++) {
		put_number(d, object_vec__number(objects, o->stubs[i].object));
		put_number(d, o->stubs[i].vaddr);
	}
}

_Static_assert(sizeof(((struct object *)0)->identity) == KEY_SIZE, "a digest");
/* Once for each object, since more becomes known of it later, which changes nothing. */
static bool identify(const struct object *o)
{
	struct object *known = (struct object *)o;
	struct digest d;

	if (o->identified)
		return true;
	begin(&d, "object");
	if (!object__identity(o, put, &d))
		return false;
	crypto_generichash_final(&d.state, known->identity, sizeof(known->identity));
	known->identified = true;
	return true;
}

static bool put_objects(struct digest *d, const object_vec *objects)
{
	const struct object **o;

	vec__each (o, objects) {
		if (!identify(*o))
			return false;
		put(d, (*o)->identity, sizeof((*o)->identity));
	}
	return true;
}

bool key__of_plan(const function_vec *functions, const struct plan_options *o, object_vec *objects,
		  struct key *out)
{
	struct digest d;

	if (o->weights || o->batch || o->before || o->kernel_object ||
	    functions__size(functions) < CODE_MIN || !find_objects(functions, o, objects))
		return false;
	begin(&d, "plan");
	if (!put_this_build(&d, objects->data[0]) || !put_objects(&d, objects))
		return false;
	put_functions(&d, functions, objects);
	put_options(&d, o, objects);
	end(&d, out);
	return true;
}

/* ---- of copies ---- */

_Static_assert(sizeof(struct log_options) == 12, "is it in the key?");
_Static_assert(sizeof(struct plan_site) == 104 || sizeof(void *) != 8, "has it a new pointer?");

static void put_sites(struct digest *d, const struct plan *p)
{
	const struct plan_site *s;

	put_number(d, p->sites.len);
	vec__each (s, &p->sites) {
		struct plan_site row = *s;

		row.mnemonic = row.compare = row.variable_a = row.variable_b = NULL;
		row.test = NULL;
		put(d, &row, sizeof(row));
		put(d, s->test, s->test ? sizeof(*s->test) : 0);
	}
}

static void put_places(struct digest *d, const struct plan *p)
{
	const struct plan_place *reserved;
	const struct plan_kept *kept;

	put_number(d, p->reserved.len);
	vec__each (reserved, &p->reserved) {
		put_number(d, reserved->object);
		put_number(d, reserved->vaddr);
	}
	put_number(d, p->kept.len);
	vec__each (kept, &p->kept) {
		put_number(d, kept->object);
		put_number(d, kept->vaddr);
	}
}

static void put_values(struct digest *d, const struct plan *p)
{
	const struct plan_value *v;

	put_number(d, p->values.len);
	vec__each (v, &p->values) {
		struct plan_value row = *v;

		row.name = row.type = NULL;
		put(d, &row, sizeof(row));
	}
}

static void put_plan_functions(struct digest *d, const struct plan *p)
{
	const struct plan_function *f;

	put_number(d, p->functions.len);
	vec__each (f, &p->functions) {
		put_number(d, f->object);
		put_number(d, f->flags);
		put_number(d, f->entry_site);
		put_number(d, f->nranges);
		for (size_t i = 0; i < f->nranges; i++) {
			put_number(d, f->ranges[i].vaddr);
			put_number(d, f->ranges[i].size);
		}
	}
}

static void put_log_options(struct digest *d, const struct log_options *o)
{
	const uint64_t numbers[] = {o->regs,	   o->timed,   o->runs,
				    o->by_records, o->callers, o->real_calls};

	put(d, numbers, sizeof(numbers));
}

bool key__of_copies(const struct plan *p, const struct log_options *o, struct key *out)
{
	autofree object_vec objects = {0};
	const uint64_t numbers[] = {p->placement, p->counts_all, p->late_entries, p->mutes};
	const struct plan_function *f;
	const struct plan_object *po;
	uint64_t code = 0;
	struct digest d;

	vec__each (f, &p->functions)
		code += plan_function__size(f);
	if (code < CODE_MIN)
		return false;
	begin(&d, "copies");
	vec__each (po, &p->objects) {
		if (!po->object || po->kernel)
			return false;
		vec__push(&objects, po->object);
	}
	if (!objects.len || !put_this_build(&d, objects.data[0]) || !put_objects(&d, &objects))
		return false;
	put(&d, numbers, sizeof(numbers));
	put_log_options(&d, o);
	put_plan_functions(&d, p);
	put_sites(&d, p);
	put(&d, p->sites_by_address.data, p->sites_by_address.len * sizeof(uint32_t));
	put_places(&d, p);
	put_values(&d, p);
	end(&d, out);
	return true;
}
