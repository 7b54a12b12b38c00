// SPDX-License-Identifier: BSD-2-Clause
/*
 * log: turns what copied functions have logged into events. The format of a record follows from its
 * kind and its site. The program can write anything to its log: nothing that is read there is used
 * as an index or a length before it was checked.
 */
#include <errno.h>
#include <stdlib.h>
#include "event/event.h"
#include "plan/plan.h"

struct log_decoder {
	const struct plan *plan;
	const struct log_options *options;
	struct log_clock clock;
	bool witnesses;	    /* some records are no events */
	struct event event; /* the last one */
	struct event_entry entry;
	struct logged_words record; /* what it was decoded from */
	struct logged_time time;
	uint64_t regs[EVENT_REGS], stack[STACK_FRAMES];
	char comm[sizeof(((struct log_thread *)0)->comm) + 1];
};

/* A record with what its first word says. */
struct log_record {
	const uint64_t *words;
	uint32_t kind; /* enum log_kind */
	const struct plan_site *site;
	bool taken;
	unsigned lowered; /* bytes */
};

struct log_decoder *log_decoder__new(const struct plan *plan, const struct log_options *options,
				     struct log_clock clock)
{
	struct log_decoder *d = xcalloc(1, sizeof(*d));
	const struct plan_site *s;

	d->plan = plan;
	d->options = options;
	d->clock = clock;
	vec__each (s, &plan->sites)
		d->witnesses |= s->role == ROLE_WITNESS && s->probe == PROBE_INLINE;
	return d;
}

uint32_t log_decoder__regs(const struct log_decoder *d)
{
	return d->options->regs;
}

void log_decoder__free(struct log_decoder *d)
{
	free(d);
}

/* ---- what a record looks like ---- */

static bool is_indirect(const struct plan_site *s)
{
	return s->kind == BRANCH_IJMP || s->kind == BRANCH_ICALL;
}

/* What the copies log (src/copy/emit.c) of a site that only counts. */
static uint32_t kind_of_count(const struct log_decoder *d, const struct plan_site *s)
{
	if (s->role == ROLE_BRANCH && is_indirect(s))
		return LOG_TARGET;
	if (s->role == ROLE_BRANCH && s->kind == BRANCH_RET)
		return LOG_RETURN;
	return d->options->by_records ? LOG_BRANCH : LOG_NONE;
}

/* Returns true if each execution of this site has a record of this kind. */
static bool has_record(const struct plan_site *s, uint32_t kind)
{
	if (s->probe != PROBE_INLINE && !s->logs)
		return false;
	switch (kind) {
	case LOG_BRANCH:
		return s->role == ROLE_WITNESS ||
		       (s->role == ROLE_BRANCH && !s->entry && s->kind != BRANCH_NONE &&
			s->kind != BRANCH_RET && !is_indirect(s));
	case LOG_TARGET:
		return s->role == ROLE_BRANCH && !s->entry && is_indirect(s);
	case LOG_RETURN:
		return s->role == ROLE_BRANCH && !s->entry && s->kind == BRANCH_RET;
	case LOG_ENTRY:
		return s->role != ROLE_WITNESS && s->entry;
	default:
		return false;
	}
}

/* Returns true if it is no longer traced, but the copy continues to log it. */
static bool is_ignored(const struct plan_site *s)
{
	return s->logs && s->probe == PROBE_NONE;
}

/* Returns true if this site can be logged by a record of this kind. */
static bool is_of_kind(const struct log_decoder *d, const struct plan_site *s, uint32_t kind)
{
	return s->probe == PROBE_INLINE_COUNT ? kind == kind_of_count(d, s) : has_record(s, kind);
}

/* Returns the size of an entry, without its callers. */
static size_t size_of_entry(const struct log_decoder *d, const struct plan_site *s)
{
	bool goes = s && (s->kind == BRANCH_RET || is_indirect(s));

	return 4 + (goes ? 2 : 0) + __builtin_popcount(d->options->regs);
}

