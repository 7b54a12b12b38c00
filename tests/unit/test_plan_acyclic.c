// SPDX-License-Identifier: BSD-2-Clause
/*
 * The numbers of paths: against the definition, on random graphs. Without the edges that are cut
 * there is no cycle, and the paths from each beginning, walked one by one, have the numbers 1, 2 …
 */
#include "plan/graph/acyclic.h"
#include "graph_fixture.h"
#include "tap.h"

#define FEW 9 /* blocks: their paths are walked one by one */

/* Some blocks end in no branch; the last one is another function's entry. */
static void make_function(uint32_t n)
{
	make(n);
	for (uint32_t i = 0; i < n; i++)
		if (sites[i].kind == BRANCH_JCC && !any(5)) {
			blocks[i].site = NO_SITE;
			blocks[i].taken = NO_BLOCK;
		}
	blocks[n - 1].function = 1;
	functions[1] = (struct plan_function){.name = "g", .entry_block = n - 1};
	p.functions.len = 2;
}

/* ---- all paths, one by one ---- */

struct walked {
	struct acyclic *a;
	uint64_t all, low, high; /* their numbers */
	bool seen[1 << 12];
	bool twice, cycle, wrong_end;
	uint32_t heads; /* targets of back edges */
};

static void walk(struct walked *f, uint32_t block, uint64_t number, uint32_t open);

static void take(struct walked *f, uint32_t from, bool taken, uint32_t to, uint64_t number,
		 uint32_t open)
{
	uint32_t way;
	enum path_edge edge = acyclic__leave(f->a, 0, from, taken, to, &way);

	/* the last block is another function's */
	f->wrong_end |= (edge == PATH_ENDS) != (to == NO_BLOCK || to == p.blocks.len - 1);
	number += acyclic__value(f->a, 0, from, way);
	if (edge == PATH_GOES_ON) {
		walk(f, to, number, open);
		return;
	}
	if (edge == PATH_LOOPS)
		f->heads |= 1u << to;
	f->all++;
	if (number >= ARRAY_SIZE(f->seen) || f->seen[number])
		f->twice = true;
	else
		f->seen[number] = true;
}

static void walk(struct walked *f, uint32_t block, uint64_t number, uint32_t open)
{
	const struct plan_block *b = &blocks[block];
	uint8_t kind = b->site == NO_SITE ? BRANCH_NONE : sites[b->site].kind;
	uint32_t done = 0;

	if (open >> block & 1) {
		f->cycle = true;
		return;
	}
	open |= 1u << block;
	for (uint32_t k = 0; kind == BRANCH_IJMP && k < b->ntable; k++) {
		uint32_t to = table[b->table + k];

		if (!(done >> to & 1))
			take(f, block, true, to, number, open);
		done |= 1u << to;
	}
	if (kind == BRANCH_RET || (kind == BRANCH_IJMP && b->unresolved))
		take(f, block, true, NO_BLOCK, number, open);
	if (kind == BRANCH_JCC || kind == BRANCH_JMP)
		take(f, block, true, b->taken, number, open);
	if (kind == BRANCH_JCC || ((kind == BRANCH_CALL || kind == BRANCH_NONE) && !b->noreturn))
		take(f, block, false, b->next, number, open);
}

static bool check(uint32_t n)
{
	struct walked *f = xcalloc(1, sizeof(*f));
	bool good = true;
	uint32_t heads;

	f->a = acyclic__new(&p);
	walk(f, 0, acyclic__at_entry(f->a, 0), 0);
	/* what only a loop leads to, and what nothing does: has heads as well */
	for (uint32_t i = 0; i < n - 1; i++) {
		struct walked *other = xcalloc(1, sizeof(*other));

		other->a = f->a;
		walk(other, i, 1, 0);
		f->heads |= other->heads;
		free(other);
	}
	heads = f->heads;
	for (uint32_t i = 0; i < n; i++)
		if (heads >> i & 1)
			walk(f, i, acyclic__at_loop(f->a, 0, i), 0);
	good = !f->twice && !f->cycle && !f->wrong_end && f->all == acyclic__paths(f->a, 0);
	for (uint64_t i = 1; good && i <= f->all; i++)
		good = f->seen[i];
	for (uint32_t i = 0; i < n; i++)
		good &= (acyclic__at_loop(f->a, 0, i) != PATHS_MANY) == (heads >> i & 1);
	acyclic__free(f->a);
	free(f);
	return good;
}

static void test_random(void)
{
	bool good = true;

	for (int i = 0; good && i < 20000; i++) {
		uint32_t n = 2 + any(FEW - 1);

		make_function(n);
		good = check(n);
		if (!good)
			printf("# graph %d\n", i);
	}
	ok(good, "the paths of random graphs, one by one, have the numbers from 1 on");
}

/* 64 conditionals in a row whose outcomes meet again. */
static void test_many(void)
{
	static struct plan_block chain[129];
	static struct plan_site conditions[65];
	struct acyclic *a;

	for (uint32_t i = 0; i < 128; i += 2) {
		chain[i] = (struct plan_block){.site = i / 2, .taken = i + 2, .next = i + 1};
		chain[i + 1] =
			(struct plan_block){.site = NO_SITE, .taken = NO_BLOCK, .next = i + 2};
		conditions[i / 2] = (struct plan_site){.kind = BRANCH_JCC, .block = i};
	}
	chain[128] = (struct plan_block){.site = 64, .taken = NO_BLOCK, .next = NO_BLOCK};
	conditions[64] = (struct plan_site){.kind = BRANCH_RET, .block = 128};
	functions[0] = (struct plan_function){.name = "f"};
	p = (struct plan){.arch = arch__by_machine(EM_X86_64),
			  .functions = {.data = functions, .len = 1},
			  .blocks = {.data = chain, .len = 129},
			  .sites = {.data = conditions, .len = 65}};
	a = acyclic__new(&p);
	ok(acyclic__paths(a, 0) == PATHS_MANY, "2^64 paths are many");
	ok(acyclic__at_entry(a, 0) == PATHS_MANY, "and have no numbers");
	acyclic__free(a);
	conditions[0].kind = BRANCH_JMP;
	a = acyclic__new(&p);
	ok(acyclic__paths(a, 0) == 1ull << 63, "2^63 paths are not");
	acyclic__free(a);
}

int main(void)
{
	test_random();
	test_many();
	return tap__done();
}
