// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the instruction that accessed watched memory. The trap is after that instruction, so the
 * candidates are: the instruction that ends where the thread continues; a repeated one at that
 * address, between two iterations; a call that led there, whose return address is on top of the
 * stack; a return or a jump that read its target from the watched memory. An ordinary instruction
 * elsewhere can't be it: a jump after it would have been executed before the trap is reported.
 */
#include <stdlib.h>
#include "code/code.h"

const char *const access_result_text[ACCESS_RESULTS] = {
	[ACCESS_NO_CODE] = "no code is known there",
	[ACCESS_NONE] = "nothing that leads there accesses it",
	[ACCESS_SEVERAL] = "more than one instruction may have done it",
	[ACCESS_JUMP] = "by a return or a jump from somewhere",
};

struct accesses {
	bool (*at)(void *ctx, uint64_t addr, struct access_place *out);
	void *ctx;
	struct map64 graph_of; /* object -> index into graphs + 1 */
	VEC(struct graph *) graphs;
};

struct accesses *accesses__new(bool (*at)(void *ctx, uint64_t addr, struct access_place *out),
			       void *ctx)
{
	struct accesses *a = xcalloc(1, sizeof(*a));

	a->at = at;
	a->ctx = ctx;
	return a;
}

void accesses__free(struct accesses *a)
{
	struct graph **g;

	if (!a)
		return;
	vec__each (g, &a->graphs)
		graph__free(*g);
	vec__free(&a->graphs);
	map64__free(&a->graph_of);
	free(a);
}

/* ---- code ---- */

/* Returns the architecture, if it can decode accesses; NULL if not. */
static const struct arch *arch_of(const struct access_place *p)
{
	const struct arch *arch = arch__by_machine(p->object->machine);

	return arch && arch->accesses ? arch : NULL;
}

static struct graph *graph_of(struct accesses *a, const struct access_place *p)
{
	uint64_t *index = map64__put(&a->graph_of, (uintptr_t)p->object);

	if (!*index) {
		vec__push(&a->graphs,
			  graph__new(p->object, p->kernel, object__is_kernel(p->object)));
		*index = a->graphs.len;
	}
	return a->graphs.data[*index - 1];
}

/* Decodes the function that contains vaddr, unless it is decoded already. */
static bool follow(struct graph *g, uint64_t vaddr)
{
	struct function f;

	if (graph__owner(g, vaddr) != NO_FUNCTION)
		return true;
	if (!function__around(g->object, vaddr, &f))
		return false;
	f.flags &= ~FUNCTION_RANGE; /* a selection has no entry to start from */
	graph__add_function(g, &f);
	graph__start(g);
	graph__follow(g);
	return graph__owner(g, vaddr) != NO_FUNCTION;
}

static bool is_start(struct graph *g, uint64_t vaddr)
{
	uint64_t before, after;
	uint32_t owner = graph__owner(g, vaddr), i = graph__known(g, vaddr);

	if (owner == NO_FUNCTION)
		return false;
	if (i && g->nodes.data[i].flags & NODE_REACHED)
		return true;
	return graph__node(g, vaddr) && sweep__is_start(g, owner, vaddr, &before, &after);
}

/* ---- candidates ---- */

enum fit {
	FIT_NONE,
	FIT_MAYBE, /* it accesses memory, but the address can't be computed */
	FIT_YES,
};

struct search {
	struct accesses *a;
	const struct access_hit *hit;
	struct accessor *out;
	uint64_t ip;
	unsigned yes, maybe; /* the candidates */
	bool jumped;	     /* one of the possible candidates is one without a place */
};

static bool overlaps(const struct access *m, const struct access_hit *hit)
{
	uint64_t size = m->size ? m->size : 1ull << 14;

	return m->addr - hit->addr < hit->size || hit->addr - m->addr < size;
}

static void take_value(const struct access *m, const struct access_hit *hit, struct accessor *out)
{
	for (unsigned i = 0; i < hit->size; i++) {
		uint64_t at = hit->addr + i - m->addr;

		if (at >= (m->fills ? m->size : m->known))
			continue;
		out->known |= 1u << i;
		out->value |= (uint64_t)m->stored[at % sizeof(m->stored)] << 8 * i;
	}
}

/* Whether the instruction, whose bytes are at running address addr, accesses the watched memory. */
static enum fit fit(const struct search *s, const struct access_place *p, uint64_t vaddr,
		    struct accessor *found)
{
	struct access_state after = {.regs = s->hit->regs, .fs = s->hit->fs, .gs = s->hit->gs};
	struct access m[ACCESS_MOST];
	enum fit fit = FIT_NONE;
	size_t avail;
	const uint8_t *bytes = object__bytes(p->object, vaddr, &avail);
	int n = arch_of(p)->accesses(bytes, avail, vaddr + p->bias, &after, m);

	for (int i = 0; i < n; i++) {
		if (s->hit->writes && !m[i].writes)
			continue;
		if (m[i].located && !overlaps(&m[i], s->hit))
			continue;
		fit = max_of(fit, m[i].located ? FIT_YES : FIT_MAYBE);
		found->writes |= m[i].writes;
		found->reads |= m[i].reads;
		if (m[i].located && m[i].writes)
			take_value(&m[i], s->hit, found);
	}
	return fit;
}

