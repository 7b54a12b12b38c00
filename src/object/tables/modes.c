// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which instruction set code is in, for an architecture that has several (struct arch_modes): by
 * mapping symbols, the low bits of function symbols, and PLT entries. Stripped libraries only have
 * the symbols of exported functions: the others start where the unwinding table has an entry, and
 * are in the mode in which branches of known code lead there, or else in that of the code before.
 */
#include <stdlib.h>
#include "arch/arch.h"
#include "object/elf/elf_file.h"
#include "readers.h"

#define PASSES 4 /* branches from functions whose mode a branch showed, and so on */

static const struct arch_modes *modes_of(const struct object *o)
{
	const struct arch *arch = arch__by_machine(o->machine);

	return arch ? arch->modes : NULL;
}

uint64_t object__code_vaddr(const struct object *o, uint64_t address)
{
	const struct arch_modes *modes = modes_of(o);

	return modes ? address & ~(uint64_t)modes->mask : address;
}

void modes__mark(struct object *o, uint64_t vaddr, uint8_t mode, enum mode_rank rank)
{
	vec__push(&o->modes, (struct code_mode){.vaddr = vaddr, .mode = mode, .rank = rank});
}

uint64_t modes__note_symbol(struct object *o, const char *name, uint64_t value, bool function)
{
	const struct arch_modes *modes = modes_of(o);
	int mode = modes ? modes->of_symbol(name) : -1;

	if (mode >= 0 && object__is_code(o, value))
		modes__mark(o, value, mode, MODE_BY_MAPPING);
	if (!modes || !function)
		return value;
	if (object__is_code(o, value & ~(uint64_t)modes->mask))
		modes__mark(o, value & ~(uint64_t)modes->mask, value & modes->mask, MODE_BY_SYMBOL);
	return value & ~(uint64_t)modes->mask;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct code_mode *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return (int)x->rank - (int)y->rank;
}

/* Of several at one address, the one of the highest rank is kept. */
static void sort(struct object *o)
{
	struct code_mode *v = o->modes.data;
	size_t n = 0;

	vec__sort(&o->modes, by_vaddr);
	for (size_t i = 0; i < o->modes.len; i++)
		if (i + 1 == o->modes.len || v[i].vaddr != v[i + 1].vaddr)
			v[n++] = v[i];
	o->modes.len = n;
}

/* Returns the last one at vaddr or before; NULL if there is none. */
static const struct code_mode *mode_at(const struct object *o, uint64_t vaddr)
{
	size_t low = 0, high = o->modes.len, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (o->modes.data[mid].vaddr <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &o->modes.data[low - 1] : NULL;
}

/* A section has no mode of its own: its start has that of its first function. */
static void mark_sections(struct object *o, const struct elf_file *f)
{
	const struct address_range *r;
	size_t n = o->modes.len, i = 0;

	vec__each (r, &f->code) {
		while (i < n && o->modes.data[i].vaddr < r->start)
			i++;
		modes__mark(o, r->start,
			    i < n && o->modes.data[i].vaddr < r->end ? o->modes.data[i].mode
								     : modes_of(o)->initial,
			    MODE_BY_SECTION);
	}
	sort(o);
}

/* ---- functions without a symbol ---- */

struct votes {
	struct object *o;
	const struct arch *arch;
	/* By frame: the votes for another mode than the initial one, minus those for the initial
	 * one. */
	int32_t *by_frame;
};

static void vote(struct votes *v, uint64_t target, uint8_t mode)
{
	const struct frame *f = object__frame_at(v->o, target);

	if (f && f->vaddr == target)
		v->by_frame[f - v->o->frames.data] += mode == v->arch->modes->initial ? -1 : 1;
}

static void ask_branches(struct votes *v, uint64_t at, uint64_t end, uint8_t mode)
{
	struct insn insn;
	size_t avail;
	const uint8_t *bytes = object__bytes(v->o, at, &avail);

	end = min_of(end, at + avail);
	for (; bytes && at < end; at += insn.len, bytes += insn.len) {
		if (v->arch->decode(bytes, end - at, at | mode, false, &insn)) {
			insn.len = v->arch->alignment;
			continue;
		}
		if (insn.kind == BRANCH_CALL)
			vote(v, insn.target, insn.target_mode);
	}
}

static void ask_all(struct votes *v)
{
	const struct object *o = v->o;
	const struct code_mode *m;

	vec__each (m, &o->modes)
		if (m->mode != MODE_DATA)
			ask_branches(v, m->vaddr,
				     m + 1 < vec__end(&o->modes) ? m[1].vaddr : UINT64_MAX,
				     m->mode);
}

/* Returns true if some functions turned out to be in another mode than assumed. */
static bool take_votes(struct votes *v)
{
	struct object *o = v->o;
	VEC(struct code_mode) found = {0};
	const struct code_mode *m;

	for (size_t i = 0; i < o->frames.len; i++) {
		struct code_mode by_branch = {.vaddr = o->frames.data[i].vaddr,
					      .rank = MODE_BY_BRANCH};

		by_branch.mode =
			v->by_frame[i] > 0 ? v->arch->modes->mask : v->arch->modes->initial;
		m = mode_at(o, by_branch.vaddr);
		if (v->by_frame[i] &&
		    (!m || (m->mode != by_branch.mode &&
			    (m->vaddr != by_branch.vaddr || m->rank < by_branch.rank))))
			vec__push(&found, by_branch);
	}
	vec__each (m, &found)
		vec__push(&o->modes, *m);
	sort(o);
	vec__free(&found);
	return found.len;
}

static void mark_frames(struct object *o, const struct arch *arch)
{
	struct votes v = {.o = o, .arch = arch};
	bool again = true;

	for (unsigned i = 0; again && i < PASSES; i++) {
		v.by_frame = xcalloc(o->frames.len + 1, sizeof(*v.by_frame));
		ask_all(&v);
		again = take_votes(&v);
		free(v.by_frame);
	}
}

void modes__settle(struct object *o, struct elf_file *f)
{
	const struct code_mode *m;
	bool mapped = false;

	if (!modes_of(o))
		return;
	sort(o);
	vec__each (m, &o->modes)
		mapped |= m->rank == MODE_BY_MAPPING;
	mark_sections(o, f);
	o->mixed = !mapped;
	if (!mapped)
		mark_frames(o, arch__by_machine(o->machine));
}

/* ---- code addresses ---- */

bool object__is_data(const struct object *o, uint64_t vaddr)
{
	const struct code_mode *m = o->modes.len ? mode_at(o, vaddr) : NULL;

	return m && m->mode == MODE_DATA;
}

uint8_t object__code_state(const struct object *o, uint64_t vaddr)
{
	const uint64_t *state = o->modes.len ? map64__get(&o->states, vaddr) : NULL;

	return state ? *state : 0;
}

void object__set_code_state(const struct object *o, uint64_t vaddr, uint8_t state)
{
	struct object *own = (struct object *)o;

	if (state || object__code_state(o, vaddr))
		*map64__put(&own->states, vaddr) = state;
}

uint64_t object__code_address(const struct object *o, uint64_t vaddr)
{
	const struct code_mode *m;

	if (!o->modes.len)
		return vaddr;
	m = mode_at(o, vaddr);
	if (m && m->mode == MODE_DATA)
		return vaddr | CODE_IS_DATA;
	return vaddr | (m ? m->mode : 0) |
	       (uint64_t)object__code_state(o, vaddr) << CODE_STATE_SHIFT;
}
