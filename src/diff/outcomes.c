// SPDX-License-Identifier: BSD-2-Clause
/* Outcomes: what a step is, apart from its time, its thread and addresses that differ by run. */
#include <stdlib.h>
#include "diff/diff.h"

void outcomes__init(struct outcomes *o, const struct plan *joined)
{
	*o = (struct outcomes){.plan = joined};
	vec__add(&o->targets);
}

void outcomes__free(struct outcomes *o)
{
	vec__free(&o->rows);
	vec__free(&o->targets);
	vec__free(&o->by_site);
	map64__free(&o->by_row);
	map64__free(&o->by_target);
	free(o->same);
	free(o->changed);
	free(o->first);
}

/* ---- numbers ---- */

static bool same_target(const struct outcome_target *a, const struct outcome_target *b)
{
	return a->object == b->object && a->symbol == b->symbol && a->offset == b->offset;
}

/* Code in memory without a file is elsewhere in each run. */
static uint32_t target_of(struct outcomes *o, const struct location *to)
{
	struct outcome_target t = {to->object, to->symbol, to->symbol ? to->offset : to->vaddr,
				   to->vaddr};
	const uint64_t key[] = {(uintptr_t)t.object, (uintptr_t)t.symbol, t.offset};
	uint64_t *known;

	if (!to->object)
		return NO_TARGET;
	for (uint64_t hash = map64__hash(key, sizeof(key));; hash++) {
		known = map64__put(&o->by_target, hash);
		if (!*known)
			break;
		if (same_target(&o->targets.data[*known], &t))
			return *known;
	}
	*known = o->targets.len;
	vec__push(&o->targets, t);
	return *known;
}

static uint32_t number_of(struct outcomes *o, const struct outcome *row)
{
	uint64_t *known;

	for (uint64_t hash = map64__hash(row, sizeof(*row));; hash++) {
		known = map64__put(&o->by_row, hash);
		if (!*known)
			break;
		if (!memcmp(&o->rows.data[*known - 1], row, sizeof(*row)))
			return *known - 1;
	}
	vec__push(&o->rows, *row);
	*known = o->rows.len;
	return *known - 1;
}

uint32_t outcomes__branch(struct outcomes *o, uint32_t site, bool taken, const struct location *to)
{
	const struct plan_site *s = &o->plan->sites.data[site];
	struct outcome row = {OUTCOME_BRANCH, s->function, site, 0, NO_TARGET};
	uint32_t *known;

	if (!s->target && !plan_site__is_conditional(s)) {
		row.target = to ? target_of(o, to) : NO_TARGET;
		return number_of(o, &row);
	}
	row.taken = plan_site__is_conditional(s) && taken;
	while (o->by_site.len < 2 * o->plan->sites.len)
		vec__push(&o->by_site, 0);
	known = &o->by_site.data[2 * site + row.taken];
	if (!*known)
		*known = 1 + number_of(o, &row);
	return *known - 1;
}

uint32_t outcomes__entry(struct outcomes *o, uint32_t function)
{
	struct outcome row = {OUTCOME_ENTRY, function, NO_SITE, 0, NO_TARGET};

	return number_of(o, &row);
}

uint32_t outcomes__of(struct outcomes *o, const struct step *s)
{
	struct outcome row = {OUTCOME_GAP, NO_FUNCTION, NO_SITE, 0, NO_TARGET};

	switch (s->type) {
	case STEP_BRANCH:
		return outcomes__branch(o, s->site, s->taken, s->to_known ? &s->to : NULL);
	case STEP_ENTRY:
		return outcomes__entry(o, s->function);
	case STEP_RETURN:
		row.type = OUTCOME_RETURN;
		row.function = s->function;
		return number_of(o, &row);
	case STEP_LOST:
	case STEP_UNKNOWN:
		return number_of(o, &row);
	default:
		return NO_OUTCOME;
	}
}

/* ---- what is the same ---- */

static const char *file_of(const struct outcomes *o, const char *path)
{
	const char *name = path__base_name(path);

	return o->renamed && !strcmp(name, o->renamed) ? o->was : name;
}

