// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "plan/join/join.h"
#include "merged_plan.h"
#include "pipeline/counts/target_sums.h"

struct merged_plan {
	bool by_symbol;
	struct plan *plan;
	int (*extended)(void *ctx, const struct plan_increment *i);
	void *ctx;
	VEC(struct range *) ranges; /* owned; the plan borrows them */

	/* of the file in work */
	struct plan_numbers numbers;
	bool borrows;	     /* the plan borrows from the file */
	bool moves;	     /* some of its code has another address in the plan */
	struct map64 shared; /* a string of the file -> the same string of ours */
	/* calls of all files; the largest number of a call in this file */
	uint64_t run, last_call;
	int64_t first_offset, later; /* ns: of the first file; added to the times of this file */
	struct event_named named;    /* of the last step, as is: */
	struct fetched fetched[VALUES_FETCHED];
	VEC(struct location) stack;
	uint64_t first_call; /* added to the numbers of its calls */

	/* strings that outlive the files: hash -> index + 1 */
	struct map64 by_text;
	VEC(char *) strings;

	struct plan_counts sum;
	struct target_sums targets;
	uint64_t mapped, apart;
	char *renamed; /* struct plan_numbers, of the last plan that had them; owned */
	const char *was;
};

struct merged_plan *merged_plan__new(bool by_symbol)
{
	struct merged_plan *j = xcalloc(1, sizeof(*j));

	j->by_symbol = by_symbol;
	j->plan = xcalloc(1, sizeof(*j->plan));
	plan_counts__init(&j->sum, j->plan);
	return j;
}

void merged_plan__free(struct merged_plan *j)
{
	struct range **r;
	char **s;

	if (!j)
		return;
	plan_numbers__free(&j->numbers);
	plan_counts__free(&j->sum);
	plan__free(j->plan);
	vec__each (r, &j->ranges)
		free(*r);
	vec__each (s, &j->strings)
		free(*s);
	vec__free(&j->ranges);
	vec__free(&j->strings);
	vec__free(&j->stack);
	target_sums__clear(&j->targets);
	map64__free(&j->shared);
	map64__free(&j->by_text);
	free(j->renamed);
	free(j);
}

const struct plan *merged_plan__plan(const struct merged_plan *j)
{
	return j->plan;
}

void merged_plan__report(struct merged_plan *j,
			 int (*extended)(void *ctx, const struct plan_increment *i), void *ctx)
{
	j->extended = extended;
	j->ctx = ctx;
}

void merged_plan__mapped(const struct merged_plan *j, uint64_t *mapped, uint64_t *apart)
{
	*mapped = j->mapped;
	*apart = j->apart;
}

const char *merged_plan__renamed(const struct merged_plan *j, const char **was)
{
	*was = j->was;
	return j->renamed;
}

/* ---- the plan ---- */

void merged_plan__begin_file(struct merged_plan *j, int64_t realtime_offset)
{
	if (!j->run++)
		j->first_offset = realtime_offset;
	j->later = realtime_offset - j->first_offset;
	j->first_call += j->last_call;
	j->last_call = 0;
	j->borrows = j->moves = false;
}

/* Adds code and symbols to objects that the plan has already. */
static void adopt_objects(struct merged_plan *j, const struct plan *p, size_t nobjects)
{
	const struct plan_function *f;
	autofree uint8_t *done = xcalloc(p->objects.len + 1, 1);

	vec__each (f, &p->functions) {
		size_t i = f - p->functions.data;
		uint32_t to = j->plan->functions.data[j->numbers.functions[i]].object;
		const struct object *from = p->objects.data[f->object].object;

		/* functions that were found by symbol have the code of another build */
		if (done[f->object] || j->numbers.by_symbol[i] || to >= nobjects ||
		    j->plan->objects.data[to].object == from)
			continue;
		done[f->object] = 1;
		object__adopt((struct object *)j->plan->objects.data[to].object, from,
			      j->numbers.shifts[i]);
	}
}

