// SPDX-License-Identifier: BSD-2-Clause
/*
 * `batches BYTES FILE...`: is each file's plan by batches of so many bytes of code, as bbtrace list
 * makes it, the same as the plan of all code at once? Compares the functions, the sites in order of
 * address, the blocks, and the bytes that are not decoded. Prints one line for each file, and one
 * for each row that differs, at most ten.
 */
#include <errno.h>
#include <stdarg.h>
#include "plan/plan.h"
#include "resolve/resolve.h"

static unsigned differing;

static void PRINTF_LIKE(1, 2) differ(const char *fmt, ...)
{
	va_list ap;

	if (++differing > 10)
		return;
	va_start(ap, fmt);
	printf("  ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
}

#define SAME(a, b, field) ((a)->field == (b)->field)

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_ranges(const struct plan_function *a, const struct plan_function *b)
{
	for (size_t i = 0; i < a->nranges && i < b->nranges; i++)
		if (!SAME(&a->ranges[i], &b->ranges[i], vaddr) ||
		    !SAME(&a->ranges[i], &b->ranges[i], size) ||
		    !same_text(a->ranges[i].name, b->ranges[i].name))
			return false;
	return SAME(a, b, nranges);
}

static void compare_functions(const struct plan *a, const struct plan *b)
{
	for (size_t i = 0; i < a->functions.len && i < b->functions.len; i++) {
		const struct plan_function *f = &a->functions.data[i], *g = &b->functions.data[i];

		if (!same_text(f->name, g->name) || !same_ranges(f, g) || !SAME(f, g, flags) ||
		    !SAME(f, g, branches) || !SAME(f, g, skipped) || !SAME(f, g, unresolved) ||
		    !SAME(f, g, unreached))
			differ("%s: %u and %u branches, %llu and %llu bytes not decoded", f->name,
			       f->branches, g->branches, (unsigned long long)f->unreached,
			       (unsigned long long)g->unreached);
	}
}

static void compare_sites(const struct plan *a, const struct plan *b)
{
	for (size_t i = 0; i < a->sites.len && i < b->sites.len; i++) {
		const struct plan_site *s = &a->sites.data[a->sites_by_address.data[i]];
		const struct plan_site *t = &b->sites.data[b->sites_by_address.data[i]];

		if (!SAME(s, t, vaddr) || !SAME(s, t, target) || !SAME(s, t, function) ||
		    !SAME(s, t, kind) || !SAME(s, t, len) || !SAME(s, t, role) ||
		    !SAME(s, t, entry) || !SAME(s, t, refusal) || !SAME(s, t, probe_at) ||
		    !same_text(s->mnemonic, t->mnemonic))
			differ("sites %llx and %llx", (unsigned long long)s->vaddr,
			       (unsigned long long)t->vaddr);
	}
}

static void compare_blocks(const struct plan *a, const struct plan *b)
{
	for (size_t i = 0; i < a->blocks.len && i < b->blocks.len; i++) {
		const struct plan_block *x = &a->blocks.data[a->blocks_by_address.data[i]];
		const struct plan_block *y = &b->blocks.data[b->blocks_by_address.data[i]];
		uint64_t at = x->site == NO_SITE ? 0 : a->sites.data[x->site].vaddr;
		uint64_t bt = y->site == NO_SITE ? 0 : b->sites.data[y->site].vaddr;

		if (!SAME(x, y, start) || !SAME(x, y, end) || !SAME(x, y, function) || at != bt)
			differ("blocks %llx and %llx", (unsigned long long)x->start,
			       (unsigned long long)y->start);
	}
}

static void compare_gaps(const struct plan *a, const struct plan *b)
{
	for (size_t i = 0; i < a->gaps.len && i < b->gaps.len; i++) {
		const struct plan_gap *g = &a->gaps.data[i], *h = &b->gaps.data[i];

		if (!SAME(g, h, start) || !SAME(g, h, end) || !SAME(g, h, function))
			differ("gaps %llx and %llx", (unsigned long long)g->start,
			       (unsigned long long)h->start);
	}
}

#define COUNT(table)                                                                               \
	do                                                                                         \
		if (!SAME(a, b, table.len))                                                        \
			differ("%zu and %zu " #table, a->table.len, b->table.len);                 \
	while (0)

static void compare(const struct plan *a, const struct plan *b)
{
	COUNT(functions);
	COUNT(sites);
	COUNT(blocks);
	COUNT(gaps);
	compare_functions(a, b);
	compare_sites(a, b);
	compare_blocks(a, b);
	compare_gaps(a, b);
}

static void free_object(struct object **o)
{
	object__free(*o);
}

static int find_all(struct object *o, function_vec *functions)
{
	CLEANUP(spec__free) struct spec all = {0};
	int err = spec__parse("*", false, &all);

	if (err)
		return err;
	err = object__resolve(o, &all, functions);
	if (!err)
		functions__join(functions);
	return err;
}

static int compare_file(const char *path, uint64_t bytes)
{
	struct plan_options whole = {.events = PLAN_BRANCH, .batch = UINT64_MAX}, parts = whole;
	CLEANUP(free_object) struct object *o = NULL;
	CLEANUP(functions__free) function_vec functions = {0};
	CLEANUP(plan__free_at) struct plan *a = NULL, *b = NULL;
	int err = object__open(path, &o);

	if (err)
		return err;
	err = find_all(o, &functions);
	if (err)
		return err;
	err = plan__build(&functions, &whole, &a);
	if (err)
		return err;
	parts.batch = bytes;
	err = plan__build(&functions, &parts, &b);
	if (err)
		return err;
	differing = 0;
	compare(a, b);
	printf("%s %s: %zu sites, %zu functions, %s\n", differing ? "DIFFERS" : "same", path,
	       a->sites.len, a->functions.len,
	       b->edgeless && !a->edgeless ? "in batches" : "in one batch");
	return 0;
}

int main(int argc, char **argv)
{
	bool failed = argc < 3;

	if (failed)
		fprintf(stderr, "usage: batches BYTES FILE...\n");
	for (int i = 2; i < argc; i++) {
		if (compare_file(argv[i], strtoull(argv[1], NULL, 0)))
			printf("unread %s: %s\n", argv[i], err__text());
		failed |= differing != 0;
		fflush(stdout);
	}
	return failed;
}
