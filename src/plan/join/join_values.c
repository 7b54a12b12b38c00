// SPDX-License-Identifier: BSD-2-Clause
/*
 * The values of a plan's functions in the joined plan. A function that the joined plan has already
 * may have values of the same names there. If these are not the same ones, the function is shown by
 * its registers; what only this trace loaded is added.
 */
#include <stdlib.h>
#include "join_private.h"

/* The function of the joined plan that a function of p is. */
struct counterpart {
	uint32_t function, own;
};

static int by_function(const void *a, const void *b)
{
	const struct counterpart *x = a, *y = b;

	return x->function != y->function ? (x->function < y->function ? -1 : 1)
	       : x->own != y->own	  ? (x->own < y->own ? -1 : 1)
					  : 0;
}

static bool same_enumerators(const struct joining *j, uint32_t ours, uint32_t theirs)
{
	size_t n, m;
	const struct plan_enumerator *a = plan__enumerators(j->all, ours, &n);
	const struct plan_enumerator *b = plan__enumerators(j->p, theirs, &m);

	for (size_t i = 0; n == m && i < n; i++)
		if (a[i].value != b[i].value || strcmp(a[i].name, b[i].name) != 0)
			return false;
	return n == m;
}

/* Returns true if both are read the same way, except for where they were loaded. */
static bool same_value(const struct joining *j, const struct plan_value *ours,
		       const struct plan_value *theirs)
{
	return same_text(ours->type, theirs->type) && ours->kind == theirs->kind &&
	       ours->from == theirs->from && ours->reg == theirs->reg &&
	       ours->second == theirs->second && ours->size == theirs->size &&
	       ours->bit_at == theirs->bit_at && ours->bits == theirs->bits &&
	       ours->at == theirs->at && ours->errnos == theirs->errnos &&
	       !ours->fetched == !theirs->fetched &&
	       same_enumerators(j, ours->enumeration, theirs->enumeration);
}

static const struct plan_value *namesake(const struct plan_value *rows, size_t n,
					 const struct plan_value *v)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].of_return == v->of_return && !strcmp(rows[i].name, v->name))
			return &rows[i];
	return NULL;
}

static uint32_t next_enumeration(const struct joining *j)
{
	const struct plan *p = j->more->rows.enumerators.len ? &j->more->rows : j->all;

	return p->enumerators.len ? vec__last(&p->enumerators)->enumeration + 1 : 0;
}

/* Returns UINT32_MAX if there is none. */
static uint32_t add_enumeration(struct joining *j, uint32_t theirs)
{
	size_t n;
	const struct plan_enumerator *e = plan__enumerators(j->p, theirs, &n);
	uint64_t *known = n ? map64__put(&j->enumerations, theirs) : NULL;

	if (known && !*known) {
		*known = 1 + next_enumeration(j);
		for (size_t i = 0; i < n; i++)
			vec__push(&j->more->rows.enumerators,
				  (struct plan_enumerator){xstrdup(e[i].name), e[i].value,
							   *known - 1});
	}
	return known ? *known - 1 : UINT32_MAX;
}

/* The values of the joined plan, and those of p. */
struct matching {
	const struct plan_value *ours, *theirs;
	size_t nours, ntheirs;
	unsigned fetched[2]; /* by of_return: how many values of the joined plan are loaded */
};

static struct matching matching_of(const struct joining *j, const struct counterpart *c)
{
	struct matching m = {.theirs = plan__values(j->p, c->own, &m.ntheirs)};

	if (c->function >= j->all->functions.len)
		return m;
	m.ours = plan__values(j->all, c->function, &m.nours);
	for (int i = 0; i < 2; i++)
		m.fetched[i] = plan__fetched(j->all, c->function, i);
	return m;
}

/* Returns true if one set of values describes both. In code of another build, they must be the
 * same. What was recorded without values is shown as it is alone. */
static bool is_one(const struct joining *j, const struct counterpart *c, const struct matching *m)
{
	unsigned loaded[2] = {m->fetched[0], m->fetched[1]}, seen[2] = {0};

	if (!m->ntheirs || (j->n->by_symbol[c->own] && m->nours != m->ntheirs))
		return false;
	for (size_t i = 0; i < m->ntheirs; i++) {
		const struct plan_value *v = &m->theirs[i], *ours = namesake(m->ours, m->nours, v);

		if (ours ? !same_value(j, ours, v) : j->n->by_symbol[c->own])
			return false;
		if (ours || !v->fetched || seen[v->of_return] >> v->fetched & 1)
			continue;
		seen[v->of_return] |= 1u << v->fetched;
		if (++loaded[v->of_return] > VALUES_FETCHED)
			return false;
	}
	return true;
}

static void match(struct joining *j, const struct counterpart *c, struct matching *m)
{
	uint8_t(*places)[VALUES_FETCHED] = j->n->fetched[c->own];

	for (size_t i = 0; i < m->ntheirs; i++) {
		const struct plan_value *v = &m->theirs[i], *ours = namesake(m->ours, m->nours, v);
		struct plan_value row = *v;

		if (!ours) {
			row.function = c->function;
			row.enumeration = add_enumeration(j, v->enumeration);
			/* several may be in what is loaded at once */
			row.fetched = !v->fetched ? 0
				      : places[v->of_return][v->fetched - 1]
					      ? places[v->of_return][v->fetched - 1]
					      : ++m->fetched[v->of_return];
			plan__add_value(&j->more->rows, &row);
			ours = &row;
		}
		if (v->fetched)
			places[v->of_return][v->fetched - 1] = ours->fetched;
	}
}

void joining__add_values(struct joining *j)
{
	VEC(struct counterpart) all = {0};
	const struct counterpart *c;

	j->n->untyped = xcalloc(j->p->functions.len + 1, sizeof(*j->n->untyped));
	j->n->fetched = xcalloc(j->p->functions.len + 1, sizeof(*j->n->fetched));
	for (uint32_t i = 0; i < j->p->functions.len; i++)
		vec__push(&all, (struct counterpart){j->n->functions[i], i});
	vec__sort(&all, by_function);
	vec__each (c, &all) {
		struct matching m = matching_of(j, c);

		/* one of two functions that became one */
		if (c > all.data && c[-1].function == c->function)
			j->n->untyped[c->own] = true;
		else if (!is_one(j, c, &m))
			j->n->untyped[c->own] = true;
		else
			match(j, c, &m);
	}
	vec__free(&all);
	map64__free(&j->enumerations);
}