static const char *name_of(const struct plan_function *f)
{
	return f->raw ? f->raw : f->name;
}

/* Functions of objects of one name, in two builds, that plan__join() found to be different. */
static void find_changed(struct outcomes *o)
{
	const struct plan *p = o->plan;
	struct map64 by_name = {0};

	o->nfunctions = p->functions.len;
	o->same = xcalloc(p->functions.len + 1, sizeof(*o->same));
	o->changed = xcalloc(p->functions.len + 1, sizeof(*o->changed));
	for (uint32_t i = 0; i < p->functions.len; i++) {
		const struct plan_function *f = &p->functions.data[i], *first;
		const char *object = file_of(o, p->objects.data[f->object].path);
		uint64_t *known = map64__put(&by_name, map64__hash(name_of(f), strlen(name_of(f))) ^
							       map64__hash(object, strlen(object)));

		o->same[i] = i;
		if (f->flags & FUNCTION_RANGE)
			continue;
		if (!*known)
			*known = i + 1;
		first = &p->functions.data[*known - 1];
		/* two static functions of one name in one object are two functions */
		if (first->object == f->object || strcmp(name_of(first), name_of(f)) != 0 ||
		    strcmp(file_of(o, p->objects.data[first->object].path), object) != 0)
			continue;
		o->same[i] = *known - 1;
		o->changed[i] = o->changed[*known - 1] = true;
	}
	map64__free(&by_name);
}

static bool is_of_plan(const struct outcomes *o, const char *object)
{
	const struct plan *p = o->plan;

	for (size_t i = 0; i < p->objects.len; i++)
		if (!strcmp(file_of(o, p->objects.data[i].path), object))
			return true;
	return false;
}

/* A place in what may be of two builds is known by its symbol alone. */
static uint64_t target_key(const struct outcomes *o, const struct outcome_target *t,
			   enum outcome_builds builds)
{
	const char *object = file_of(o, t->object), *symbol = t->symbol ? t->symbol : "";
	bool several = is_of_plan(o, object) ? builds & BUILDS_OF_PLAN : builds & BUILDS_OF_OTHERS;
	uint64_t key[] = {map64__hash(object, strlen(object)), map64__hash(symbol, strlen(symbol)),
			  several ? 0 : t->offset};

	return map64__hash(key, sizeof(key)) | 1;
}

static void find_first(struct outcomes *o, enum outcome_builds builds)
{
	autofree uint64_t *keys = xcalloc(o->targets.len + 1, sizeof(*keys));
	struct map64 first = {0};

	for (size_t i = 1; i < o->targets.len; i++)
		keys[i] = target_key(o, &o->targets.data[i], builds);
	o->nfirst = o->rows.len;
	o->first = xcalloc(o->rows.len + 1, sizeof(*o->first));
	for (uint32_t i = 0; i < o->rows.len; i++) {
		const struct outcome *r = &o->rows.data[i];
		uint64_t key[] = {r->type,
				  r->type == OUTCOME_BRANCH ? r->site
							    : outcomes__function(o, r->function),
				  r->taken, keys[r->target]};
		uint64_t *known = map64__put(&first, map64__hash(key, sizeof(key)));

		if (!*known)
			*known = i + 1;
		o->first[i] = *known - 1;
	}
	map64__free(&first);
}

void outcomes__settle(struct outcomes *o, enum outcome_builds builds)
{
	free(o->same);
	free(o->changed);
	free(o->first);
	find_changed(o);
	find_first(o, builds);
}

uint32_t outcome__first(const struct outcomes *o, uint32_t outcome)
{
	return outcome < o->nfirst ? o->first[outcome] : outcome;
}

bool outcome__same(const struct outcomes *o, uint32_t a, uint32_t b)
{
	const struct outcome *x = &o->rows.data[a], *y = &o->rows.data[b];

	if (a == b || outcome__first(o, a) == outcome__first(o, b))
		return true;
	return x->type == OUTCOME_BRANCH && y->type == OUTCOME_BRANCH && x->site == y->site &&
	       x->taken == y->taken && (x->target == NO_TARGET || y->target == NO_TARGET);
}
