// SPDX-License-Identifier: BSD-2-Clause
/*
 * A function that has lost its copy, since the program has changed it, continues to log its entries
 * if its first instructions are those of the file: the springboard there stays, and the copy leads
 * back to the original after the instructions that the springboard covers.
 */
#include "text.h"

/* What the springboard covers, from the entry on, is executed in the copy. Where control may leave
 * that, the copy leads back to the original. */
#define EXITS_MOST 4
struct start {
	const struct copy_patch *patch;
	uint64_t entry, end; /* link-time addresses */
	uint64_t exits[EXITS_MOST];
	uint32_t offsets[EXITS_MOST]; /* of these, in the copies */
	size_t n;
};

static const uint8_t *bytes_at(const struct loaded *l, uint64_t vaddr, size_t *avail)
{
	*avail = 0;
	return object__bytes(l->object, vaddr, avail);
}

/* Adds a place where what is covered is left. Returns false if there are too many. */
static bool add_exit(struct start *st, uint64_t at)
{
	if (at >= st->patch->vaddr && at < st->end)
		return true;
	for (size_t i = 0; i < st->n; i++)
		if (st->exits[i] == at)
			return true;
	if (st->n == EXITS_MOST)
		return false;
	st->exits[st->n++] = at;
	return true;
}

/* Instruction by instruction, up to the end of the last one. */
static bool find_exits(const struct tracer *s, const struct loaded *l, struct start *st)
{
	uint64_t stop = st->patch->vaddr + st->patch->len;
	struct insn insn;
	size_t avail;

	for (int pass = 0; pass < 2; pass++)
		for (uint64_t at = st->patch->vaddr; at < stop; at += insn.len) {
			const uint8_t *bytes = bytes_at(l, at, &avail);
			bool jumps, falls;

			if (!bytes || s->arch->decode(bytes, avail, at, false, &insn))
				return false;
			jumps = insn.flow == FLOW_BRANCH &&
				(insn.kind == BRANCH_JCC || insn.kind == BRANCH_JMP);
			falls = insn.flow == FLOW_NEXT || insn.kind == BRANCH_JCC;
			if (insn.flow != FLOW_NEXT && !jumps && insn.kind != BRANCH_RET)
				return false;
			st->end = max_of(st->end, at + insn.len);
			if (pass && ((jumps && !add_exit(st, insn.target)) ||
				     (falls && !add_exit(st, at + insn.len))))
				return false;
		}
	return true;
}

static bool is_covered(const struct start *st, uint64_t vaddr)
{
	return vaddr >= st->entry && vaddr < st->end;
}

/* Returns true if a jump may be written there, since control reaches only this instruction
 * there. */
static bool has_room(const struct tracer *s, const struct loaded *l, const struct copy_function *f,
		     const struct start *st, uint32_t offset)
{
	uint32_t end = offset + s->arch->copier->jump_size;
	const struct copy_pc *pc;

	if (!(offset >= f->start && end <= f->end) &&
	    !(offset >= f->cold_start && end <= f->cold_end))
		return false;
	vec__each (pc, &l->image->pcs)
		if (pc->offset >= offset && pc->offset < end && pc->offset != offset &&
		    (!pc->vaddr || is_covered(st, pc->vaddr)))
			return false;
	for (size_t i = 0; i < st->n; i++)
		if (st->offsets[i] > offset && st->offsets[i] < end)
			return false;
	return true;
}

static bool find_offsets(const struct tracer *s, const struct loaded *l,
			 const struct copy_function *f, struct start *st)
{
	for (size_t i = 0; i < st->n; i++)
		if (!copy_image__copy_at(l->image, st->exits[i], &st->offsets[i]))
			return false;
	for (size_t i = 0; i < st->n; i++)
		if (!has_room(s, l, f, st, st->offsets[i]))
			return false;
	return true;
}

static bool find_start(const struct tracer *s, const struct loaded *l, uint32_t function,
		       struct start *st)
{
	const struct copy_function *f = &l->image->functions.data[function];
	const struct plan_function *pf = &s->plan->functions.data[f->function];
	const uint8_t *bytes;
	uint64_t first;
	size_t avail;

	*st = (struct start){0};
	if (pf->entry_site == NO_SITE || l->object->go)
		return false;
	st->entry = s->plan->blocks.data[pf->entry_block].start;
	bytes = bytes_at(l, st->entry, &avail);
	if (!bytes)
		return false;
	first = st->entry + s->arch->copier->landing(bytes, avail);
	st->patch = copy_image__patch_at(l->image, first);
	return st->patch && st->patch->kind == PATCH_JUMP && st->patch->vaddr == first &&
	       find_exits(s, l, st) && find_offsets(s, l, f, st);
}

/* Returns true if the thread is, or will return to, where code is about to be changed. */
static bool is_in_use(struct tracer *s, const struct space *space, const struct loaded *l,
		      uint32_t function, const struct start *st)
{
	const struct copy_function *f = &l->image->functions.data[function];
	const struct signal_frame *frame;
	struct thread *t;

	for (size_t i = 0; (t = tracer__each_in(s, space, &i));) {
		uint64_t pc = thread__get(t, TRACEE_PC);

		if (!pc || pc - l->base - f->start < f->end - f->start ||
		    pc - l->base - f->cold_start < f->cold_end - f->cold_start ||
		    is_covered(st, pc - l->bias))
			return true;
		vec__each (frame, &t->frames)
			if (is_covered(st, frame->original - l->bias))
				return true;
	}
	return false;
}

/* Nothing of it was changed. */
static bool is_original(const struct space *space, const struct loaded *l, const struct start *st)
{
	uint8_t is[64];
	size_t avail, n = st->end - st->entry;
	const uint8_t *was = bytes_at(l, st->entry, &avail);

	return n <= sizeof(is) && avail >= n && space__read(space, st->entry + l->bias, is, n) &&
	       !memcmp(is, was, n);
}

/* The copy's exits are written first: from then on nothing is missing at any moment. */
static bool put(const struct tracer *s, const struct space *space, const struct loaded *l,
		const struct start *st)
{
	uint8_t back[PATCH_MAX], patch[PATCH_MAX];

	for (size_t i = 0; i < st->n; i++) {
		uint64_t at = l->base + st->offsets[i];

		s->arch->copier->put_jump(back, at, st->exits[i] + l->bias);
		if (!space__write(space, at, back, s->arch->copier->jump_size))
			return false;
	}
	return copy_image__patch(l->image, s->arch, st->patch, l->bias, l->base, patch) &&
	       space__swap(space, st->patch->vaddr + l->bias, loaded__original(l, st->patch), patch,
			   st->patch->len);
}

void loaded__log_entries(struct tracer *s, const struct space *space, const struct loaded *l)
{
	/* counts of entries alone contradict those of branches */
	bool may = l->patched && !s->disarmed && !s->copies->counted.len;
	struct start st = {0};

	for (uint32_t i = 0; i < l->image->functions.len; i++)
		l->entries[i] = may && l->states[i] == STATE_LOST && find_start(s, l, i, &st) &&
				!is_in_use(s, space, l, i, &st) && is_original(space, l, &st) &&
				put(s, space, l, &st);
}
