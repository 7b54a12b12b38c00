// SPDX-License-Identifier: BSD-2-Clause
/*
 * The frontier of a block: the probes that can be hit first after control enters it. If the
 * outcomes of every unprobed branch have disjoint frontiers, exactly one unprobed path leads from
 * any point to the next event, and the replay can reconstruct it (Ball and Larus, "Optimally
 * Profiling and Tracing Programs", TOPLAS 16(4), 1994).
 */
#include <stdlib.h>
#include "frontier_private.h"

#define MAX_MEMBERS 512

enum { STATE_NEW, STATE_OPEN, STATE_DONE };

void frontier__init(struct frontier *f, struct plan *p)
{
	*f = (struct frontier){.p = p};
	plan_flow__init(&f->flow, p);
	f->state = xcalloc(p->blocks.len + 1, 1);
}

void frontier__free(struct frontier *f)
{
	plan_flow__free(&f->flow);
	free(f->state);
	vec__free(&f->touched);
	vec__free(&f->members);
}

static void add(struct frontier *f, uint32_t member)
{
	for (size_t i = 0; i < f->members.len; i++)
		if (f->members.data[i] == member)
			return;
	vec__push(&f->members, member);
}

/* Control may leave the plan, or reach a target that isn't known: then any probe can be hit
 * first. */
static bool may_go_anywhere(const struct frontier *f, uint32_t block)
{
	const struct plan_block *b = &f->p->blocks.data[block];

	return plan_flow__is_open(&f->flow, block) || (b->leaves && b->taken == NO_BLOCK) ||
	       (b->outward && b->site == NO_SITE);
}

static void search(struct frontier *f, uint32_t block, unsigned depth)
{
	const uint32_t *out = f->flow.out;

	if (f->flow.marked[block])
		return add(f, FRONTIER_BLOCK | block);
	if (plan_flow__is_probed(&f->flow, block))
		return add(f, FRONTIER_SITE | f->p->blocks.data[block].site);
	if (plan_flow__is_unprobed_ret(&f->flow, block))
		return add(f, FRONTIER_RET);
	if (may_go_anywhere(f, block) || f->state[block] == STATE_OPEN ||
	    f->members.len > MAX_MEMBERS || depth > MAX_MEMBERS)
		return add(f, FRONTIER_CYCLE);
	if (f->state[block] == STATE_DONE)
		return;
	f->state[block] = STATE_OPEN;
	vec__push(&f->touched, block);
	for (uint32_t i = out[block]; i < out[block + 1]; i++)
		search(f, f->flow.successors[i], depth + 1);
	if (out[block] == out[block + 1])
		add(f, FRONTIER_END | block);
	f->state[block] = STATE_DONE;
}

void frontier__of(struct frontier *f, uint32_t block)
{
	uint32_t *b;

	f->members.len = 0;
	search(f, block, 0);
	vec__each (b, &f->touched)
		f->state[*b] = STATE_NEW;
	f->touched.len = 0;
}

/* Two outcomes that lead to the same block count as one successor: no probe can distinguish
 * them. */
static bool is_repeated(const uint32_t *successors, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (successors[k] == successors[i])
			return true;
	return false;
}

bool frontier__conflict(struct frontier *f, uint32_t block, uint32_t *one, uint32_t *other)
{
	const uint32_t *successors = plan_flow__successors(&f->flow, block);
	uint32_t n = plan_flow__count(&f->flow, block);
	struct map64 reached_by = {0};
	bool found = false;
	const uint32_t *m;

	for (uint32_t i = 0; !found && i < n; i++) {
		if (is_repeated(successors, i))
			continue;
		frontier__of(f, successors[i]);
		vec__each (m, &f->members) {
			const uint64_t *by = map64__get(&reached_by, *m);

			if (!found && (by || *m == FRONTIER_CYCLE)) {
				*one = by ? *by : i;
				*other = i;
				found = true;
			}
			*map64__put(&reached_by, *m) = i;
		}
	}
	map64__free(&reached_by);
	return found;
}

/* ---- witnesses ---- */

