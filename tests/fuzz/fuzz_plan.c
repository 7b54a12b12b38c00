// SPDX-License-Identifier: BSD-2-Clause
/* The graph builder: a plan of arbitrary code, and every query on it. */
#include "plan/change/change.h"
#include "plan/counting/counting.h"
#include "made.h"

static void check_site(const struct plan *p, uint32_t i)
{
	const struct plan_site *s = &p->sites.data[i];
	const struct plan_block *b = &p->blocks.data[s->block];
	const struct plan_object *o = &p->objects.data[s->object];
	struct insn insn;
	size_t avail;
	const uint8_t *bytes;

	CHECK(s->object < p->objects.len && s->function < p->functions.len);
	CHECK(s->block < p->blocks.len && s->refusal < PROBE_REFUSALS && s->kind < BRANCH_KINDS);
	CHECK(s->vaddr >= b->start && s->vaddr < b->end);
	CHECK(!s->mnemonic == (s->role != ROLE_BRANCH));
	/* a branch of a kind that isn't known is refused */
	CHECK((s->kind == BRANCH_NONE) == (s->role != ROLE_BRANCH) ||
	      (s->kind == BRANCH_NONE && s->refusal != PROBE_OK));
	CHECK(plan__site_at(p, s->object, s->vaddr) == i);
	/* a probe sits on the start of an instruction */
	bytes = object__bytes(o->object, s->vaddr + s->probe_at, &avail);
	CHECK(bytes && !p->arch->decode(bytes, avail, s->vaddr + s->probe_at,
					p->objects.data[s->object].kernel, &insn));
	CHECK(!s->probe || s->refusal == PROBE_OK);
	CHECK(!s->probe || p->objects.data[s->object].kernel || insn.user_refusal == PROBE_OK);
}

static bool is_block(const struct plan *p, uint32_t b)
{
	return b == NO_BLOCK || b < p->blocks.len;
}

static void check_block(const struct plan *p, uint32_t i)
{
	const struct plan_block *b = &p->blocks.data[i];

	CHECK(b->start < b->end && b->function < p->functions.len);
	CHECK(!i || b[-1].object < b->object || b[-1].start < b->start);
	CHECK(b->site == NO_SITE || (b->site < p->sites.len && p->sites.data[b->site].block == i));
	CHECK(is_block(p, b->next) && is_block(p, b->taken));
	/* over padding, if it is an entry */
	CHECK(b->next == NO_BLOCK || p->blocks.data[b->next].start - b->end < 64);
	CHECK((uint64_t)b->table + b->ntable <= p->table.len);
	for (uint32_t k = 0; k < b->ntable; k++)
		CHECK(p->table.data[b->table + k] < p->blocks.len);
	CHECK(plan__block_at(p, b->object, b->start) == i);
}

static void check_function(const struct plan *p, uint32_t i)
{
	const struct plan_function *f = &p->functions.data[i];
	uint64_t offset;

	CHECK(f->name && f->nranges);
	CHECK(f->entry_site == NO_SITE || f->entry_site < p->sites.len);
	CHECK(is_block(p, f->entry_block));
	plan__name_at(p, i, f->ranges[0].vaddr, &offset);
}

static void check_plan(struct plan *p)
{
	uint32_t i, probes = 0;

	for (i = 0; i < p->sites.len; i++) {
		check_site(p, i);
		probes += p->sites.data[i].probe != PROBE_NONE;
	}
	for (i = 0; i < p->blocks.len; i++)
		check_block(p, i);
	for (i = 0; i < p->functions.len; i++)
		check_function(p, i);
	CHECK(p->probes == probes && probes);
	for (i = 0; i < p->sites.len; i++)
		plan__refuse(p, i, PROBE_KERNEL);
	CHECK(!p->probes);
}

/* Nothing was counted: then nothing was executed, or nobody knows. */
static void check_counts(const struct plan *p)
{
	struct plan_counts c;

	plan_counts__init(&c, p);
	plan_counts__solve(&c, p);
	CHECK(!c.residue);
	for (uint32_t i = 0; i < p->sites.len; i++) {
		const struct plan_site *s = &p->sites.data[i];

		CHECK(!c.sites[i].taken || c.sites[i].taken == COUNT_UNKNOWN);
		CHECK(s->unsolved || s->role == ROLE_WITNESS || p->entries_only ||
		      p->functions.data[s->function].flags & FUNCTION_HELPER || !c.sites[i].taken);
	}
	for (uint32_t i = 0; i < p->blocks.len; i++)
		CHECK(!c.blocks[i] || c.blocks[i] == COUNT_UNKNOWN);
	plan_counts__free(&c);
}

static void count(const struct made *m)
{
	struct plan_options options = m->options;
	struct plan *p;

	options.placement = PLACEMENT_COUNT;
	options.count_all = m->options.patchable_unsafe;
	err__clear();
	CHECK(!plan__build(&m->functions, &options, &p) || *err__text());
	if (!p)
		return;
	check_counts(p);
	check_plan(p);
	plan__free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct made m;

	if (!made__build(&m, &in))
		return 0;
	if (m.plan)
		check_plan(m.plan);
	count(&m);
	made__free(&m);
	return 0;
}
