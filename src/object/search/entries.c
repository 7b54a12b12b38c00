// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes frames of the functions that were found, and proves entries. A call proves one; so does a
 * tail call of a proved function, unless its target may be a label of that function. Claims prove
 * none.
 */
#include <stdlib.h>
#include "search_private.h"

struct tail_call {
	uint64_t from, to; /* starts of functions */
	bool switches;	   /* from has an indirect jump to labels that are not known */
};

typedef VEC(struct frame) frame_vec;

struct entries {
	struct search *s;
	VEC(struct tail_call) calls;
	struct map64 proved; /* by start */
	struct map64 inner;  /* those that jump into the middle of another one */
};

static int by_vaddr(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* Returns true if control that jumps there is at the start of a function. */
static bool is_start(struct search *s, uint64_t addr)
{
	const uint8_t *mark = search__mark(s, addr);
	const struct frame *frame = object__frame_at(s->o, addr);

	if (mark)
		return *mark & MARK_FUNCTION && !map64__get(&s->is_part, addr);
	return (frame && frame->vaddr == addr && !frame->part) ||
	       object__symbols_from(s->o, addr) < s->o->symbols.len;
}

static void note_jumps(struct entries *n, const struct exploration *e)
{
	const struct jump_out *out;

	vec__each (out, &e->outs) {
		if (!is_start(n->s, out->target))
			*map64__put(&n->inner, e->start) = 1;
		else if (out->tail && search__mark(n->s, out->target))
			vec__push(&n->calls,
				  (struct tail_call){e->start, out->target, e->switches});
	}
}

/* Each is explored again, up to the next one. They are appended to *out: exploring them looks
 * frames up. */
static void add_frames(struct entries *n, frame_vec *out)
{
	struct search *s = n->s;
	const uint64_t *start;
	struct exploration e;

	vec__each (start, &s->functions) {
		bool part = map64__get(&s->is_part, *start);

		search__explore(s, *start, search__limit(s, *start, MARK_FUNCTION), part, &e);
		note_jumps(n, &e);
		if (!part && map64__get(&s->is_called, *start))
			*map64__put(&n->proved, *start) = 1;
		vec__push(out, (struct frame){.vaddr = *start,
					      .size = e.end - *start,
					      .part = part,
					      .found = true});
		exploration__free(&e);
	}
}

/* Returns the last member that is less than value; 0 if there is none. */
static uint64_t last_before(const start_vec *v, uint64_t value)
{
	size_t n = bisect(v->len, v->data[i_] < value);

	return n ? v->data[n - 1] : 0;
}

/* Returns true if what it calls is another function: a function's labels follow its entry, and no
 * other function is between. */
static bool leaves(const struct entries *n, const struct tail_call *c, const start_vec *proved)
{
	if (c->to < c->from)
		return true;
	return !c->switches &&
	       (holes__at(&n->s->holes, c->from) != holes__at(&n->s->holes, c->to) ||
		last_before(proved, c->to) > c->from);
}

/* Returns true if there are more now. */
static bool prove_more(struct entries *n)
{
	start_vec proved = {0};
	const struct tail_call *c;
	const uint64_t *start;
	bool more = false;

	vec__each (start, &n->s->functions)
		if (map64__get(&n->proved, *start))
			vec__push(&proved, *start);
	vec__each (c, &n->calls) {
		if (!map64__get(&n->proved, c->from) || map64__get(&n->proved, c->to) ||
		    map64__get(&n->inner, c->to) || !leaves(n, c, &proved))
			continue;
		*map64__put(&n->proved, c->to) = 1;
		more = true;
	}
	vec__free(&proved);
	return more;
}

#define ROUNDS 8 /* tail calls of tail calls */

void entries__make_frames(struct search *s)
{
	struct entries n = {.s = s};
	frame_vec frames = {0};
	struct frame *frame;

	vec__sort(&s->functions, starts__by_value);
	add_frames(&n, &frames);
	for (unsigned round = 0; round < ROUNDS && prove_more(&n); round++)
		;
	vec__each (frame, &frames) {
		frame->unproved = !map64__get(&n.proved, frame->vaddr);
		vec__push(&s->o->frames, *frame);
	}
	vec__sort(&s->o->frames, by_vaddr);
	vec__free(&frames);
	vec__free(&n.calls);
	map64__free(&n.proved);
	map64__free(&n.inner);
}
