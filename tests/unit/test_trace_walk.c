// SPDX-License-Identifier: BSD-2-Clause
/* The walk over a plan with more objects than fit in a byte. */
#include <elf.h>
#include "trace/replay.h"
#include "tap.h"

#define OBJECTS 300

/*
 * Each object has, at the same addresses, a call without probe and the block behind it; of each
 * second object the call ends two bytes further on.
 */
static void make_plan(struct plan *p)
{
	static struct object object = {.path = (char *)"/lib/x", .machine = EM_X86_64};

	p->arch = arch__by_machine(EM_X86_64);
	vec__push(&p->functions, (struct plan_function){.name = "f"});
	for (uint32_t i = 0; i < OBJECTS; i++) {
		uint64_t end = 0x1010 + 2 * (i % 2);

		vec__push(&p->objects, (struct plan_object){&object, "/lib/x", EM_X86_64});
		vec__push(&p->sites, (struct plan_site){.vaddr = end - 5,
							.len = 5,
							.object = i,
							.block = 2 * i,
							.role = ROLE_BRANCH,
							.kind = BRANCH_CALL,
							.target = 0x5000});
		vec__push(&p->blocks, (struct plan_block){.start = 0x1000,
							  .end = end,
							  .object = i,
							  .site = i,
							  .next = 2 * i + 1,
							  .taken = NO_BLOCK});
		vec__push(&p->blocks, (struct plan_block){.start = end,
							  .end = end + 0x10,
							  .object = i,
							  .site = NO_SITE,
							  .next = NO_BLOCK,
							  .taken = NO_BLOCK});
	}
}

#define CHAIN 100

/* Blocks of one quick instruction each; the last one ends in a ret with a probe. */
static void test_chain(void)
{
	struct plan p = {.arch = arch__by_machine(EM_X86_64)};
	unsigned wrong = 0;
	struct walk *w;

	vec__push(&p.objects, (struct plan_object){.path = "/lib/x", .machine = EM_X86_64});
	vec__push(&p.functions, (struct plan_function){.name = "f"});
	vec__push(&p.sites, (struct plan_site){.vaddr = 0x1000 + CHAIN,
					       .block = CHAIN - 1,
					       .role = ROLE_BRANCH,
					       .kind = BRANCH_RET,
					       .probe = PROBE_TRAP});
	for (uint32_t i = 0; i < CHAIN; i++)
		vec__push(&p.blocks, (struct plan_block){.start = 0x1000 + i,
							 .end = 0x1001 + i,
							 .site = i + 1 < CHAIN ? NO_SITE : 0,
							 .next = i + 1 < CHAIN ? i + 1 : NO_BLOCK,
							 .taken = NO_BLOCK,
							 .quick = 1});
	w = walk__new(&p);
	for (uint32_t i = 0; i < CHAIN; i++)
		wrong += walk__is_quick_ahead(w, i) != (CHAIN - i <= QUICK_MAX);
	is(wrong, 0, "of a chain of blocks the last %d instructions are quick", QUICK_MAX);
	walk__free(w);
	vec__free(&p.objects);
	vec__free(&p.functions);
	vec__free(&p.sites);
	vec__free(&p.blocks);
}

int main(void)
{
	struct plan p = {0};
	uint32_t own = 0, others = 0;
	struct walk *w;

	make_plan(&p);
	w = walk__new(&p);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		own += walk__call_ending(w, i, 0x1010 + 2 * (i % 2)) == 2 * i;
		others += walk__call_ending(w, i, 0x1012 - 2 * (i % 2)) != NO_BLOCK;
	}
	is(own, OBJECTS, "of %d objects, each call without probe is found in its own", OBJECTS);
	is(others, 0, "no call without probe is found in another object at the same address");
	walk__free(w);
	vec__free(&p.objects);
	vec__free(&p.sites);
	vec__free(&p.functions);
	vec__free(&p.blocks);
	test_chain();
	return tap__done();
}
