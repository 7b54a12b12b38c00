// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds functions in holes. Certain starts are what the loader calls, and what is called or jumped
 * to directly by code that is known; each is explored, which gives more. Then claims are tried
 * until none is taken any more.
 */
#include <stdlib.h>
#include "search_private.h"

#define ROUNDS 8

/* ---- calls from known functions into holes ---- */

/* Returns true if one of the bytes may be a direct call or jump into a hole. */
static bool may_lead_out(struct search *s, uint64_t start, uint64_t end)
{
	size_t avail;
	const uint8_t *bytes = object__bytes(s->o, start, &avail);
	uint64_t target, n = min_of(end - start, (uint64_t)avail);

	for (uint64_t i = 0; bytes && i < n; i++)
		if (s->arch->leads_to(bytes + i, n - i, start + i, &target) &&
		    holes__at(&s->holes, target))
			return true;
	return false;
}

/* Adds what a known function calls, unless some of its bytes are no instructions. */
static void add_callees(struct search *s, uint64_t start, uint64_t end)
{
	VEC(uint64_t) calls = {0};
	struct insn insn;
	const uint64_t *call;
	uint64_t at = start, value, main = 0;
	size_t avail;

	for (; at < end; at += insn.len) {
		const uint8_t *bytes = object__bytes(s->o, at, &avail);

		if (!bytes ||
		    s->arch->decode(bytes, min_of((uint64_t)avail, end - at), at, false, &insn))
			break;
		if (insn.kind == BRANCH_CALL && holes__at(&s->holes, insn.target))
			vec__push(&calls, insn.target);
		if (insn.flow == FLOW_NEXT && search__address(s, bytes, &insn, &value) &&
		    holes__at(&s->holes, value)) {
			claims__add(s, value);
			main = search__sets_argument(s, bytes, &insn) ? value : main;
		}
		if (main && search__runs_main(s, &insn))
			vec__push(&calls, main);
	}
	vec__each (call, &calls)
		if (at >= end)
			search__add_called(s, *call);
		else
			claims__add(s, *call);
	vec__free(&calls);
}

static void add_callees_of_known(struct search *s)
{
	const struct object *o = s->o;
	const struct symbol *symbol;
	const struct frame *frame;

	frame = object__frame_at(o, elf__of(o)->header.e_entry);
	if (frame)
		add_callees(s, frame->vaddr, frame->vaddr + frame->size);
	vec__each (frame, &o->frames)
		if (may_lead_out(s, frame->vaddr, frame->vaddr + frame->size))
			add_callees(s, frame->vaddr, frame->vaddr + frame->size);
	vec__each (symbol, &o->symbols)
		if (symbol->size && symbol->type != SYMBOL_PLT &&
		    !object__frame_at(o, symbol->vaddr) &&
		    may_lead_out(s, symbol->vaddr, symbol->vaddr + symbol->size))
			add_callees(s, symbol->vaddr, symbol->vaddr + symbol->size);
}

/* ---- exploring ---- */

static void commit(struct search *s, const struct exploration *e)
{
	const struct reached_insn *i;
	const struct hole *r;

	vec__each (i, &e->insns) {
		uint8_t *mark = search__mark(s, i->addr);

		*mark |= MARK_START;
		for (unsigned k = 1; k < i->len; k++)
			mark[k] |= MARK_BODY;
	}
	vec__each (r, &e->reads)
		for (uint64_t at = r->start; at < r->end; at++)
			if (search__mark(s, at))
				*search__mark(s, at) |= MARK_DATA;
}

/* What a clean function calls and jumps to is certain; of another one it is a claim. */
static void take_targets(struct search *s, const struct exploration *e)
{
	const struct jump_out *out;
	const uint64_t *addr;

	vec__each (addr, &e->calls) {
		if (e->clean)
			search__add_called(s, *addr);
		else
			claims__add(s, *addr);
	}
	vec__each (out, &e->outs) {
		if (!e->clean)
			continue;
		if (!out->part &&
		    !(e->switches && out->target > e->start && out->target < e->limit))
			search__add_jumped(s, out->target);
		else if (search__mark(s, out->target))
			vec__push(&s->parts, out->target);
	}
	vec__each (addr, &e->constants)
		claims__add(s, *addr);
}

static void add_function(struct search *s, uint64_t start, bool part, const struct exploration *e)
{
	*search__mark(s, start) |= MARK_FUNCTION | (e->switches ? MARK_SWITCHES : 0);
	vec__push(&s->functions, start);
	if (part)
		*map64__put(&s->is_part, start) = 1;
	if (e->clean)
		commit(s, e);
	take_targets(s, e);
}

