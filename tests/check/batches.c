// SPDX-License-Identifier: BSD-2-Clause
/*
 * `batches BYTES FILE|kernel:FUNC...`: is each file's plan by batches of so many bytes of code, as
 * bbtrace list makes it, the same as the plan of all code at once? The same for functions of the
 * running kernel. Compares the functions, the sites in order of address, the blocks, and the bytes
 * that are not decoded. Prints one line for each, and one for each row that differs, at most ten.
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

/* ---- what is compared ---- */

struct subject {
	struct object *object, *kernel, **modules;
	size_t nmodules;
	function_vec functions;
};

static void free_subject(struct subject *s)
{
	functions__free(&s->functions);
	object__free(s->object);
	object__free(s->kernel);
	for (size_t i = 0; i < s->nmodules; i++)
		object__free(s->modules[i]);
	free(s->modules);
}

/* The running kernel's functions. */
static int find_in_kernel(struct subject *s, const struct spec *names)
{
	int err = kernel__open(NULL, NULL, NULL, &s->kernel, &s->modules, &s->nmodules);

	if (err)
		return err;
	return kernel__resolve(s->kernel, s->modules, s->nmodules, names, &s->functions);
}

static int find_in_file(struct subject *s, const char *path, const struct spec *names)
{
	int err = object__open(path, &s->object);

	return err ? err : object__resolve(s->object, names, &s->functions);
}

static int find(struct subject *s, const char *text)
{
	CLEANUP(spec__free) struct spec names = {0};
	bool kernel = !strncmp(text, "kernel:", 7);
	int err = spec__parse(kernel ? text + 7 : "*", kernel, &names);

	if (err)
		return err;
	err = kernel ? find_in_kernel(s, &names) : find_in_file(s, text, &names);
	if (!err)
		functions__join(&s->functions);
	return err;
}

static int compare_subject(const char *text, uint64_t bytes)
{
	struct plan_options whole = {.events = PLAN_BRANCH, .batch = UINT64_MAX}, parts;
	CLEANUP(free_subject) struct subject s = {0};
	CLEANUP(plan__free_at) struct plan *a = NULL, *b = NULL;
	int err = find(&s, text);

	if (err)
		return err;
	whole.kernel_object = s.kernel;
	err = plan__build(&s.functions, &whole, &a);
	if (err)
		return err;
	parts = whole;
	parts.batch = bytes;
	err = plan__build(&s.functions, &parts, &b);
	if (err)
		return err;
	differing = 0;
	compare(a, b);
	printf("%s %s: %zu sites, %zu functions, %s\n", differing ? "DIFFERS" : "same", text,
	       a->sites.len, a->functions.len,
	       b->edgeless && !a->edgeless ? "in batches" : "in one batch");
	return 0;
}

int main(int argc, char **argv)
{
	bool failed = argc < 3;

	if (failed)
		fprintf(stderr, "usage: batches BYTES FILE|kernel:FUNC...\n");
	for (int i = 2; i < argc; i++) {
		if (compare_subject(argv[i], strtoull(argv[1], NULL, 0)))
			printf("unread %s: %s\n", argv[i], err__text());
		failed |= differing != 0;
		fflush(stdout);
	}
	return failed;
}
