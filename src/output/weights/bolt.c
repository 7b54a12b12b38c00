// SPDX-License-Identifier: BSD-2-Clause
/*
 * The bolt format: fdata, which llvm-bolt takes (-data; LLVM's
 * bolt/include/bolt/Profile/DataReader.h describes it): how often each edge between two basic
 * blocks was taken, and which function called which. A program that `llvm-bolt -instrument` has
 * made writes the same.
 *
 * A place is a symbol and an offset in it. If a block ends without a branch, the edge is that of
 * its last instruction. Local symbols are numbered by address, as llvm-bolt does: "name/1".
 */
#include <stdlib.h>
#include "output/base/fields.h"
#include "output/listing/listing.h"
#include "output/stats/runs.h"

struct bolt {
	struct output *o;
	struct runs runs;
	const struct stats *stats;
	const struct plan *plan;
	uint32_t object; /* a file is of one object: that of the first function */
	bool *target; /* by block: a jump leads there, so that a block begins for llvm-bolt, too */
	uint64_t *called; /* by function: how often by code of the object */
};

/* ---- places ---- */

static const struct object *object_of(const struct bolt *b)
{
	return b->plan->objects.data[b->object].object;
}

/* "1 main 1b", "1 leaf/1 0", "1 puts@PLT 0", "0 [unknown] 0" */
static void put_place(const struct bolt *b, struct str *s, uint64_t vaddr)
{
	const struct object *o = object_of(b);
	const struct symbol *symbol = o ? object__symbol_at(o, vaddr) : NULL;

	if (!symbol) {
		str__puts(s, "0 [unknown] 0");
		return;
	}
	str__puts(s, "1 ");
	if (symbol->type == SYMBOL_PLT)
		str__printf(s, "%.*s@PLT", (int)strcspn(symbol->name, "@"), symbol->name);
	else
		str__shown(s, symbol->name);
	if (symbol->number)
		str__printf(s, "/%u", symbol->number);
	str__printf(s, " %llx", (unsigned long long)(vaddr - symbol->vaddr));
}

static void put_edge(const struct bolt *b, uint64_t from, uint64_t to, uint64_t count)
{
	struct str *s = &b->o->buffer;

	if (!count || count == RUNS_UNKNOWN)
		return;
	put_place(b, s, from);
	str__putc(s, ' ');
	put_place(b, s, to);
	str__printf(s, " 0 %llu\n", (unsigned long long)count);
}

#define ELSEWHERE UINT64_MAX /* no address of a symbol */

/* ---- blocks ---- */

static void mark_target(struct bolt *b, uint32_t block)
{
	if (block != NO_BLOCK)
		b->target[block] = true;
}

static void find_targets(struct bolt *b)
{
	const struct plan_block *k;

	vec__each (k, &b->plan->blocks) {
		const struct plan_site *s =
			k->site == NO_SITE ? NULL : &b->plan->sites.data[k->site];

		if (s && s->kind != BRANCH_CALL && s->kind != BRANCH_ICALL)
			mark_target(b, k->taken);
		if (s && (s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP))
			mark_target(b, k->next);
		for (uint32_t i = 0; i < k->ntable; i++)
			mark_target(b, b->plan->table.data[k->table + i]);
		if (k->abnormal)
			b->target[k - b->plan->blocks.data] = true;
	}
}

struct last_row {
	uint64_t vaddr;
};

static void take_insn(void *ctx, const struct listing_row *row)
{
	if (row->kind == LISTING_INSN)
		((struct last_row *)ctx)->vaddr = row->vaddr;
}

/* How often control went from a block that ends in a call, or in no branch, to the next one. */
static uint64_t falls(const struct bolt *b, uint32_t block)
{
	uint64_t n = runs__next(&b->runs, block);

	/* after a call that returns each time */
	return n == RUNS_UNKNOWN ? b->runs.blocks[block] : n;
}

static void put_fall(const struct bolt *b, uint32_t block)
{
	const struct plan_block *k = &b->plan->blocks.data[block];
	struct last_row last = {k->start};

	if (k->next == NO_BLOCK || !b->target[k->next] || k->noreturn)
		return;
	listing__block(b->o, block, take_insn, &last);
	put_edge(b, last.vaddr, b->plan->blocks.data[k->next].start, falls(b, block));
}

/* ---- branches ---- */

/* For a call, or a jump out of the function. */
static void note_call(struct bolt *b, uint64_t to, uint64_t count)
{
	uint32_t f = plan__function_at(b->plan, b->object, to);

	if (f != NO_FUNCTION && count != RUNS_UNKNOWN &&
	    plan__start(&b->plan->functions.data[f]) == to)
		b->called[f] += count;
}

static int by_place(const void *a, const void *b)
{
	const struct stats_target *x = a, *y = b;

	return x->to.vaddr < y->to.vaddr ? -1 : x->to.vaddr > y->to.vaddr;
}

