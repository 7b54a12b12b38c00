// SPDX-License-Identifier: BSD-2-Clause
/*
 * src/plan/packed.c, src/copy/packed.c: plans and copies of this program and of the C library as
 * bytes, and back. What is made of a plan that was packed is what is made of the plan itself; and
 * bytes that are cut off anywhere give nothing.
 */
#include <dlfcn.h>
#include "copy/copy.h"
#include "plan/packed.h"
#include "resolve/resolve.h"
#include "tap.h"

static void append(void *ctx, const void *data, size_t len)
{
	str__put(ctx, data, len);
}

static struct str packed(const struct plan *p, const object_vec *objects)
{
	struct str s = {0};

	ok(plan__pack(p, objects, &(struct pack_sink){append, &s}), "a plan of %u probes is packed",
	   p->probes);
	return s;
}

static bool same(const struct str *a, const struct str *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

/* The same plan but for strings' places: what refers to them is compared by text. */
static void is_same_plan(const struct plan *a, const struct plan *b)
{
	size_t names = 0, texts = 0, tests = 0, with = 0;

	is(a->functions.len, b->functions.len, "the functions");
	for (size_t i = 0; i < a->functions.len; i++) {
		const struct plan_function *x = &a->functions.data[i], *y = &b->functions.data[i];

		names += !strcmp(x->name, y->name) && !x->raw == !y->raw &&
			 (!x->raw || !strcmp(x->raw, y->raw)) && x->nranges == y->nranges &&
			 x->ranges[0].vaddr == y->ranges[0].vaddr &&
			 !strcmp(x->ranges[0].name, y->ranges[0].name);
	}
	is(names, a->functions.len, "their names and ranges");
	is(a->sites.len, b->sites.len, "the sites");
	for (size_t i = 0; i < a->sites.len; i++) {
		const struct plan_site *x = &a->sites.data[i], *y = &b->sites.data[i];

		texts += !x->mnemonic == !y->mnemonic && !x->compare == !y->compare &&
			 (!x->mnemonic || !strcmp(x->mnemonic, y->mnemonic)) &&
			 (!x->compare || !strcmp(x->compare, y->compare));
		with += !!x->test;
		tests += x->test && y->test && !memcmp(x->test, y->test, sizeof(*x->test));
	}
	is(texts, a->sites.len, "what they are and test");
	is(tests, with, "and its operands");
	ok(with, "there are some");
}

static void are_same_copies(const struct copies *a, const struct copies *b)
{
	if (!is(a->images.len, b->images.len, "copies of as many objects"))
		return;
	for (size_t i = 0; i < a->images.len; i++) {
		const struct copy_image *x = &a->images.data[i], *y = &b->images.data[i];

		ok(x->code.len == y->code.len && !memcmp(x->code.data, y->code.data, x->code.len),
		   "the same %zu bytes of code", x->code.len);
		is(x->patches.len, y->patches.len, "the patches");
		is(x->pcs.len, y->pcs.len, "the positions");
		is(x->fixups.len, y->fixups.len, "the fixups");
		is(x->functions.len, y->functions.len, "the functions");
	}
	is(a->counted.len, b->counted.len, "the counters");
}

/* The beginning of the bytes, up to one byte less than all, in a block of that size. */
static void are_cut(const struct str *plan, const struct str *copies, const object_vec *objects,
		    struct plan *p)
{
	size_t taken = 0;

	for (size_t i = 0; i < 200; i++) {
		size_t n = i < 100 ? i * 8 : plan->len - (i - 99);
		size_t m = i < 100 ? i * 8 : copies->len - (i - 99);
		autofree uint8_t *cut = xmalloc(n + 1), *short_one = xmalloc(m + 1);
		struct plan *q;
		struct copies *c;

		memcpy(cut, plan->data, n);
		q = plan__unpack(cut, n, objects);
		taken += !!q;
		plan__free(q);
		memcpy(short_one, copies->data, m);
		c = copies__unpack(short_one, m, p);
		taken += !!c;
		copies__free(c);
	}
	is(taken, 0, "what is cut off is not taken");
}

static void test_object(struct object *o, enum plan_placement placement, const char *spec_text)
{
	const struct plan_options options = {.events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN,
					     .placement = placement,
					     .tests = true};
	const struct log_options log = {.timed = placement == PLACEMENT_FULL};
	object_vec objects = {0};
	function_vec functions = {0};
	struct str first, copied = {0}, both, again;
	struct copies *made, *unpacked, *remade;
	struct plan *p, *q, *r;
	struct spec spec;

	ok(!spec__parse(spec_text, false, &spec) && !object__resolve(o, &spec, &functions),
	   "%s is found", spec_text);
	spec__free(&spec);
	vec__push(&objects, o);
	if (!ok(!plan__build(&functions, &options, &p), "%s is planned", o->path))
		return;
	first = packed(p, &objects);
	q = plan__unpack(first.data, first.len, &objects);
	r = plan__unpack(first.data, first.len, &objects);
	if (!ok(q && r, "it is unpacked"))
		return;
	is_same_plan(p, q);
	again = packed(q, &objects);
	ok(same(&first, &again), "and packed again as it was");

	copies__make(p, &log, &made);
	copies__make(r, &log, &remade);
	copies__pack(made, p, &(struct pack_sink){append, &copied});
	unpacked = copies__unpack(copied.data, copied.len, q);
	if (ok(unpacked, "copies are unpacked")) {
		are_same_copies(made, unpacked);
		are_same_copies(made, remade);
		both = packed(p, &objects);
		str__free(&again);
		again = packed(q, &objects);
		ok(same(&both, &again), "they change the plan as making them does");
		str__free(&both);
	}
	are_cut(&first, &copied, &objects, r);
	vec__free(&objects);
	objects.len = 0;
	ok(!plan__unpack(first.data, first.len, &objects), "of other objects there is no plan");
	str__free(&first);
	str__free(&again);
	str__free(&copied);
	copies__free(made);
	copies__free(unpacked);
	copies__free(remade);
	plan__free(p);
	plan__free(q);
	plan__free(r);
	functions__free(&functions);
}

static const char *library_of(const void *function)
{
	Dl_info info;

	return dladdr(function, &info) ? info.dli_fname : NULL;
}

int main(void)
{
	static const enum plan_placement placements[] = {PLACEMENT_FULL, PLACEMENT_WITNESS,
							 PLACEMENT_COUNT};
	const char *library = library_of((void *)strtod);
	struct object *o;

	for (size_t i = 0; i < ARRAY_SIZE(placements); i++) {
		if (ok(!object__open("/proc/self/exe", &o), "this program is read"))
			test_object(o, placements[i], "*");
		object__free(o);
		if (ok(library && !object__open(library, &o), "the C library is read"))
			test_object(o, placements[i], "str*");
		object__free(o);
	}
	return tap__done();
}
