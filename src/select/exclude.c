// SPDX-License-Identifier: BSD-2-Clause
/* --exclude: leaves out functions that were found. */
#include <errno.h>
#include <stdlib.h>
#include "targets.h"
#include "cli/request.h"

static void drop_matching(struct targets *n, const struct spec *spec)
{
	function_vec out = {0}, kept = {0};
	struct function *f;

	vec__each (f, &n->functions) {
		if (spec__matches(spec, f))
			vec__push(&out, *f);
		else
			vec__push(&kept, *f);
	}
	vec__free(&n->functions);
	memcpy(&n->functions, &kept, sizeof(kept));
	functions__free(&out);
}

static bool shares_code(const struct function *a, const struct function *b)
{
	const struct range *r, *s;

	if (a->object != b->object)
		return false;
	vec__each (r, &a->ranges)
		vec__each (s, &b->ranges)
			if (r->vaddr < s->vaddr + s->size && s->vaddr < r->vaddr + r->size)
				return true;
	return false;
}

/* Resolves lines and points in each object, and drops the functions that have code of them. */
static int drop_selected(struct targets *n, const struct spec *spec)
{
	function_vec kept = {0}, out = {0}, selected = {0};
	struct function *f, *s;
	bool found = false, drop;

	for (size_t i = 0; i < n->objects.len; i++)
		found |= !object__resolve(n->objects.data[i], spec, &selected);
	vec__each (f, &n->functions) {
		drop = false;
		vec__each (s, &selected)
			drop |= shares_code(f, s);
		vec__push(drop ? &out : &kept, *f);
	}
	vec__free(&n->functions);
	memcpy(&n->functions, &kept, sizeof(kept));
	functions__free(&selected);
	functions__free(&out);
	return found ? 0 : -ENOENT;
}

static int exclude_one(struct targets *n, const char *text, bool kernel)
{
	CLEANUP(spec__free) struct spec spec = {0};
	int err = spec__parse(text, kernel, &spec);

	if (err)
		return err;
	if (spec.kind == SPEC_LINE || spec.kind == SPEC_POINTS || spec.kind == SPEC_PLACE)
		return drop_selected(n, &spec);
	drop_matching(n, &spec);
	return 0;
}

static bool names_programs(const struct targets *n)
{
	for (size_t i = 0; i < n->objects.len; i++)
		if (!object__is_kernel(n->objects.data[i]))
			return true;
	return false;
}

int exclude__apply(struct targets *n, const struct request *req)
{
	bool kernel = !names_programs(n);
	const char **text;
	int err;

	vec__each (text, &req->what.exclude) {
		size_t before = n->functions.len;

		err = exclude_one(n, *text, kernel);
		if (err)
			return err;
		if (n->functions.len == before)
			note("--exclude %s leaves out no further function", *text);
	}
	return n->functions.len ? 0 : err__set(ENOENT, "--exclude leaves no function");
}