/* Returns how many values the record of a branch has, if its tested values are logged. */
static unsigned values_of(const struct log_decoder *d, const struct plan_site *s)
{
	struct operand values[2];

	return s && s->test && s->role == ROLE_BRANCH ? plan__logged_values(d->plan, s, values) : 0;
}

/* Returns the size in words, of the n that there are; 0 if it is no record. */
static size_t size_of(const struct log_decoder *d, const struct log_record *r, size_t n)
{
	size_t entry;

	switch (r->kind) {
	case LOG_BRANCH:
		return 1 + values_of(d, r->site) + d->options->timed;
	case LOG_TARGET:
		return 2 + d->options->timed;
	case LOG_RETURN:
		return 4;
	case LOG_ENTRY:
		entry = size_of_entry(d, r->site);
		if (!d->options->callers)
			return entry;
		return entry < n && r->words[entry] <= LOG_CALLERS ? entry + 1 + r->words[entry]
								   : 0;
	case LOG_LOST:
		return 2;
	case LOG_END:
		return 1;
	case LOG_GOROUTINE:
		return 5;
	default:
		return 0;
	}
}

static unsigned lowered_of(uint32_t id)
{
	unsigned lowered = id >> LOG_LOWERED_SHIFT & LOG_LOWERED_MASK;

	return LOG_LOWERED(lowered) * 8;
}

static struct log_record record_of(const struct log_decoder *d, const uint64_t *words)
{
	uint32_t id = words[0], site = id & (LOG_TAKEN - 1);
	const struct plan_site *sites = d->plan->sites.data;

	return (struct log_record){.words = words,
				   .kind = id >> LOG_KIND_SHIFT,
				   .site = site < d->plan->sites.len ? &sites[site] : NULL,
				   .taken = id & LOG_TAKEN,
				   .lowered = lowered_of(id)};
}

/* ---- values ---- */

/* The distance from a stack pointer to the nearest one with this low half. */
static int32_t distance(uint64_t sp, uint32_t low)
{
	return (int32_t)(low - (uint32_t)sp);
}

/* Returns true if it is on a stack at a distance of less than half of what the low half can
 * express. */
static bool is_same_stack(uint64_t a, uint64_t b)
{
	int64_t between = (int64_t)(a - b);

	return between > -(1ll << 31) && between < 1ll << 31;
}

void log_thread__at(struct log_thread *t, uint64_t sp)
{
	unsigned i = 0;

	while (i < LOG_STACKS - 1 && t->stacks[i] && !is_same_stack(t->stacks[i], sp))
		i++;
	memmove(t->stacks + 1, t->stacks, i * sizeof(*t->stacks));
	t->stacks[0] = sp;
}

#define STACK_STEP (8 << 20) /* stack pointers of successive events are rarely so far apart */

/*
 * Returns the stack pointer with this low half: on the stack of the goroutine that was reported, if
 * possible; else on the stack whose last pointer it is nearest to, as after a handler on an
 * alternate stack; on the last stack, if it would be far from all.
 */
static uint64_t whole_sp(const struct log_thread *t, uint32_t low)
{
	uint64_t sp = t->stack_low + (uint32_t)(low - (uint32_t)t->stack_low);
	int64_t nearest = STACK_STEP;
	unsigned at = 0;

	if (log_thread__is_goroutine(t, sp))
		return sp;
	for (unsigned i = 0; i < LOG_STACKS && t->stacks[i]; i++) {
		int64_t d = llabs(distance(t->stacks[i], low));

		if (d < nearest) {
			nearest = d;
			at = i;
		}
	}
	return t->stacks[at] + distance(t->stacks[at], low);
}

/* 0: that of untimed ones, not before what was read from the ring earlier. */
uint64_t log_decoder__time(const struct log_decoder *d, const struct log_thread *t, uint64_t ticks)
{
	uint64_t ns = ticks ? d->clock.ns(d->clock.ctx, ticks) : t->after;

	return max_of(t->time, min_of(ns, t->until));
}

static void take_time(struct log_decoder *d, struct log_thread *t, uint64_t ticks)
{
	d->event.time = t->time = log_decoder__time(d, t, ticks);
	d->event.untimed = !ticks;
}

