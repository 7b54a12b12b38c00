// SPDX-License-Identifier: BSD-2-Clause
/*
 * Voices: from any block, which probe would be heard first? Where the sets behind the ways of every
 * silent branch are disjoint, just one silent path leads from any point to any event, and the
 * replay in trace/ can tell it (Ball and Larus, "Optimally Profiling and Tracing Programs", TOPLAS
 * 1994).
 */
#include <stdlib.h>
#include "plan/voices.h"

#define MAX_VOICES 512

enum { STATE_NEW, STATE_OPEN, STATE_DONE };

static bool is_called_entry(const struct plan *p, const struct plan_site *s)
{
	return s->kind == BRANCH_CALL && plan__entry_speaks(p, s->object, s->target);
}

void voices__init(struct voices *v, struct plan *p)
{
	*v = (struct voices){.p = p};
	v->speaks = xcalloc(p->blocks.len, sizeof(*v->speaks));
	v->calls = xcalloc(p->blocks.len, sizeof(*v->calls));
	v->state = xcalloc(p->blocks.len, 1);
	for (size_t i = 0; i < p->sites.len; i++) {
		const struct plan_site *s = &p->sites.data[i];

		if ((s->entry || !s->kind) && s->probe)
			v->speaks[s->block] = true;
		if (is_called_entry(p, s))
			v->calls[s->block] = true;
	}
}

void voices__free(struct voices *v)
{
	free(v->speaks);
	free(v->calls);
	free(v->state);
	vec__free(&v->touched);
	vec__free(&v->heard);
}

void voices__ways(const struct plan *p, uint32_t block, uint32_t **list, size_t *n)
{
	const struct plan_block *b = &p->blocks.data[block];
	const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];
	VEC(uint32_t) ways = {0};
	size_t kept = 0;

	if (s && s->kind == BRANCH_IJMP)
		for (uint32_t i = 0; i < b->ntable; i++)
			vec__push(&ways, p->table.data[b->table + i]);
	else if (s && s->kind != BRANCH_CALL && s->kind != BRANCH_ICALL && b->taken != NO_BLOCK)
		vec__push(&ways, b->taken);
	if (b->next != NO_BLOCK && !b->noreturn)
		vec__push(&ways, b->next);
	for (size_t i = 0; i < ways.len; i++) {
		size_t k;

		for (k = 0; k < kept && ways.data[k] != ways.data[i]; k++)
			;
		if (k == kept)
			ways.data[kept++] = ways.data[i];
	}
	*list = ways.data;
	*n = kept;
}

static void add_voice(struct voices *v, uint32_t voice)
{
	for (size_t i = 0; i < v->heard.len; i++)
		if (v->heard.data[i] == voice)
			return;
	vec__push(&v->heard, voice);
}

static void listen(struct voices *v, uint32_t block, unsigned depth)
{
	const struct plan_block *b = &v->p->blocks.data[block];
	autofree uint32_t *ways = NULL;
	size_t n;

	if (v->speaks[block])
		return add_voice(v, VOICE_BLOCK | block);
	if (b->site != NO_SITE && (v->p->sites.data[b->site].probe || v->calls[block]))
		return add_voice(v, VOICE_SITE | b->site);
	if (b->site != NO_SITE && v->p->sites.data[b->site].kind == BRANCH_RET)
		return add_voice(v, VOICE_RET);
	if (v->state[block] == STATE_OPEN || v->heard.len > MAX_VOICES || depth > MAX_VOICES)
		return add_voice(v, VOICE_CYCLE);
	if (v->state[block] == STATE_DONE)
		return;
	v->state[block] = STATE_OPEN;
	vec__push(&v->touched, block);
	voices__ways(v->p, block, &ways, &n);
	for (size_t i = 0; i < n; i++)
		listen(v, ways[i], depth + 1);
	if (!n)
		add_voice(v, VOICE_END | block);
	v->state[block] = STATE_DONE;
}

void voices__from(struct voices *v, uint32_t block)
{
	uint32_t *b;

	v->heard.len = 0;
	listen(v, block, 0);
	vec__each (b, &v->touched)
		v->state[*b] = STATE_NEW;
	v->touched.len = 0;
}

bool voices__conflict(struct voices *v, const uint32_t *ways, size_t n, size_t *one, size_t *other)
{
	struct map64 said_by = {0};
	bool found = false;
	const uint32_t *voice;

	for (size_t i = 0; !found && i < n; i++) {
		voices__from(v, ways[i]);
		vec__each (voice, &v->heard) {
			const uint64_t *by = map64__get(&said_by, *voice);

			if (!found && (by || *voice == VOICE_CYCLE)) {
				*one = by ? *by : i;
				*other = i;
				found = true;
			}
			*map64__put(&said_by, *voice) = i;
		}
	}
	map64__free(&said_by);
	return found;
}

/* ---- witnesses ---- */

static bool find_place(const struct plan *p, const struct plan_block *b, bool emulated_only,
		       struct insn *out)
{
	const struct object *o = p->objects.data[b->object].object;
	uint64_t addr = b->start;
	bool found = false;
	struct insn insn;

	for (; addr < b->end; addr += insn.len) {
		size_t avail;
		const uint8_t *bytes = object__bytes(o, addr, &avail);

		if (!bytes || p->arch->decode(bytes, avail, addr, p->kernel, &insn))
			break;
		if (object__noprobe_at(o, addr) || insn.flow != FLOW_NEXT || insn.nop5 ||
		    insn.repeats || (!p->kernel && insn.user_refusal != PROBE_OK))
			continue;
		if (!found || insn.emulated)
			*out = insn;
		found = true;
		if (insn.emulated)
			break;
	}
	return found && (out->emulated || !emulated_only);
}

bool voices__add_witness(struct voices *v, uint32_t block, bool emulated_only)
{
	const struct plan_block *b = &v->p->blocks.data[block];
	struct plan_site *s;
	struct insn insn;

	if (v->speaks[block] || !find_place(v->p, b, emulated_only, &insn))
		return false;
	s = vec__add(&v->p->sites);
	s->vaddr = insn.addr;
	s->len = insn.len;
	s->object = b->object;
	s->function = b->function;
	s->block = block;
	s->operand = (struct operand){.base = REG_NONE, .index = REG_NONE};
	s->probe = 1;
	s->sp_delta = SP_UNKNOWN;
	v->p->probes++;
	v->speaks[block] = true;
	return true;
}

void voices__drop_witness(struct voices *v)
{
	v->speaks[vec__last(&v->p->sites)->block] = false;
	v->p->sites.len--;
	v->p->probes--;
}

static int by_address(const void *a, const void *b)
{
	const struct plan_site *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

void voices__renumber(struct plan *p)
{
	vec__sort(&p->sites, by_address);
	for (uint32_t i = 0; i < p->sites.len; i++) {
		const struct plan_site *s = &p->sites.data[i];

		if (s->mnemonic)
			p->blocks.data[s->block].site = i;
		if (s->entry)
			p->functions.data[s->function].entry_site = i;
	}
}