static void consider(struct search *s, const struct access_place *p, uint64_t vaddr, uint8_t len)
{
	struct accessor found = {.place = *p, .vaddr = vaddr, .len = len};
	enum fit how = fit(s, p, vaddr, &found);
	unsigned better = how == FIT_YES ? s->yes : s->yes + s->maybe;

	s->yes += how == FIT_YES;
	s->maybe += how == FIT_MAYBE;
	if (how && !better)
		*s->out = found;
}

/* Considers instructions that end where the thread continues; the same one without a prefix counts,
 * too. */
static bool consider_before(struct search *s)
{
	struct access_place p;
	uint64_t end, longest;
	uint32_t last = 0;
	struct graph *g;

	if (!s->a->at(s->a->ctx, s->ip - 1, &p) || !arch_of(&p))
		return false;
	g = graph_of(s->a, &p);
	end = s->ip - p.bias;
	if (!follow(g, end - 1))
		return false;
	longest = arch_of(&p)->longest;
	for (uint64_t at = end - longest; at < end; at++) {
		uint32_t i = is_start(g, at) ? graph__known(g, at) : 0;

		if (!i || node__next(&g->nodes.data[i]) != end)
			continue;
		if ((last && sweep__is_past_prefix(g, last, i)) || g->nodes.data[i].branch)
			continue;
		last = i;
		consider(s, &p, at, g->nodes.data[i].len);
	}
	return true;
}

/* A repeated instruction, between two iterations. */
static bool consider_here(struct search *s)
{
	struct access_state after = {.regs = s->hit->regs, .fs = s->hit->fs, .gs = s->hit->gs};
	struct access m[ACCESS_MOST];
	struct access_place p;
	const uint8_t *bytes;
	size_t avail;
	int n;

	if (!s->a->at(s->a->ctx, s->ip, &p) || !arch_of(&p))
		return false;
	bytes = object__bytes(p.object, s->ip - p.bias, &avail);
	if (!bytes)
		return false;
	n = arch_of(&p)->accesses(bytes, avail, s->ip, &after, m);
	if (n > 0 && m[0].repeats && m[0].goes_on)
		consider(s, &p, s->ip - p.bias, m[0].len);
	return true;
}

/* Returns the size of a word of the code that runs, and of its stack. */
static unsigned word_of(const struct search *s)
{
	struct access_place p;

	return s->a->at(s->a->ctx, s->ip, &p) && arch_of(&p) ? arch_of(&p)->word : 8;
}

static bool leads_here(const struct search *s, const struct insn *call, uint64_t bias)
{
	return call->kind == BRANCH_ICALL ||
	       (call->kind == BRANCH_CALL && call->target + bias == s->ip);
}

/* A call leaves its return address on top of the stack. */
static void consider_call(struct search *s)
{
	uint64_t top = word_of(s) == 4 ? (uint32_t)s->hit->top : s->hit->top, end;
	struct access_place p;
	struct graph *g;

	if (!s->hit->has_top || !s->a->at(s->a->ctx, top - 1, &p) || !arch_of(&p))
		return;
	g = graph_of(s->a, &p);
	end = top - p.bias;
	if (!follow(g, end - 1))
		return;
	for (uint64_t at = end - arch_of(&p)->longest; at < end; at++) {
		uint32_t i = is_start(g, at) ? graph__known(g, at) : 0;
		const struct node *n = &g->nodes.data[i];

		if (i && node__next(n) == end && n->branch &&
		    leads_here(s, graph__branch(g, n), p.bias))
			consider(s, &p, at, n->len);
	}
}

static bool overlaps_word(const struct access_hit *hit, uint64_t addr, unsigned word)
{
	return hit->addr - addr < word || addr - hit->addr < hit->size;
}

/* Returns true if ip is one of the two 32-bit words of the aligned word that was accessed. */
static bool holds_narrow(const struct access_hit *hit, uint64_t ip)
{
	return (uint32_t)hit->word == ip || hit->word >> 32 == ip;
}

/*
 * Considers what has read its target there: a return from just below the stack pointer, or a jump.
 * A call is considered by its return address, which may also have been the push of a return address
 * that can't be read. Pointers are assumed to be aligned.
 */
static void consider_jumps(struct search *s)
{
	uint64_t sp = s->hit->regs[arch__native()->sp_reg];
	unsigned word = word_of(s);

	if (!s->hit->has_top && overlaps_word(s->hit, sp, word)) {
		s->maybe++;
		s->jumped = true;
	}
	if (!s->hit->writes && (overlaps_word(s->hit, sp - word, word) ||
				(s->hit->has_word && (word == 4 ? holds_narrow(s->hit, s->ip)
								: s->hit->word == s->ip)))) {
		s->maybe++;
		s->jumped = true;
	}
}

static enum access_result result_of(const struct search *s, bool code)
{
	if (s->yes + s->maybe == 1)
		return s->jumped ? ACCESS_JUMP : ACCESS_PROVED;
	if (s->yes + s->maybe > 1)
		return ACCESS_SEVERAL;
	return code ? ACCESS_NONE : ACCESS_NO_CODE;
}

void accesses__find(struct accesses *a, const struct access_hit *hit, struct accessor *out)
{
	struct search s = {.a = a, .hit = hit, .out = out};
	bool code;

	*out = (struct accessor){.result = ACCESS_NO_CODE};
	s.ip = hit->regs[arch__native()->ip_reg];
	code = consider_before(&s);
	code |= consider_here(&s);
	consider_call(&s);
	consider_jumps(&s);
	out->result = result_of(&s, code);
}