static void take_target(struct event *e, const uint64_t *value, bool is_ret)
{
	e->has_target = value[0];
	e->target = value[0];
	e->has_value = is_ret;
	e->value = is_ret ? value[1] : 0;
}

static void take_values(struct log_decoder *d, const struct log_record *r)
{
	const struct test *t = r->site->test;
	const uint64_t *word = r->words + 1;
	uint64_t place[2] = {0};
	unsigned known = 3;

	for (unsigned i = 0; i < t->n; i++) {
		if (t->operand[i].kind == OPERAND_NONE)
			continue;
		if (t->operand[i].kind == OPERAND_MEM && *word == LOG_UNREADABLE)
			known &= ~(1u << i);
		place[i] = *word++;
	}
	tested__take(&d->event.tested, d->plan, r->site, r->taken, place, known);
}

/* Takes those of an entry from its registers: nothing is executed between it and the branch. */
static void take_entry_values(struct log_decoder *d, const struct log_record *r)
{
	const struct test *t = r->site->test;
	uint64_t place[2] = {0};
	unsigned known = 0;

	for (unsigned i = 0; i < t->n; i++) {
		unsigned reg = t->operand[i].at.base;

		if (t->operand[i].kind != OPERAND_REG || reg >= 32 ||
		    !(d->options->regs >> reg & 1))
			continue;
		place[i] = d->regs[reg];
		known |= 1u << i;
	}
	tested__take(&d->event.tested, d->plan, r->site, r->taken, place, known);
}

static void take_regs(struct log_decoder *d, const uint64_t *words)
{
	uint32_t regs = d->options->regs;

	memset(d->regs, 0, sizeof(d->regs));
	for (; regs; regs &= regs - 1)
		d->regs[__builtin_ctz(regs)] = *words++;
}

/* Returns the stack pointer among the registers of an entry, or as the log has lowered it; 0 if it
 * was not recorded. */
static uint64_t sp_of_entry(const struct log_decoder *d, const uint64_t *regs, uint32_t low)
{
	unsigned sp_reg = d->plan->arch->sp_reg;
	uint64_t sp;

	if (sp_reg >= 32 || !(d->options->regs >> sp_reg & 1))
		return 0;
	sp = regs[__builtin_popcount(d->options->regs & ((1u << sp_reg) - 1))];
	return sp + distance(sp, low);
}

void log_decoder__entry(const struct log_decoder *d, const struct log_thread *t,
			const uint64_t *words, const struct logged *r, struct logged_entry *out)
{
	const struct plan_site *s = &d->plan->sites.data[r->site];
	uint32_t low = (uint32_t)(words[0] >> 32) + r->lowered;
	bool goes = s->kind == BRANCH_RET || is_indirect(s);
	uint64_t sp = sp_of_entry(d, words + (goes ? 6 : 4), low);

	*out = (struct logged_entry){.time = log_decoder__time(d, t, words[1]),
				     .sp = sp ? sp : whole_sp(t, low),
				     .caller = words[2],
				     .ip = words[3] + s->probe_at};
}

/* The instruction, its return address, and those that frame pointers lead to. */
static void take_callers(struct log_decoder *d, const uint64_t *words)
{
	size_t n = words[0];

	_Static_assert(2 + LOG_CALLERS <= STACK_FRAMES, "room");
	d->stack[0] = d->entry.ip;
	d->stack[1] = d->entry.caller;
	memcpy(d->stack + 2, words + 1, n * sizeof(*words));
	d->entry.stack = d->stack;
	d->entry.nstack = d->entry.caller ? 2 + n : 1;
}

/* Returns where the time stamp counter is in a record; 0 if it has none. */
static size_t ticks_at(const struct log_decoder *d, const struct log_record *r)
{
	switch (r->kind) {
	case LOG_ENTRY:
	case LOG_GOROUTINE:
		return 1;
	case LOG_RETURN:
		return 3;
	case LOG_BRANCH:
		return d->options->timed ? 1 + values_of(d, r->site) : 0;
	case LOG_TARGET:
		return d->options->timed ? 2 : 0;
	default:
		return 0;
	}
}

