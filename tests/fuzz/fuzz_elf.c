// SPDX-License-Identifier: BSD-2-Clause
/* The ELF reader: opens a file, then runs every query on the object. fuzz_lines has FILE:LINE. */
#include "arch/arch.h"
#include "object/tables/tables.h"
#include "fuzz.h"
#include "resolve/resolve.h"

#define LOOK_AT 64 /* symbols and frames of each object, evenly spread */

static void resolve(struct object *o, const char *text, function_vec *v)
{
	const struct function *f;
	const struct range *r;
	struct spec spec;

	if (spec__parse(text, false, &spec))
		return;
	err__clear();
	CHECK(!object__resolve(o, &spec, v) || *err__text());
	vec__each (f, v) {
		CHECK(f->name && f->ranges.len && f->entry == f->ranges.data[0].vaddr);
		vec__each (r, &f->ranges) {
			size_t avail;

			CHECK(object__bytes(o, r->vaddr, &avail) && r->size && r->size <= avail);
		}
		spec__matches(&spec, f);
	}
	functions__free(v);
	spec__free(&spec);
}

static void look_at_symbol(struct object *o, size_t i, function_vec *v)
{
	const struct symbol *s = &o->symbols.data[i];
	uint64_t offset, vaddr;
	char text[64];

	CHECK(!i || s[-1].vaddr <= s->vaddr);
	CHECK(object__symbols_from(o, s->vaddr) <= i);
	CHECK(object__symbol_at(o, s->vaddr) || !object__extent(o, s));
	resolve(o, s->name, v);
	resolve(o, s->shown, v);
	if (!object__vaddr_to_offset(o, s->vaddr, &offset))
		return;
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)offset);
	resolve(o, text, v);
	CHECK(object__offset_to_vaddr(o, offset, &vaddr));
}

static void look_at_frame(struct object *o, size_t i, function_vec *v)
{
	const struct frame *f = &o->frames.data[i];
	struct function fn;

	CHECK(!i || f[-1].vaddr + f[-1].size <= f->vaddr);
	for (size_t k = 0; k < f->npads; k++)
		CHECK(!k || f->pads[k - 1] < f->pads[k]);
	if (object__function_at(o, f->vaddr + f->size / 2, &fn)) {
		vec__push(v, fn);
		functions__free(v);
	}
}

static int count(void *ctx, const char *soname)
{
	*(size_t *)ctx += strlen(soname);
	return 0;
}

/* Static probes, and their arguments by each architecture. */
static void check_usdt(const struct object *o)
{
	struct usdt_argument args[USDT_ARGUMENTS];
	autofree usdt_vec all = {0};
	const struct usdt_probe *u;

	object__usdt(o, &all);
	vec__each (u, &all) {
		unsigned n = usdt__arguments(arch__by_machine(o->machine), u->arguments, args);

		CHECK(n <= USDT_ARGUMENTS && u->provider && u->name);
		for (unsigned i = 0; i < n; i++)
			CHECK(args[i].kind <= USDT_MEMORY);
	}
}

static void look_at(struct object *o)
{
	static const char *const specs[] = {"main",   "f*",	  "f.cold",   "f@V1",
					    "f@@V2",  "*",	  "0x1000",   "0x1000+0x8",
					    "nearly", "puts@plt", "a::f(int)"};
	function_vec v = {0};
	size_t i, needed = 0;

	for (i = 0; i < ARRAY_SIZE(specs); i++)
		resolve(o, specs[i], &v);
	for (i = 0; i < o->symbols.len; i += 1 + o->symbols.len / LOOK_AT)
		look_at_symbol(o, i, &v);
	for (i = 0; i < o->frames.len; i += 1 + o->frames.len / LOOK_AT)
		look_at_frame(o, i, &v);
	object__needed(o, count, &needed);
	check_usdt(o);
	object__demangle(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct memory_file f;
	struct object *o;

	note__set_level(NOTE_QUIET);
	memory_file__open(&f, &in);
	err__clear();
	if (object__open(f.path, &o)) {
		CHECK(*err__text());
	} else {
		look_at(o);
		object__free(o);
	}
	close(f.fd);
	return 0;
}