/* Returns the stack's depth after an instruction, from that before it. */
static int32_t depth_after(const struct insn *insn, int32_t depth)
{
	switch (insn->sp_effect) {
	case SP_SAME:
	case SP_FP_FROM_SP:
		return depth;
	case SP_ADD:
	case SP_FP_LOST:
		if (depth != SP_UNKNOWN && !__builtin_sub_overflow(depth, insn->sp_value, &depth))
			return depth;
		return SP_UNKNOWN;
	default:
		return SP_UNKNOWN;
	}
}

/* Returns true if the kernel refused a probe here. In the kernel it refuses probes for the whole
 * function, so any other instruction of the block is refused as well. */
static bool is_refused(const struct plan *p, const struct plan_block *b, uint64_t vaddr)
{
	bool kernel = p->objects.data[b->object].kernel;
	size_t i = plan__sites_from(p, b->object, kernel ? b->start : vaddr);

	for (; i < p->sites_by_address.len; i++) {
		const struct plan_site *s = &p->sites.data[p->sites_by_address.data[i]];

		if (s->object != b->object || s->vaddr >= (kernel ? b->end : vaddr + 1))
			return false;
		if (s->refusal != PROBE_OK && (s->vaddr == vaddr || s->role == ROLE_WITNESS))
			return true;
	}
	return false;
}

static enum witness_place place_of(const struct plan_block *b, uint64_t vaddr,
				   const struct insn *insn)
{
	return insn__may_be_read(b, vaddr, insn) ? PLACE_READ
	       : insn->emulated			 ? PLACE_EMULATED
						 : PLACE_STEPPED;
}

/* depth: of the stack at that place */
static bool find_place(const struct plan *p, const struct plan_block *b, enum witness_place least,
		       struct insn *out, int32_t *depth)
{
	const struct plan_object *po = &p->objects.data[b->object];
	const struct object *o = po->object;
	int32_t now = b->sp_delta;
	enum witness_place best = PLACE_NONE, place;
	uint64_t addr = b->start;
	struct insn insn;

	for (; addr < b->end; addr += insn.len, now = depth_after(&insn, now)) {
		size_t avail;
		const uint8_t *bytes = object__bytes(o, addr, &avail);

		if (!bytes ||
		    p->arch->decode(bytes, avail, object__code_address(o, addr), po->kernel, &insn))
			break;
		insn__settle(p, b->object, b->function, &insn);
		if (insn.flow != FLOW_NEXT || insn.patchable || insn.repeats ||
		    insn__refusal(p->arch, o, po->kernel, &insn) != PROBE_OK ||
		    is_refused(p, b, addr))
			continue;
		place = place_of(b, addr, &insn);
		if (place <= best)
			continue;
		best = place;
		*out = insn;
		*depth = now;
		if (place == PLACE_EMULATED)
			break;
	}
	return best >= least;
}

/* A witness in another block would record calls of functions that were not requested. */
static bool is_shown(const struct plan *p, const struct plan_block *b)
{
	return b->function != NO_FUNCTION &&
	       !(p->functions.data[b->function].flags & FUNCTION_HELPER);
}

bool frontier__add_witness(struct frontier *f, uint32_t block, enum witness_place least)
{
	const struct plan_block *b = &f->p->blocks.data[block];
	struct plan_site *s;
	struct insn insn = {0};
	int32_t depth = SP_UNKNOWN;

	if (f->flow.marked[block] || b->unfit || !is_shown(f->p, b) ||
	    !find_place(f->p, b, least, &insn, &depth))
		return false;
	s = vec__add(&f->p->sites);
	s->role = ROLE_WITNESS;
	s->vaddr = insn.addr;
	s->len = insn.len;
	s->object = b->object;
	s->function = b->function;
	s->block = block;
	s->traps = insn__traps(&insn, f->p->objects.data[b->object].kernel);
	s->operand = (struct operand){.base = REG_NONE, .index = REG_NONE};
	s->probe = PROBE_TRAP;
	s->sp_delta = depth;
	f->p->probes++;
	f->flow.marked[block] = true;
	return true;
}

void frontier__drop_witness(struct frontier *f)
{
	f->flow.marked[vec__last(&f->p->sites)->block] = false;
	f->p->sites.len--;
	f->p->probes--;
}