static void put_targets(struct bolt *b, const struct plan_site *s, struct stats_site *ps)
{
	uint64_t elsewhere = ps->more + ps->unknown_target;
	const char *path = b->plan->objects.data[b->object].path;
	const struct stats_target *t;

	vec__sort(&ps->targets, by_place);
	vec__each (t, &ps->targets) {
		bool own = t->to.object && !strcmp(t->to.object, path);

		if (!own) {
			elsewhere += t->count;
			continue;
		}
		put_edge(b, s->vaddr, t->to.vaddr, t->count);
		note_call(b, t->to.vaddr, t->count);
	}
	put_edge(b, s->vaddr, ELSEWHERE, elsewhere);
}

/* Both sides may lead to one place, which is one edge. */
static void put_conditional(struct bolt *b, const struct plan_block *k, const struct plan_site *s,
			    const struct stats_site *ps)
{
	uint64_t next = k->next == NO_BLOCK ? ELSEWHERE : b->plan->blocks.data[k->next].start;
	bool known = ps->taken != COUNT_UNKNOWN && ps->not_taken != COUNT_UNKNOWN;

	if (next == s->target) {
		put_edge(b, s->vaddr, next, known ? ps->taken + ps->not_taken : COUNT_UNKNOWN);
		return;
	}
	put_edge(b, s->vaddr, s->target, ps->taken);
	if (next != ELSEWHERE)
		put_edge(b, s->vaddr, next, ps->not_taken);
	if (k->leaves)
		note_call(b, s->target, ps->taken);
}

static void put_site(struct bolt *b, uint32_t block)
{
	const struct plan_block *k = &b->plan->blocks.data[block];
	const struct plan_site *s = &b->plan->sites.data[k->site];
	struct stats_site *ps = &b->stats->sites[k->site];

	switch (s->kind) {
	case BRANCH_JCC:
	case BRANCH_LOOP:
		put_conditional(b, k, s, ps);
		return;
	case BRANCH_JMP:
		put_edge(b, s->vaddr, s->target, ps->taken);
		if (k->leaves)
			note_call(b, s->target, ps->taken);
		return;
	case BRANCH_CALL:
		put_edge(b, s->vaddr, s->target, ps->taken);
		note_call(b, s->target, ps->taken);
		put_fall(b, block);
		return;
	case BRANCH_ICALL:
		put_targets(b, s, ps);
		put_fall(b, block);
		return;
	case BRANCH_IJMP:
		put_targets(b, s, ps);
		return;
	}
}

/* ---- the whole ---- */

static bool is_of(const struct bolt *b, uint32_t function)
{
	const struct plan_function *f = &b->plan->functions.data[function];

	return f->object == b->object && !(f->flags & FUNCTION_HELPER) &&
	       (!b->o->options.functions || b->o->options.functions[function]);
}

static void put_entries(const struct bolt *b)
{
	for (uint32_t i = 0; i < b->plan->functions.len; i++) {
		const struct plan_function *f = &b->plan->functions.data[i];
		uint64_t calls = b->stats->functions[i].calls;

		if (is_of(b, i) && !(f->flags & FUNCTION_RANGE) && calls != COUNT_UNKNOWN &&
		    calls > b->called[i])
			put_edge(b, ELSEWHERE, plan__start(f), calls - b->called[i]);
	}
}

static int put_blocks(struct bolt *b)
{
	int err = 0;

	for (size_t i = 0; !err && i < b->plan->blocks_by_address.len; i++) {
		uint32_t block = b->plan->blocks_by_address.data[i];
		const struct plan_block *k = &b->plan->blocks.data[block];

		if (k->function >= b->plan->functions.len || !is_of(b, k->function))
			continue;
		if (k->site == NO_SITE)
			put_fall(b, block);
		else
			put_site(b, block);
		err = aggregate__flush_full(b->o);
	}
	return err;
}

static int bolt__end(struct output *o, const struct trace_totals *t)
{
	struct bolt b = {.o = o, .stats = o->state, .plan = o->plan};
	int err;

	if (!o->plan->functions.len)
		return 0;
	stats__end(o->state);
	runs__init(&b.runs, o->state, &o->options);
	b.object = o->plan->functions.data[0].object;
	b.target = xcalloc(o->plan->blocks.len + 1, sizeof(*b.target));
	b.called = xcalloc(o->plan->functions.len + 1, sizeof(*b.called));
	if (object_of(&b))
		object__number_locals(object_of(&b));
	find_targets(&b);
	err = put_blocks(&b);
	if (!err)
		put_entries(&b);
	runs__free(&b.runs);
	free(b.target);
	free(b.called);
	return err;
}

const struct output_format output_bolt = {
	.name = "bolt",
	.wants = {.events = OUTPUT_EDGES},
	.suffixes = ".fdata",
	.help = "a profile for llvm-bolt: how often each edge was taken",
	.size = sizeof(struct stats),
	AGGREGATES,
	ADDS_UP,
	.count = aggregate__count,
	.end = bolt__end,
};
