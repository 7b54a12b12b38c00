// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include "run.h"

/* A thread's steps are in parts of this size; the last bytes of a part say where the next one is.
 * The first part is small: there may be many threads. */
#define FIRST_PART 512u
#define PART	   (64u << 10)
#define LINK_SIZE  (sizeof(uint32_t) + sizeof(uint64_t))
#define FEW	   16
#define MOST_SEEN  (1u << 16) /* outcomes of a call that make its path */
#define MOST_DEEP  4096	      /* calls that are searched for that of a step */

struct open_call {
	uint32_t call;
	uint64_t id; /* step.call */
	/* The outcomes so far: a few, then a map. */
	uint64_t few[FEW];
	size_t seen;
	struct map64 more;
};

/* ---- steps ---- */

static int begin_part(struct run *r, struct thread *t, size_t len)
{
	uint64_t size = max_of((uint64_t)(t->first ? PART : FIRST_PART),
			       (uint64_t)(len + sizeof(uint32_t) + LINK_SIZE)),
		 at;
	int err = spill__extend(&r->steps, size, &at);
	uint8_t *link;

	if (err)
		return err;
	if (t->first) {
		link = r->steps.base + t->at;
		memset(link, 0, sizeof(uint32_t));
		memcpy(link + sizeof(uint32_t), &at, sizeof(at));
	} else {
		t->first = at;
	}
	t->at = at;
	t->end = at + size - LINK_SIZE;
	return 0;
}

/* *at is where the step is then. */
static int append(struct run *r, struct thread *t, uint64_t *at)
{
	uint32_t len = (uint32_t)r->bytes.len;
	int err = 0;

	if (!t->first || t->end - t->at < len + sizeof(len))
		err = begin_part(r, t, len);
	if (err)
		return err;
	*at = t->at;
	memcpy(r->steps.base + t->at, &len, sizeof(len));
	memcpy(r->steps.base + t->at + sizeof(len), r->bytes.data, len);
	t->at += sizeof(len) + len;
	t->steps++;
	return 0;
}

const uint8_t *run__next(const struct run *r, uint64_t *at, uint64_t to, size_t *len)
{
	uint32_t size;

	if (*at == to)
		return NULL;
	memcpy(&size, r->steps.base + *at, sizeof(size));
	if (!size) {
		memcpy(at, r->steps.base + *at + sizeof(size), sizeof(*at));
		if (*at == to)
			return NULL;
		memcpy(&size, r->steps.base + *at, sizeof(size));
	}
	*len = size;
	*at += sizeof(size) + size;
	return r->steps.base + *at - size;
}

/* ---- what a call did ---- */

uint64_t run__outcome(const struct step *s)
{
	const struct plan_site *site = &s->plan->sites.data[s->site];
	uint64_t to = s->to_known && !site->target ? s->to.vaddr : 0;

	return ((uint64_t)s->site << 1 | s->taken) ^ to * 0x9e3779b97f4a7c15ull << 20;
}

/* Returns true if the call has not had it before. */
static bool is_new(struct open_call *c, uint64_t outcome)
{
	for (size_t i = 0; i < min_of(c->seen, (size_t)FEW); i++)
		if (c->few[i] == outcome)
			return false;
	if (c->seen >= FEW && map64__get(&c->more, outcome))
		return false;
	if (c->seen < FEW)
		c->few[c->seen] = outcome;
	else if (c->seen < MOST_SEEN)
		*map64__put(&c->more, outcome) = 1;
	else
		return false;
	c->seen++;
	return true;
}

static void add_outcome(struct run *r, struct open_call *c, const struct step *s)
{
	struct call *call = run__call(r, c->call);
	uint64_t outcome = run__outcome(s);

	++*map64__put(&r->outcomes, outcome);
	call->branches++;
	r->functions.data[call->function].branches++;
	if (is_new(c, outcome))
		call->path = (call->path ^ outcome) * 0x100000001b3ull + 1;
}

/* ---- which call a step belongs to ---- */

static struct open_call *innermost(const struct thread *t)
{
	return t->open.len ? *vec__last(&t->open) : NULL;
}

static void pop(struct run *r, struct thread *t, unsigned flags)
{
	struct open_call *c = innermost(t);
	struct call *call = run__call(r, c->call);

	call->end = t->at;
	call->flags |= flags;
	map64__free(&c->more);
	free(c);
	t->open.len--;
}

static bool is_open(const struct thread *t, uint64_t id)
{
	for (size_t i = 0; id && i < t->open.len && i < MOST_DEEP; i++)
		if (t->open.data[t->open.len - 1 - i]->id == id)
			return true;
	return false;
}

/* The calls within this one have ended, unless it isn't known. */
static void settle(struct run *r, struct thread *t, uint64_t id)
{
	if (!t->open.len || innermost(t)->id == id || !is_open(t, id))
		return;
	while (innermost(t)->id != id)
		pop(r, t, CALL_CUT);
}

static void link_call(struct run *r, uint32_t i, unsigned flags)
{
	struct calls_of *f;

	while (r->functions.len < r->plan->functions.len)
		vec__add(&r->functions);
	f = &r->functions.data[run__call(r, i)->function];
	if (f->last)
		run__call(r, f->last - 1)->next = i + 1;
	else
		f->first = i + 1;
	f->last = i + 1;
	f->n++;
	f->entries += !(flags & CALL_NO_ENTRY);
}

