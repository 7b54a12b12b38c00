// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs of random programs that differ in one or several outcomes: the first parting is where the
 * first outcome differs, what lies between two partings is the same in both, nothing is left over,
 * and not much more is taken for different than has to be (the longest common subsequence).
 */
#include <elf.h>
#include "diff/diff.h"
#include "tap.h"
#include "util/scratch.h"

#define FUNCTIONS 6
#define BLOCKS	  10 /* of a function */
#define MOST	  3000

static uint32_t seed;

static uint32_t any(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static struct plan_block blocks[FUNCTIONS * BLOCKS];
static struct plan_site sites[FUNCTIONS * BLOCKS];
static struct plan_function functions[FUNCTIONS];
static struct plan_object objects[1] = {{.path = "/bin/program"}};
static char names[FUNCTIONS][8];
static uint32_t callees[FUNCTIONS * BLOCKS];
static struct plan p;

static void make_block(uint32_t f, uint32_t i)
{
	uint32_t first = f * BLOCKS, n = first + i;
	struct plan_block *b = &blocks[n];
	struct plan_site *s = &sites[n];

	*b = (struct plan_block){.start = n * 16,
				 .end = n * 16 + 16,
				 .function = f,
				 .site = n,
				 .next = NO_BLOCK,
				 .taken = NO_BLOCK};
	*s = (struct plan_site){.vaddr = n * 16 + 12,
				.len = 4,
				.block = n,
				.function = f,
				.role = ROLE_BRANCH,
				.target = 1};
	if (i == BLOCKS - 1) {
		s->kind = BRANCH_RET;
		s->target = 0;
		return;
	}
	b->next = n + 1;
	switch (any(5)) {
	case 0:
		s->kind = f + 1 < FUNCTIONS ? BRANCH_CALL : BRANCH_JCC;
		callees[n] = f + 1 < FUNCTIONS ? f + 1 + any(FUNCTIONS - f - 1) : 0;
		break;
	case 1:
		s->kind = BRANCH_JMP;
		b->next = NO_BLOCK;
		b->taken = first + i + 1 + any(BLOCKS - i - 1);
		break;
	default:
		s->kind = BRANCH_JCC;
	}
	if (s->kind == BRANCH_JCC) /* loops, too */
		b->taken = first + (any(4) ? i + 1 + any(BLOCKS - i - 1) : any(i + 1));
}

static void make(void)
{
	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		snprintf(names[f], sizeof(names[f]), "f%u", f);
		functions[f] = (struct plan_function){
			.name = names[f], .entry_block = f * BLOCKS, .entry_site = NO_SITE};
		for (uint32_t i = 0; i < BLOCKS; i++)
			make_block(f, i);
	}
	p = (struct plan){.arch = arch__by_machine(EM_X86_64),
			  .objects = {.data = objects, .len = 1},
			  .functions = {.data = functions, .len = FUNCTIONS},
			  .blocks = {.data = blocks, .len = FUNCTIONS * BLOCKS},
			  .sites = {.data = sites, .len = FUNCTIONS * BLOCKS}};
}

/* What a run did; one that is too long is cut. */
struct record {
	uint32_t type, place, taken, depth;
};
struct run {
	struct record rows[MOST];
	size_t n, decided;
	size_t flips[4]; /* conditionals whose outcome is the other one */
	size_t nflips;
	uint32_t seed;
};

static void put(struct run *r, uint32_t type, uint32_t place, uint32_t taken, uint32_t depth)
{
	if (r->n < MOST)
		r->rows[r->n++] = (struct record){type, place, taken, depth};
}

static bool decide(struct run *r, uint32_t site, uint32_t visits, uint32_t depth)
{
	uint64_t key[] = {r->seed, site, visits, depth};
	bool taken = map64__hash(key, sizeof(key)) >> 20 & 1;

	for (size_t i = 0; i < r->nflips; i++)
		if (r->flips[i] == r->decided)
			taken = !taken;
	r->decided++;
	return taken && visits < 6;
}

static void call(struct run *r, uint32_t f, uint32_t depth)
{
	uint32_t at = f * BLOCKS, visits[BLOCKS] = {0};

	put(r, STEP_ENTRY, f, 0, depth);
	while (r->n < MOST) {
		const struct plan_block *b = &blocks[at];
		const struct plan_site *s = &sites[at];
		bool taken = s->kind == BRANCH_JCC && decide(r, at, visits[at % BLOCKS]++, depth);

		put(r, STEP_BRANCH, at, taken, depth);
		if (s->kind == BRANCH_RET)
			break;
		if (s->kind == BRANCH_CALL)
			call(r, callees[at], depth + 1);
		at = taken || s->kind == BRANCH_JMP ? b->taken : b->next;
	}
	put(r, STEP_RETURN, f, 0, depth);
}