static void take_entry(struct log_decoder *d, struct log_thread *t, const struct log_record *r)
{
	const struct plan_site *s = r->site;
	bool goes = s->kind == BRANCH_RET || is_indirect(s);
	const struct arch *arch = d->plan->arch;
	const uint64_t *regs = r->words + (goes ? 6 : 4);
	uint64_t sp = sp_of_entry(d, regs, d->event.sp);

	take_regs(d, regs);
	if (goes)
		take_target(&d->event, r->words + 4, s->kind == BRANCH_RET);
	if (sp) {
		d->event.sp = sp;
		log_thread__at(t, sp);
	}
	memcpy(d->comm, t->comm, sizeof(t->comm));
	d->entry = (struct event_entry){
		.ip = r->words[3] + s->probe_at,
		.caller = r->words[2],
		.comm = d->comm,
		.regs = d->regs,
		.nregs = min_of(arch->nregs, (unsigned)EVENT_REGS),
	};
	d->regs[arch->ip_reg] = d->entry.ip;
	d->regs[arch->sp_reg] = d->event.sp;
	d->event.entry = &d->entry;
	if (d->options->callers)
		take_callers(d, r->words + size_of_entry(d, s));
}

static void take_goroutine(struct log_decoder *d, struct log_thread *t, const struct log_record *r)
{
	t->time = log_decoder__time(d, t, r->words[1]);
	t->goroutine = r->words[2] ? r->words[2] | (r->taken ? GOROUTINE_AT : 0) : 0;
	t->stack_low = r->words[3];
	t->stack_high = r->words[4];
	t->goroutine_known = true;
	t->nobodys = false;
}

/* Goroutines have stacks that move: stack pointers are relative to their ends. */
static void attribute(struct log_decoder *d, const struct log_thread *t)
{
	struct event *e = &d->event;

	if (!log_thread__is_goroutine(t, e->sp))
		return;
	e->goroutine = t->goroutine;
	e->sp -= t->stack_high;
}

/* Returns true if it is of a Go program, and its goroutine isn't known. */
static bool is_nobodys(const struct log_decoder *d, const struct log_thread *t,
		       const struct log_record *r)
{
	const struct plan *p = d->plan;
	const struct object *o;

	if (t->goroutine_known || !r->site || r->site->object >= p->objects.len)
		return false;
	o = p->objects.data[r->site->object].object;
	return o && o->go;
}

static void take_common(struct log_decoder *d, struct log_thread *t, const struct log_record *r)
{
	uint64_t sp = whole_sp(t, (uint32_t)(r->words[0] >> 32) + r->lowered);

	d->event = (struct event){.time = t->time,
				  .pid = t->pid,
				  .tid = t->tid,
				  .sp = sp,
				  .cpu = EVENT_NO_CPU,
				  .type = EVENT_BRANCH,
				  .untimed = true};
	if (r->kind != LOG_ENTRY)
		log_thread__at(t, sp);
}

static void take_site(struct log_decoder *d, struct log_thread *t, const struct log_record *r)
{
	const struct plan_site *s = r->site;
	size_t ticks = ticks_at(d, r);

	d->event.site = s - d->plan->sites.data;
	d->event.taken = r->taken;
	if (ticks)
		take_time(d, t, r->words[ticks]);
	if (r->kind == LOG_ENTRY) {
		d->event.type = EVENT_ENTRY;
		take_entry(d, t, r);
		if (s->test)
			take_entry_values(d, r);
		return;
	}
	if (r->kind == LOG_BRANCH && values_of(d, s))
		take_values(d, r);
	if (r->kind == LOG_TARGET || r->kind == LOG_RETURN)
		take_target(&d->event, r->words + 1, r->kind == LOG_RETURN);
}

/* Keeps what the event was decoded from, if its time is known where it has one. before: the thread
 * before it. */