static int open_call(struct run *r, struct thread *t, const struct step *s, unsigned flags)
{
	struct open_call *outer = innermost(t), *c;
	uint32_t i = r->ncalls;
	uint64_t at;
	int err;

	if (i >= UINT32_MAX - 1)
		return err__set(EFBIG,
				"%s has too many calls to browse: choose a part by --from, "
				"--to or FUNC",
				r->name);
	err = spill__extend(&r->calls, sizeof(struct call), &at);
	if (err)
		return err;
	r->ncalls++;
	*run__call(r, i) = (struct call){.time = s->time,
					 .function = s->function,
					 .thread = (uint32_t)(t - r->threads.data),
					 .outer = outer ? outer->call + 1 : 0,
					 .depth = s->depth,
					 .flags = flags};
	link_call(r, i, flags);
	t->calls++;
	c = xcalloc(1, sizeof(*c));
	c->call = i;
	c->id = s->call;
	vec__push(&t->open, c);
	return 0;
}

/* Returns true if the innermost call is that of the step. */
static bool is_current(const struct run *r, const struct thread *t, const struct step *s)
{
	const struct open_call *c = innermost(t);

	return c && c->id == s->call && run__call(r, c->call)->function == s->function;
}

/* Finds the call of a branch or a return. */
static int find_call(struct run *r, struct thread *t, const struct step *s, bool *begins)
{
	*begins = false;
	if (s->function >= r->plan->functions.len)
		return 0;
	settle(r, t, s->call);
	if (is_current(r, t, s) || is_open(t, s->call))
		return 0;
	*begins = true;
	return open_call(r, t, s, CALL_NO_ENTRY);
}

/* ---- steps of each type ---- */

static int keep(struct run *r, struct thread *t, const struct step *s, uint32_t call, uint64_t *at)
{
	str__clear(&r->bytes);
	record__put(&r->names, s, call, &r->bytes);
	t->task = r->names.last;
	return append(r, t, at);
}

static int take_entry(struct run *r, struct thread *t, const struct step *s)
{
	uint64_t at;
	int err;

	if (s->function >= r->plan->functions.len)
		return keep(r, t, s, 0, &at);
	settle(r, t, s->caller);
	err = open_call(r, t, s, 0);
	if (!err)
		err = keep(r, t, s, r->ncalls, &at);
	if (!err)
		run__call(r, r->ncalls - 1)->begin = at;
	return err;
}

static void take_return(struct run *r, struct thread *t, const struct step *s, uint64_t at)
{
	struct call *call = run__call(r, innermost(t)->call);

	call->last = at;
	call->duration = s->duration;
	pop(r, t, CALL_RETURNED | (s->has_duration ? CALL_TIMED : 0));
}

static int take_in_call(struct run *r, struct thread *t, const struct step *s)
{
	uint64_t at;
	bool begins;
	int err = find_call(r, t, s, &begins);

	if (!err)
		err = keep(r, t, s, 0, &at);
	if (err)
		return err;
	if (begins)
		run__call(r, innermost(t)->call)->begin = at;
	if (!is_current(r, t, s))
		return 0;
	if (s->type == STEP_RETURN)
		take_return(r, t, s, at);
	else if (s->site < r->plan->sites.len)
		add_outcome(r, innermost(t), s);
	return 0;
}

/* All calls that the thread is in may have done more than what is known. */
static int take_gap(struct run *r, struct thread *t, const struct step *s)
{
	uint64_t at;

	t->missing++;
	for (size_t i = 0; i < t->open.len && i < MOST_DEEP; i++) {
		struct call *c = run__call(r, t->open.data[t->open.len - 1 - i]->call);

		r->functions.data[c->function].missing += !(c->flags & CALL_UNCERTAIN);
		c->flags |= CALL_UNCERTAIN;
	}
	return keep(r, t, s, 0, &at);
}

static struct thread *thread_of(struct run *r, const struct step *s)
{
	uint64_t key = step__is_global(s) ? 0 : step__thread_key(s);
	uint64_t *known = map64__put(&r->thread_of, key);

	if (!*known) {
		*vec__add(&r->threads) = (struct thread){.key = key, .started = s->time};
		*known = r->threads.len;
	}
	return &r->threads.data[*known - 1];
}

int run__step(struct run *r, const struct step *s)
{
	struct thread *t = thread_of(r, s);
	uint64_t at;

	r->total++;
	switch (s->type) {
	case STEP_ENTRY:
		return take_entry(r, t, s);
	case STEP_BRANCH:
	case STEP_RETURN:
		return take_in_call(r, t, s);
	case STEP_LOST:
	case STEP_UNKNOWN:
		return take_gap(r, t, s);
	default:
		return keep(r, t, s, 0, &at);
	}
}

void run__end(struct run *r)
{
	struct thread *t;

	vec__each (t, &r->threads)
		while (t->open.len)
			pop(r, t, 0);
}

int run__init(struct run *r, const char *name, const struct plan *plan, uint64_t start)
{
	uint64_t at;

	*r = (struct run){.name = name,
			  .plan = plan,
			  .steps = SPILL_NONE,
			  .calls = SPILL_NONE,
			  .start = start};
	return spill__extend(&r->steps, sizeof(at), &at); /* no step is at 0 */
}

void run__free(struct run *r)
{
	struct thread *t;

	run__end(r);
	vec__each (t, &r->threads)
		vec__free(&t->open);
	vec__free(&r->threads);
	vec__free(&r->functions);
	map64__free(&r->thread_of);
	map64__free(&r->outcomes);
	names__free(&r->names);
	spill__free(&r->steps);
	spill__free(&r->calls);
	str__free(&r->bytes);
}
