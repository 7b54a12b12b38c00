// SPDX-License-Identifier: BSD-2-Clause
/*
 * The formats tests and tests:names: which of the traces that were recorded with --tag, or of the
 * parts that marks name, ran a function, and each side of its conditionals. So: which tests are to
 * be run for a function that was changed.
 */
#include <stdlib.h>
#include "output/base/fields.h"
#include "output/output.h"

struct tests {
	VEC(char *) names;
	struct map64 by_name; /* hash -> index + 1 */
	/* indices into names, ascending: by function; by site, not taken and taken */
	id_vec *functions, (*sides)[2];
	size_t nfunctions, nsites;
};

static void tests__plan_extended(struct output *o)
{
	struct tests *t = o->state;
	size_t nfunctions = o->plan->functions.len, nsites = o->plan->sites.len;

	t->functions = xextend(t->functions, t->nfunctions, nfunctions, sizeof(*t->functions));
	t->sides = xextend(t->sides, t->nsites, nsites, sizeof(*t->sides));
	t->nfunctions = nfunctions;
	t->nsites = nsites;
}

static int tests__begin(struct output *o)
{
	tests__plan_extended(o);
	return 0;
}

static void tests__free(struct output *o)
{
	struct tests *t = o->state;
	char **name;

	for (size_t i = 0; i < t->nfunctions; i++)
		vec__free(&t->functions[i]);
	for (size_t i = 0; i < t->nsites; i++) {
		vec__free(&t->sides[i][false]);
		vec__free(&t->sides[i][true]);
	}
	vec__each (name, &t->names)
		free(*name);
	vec__free(&t->names);
	map64__free(&t->by_name);
	free(t->functions);
	free(t->sides);
}

/* ---- what ran ---- */

static uint32_t number_of(struct tests *t, const char *name)
{
	for (uint64_t hash = map64__hash(name, strlen(name));; hash++) {
		uint64_t *slot = map64__put(&t->by_name, hash);

		if (*slot && strcmp(t->names.data[*slot - 1], name) != 0)
			continue;
		if (!*slot) {
			vec__push(&t->names, xstrdup(name));
			*slot = t->names.len;
		}
		return *slot - 1;
	}
}

/* The last ones are those of the latest test, or of one that has come again. */
static void note_test(id_vec *v, uint32_t test, uint64_t count)
{
	size_t at = v->len;

	if (!count || count == COUNT_UNKNOWN)
		return;
	while (at && v->data[at - 1] > test)
		at--;
	if (at && v->data[at - 1] == test)
		return;
	vec__push(v, test);
	for (size_t i = v->len - 1; i > at; i--)
		v->data[i] = v->data[i - 1];
	v->data[at] = test;
}

static void tests__tagged(struct output *o, const char *tag, const struct edge_counts *c)
{
	struct tests *t = o->state;
	uint32_t test = number_of(t, tag);
	const struct plan_block *b;

	vec__each (b, &o->plan->blocks)
		if (b->function < t->nfunctions)
			note_test(&t->functions[b->function], test,
				  c->edges->blocks[b - o->plan->blocks.data]);
	for (size_t i = 0; i < t->nsites; i++) {
		if (!plan_site__is_conditional(&o->plan->sites.data[i]))
			continue;
		note_test(&t->sides[i][false], test, c->edges->sites[i].not_taken);
		note_test(&t->sides[i][true], test, c->edges->sites[i].taken);
	}
}

/* ---- text ---- */

static bool is_shown(const struct output *o, uint32_t function)
{
	const struct plan_function *f = &o->plan->functions.data[function];

	return !(f->flags & FUNCTION_HELPER) &&
	       (!o->options.functions || o->options.functions[function]);
}

static void put_line(struct output *o, uint32_t file, uint32_t line)
{
	const char *path = o->plan->line_files.data[file], *slash = strrchr(path, '/');

	str__putc(&o->buffer, ' ');
	str__shown(&o->buffer, slash ? slash + 1 : path);
	str__printf(&o->buffer, ":%u", line);
}

static void put_source(struct output *o, uint32_t object, uint64_t vaddr)
{
	const struct plan_line *l = plan__line_at(o->plan, object, vaddr);

	if (l && l->line)
		put_line(o, l->file, l->line);
}

