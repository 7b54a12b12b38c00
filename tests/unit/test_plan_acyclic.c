// SPDX-License-Identifier: BSD-2-Clause
/*
 * The numbers of paths: against the definition, on random graphs. Without the edges that are cut
 * there is no cycle, and the paths from each beginning, walked one by one, have the numbers 1, 2 …
 */
#include <elf.h>
#include "plan/plan.h"
#include "tap.h"

#define MOST 9

static uint32_t seed = 1;

static uint32_t any(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static struct plan_block blocks[MOST];
static struct plan_site sites[MOST];
static uint32_t table[MOST * 3];
static struct plan_function functions[2];
static struct plan p;

/* The last block is another function's entry. */
static void make(uint32_t n)
{
	uint32_t ntable = 0;

	memset(sites, 0, sizeof(sites));
	for (uint32_t i = 0; i < n; i++) {
		struct plan_block *b = &blocks[i];

		*b = (struct plan_block){.start = i * 4,
					 .end = i * 4 + 4,
					 .site = i,
					 .function = i == n - 1,
					 .next = NO_BLOCK,
					 .taken = NO_BLOCK};
		sites[i] = (struct plan_site){
			.vaddr = i * 4, .len = 4, .block = i, .role = ROLE_BRANCH};
		switch (any(9)) {
		case 0:
			sites[i].kind = BRANCH_RET;
			break;
		case 1:
			sites[i].kind = BRANCH_CALL;
			b->noreturn = true;
			break;
		case 2:
			sites[i].kind = BRANCH_JMP;
			b->taken = any(n);
			break;
		case 3:
			sites[i].kind = BRANCH_IJMP;
			b->table = ntable;
			b->ntable = 1 + any(3);
			b->unresolved = !any(6);
			for (uint32_t k = 0; k < b->ntable; k++)
				table[ntable++] = any(n);
			break;
		case 4:
			sites[i].kind = BRANCH_CALL;
			b->next = any(n);
			break;
		case 5:
			b->site = NO_SITE;
			b->next = any(n);
			break;
		default:
			sites[i].kind = BRANCH_JCC;
			b->taken = any(8) ? any(n) : NO_BLOCK;
			b->next = any(n);
		}
	}
	functions[0] = (struct plan_function){.name = "f"};
	functions[1] = (struct plan_function){.name = "g", .entry_block = n - 1};
	p = (struct plan){.arch = arch__by_machine(EM_X86_64),
			  .functions = {.data = functions, .len = 2},
			  .blocks = {.data = blocks, .len = n},
			  .sites = {.data = sites, .len = n},
			  .table = {.data = table, .len = ntable}};
}

/* ---- all paths, one by one ---- */

struct walked {
	struct acyclic *a;
	uint64_t all, low, high; /* their numbers */
	bool seen[1 << 12];
	bool twice, cycle;
	uint32_t heads; /* targets of back edges */
};

static void walk(struct walked *f, uint32_t block, uint64_t number, uint32_t open);

static void take(struct walked *f, uint32_t from, bool taken, uint32_t to, uint64_t number,
		 uint32_t open)
{
	uint32_t way;
	enum path_edge edge = acyclic__leave(f->a, 0, from, taken, to, &way);

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
	good = !f->twice && !f->cycle && f->all == acyclic__paths(f->a, 0);
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
		uint32_t n = 2 + any(MOST - 1);

		make(n);
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