static void keep_record(struct log_decoder *d, const struct log_thread *before,
			const struct log_record *r, size_t size)
{
	size_t ticks = ticks_at(d, r);

	if (ticks && d->event.untimed)
		return;
	d->time = (struct logged_time){ticks, d->event.time};
	d->record = (struct logged_words){.thread = *before,
					  .regs = d->options->regs,
					  .words = r->words,
					  .n = size,
					  .events = 1,
					  .times = &d->time,
					  .ntimes = ticks != 0};
	d->event.record = &d->record;
}

bool log_decoder__id(const struct log_decoder *d, uint32_t id, struct logged *out)
{
	const uint64_t word = id;
	struct log_record r = record_of(d, &word);

	if (!r.site || !is_of_kind(d, r.site, r.kind) || is_ignored(r.site) ||
	    (r.kind == LOG_ENTRY && d->options->callers)) /* of any size */
		return false;
	*out = (struct logged){.site = r.site - d->plan->sites.data,
			       .kind = r.kind,
			       .taken = r.taken,
			       .lowered = r.lowered,
			       .words = size_of(d, &r, 0)};
	return true;
}

/* The program may write any number there: more than one a nanosecond can't be, and is taken for
 * one. A witness shows that there was a branch, others may show the same one. */
static uint64_t lost_by(const struct log_decoder *d, const struct log_thread *t, uint64_t n)
{
	uint64_t ns = t->until - min_of(t->until, t->time);

	return d->witnesses || n > ns ? min_of(n, (uint64_t)1) : n;
}

/* Reads the first word of a record, of the n words that there are. Returns its size; 0 if it is the
 * end of a segment (LOG_END), or no record of this plan. */
static size_t open_record(const struct log_decoder *d, const uint64_t *words, size_t n,
			  struct log_record *r)
{
	size_t size;

	if (!n)
		return 0;
	*r = record_of(d, words);
	size = size_of(d, r, n);
	if (size > n || r->kind == LOG_END)
		return 0;
	if (r->kind != LOG_LOST && r->kind != LOG_GOROUTINE &&
	    !(r->site && is_of_kind(d, r->site, r->kind)))
		return 0;
	return size;
}

int log_decoder__event(struct log_decoder *d, struct log_thread *t, const uint64_t *words, size_t n,
		       const struct event **out)
{
	struct log_record r = {0};
	size_t size = open_record(d, words, n, &r);
	const struct log_thread before = *t;

	*out = NULL;
	if (!size)
		return r.kind == LOG_END ? 0 : -EBADMSG;
	if (r.kind == LOG_GOROUTINE) {
		take_goroutine(d, t, &r);
		return size;
	}
	take_common(d, t, &r);
	if (r.kind == LOG_LOST) {
		d->event.type = EVENT_LOST;
		d->event.count = lost_by(d, t, r.words[1]);
	} else if ((t->nobodys = is_nobodys(d, t, &r))) {
		d->event.type = EVENT_LOST;
		d->event.count = 1;
	} else {
		take_site(d, t, &r);
		attribute(d, t);
		keep_record(d, &before, &r, size);
	}
	if (r.kind == LOG_LOST || !is_ignored(r.site))
		*out = &d->event;
	return size;
}

uint64_t log_decoder__hits(const struct log_decoder *d, const uint64_t *words, size_t n)
{
	uint64_t hits = 0;
	size_t size = 1;

	for (size_t at = 0; size && at < n; at += size) {
		struct log_record r = {0};

		size = open_record(d, words + at, n - at, &r);
		if (!size)
			hits += r.kind != LOG_END;
		else if (r.kind == LOG_LOST)
			hits += r.words[1];
		else if (r.kind != LOG_GOROUTINE)
			hits += !is_ignored(r.site);
	}
	return d->witnesses ? min_of(hits, (uint64_t)1) : hits;
}

size_t log_decoder__look(const struct log_decoder *d, const uint64_t *words, size_t n,
			 uint64_t *time)
{
	struct log_record r;
	size_t size = open_record(d, words, n, &r), ticks = size ? ticks_at(d, &r) : 0;

	*time = ticks && words[ticks] ? d->clock.ns(d->clock.ctx, words[ticks]) : 0;
	return size;
}