/* Puts where it is declared, if that is known. */
static void put_declared(struct output *o, const struct plan_function *f)
{
	uint32_t scope = plan__scope_at(o->plan, f->object, plan__start(f));
	const struct plan_scope *s = scope == NO_SCOPE ? NULL : &o->plan->scopes.data[scope];

	while (s && s->parent != NO_SCOPE)
		s = &o->plan->scopes.data[s->parent];
	if (s && s->line)
		put_line(o, s->file, s->line);
	else
		put_source(o, f->object, plan__start(f));
}

/* Names may contain spaces, so each is quoted that does. */
static void put_tests(struct output *o, const id_vec *v)
{
	struct tests *t = o->state;
	const uint32_t *test;

	if (!v->len)
		str__puts(&o->buffer, " none");
	vec__each (test, v) {
		const char *name = t->names.data[*test];
		const char *quote = *name && !strpbrk(name, " \t\"") ? "" : "\"";

		str__printf(&o->buffer, " %s", quote);
		str__shown(&o->buffer, name);
		str__puts(&o->buffer, quote);
	}
	str__putc(&o->buffer, '\n');
}

static void put_sides(struct output *o, uint32_t site)
{
	static const char *const words[] = {"not taken", "taken"};
	const struct plan_site *s = &o->plan->sites.data[site];
	struct tests *t = o->state;
	uint64_t offset;
	const char *name = plan__name_at(o->plan, s->function, s->vaddr, &offset);

	for (int taken = 1; taken >= 0; taken--) {
		str__puts(&o->buffer, "    ");
		str__shown(&o->buffer, name ? name : "");
		str__printf(&o->buffer, "+0x%llx", (unsigned long long)offset);
		put_source(o, s->object, s->vaddr);
		str__printf(&o->buffer, " %s %s:", s->mnemonic, words[taken]);
		put_tests(o, &t->sides[site][taken]);
	}
}

static void put_branches(struct output *o, const struct plan_function *f)
{
	const struct plan *p = o->plan;

	for (size_t r = 0; r < f->nranges; r++)
		for (size_t i = plan__sites_from(p, f->object, f->ranges[r].vaddr);
		     i < p->sites.len; i++) {
			const struct plan_site *s = &p->sites.data[p->sites_by_address.data[i]];

			if (s->object != f->object ||
			    s->vaddr - f->ranges[r].vaddr >= f->ranges[r].size)
				break;
			if (plan_site__is_conditional(s))
				put_sides(o, s - p->sites.data);
		}
}

static int tests__end(struct output *o, const struct trace_totals *unused)
{
	struct tests *t = o->state;

	str__printf(&o->buffer, "# %zu tests\n", t->names.len);
	for (uint32_t f = 0; f < t->nfunctions; f++) {
		const struct plan_function *fn = &o->plan->functions.data[f];

		if (!is_shown(o, f))
			continue;
		str__shown(&o->buffer, fn->name);
		put_declared(o, fn);
		str__putc(&o->buffer, ':');
		put_tests(o, &t->functions[f]);
		if (t->functions[f].len)
			put_branches(o, fn);
		if (o->buffer.len > 64 << 10 && output__flush(o))
			return o->error;
	}
	return 0;
}

/* The tests that ran any of the functions, a line each. */
static int names__end(struct output *o, const struct trace_totals *unused)
{
	struct tests *t = o->state;
	autofree bool *ran = xcalloc(t->names.len + 1, sizeof(*ran));
	const uint32_t *test;

	for (uint32_t f = 0; f < t->nfunctions; f++)
		vec__each (test, &t->functions[f])
			ran[*test] |= is_shown(o, f);
	for (size_t i = 0; i < t->names.len; i++) {
		if (!ran[i])
			continue;
		str__shown(&o->buffer, t->names.data[i]);
		str__putc(&o->buffer, '\n');
	}
	return 0;
}

/* There are only counts. */
static int tests__step(struct output *o, const struct step *step)
{
	return 0;
}

#define TESTS                                                                                      \
	.wants = {.events = OUTPUT_EDGES, .lines = true}, .size = sizeof(struct tests),            \
	.at_end = true, .begin = tests__begin, .plan_extended = tests__plan_extended,              \
	.step = tests__step, .tagged = tests__tagged, .free = tests__free

const struct output_format output_tests = {
	.name = "tests",
	.help = "which tagged traces ran each function, and each side of its branches",
	TESTS,
	.end = tests__end,
};

const struct output_format output_tests_names = {
	.name = "tests:names",
	.help = "the tagged traces that ran any of the functions",
	TESTS,
	.end = names__end,
};
