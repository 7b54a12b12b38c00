// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where control comes back by no edge of the graph. Of a function that can be entered in the middle
 * each branch keeps its probe: a path between two of its events may be one that wasn't taken. After
 * a call that may return twice a witness is enough, since the call itself has a probe.
 */
#include <stdlib.h>
#include "plan/plan_private.h"

/* Returns true if a function that the object calls through a pointer may be one that returns twice:
 * the object imports one, or is a program that contains one. A libc does, which says nothing. */
static bool refers_to_twice(const struct object *o)
{
	bool contains = false, is_program = !o->pie;
	const struct got_slot *slot;
	const struct symbol *s;

	vec__each (slot, &o->slots)
		if (slot->name && twice__is_name(slot->name))
			return true;
	vec__each (s, &o->symbols) {
		bool is_twice = twice__is_name(s->name);

		if (is_twice && s->type == SYMBOL_PLT)
			return true;
		contains |= is_twice;
		is_program |= !strcmp(s->name, "_start");
	}
	return contains && is_program;
}

static bool *objects_with_twice(const struct plan *p)
{
	bool *twice = xcalloc(p->objects.len + 1, sizeof(*twice));

	for (size_t i = 0; i < p->objects.len; i++)
		twice[i] = p->objects.data[i].object && !p->objects.data[i].kernel &&
			   refers_to_twice(p->objects.data[i].object);
	return twice;
}

/* known: by object, 1 + whether the function at an address returns twice. */
static bool may_return_twice(const struct plan *p, const struct plan_site *s, const bool *twice,
			     struct map64 *known)
{
	uint64_t *callee;

	if (s->kind != BRANCH_CALL)
		return s->kind == BRANCH_ICALL && twice[s->object];
	callee = map64__put(&known[s->object], s->target);
	if (!*callee)
		*callee = 1 + twice__returns(p->objects.data[s->object].object, p->arch, s->target);
	return *callee == 2;
}

/* The callee of a direct call. __morestack (gcc -fsplit-stack) calls its caller's rest as a
 * function, and returns after that. */
static bool calls_rest(const struct plan *p, const struct plan_site *s)
{
	const struct symbol *to = object__symbol_at(p->objects.data[s->object].object, s->target);

	return to && !strncmp(to->name, "__morestack", strlen("__morestack"));
}

/* Returns true for a call into the middle of its own function: an inline thunk. The call of the
 * next instruction only reads the program counter. */
static bool calls_inside(const struct plan *p, const struct plan_block *b,
			 const struct plan_site *s)
{
	uint32_t to = s->target == b->end ? NO_BLOCK : plan__block_at(p, s->object, s->target);

	return to != NO_BLOCK && p->blocks.data[to].function == b->function &&
	       p->functions.data[b->function].entry_block != to;
}

void irregular__find(struct plan *p)
{
	struct map64 *known = xcalloc(p->objects.len + 1, sizeof(*known));
	autofree bool *twice = objects_with_twice(p);
	struct plan_block *b;

	vec__each (b, &p->blocks) {
		const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];

		if (b->function == NO_FUNCTION || p->objects.data[b->object].kernel ||
		    !p->objects.data[b->object].object)
			continue;
		if (b->abnormal == ABNORMAL_ADDRESS ||
		    (s && s->kind == BRANCH_CALL && (calls_inside(p, b, s) || calls_rest(p, s))))
			p->functions.data[b->function].irregular = true;
		if (s && b->next != NO_BLOCK && !p->blocks.data[b->next].abnormal &&
		    may_return_twice(p, s, twice, known))
			p->blocks.data[b->next].abnormal = ABNORMAL_TWICE;
	}
	for (size_t i = 0; i < p->objects.len; i++)
		map64__free(&known[i]);
	free(known);
}