static int extend(struct merged_plan *j, const struct plan *p, struct plan_increment *more)
{
	size_t sites = j->plan->sites.len, blocks = j->plan->blocks.len, table = j->plan->table.len,
	       objects = j->plan->objects.len;

	if (!j->plan->arch) {
		j->plan->arch = p->arch;
		j->plan->placement = p->placement;
		j->plan->entries_only = p->entries_only;
		j->plan->counts_all = p->counts_all;
	}
	plan__extend(j->plan, more);
	plan_counts__extend(&j->sum, sites, blocks, table, j->plan, &j->numbers);
	vec__append(&j->ranges, &j->numbers.ranges);
	j->numbers.ranges.len = 0;
	adopt_objects(j, p, objects);
	j->borrows = true;
	return j->extended ? j->extended(j->ctx, more) : 0;
}

int merged_plan__take_plan(struct merged_plan *j, const struct plan *p)
{
	struct plan_increment more = {0};
	int err;

	plan_numbers__free(&j->numbers);
	j->numbers = (struct plan_numbers){0};
	err = plan__join(j->plan, p, j->by_symbol, &more, &j->numbers);
	if (!err && !plan_increment__is_empty(&more))
		err = extend(j, p, &more);
	j->plan->entries_only &= p->entries_only;
	j->plan->counts_all &= p->counts_all;
	for (size_t i = 0; !err && i < p->functions.len; i++)
		j->moves |= j->numbers.shifts[i] != 0;
	plan_increment__free(&more);
	return err;
}

uint32_t merged_plan__function(const struct merged_plan *j, uint32_t function)
{
	return j->numbers.functions[function];
}

bool merged_plan__end_file(struct merged_plan *j)
{
	j->mapped += j->numbers.mapped;
	if (j->numbers.renamed) {
		free(j->renamed);
		j->renamed = xstrdup(j->numbers.renamed);
		j->was = j->numbers.was;
	}
	j->apart += j->numbers.apart;
	plan_numbers__free(&j->numbers);
	j->numbers = (struct plan_numbers){0};
	map64__free(&j->shared);
	j->shared = (struct map64){0};
	return j->borrows;
}

/* ---- strings ---- */

/* Keeps a string, each once for all files. */
static const char *keep(struct merged_plan *j, const char *text)
{
	uint64_t *known;

	for (uint64_t hash = map64__hash(text, strlen(text));; hash++) {
		known = map64__put(&j->by_text, hash);
		if (!*known)
			break;
		if (!strcmp(j->strings.data[*known - 1], text))
			return j->strings.data[*known - 1];
	}
	vec__push(&j->strings, xstrdup(text));
	*known = j->strings.len;
	return j->strings.data[j->strings.len - 1];
}

static const char *ours(struct merged_plan *j, const char *text)
{
	uint64_t *slot = text ? map64__put(&j->shared, (uintptr_t)text) : NULL;

	if (slot && !*slot)
		*slot = (uintptr_t)keep(j, text);
	return slot ? (const char *)(uintptr_t)*slot : NULL;
}

/* ---- steps ---- */

static uint64_t call_of(struct merged_plan *j, uint64_t call)
{
	j->last_call = max_of(j->last_call, call);
	return call ? j->first_call + call : 0;
}

/* Returns how far an address of the plan's code has moved. */
static uint64_t shift_of(const struct merged_plan *j, const struct plan *p,
			 const struct location *l)
{
	for (uint32_t i = 0; l->object && i < p->objects.len; i++) {
		uint32_t f = strcmp(p->objects.data[i].path, l->object) != 0
				     ? NO_FUNCTION
				     : plan__function_at(p, i, l->vaddr);

		if (f != NO_FUNCTION)
			return j->numbers.shifts[f];
	}
	return 0;
}

static void place(struct merged_plan *j, const struct plan *p, struct location *l)
{
	if (j->moves)
		l->vaddr += shift_of(j, p, l);
	l->object = ours(j, l->object);
	l->symbol = ours(j, l->symbol);
	l->inlined = ours(j, l->inlined);
}

