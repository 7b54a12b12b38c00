/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the tests of graphs and plans: one object, its plan, and lookups in both. */
#ifndef CODE_GRAPH_FIXTURE_H
#define CODE_GRAPH_FIXTURE_H

#include "code_fixture.h"

static struct object *object;
static struct plan *plan;

static inline uint64_t address(const char *name)
{
	const struct symbol *s;

	vec__each (s, &object->symbols)
		if (!strcmp(s->name, name))
			return s->vaddr;
	printf("# no symbol %s\n", name);
	return 0;
}

static inline const struct plan_site *site(uint64_t vaddr)
{
	static const struct plan_site none;
	uint32_t i = plan__site_at(plan, 0, vaddr);

	return i == NO_SITE ? &none : &plan->sites.data[i];
}

static inline const struct plan_block *block(uint64_t vaddr)
{
	static const struct plan_block none = {.next = NO_BLOCK, .taken = NO_BLOCK};
	uint32_t i = plan__block_at(plan, 0, vaddr);

	return i == NO_BLOCK ? &none : &plan->blocks.data[i];
}

static inline const struct plan_block *ended_by(uint64_t vaddr)
{
	static const struct plan_block none = {.next = NO_BLOCK, .taken = NO_BLOCK};
	uint32_t i = plan__site_at(plan, 0, vaddr);

	return i == NO_SITE ? &none : &plan->blocks.data[plan->sites.data[i].block];
}

static inline uint64_t start_of(uint32_t b)
{
	return b == NO_BLOCK ? 0 : plan->blocks.data[b].start;
}

static inline const struct plan_function *function(const char *name)
{
	static const struct plan_function none;
	const struct plan_function *f;

	vec__each (f, &plan->functions)
		if (!strcmp(f->name, name))
			return f;
	return &none;
}

static inline bool assemble(const char *source)
{
	scratch__write("graph.s", source);
	if (!run("as -o %s/graph.o %s/graph.s && ld -z noseparate-code -e _start -o %s/graph %s/graph.o",
		 scratch, scratch, scratch, scratch))
		return false;
	return !object__open(scratch__path("graph"), &object);
}

/* Plans the functions named, NULL-terminated; the plan before is gone. */
#define PLAN(events, ...)                                                                          \
	({                                                                                         \
		static const char *const names_[] = {__VA_ARGS__, NULL};                           \
		plan__free(plan);                                                                  \
		plan = plan_of(object, names_, events);                                            \
		plan != NULL;                                                                      \
	})

static inline void test_table(const char *name, uint64_t offset, unsigned targets, bool proved,
			      unsigned unresolved)
{
	const struct plan_block *b = ended_by(address(name) + offset);

	is(site(address(name) + offset)->kind, BRANCH_IJMP, "%s: its switch is an indirect jump",
	   name);
	is(b->ntable, targets, "%s: its switch has %u targets", name, targets);
	is(b->unresolved, !proved, "%s: its switch is %s", name, proved ? "proved" : "not proved");
	is(function(name)->unresolved, unresolved,
	   "%s: its switches that are not proved are counted", name);
}

#endif