static void walk(struct run *r)
{
	r->n = r->decided = 0;
	for (uint32_t i = 0; i < 5; i++)
		call(r, i % 2, 0);
}

static void feed(struct paths *paths, const struct run *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct record *w = &r->rows[i];
		bool branch = w->type == STEP_BRANCH;
		struct step s = {.type = w->type,
				 .tid = 7,
				 .pid = 7,
				 .comm = "program",
				 .plan = &p,
				 .depth = w->depth,
				 .taken = w->taken,
				 .timed = true,
				 .time = i + 1,
				 .site = branch ? w->place : NO_SITE,
				 .function = branch ? sites[w->place].function : w->place};

		paths__step(paths, &s);
	}
	paths__end(paths);
}

static bool same(const struct record *a, const struct record *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static size_t common(const struct run *a, const struct run *b)
{
	static uint16_t row[2][MOST + 1];

	memset(row, 0, sizeof(row));
	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < b->n; k++)
			row[(i + 1) % 2][k + 1] =
				same(&a->rows[i], &b->rows[k])
					? row[i % 2][k] + 1
					: max_of(row[i % 2][k + 1], row[(i + 1) % 2][k]);
	return row[a->n % 2][b->n];
}

static int by_index(const void *a, const void *b)
{
	const struct parting *x = a, *y = b;

	return x->index[0] < y->index[0] ? -1 : x->index[0] > y->index[0];
}

/* Is all between the partings the same? Returns how much that is; SIZE_MAX: it isn't. */
static size_t check_rest(struct diff *d, const struct run *a, const struct run *b)
{
	const struct parting *q;
	uint64_t i = 0, k = 0, matched = 0;

	vec__sort(&d->partings, by_index);
	vec__each (q, &d->partings) {
		uint64_t to = min_of(q->index[0], (uint64_t)a->n),
			 end = min_of(q->index[1], (uint64_t)b->n);

		if (to - i != end - k || to < i || end < k)
			return SIZE_MAX;
		for (; i < to; i++, k++, matched++)
			if (!same(&a->rows[i], &b->rows[k]))
				return SIZE_MAX;
		i = min_of(q->meet[0], (uint64_t)a->n);
		k = min_of(q->meet[1], (uint64_t)b->n);
		if (i < to || k < end)
			return SIZE_MAX;
	}
	if (a->n - i != b->n - k)
		return SIZE_MAX;
	for (; i < a->n; i++, k++, matched++)
		if (!same(&a->rows[i], &b->rows[k]))
			return SIZE_MAX;
	return matched == d->matched ? matched : SIZE_MAX;
}

static struct run one, two;
static uint64_t runs, wrong_first, wrong_rest, equal_told, matched, best, found;

static void compare(void)
{
	struct outcomes outcomes;
	struct paths a, b;
	struct scratch *scratch = scratch__new();
	struct diff d = {.outcomes = &outcomes, .runs = {&a, &b}, .most = MOST};
	size_t first = 0, rest;

	outcomes__init(&outcomes, &p);
	paths__init(&a, &outcomes, scratch);
	paths__init(&b, &outcomes, scratch);
	feed(&a, &one);
	feed(&b, &two);
	outcomes__settle(&outcomes, 0);
	diff__find(&d);
	while (first < one.n && first < two.n && same(&one.rows[first], &two.rows[first]))
		first++;
	rest = check_rest(&d, &one, &two);
	if (first == one.n && first == two.n)
		equal_told += d.found > 0;
	else
		wrong_first +=
			!d.partings.len ||
			d.partings.data[0].index[0] != (first < one.n ? first : UINT64_MAX) ||
			d.partings.data[0].index[1] != (first < two.n ? first : UINT64_MAX);
	wrong_rest += rest == SIZE_MAX;
	matched += rest == SIZE_MAX ? 0 : rest;
	best += common(&one, &two);
	found += d.found;
	runs++;
	diff__free(&d);
	paths__free(&a);
	paths__free(&b);
	outcomes__free(&outcomes);
	scratch__free(scratch);
}

int main(void)
{
	for (uint32_t round = 1; round <= 300; round++) {
		seed = round;
		make();
		one = two = (struct run){.seed = round};
		walk(&one);
		two.nflips = round % 5;
		for (size_t i = 0; i < two.nflips; i++)
			two.flips[i] = one.decided ? any(one.decided) : 0;
		walk(&two);
		compare();
	}
	is(runs, 300, "pairs of runs");
	is(wrong_first, 0, "the first parting is where the first outcome differs");
	is(wrong_rest, 0, "all between two partings, and behind the last one, is the same");
	is(equal_told, 0, "runs that are the same don't part");
	ok(found > 300, "there are partings: %llu", (unsigned long long)found);
	ok(matched * 100 >= best * 95, "of %llu steps that can be matched in order, %llu are",
	   (unsigned long long)best, (unsigned long long)matched);
	return tap__done();
}