static void place_stack(struct merged_plan *j, const struct step *step, struct step *room)
{
	j->stack.len = 0;
	for (size_t i = 0; i < step->nstack; i++) {
		vec__push(&j->stack, step->stack[i]);
		place(j, step->plan, vec__last(&j->stack));
	}
	room->stack = step->stack ? j->stack.data : NULL;
}

/* Sets the places that fetched values refer to, as they are in the merged plan. */
static void place_fetched(struct merged_plan *j, const struct step *step, struct step *room)
{
	const uint8_t *places = j->numbers.fetched[step->function][step->type != STEP_ENTRY];

	for (size_t i = 0; i < VALUES_FETCHED; i++)
		j->fetched[i].len = FETCHED_NONE;
	for (unsigned i = 0; i < min_of(step->nfetched, (unsigned)VALUES_FETCHED); i++)
		if (places[i])
			j->fetched[places[i] - 1] = step->fetched[i];
	room->fetched = j->fetched;
	room->nfetched = VALUES_FETCHED;
}

static void place_values(struct merged_plan *j, const struct step *step, struct step *room)
{
	room->untyped = j->numbers.untyped[step->function];
	if (step->fetched)
		place_fetched(j, step, room);
}

const struct step *merged_plan__step(struct merged_plan *j, const struct step *step,
				     struct step *room)
{
	*room = *step;
	room->run = j->run;
	room->time += step->time ? j->later : 0;
	room->call = call_of(j, step->call);
	room->caller = call_of(j, step->caller);
	room->plan = j->plan;
	if (step->site < step->plan->sites.len)
		room->site = j->numbers.sites[step->site];
	if (step->function < step->plan->functions.len) {
		room->function = j->numbers.functions[step->function];
		place_values(j, step, room);
	}
	if (step->named) {
		j->named = *step->named;
		j->named.which = j->numbers.named[j->named.which];
		room->named = &j->named;
	}
	place(j, step->plan, &room->at);
	place(j, step->plan, &room->to);
	if (step->stack)
		place_stack(j, step, room);
	return room;
}

/* ---- counts ---- */

/* Adds a target whose numbers are those of the file. */
static void take_target(struct merged_plan *j, const struct plan *p, struct counted_target t)
{
	place(j, p, &t.to);
	t.site = j->numbers.sites[t.site];
	if (t.object < p->objects.len)
		t.object = j->numbers.objects[t.object];
	target_sums__add(&j->targets, &t);
}

/* Adds the targets of a jump by table that had no probe: they follow from the flow. */
static void take_table(struct merged_plan *j, const struct plan *p, const struct plan_block *b,
		       const uint64_t *table)
{
	for (uint32_t i = b->table; i < b->table + b->ntable; i++) {
		const struct plan_block *to = &p->blocks.data[p->table.data[i]];
		struct counted_target t = {
			.site = b->site,
			.object = to->object,
			.count = table[i],
			.to = {.object = p->objects.data[to->object].path, .vaddr = to->start}};

		if (!t.count || t.count == COUNT_UNKNOWN)
			continue;
		t.to.symbol = plan__name_at(p, to->function, to->start, &t.to.offset);
		take_target(j, p, t);
	}
}

void merged_plan__add(struct merged_plan *j, const struct plan *p, const struct edge_counts *c)
{
	const struct plan_block *b;

	plan_counts__add(&j->sum, j->plan, c->edges, p, &j->numbers);
	for (size_t i = 0; i < c->ntargets; i++)
		take_target(j, p, c->targets[i]);
	vec__each (b, &p->blocks)
		if (b->ntable && b->site != NO_SITE &&
		    !plan_site__is_counted(&p->sites.data[b->site]))
			take_table(j, p, b, c->edges->table);
}

struct edge_counts merged_plan__counts(const struct merged_plan *j)
{
	return (struct edge_counts){&j->sum, j->targets.rows.data, j->targets.rows.len};
}

void merged_plan__clear(struct merged_plan *j)
{
	plan_counts__free(&j->sum);
	plan_counts__init(&j->sum, j->plan);
	target_sums__clear(&j->targets);
}