/* Takes a start that is proved, unless it is within an instruction, or is a jump's target in a
 * function that was found. */
static void take_certain(struct search *s, uint64_t start, bool part)
{
	uint8_t *mark = search__mark(s, start);
	struct exploration e;

	if (*mark & (MARK_FUNCTION | MARK_BODY | MARK_DATA) || (part && *mark & MARK_START))
		return;
	search__explore(s, start, search__limit(s, start, MARK_FUNCTION), part, &e);
	if (e.insns.len && (e.clean || *mark & MARK_START || !part))
		add_function(s, start, part, &e);
	exploration__free(&e);
}

static void take_all_certain(struct search *s)
{
	while (s->certain.len || s->parts.len) {
		if (s->certain.len)
			take_certain(s, s->certain.data[--s->certain.len], false);
		else
			take_certain(s, s->parts.data[--s->parts.len], true);
	}
}

#define FAR 65536 /* bytes: most functions are shorter */

/* Returns true if the claim may be a label of the function before it, to which an indirect jump
 * leads. */
static bool may_be_label(struct search *s, uint64_t start)
{
	const struct hole *h = holes__at(&s->holes, start);
	const uint8_t *mark = search__mark(s, start);

	for (uint64_t back = 1; back <= start - h->start && back < FAR; back++)
		if (*(mark - back) & MARK_FUNCTION)
			return *(mark - back) & MARK_SWITCHES;
	return false;
}

/* Returns true if the claim needs no more attention. */
static bool try_claim(struct search *s, uint64_t start)
{
	const uint8_t *mark = search__mark(s, start);
	struct exploration e;
	bool taken;

	if (*mark & (MARK_FUNCTION | MARK_START | MARK_BODY | MARK_DATA))
		return true;
	if (may_be_label(s, start))
		return false;
	search__explore(s, start, search__limit(s, start, MARK_FUNCTION | MARK_CLAIMED), false, &e);
	taken = claims__is_code(s, &e);
	if (taken)
		add_function(s, start, false, &e);
	exploration__free(&e);
	return taken;
}

/* Each claim that is taken may lead to others, and be evidence for them. */
static void try_claims(struct search *s)
{
	size_t before = SIZE_MAX;

	for (unsigned round = 0; round < ROUNDS && s->claims.len != before; round++) {
		start_vec now = s->claims;
		const uint64_t *claim;

		vec__sort(&now, starts__by_value);
		before = now.len;
		s->claims = (start_vec){0};
		vec__each (claim, &now) {
			if (!try_claim(s, *claim))
				vec__push(&s->claims, *claim);
			take_all_certain(s);
		}
		vec__free(&now);
	}
}

static void free_search(struct search *s)
{
	for (size_t i = 0; i < s->holes.len; i++)
		free(s->marks[i]);
	free(s->marks);
	vec__free(&s->holes);
	vec__free(&s->certain);
	vec__free(&s->parts);
	vec__free(&s->claims);
	vec__free(&s->functions);
	map64__free(&s->is_part);
	map64__free(&s->is_called);
}

/* Code that the program may change is not looked at; nor that of architectures with data among
 * their code. */
static bool can_search(const struct object *o)
{
	const struct arch *arch = arch__by_machine(o->machine);
	const struct segment *s;

	if (!arch || !arch->leads_to || !arch->constant || arch->modes || arch->alignment != 1 ||
	    o->go)
		return false;
	vec__each (s, &o->segments)
		if (s->exec && s->write)
			return false;
	return true;
}

#define TIMES 32 /* each byte may be decoded this often: hostile files have claims without end */

/* Sections of a hostile file may overlap. */
static bool can_afford(struct search *s, size_t hole)
{
	uint64_t size = s->holes.data[hole].end - s->holes.data[hole].start;

	s->budget += size * TIMES;
	return elf__afford(elf__of(s->o), size);
}

void search__functions(struct object *o)
{
	struct search s = {.o = o, .arch = arch__by_machine(o->machine)};

	if (!can_search(o))
		return;
	holes__find(o, &s.holes);
	s.marks = xcalloc(s.holes.len + 1, sizeof(*s.marks));
	for (size_t i = 0; i < s.holes.len && can_afford(&s, i); i++) {
		s.marks[i] = xcalloc(s.holes.data[i].end - s.holes.data[i].start + 16, 1);
		s.marked++;
	}
	s.holes.len = s.marked;
	if (s.holes.len) {
		starts__add_loaded(&s);
		add_callees_of_known(&s);
		take_all_certain(&s);
		claims__of_data(&s);
		try_claims(&s);
		entries__make_frames(&s);
	}
	free_search(&s);
}
