// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fields of records and sideband events: see event_codec.h. Each code_…() writes its argument,
 * or returns what it read.
 */
#include "file/event_codec.h"
#include "file/format.h"

#define always_inline inline __attribute__((always_inline))

static always_inline uint64_t code_number(struct codec *c, enum column_id id, uint64_t v)
{
	if (!c->writing)
		return get_number(&c->in[id]);
	put_number(&c->out[id], v);
	return v;
}

static always_inline uint64_t code_delta(struct codec *c, enum column_id id, uint64_t v,
					 uint64_t expected)
{
	return expected + unzigzag(code_number(c, id, zigzag(v - expected)));
}

static always_inline uint32_t code_bits(struct codec *c, enum column_id id, uint32_t v, unsigned n)
{
	if (!c->writing)
		return get_bits(&c->bits_in[id], n);
	put_bits(&c->bits_out[id], v, n);
	return v;
}

/* ---- records ---- */

enum { MISS_SITE = 1, MISS_KIND = 2, MISS_SP = 4, MISS_CPU = 8, MISS_STATE = 16 };

static void code_misses(struct codec *c, struct record *x, const struct thread_state *th,
			uint32_t site, uint64_t sp)
{
	const struct site_state *s;
	unsigned misses = 0;

	if (c->writing) {
		s = event_model__site(&c->m, x->site);
		misses = (x->site != site ? MISS_SITE : 0) | (x->kind != s->kind ? MISS_KIND : 0) |
			 (x->sp != sp ? MISS_SP : 0) | (x->cpu != th->cpu ? MISS_CPU : 0) |
			 (x->state != s->state ? MISS_STATE : 0);
	}
	if (!code_bits(c, COLUMN_HITS, !misses, 1))
		misses = code_number(c, COLUMN_MISSES, misses);
	else
		misses = 0;
	x->site = misses & MISS_SITE ? (uint32_t)code_delta(c, COLUMN_MISSES, x->site, site) : site;
	if (x->site > c->m.plan->sites.len) {
		c->bad = true;
		x->site = c->m.plan->sites.len;
	}
	s = event_model__site(&c->m, x->site);
	x->kind = misses & MISS_KIND ? (uint32_t)code_number(c, COLUMN_MISSES, x->kind) : s->kind;
	x->sp = misses & MISS_SP ? code_delta(c, COLUMN_MISSES, x->sp, sp) : sp;
	x->cpu = misses & MISS_CPU ? (uint32_t)code_number(c, COLUMN_MISSES, x->cpu) : th->cpu;
	x->state =
		misses & MISS_STATE ? (uint32_t)code_number(c, COLUMN_MISSES, x->state) : s->state;
}

static void code_values(struct codec *c, struct record *x, const struct site_state *s,
			const struct thread_state *th)
{
	const struct plan *plan = c->m.plan;
	uint64_t expected = s->value[0], *value = x->value, caller;

	if (x->kind == RECORD_RETURN ||
	    (x->site < plan->sites.len && plan->sites.data[x->site].kind == BRANCH_RET)) {
		caller = thread_state__caller(th, x->sp);
		expected = caller ? caller : expected;
	}
	value[0] = code_delta(c, COLUMN_VALUES, value[0], expected);
	value[1] = code_delta(c, COLUMN_VALUES, value[1], s->value[1]);
}

/* Codes a mask of the n numbers that differ from the prediction, then these. */
static void code_changed(struct codec *c, uint64_t *values, const uint64_t *expected, unsigned n)
{
	uint64_t changed = 0;

	for (unsigned i = 0; c->writing && i < n; i++)
		changed |= (uint64_t)(values[i] != expected[i]) << i;
	changed = code_number(c, COLUMN_ENTRIES, changed);
	for (unsigned i = 0; i < n; i++)
		values[i] = changed >> i & 1 ? code_delta(c, COLUMN_ENTRIES, values[i], expected[i])
					     : expected[i];
}

static void code_comm(struct codec *c, char *comm, const struct thread_state *th)
{
	const size_t size = sizeof(th->comm);
	bool changed = code_number(c, COLUMN_ENTRIES, c->writing && memcmp(comm, th->comm, size));
	const uint8_t *p;

	if (!changed) {
		memcpy(comm, th->comm, size);
	} else if (c->writing) {
		str__put(&c->out[COLUMN_ENTRIES], comm, size);
	} else {
		p = get_bytes(&c->in[COLUMN_ENTRIES], size);
		if (p)
			memcpy(comm, p, size);
	}
}

static void code_registers(struct codec *c, struct record *x, const struct site_state *s,
			   const struct thread_state *th)
{
	const struct arch *arch = c->m.plan->arch;
	unsigned n = min_of(arch->nregs, (unsigned)EVENT_REGS);
	uint64_t expected[EVENT_REGS];

	memcpy(expected, th->regs, sizeof(expected));
	expected[arch->sp_reg] = x->sp;
	expected[arch->ip_reg] = s->ip;
	code_changed(c, x->regs, expected, n);
}

/* The outer frames are mostly those of the previous entry. */
static void code_stack(struct codec *c, struct record *x, const struct thread_state *th)
{
	uint64_t shared = 0, n, before;

	x->frames = code_number(c, COLUMN_ENTRIES, min_of(x->frames, (uint64_t)STACK_FRAMES));
	x->frames = min_of(x->frames, (uint64_t)STACK_FRAMES);
	n = min_of(x->frames, th->frames);
	while (c->writing && shared < n &&
	       x->stack[x->frames - 1 - shared] == th->stack[th->frames - 1 - shared])
		shared++;
	shared = code_number(c, COLUMN_ENTRIES, shared);
	shared = min_of(shared, n);
	before = x->regs[c->m.plan->arch->ip_reg];
	for (uint64_t i = 0; i < x->frames - shared; i++)
		before = x->stack[i] = code_delta(c, COLUMN_ENTRIES, x->stack[i], before);
	memcpy(&x->stack[x->frames - shared], &th->stack[th->frames - shared],
	       shared * sizeof(*x->stack));
	x->stack_end = code_number(c, COLUMN_ENTRIES, x->stack_end);
}

static void code_entry(struct codec *c, struct record *x, const struct site_state *s,
		       const struct thread_state *th)
{
	x->caller = code_delta(c, COLUMN_ENTRIES, x->caller, s->caller);
	code_comm(c, x->comm, th);
	code_registers(c, x, s, th);
	code_changed(c, x->args, th->args, EVENT_ARGS);
	if (c->m.has_programs && x->site < c->m.plan->sites.len &&
	    plan__is_kernel_site(c->m.plan, x->site))
		code_changed(c, x->user, th->user, ARRAY_SIZE(x->user));
	if (x->kind == RECORD_STACK)
		code_stack(c, x, th);
}

static void code_frames(struct codec *c, uint64_t *frames, unsigned *n, unsigned most,
			uint64_t before)
{
	*n = min_of(code_number(c, COLUMN_ENTRIES, *n), (uint64_t)most);
	for (unsigned i = 0; i < *n; i++)
		before = frames[i] = code_delta(c, COLUMN_ENTRIES, frames[i], before);
}

static void code_data(struct codec *c, struct event_named *n)
{
	struct reader part;

	if (c->writing) {
		put_part(&c->out[COLUMN_ENTRIES], n->data, n->len);
		return;
	}
	part = get_part(&c->in[COLUMN_ENTRIES]);
	n->data = part.at;
	n->len = part.end - part.at;
	c->bad |= n->len > NAMED_DATA;
}

static void code_named(struct codec *c, struct record *x, const struct thread_state *th)
{
	struct event_named *n = &x->named;
	uint64_t *frames = x->named_stack, end;

	n->which = code_number(c, COLUMN_ENTRIES, n->which);
	c->bad |= n->which >= c->m.plan->named.len;
	n->count = code_number(c, COLUMN_ENTRIES, n->count);
	n->kernel = code_number(c, COLUMN_ENTRIES, n->kernel) & 1;
	n->ip = code_number(c, COLUMN_ENTRIES, n->ip);
	code_comm(c, x->comm, th);
	code_frames(c, frames, &n->nkernel, NAMED_KERNEL_FRAMES, n->ip);
	code_frames(c, frames + n->nkernel, &n->nuser, NAMED_USER_FRAMES, n->ip);
	n->kernel_end = code_number(c, COLUMN_ENTRIES, n->kernel_end) % STACK_ENDS;
	end = code_number(c, COLUMN_ENTRIES, n->user_end | n->exact >> 1 << 8);
	n->user_end = (end & 0xff) % STACK_ENDS;
	n->exact = end >> 8 << 1;
	code_data(c, n);
}

/* Codes one bit: whether it is as predicted, by the last time on this path or at this site. */
static bool code_taken(struct codec *c, const struct record *x, const struct site_state *s,
		       const struct follower *f)
{
	bool expected = f && f->site == x->site ? f->taken : s->taken;

	return code_bits(c, COLUMN_TAKEN, x->taken != expected, 1) != expected;
}

void codec__record(struct codec *c, struct record *x, struct thread_state *th)
{
	struct follower *f = event_model__follower(&c->m, th);
	bool known = f->epoch == c->m.epoch;
	const struct site_state *s;

	code_misses(c, x, th, known ? f->site : 0, th->sp + (known ? f->sp_change : 0));
	if (x->kind >= RECORDS) {
		c->bad = true;
		return;
	}
	s = event_model__site(&c->m, x->site);
	x->time = code_delta(c, COLUMN_TIMES, x->time,
			     event_model__time(&c->m, th, known ? f : NULL));
	if (event_model__is_conditional(&c->m, x->site))
		x->taken = code_taken(c, x, s, known ? f : NULL);
	if (has_values(x->kind))
		code_values(c, x, s, th);
	if (x->kind == RECORD_ENTRY || x->kind == RECORD_STACK)
		code_entry(c, x, s, th);
	if (x->kind == RECORD_NAMED)
		code_named(c, x, th);
	event_model__take(&c->m, th, f, x);
}

/* ---- sideband events ---- */

/* The fields of each type besides pid and tid. The text of a stop or start may be empty. */
enum { HAS_TIME = 1, HAS_PARENT = 2, HAS_MAP = 4, HAS_TEXT = 8, HAS_COUNT = 16 };
static const uint8_t sideband_has[] = {
	[SIDEBAND_FORK] = HAS_TIME | HAS_PARENT,
	[SIDEBAND_EXEC] = HAS_TIME | HAS_TEXT,
	[SIDEBAND_COMM] = HAS_TIME | HAS_TEXT,
	[SIDEBAND_EXIT] = HAS_TIME,
	[SIDEBAND_MAP] = HAS_TIME | HAS_MAP | HAS_TEXT,
	[SIDEBAND_LOST] = HAS_TIME | HAS_COUNT,
	[SIDEBAND_GAP] = 0,
	[SIDEBAND_INNER] = HAS_TIME | HAS_COUNT,
	[SIDEBAND_STOP] = HAS_TIME | HAS_TEXT,
	[SIDEBAND_START] = HAS_TIME | HAS_TEXT | HAS_COUNT,
	[SIDEBAND_MARK] = HAS_TIME | HAS_TEXT | HAS_COUNT,
	[SIDEBAND_ITEM_LOST] = HAS_COUNT,
};

/* When reading, the text is copied to *own. */
static void code_text(struct codec *c, const char **text, char **own)
{
	struct reader part;

	if (c->writing) {
		put_part(&c->out[COLUMN_SIDEBAND], *text ? *text : "", *text ? strlen(*text) : 0);
		return;
	}
	part = get_part(&c->in[COLUMN_SIDEBAND]);
	*text = *own = xstrndup((const char *)part.at, part.end - part.at);
}

static void code_map(struct codec *c, struct sideband_event *e)
{
	e->start = code_number(c, COLUMN_SIDEBAND, e->start);
	e->len = code_number(c, COLUMN_SIDEBAND, e->len);
	e->offset = code_number(c, COLUMN_SIDEBAND, e->offset);
	e->major = code_number(c, COLUMN_SIDEBAND, e->major);
	e->minor = code_number(c, COLUMN_SIDEBAND, e->minor);
	e->ino = code_number(c, COLUMN_SIDEBAND, e->ino);
}

void codec__sideband(struct codec *c, uint64_t *type, struct sideband_event *e, char **own)
{
	uint8_t has;

	*type = code_number(c, COLUMN_SIDEBAND, *type);
	if (*type >= ARRAY_SIZE(sideband_has) ||
	    (*type >= SIDEBAND_TYPES && *type != SIDEBAND_ITEM_LOST)) {
		c->bad = true;
		return;
	}
	has = sideband_has[*type];
	e->pid = code_number(c, COLUMN_SIDEBAND, e->pid);
	e->tid = code_delta(c, COLUMN_SIDEBAND, e->tid, e->pid);
	if (has & HAS_TIME)
		c->m.time = e->time = code_delta(c, COLUMN_TIMES, e->time, c->m.time);
	if (has & HAS_PARENT) {
		e->ppid = code_delta(c, COLUMN_SIDEBAND, e->ppid, e->pid);
		e->ptid = code_delta(c, COLUMN_SIDEBAND, e->ptid, e->ppid);
	}
	if (has & HAS_MAP)
		code_map(c, e);
	if (has & HAS_COUNT)
		e->count = code_number(c, COLUMN_SIDEBAND, e->count);
	if (has & HAS_TEXT)
		code_text(c, &e->text, own);
	if ((*type == SIDEBAND_STOP || *type == SIDEBAND_START) && e->text && !*e->text)
		e->text = NULL;
}

/* ---- what was loaded for plan->values: it follows a block of events, in their order ---- */

/* What is absent has its address. */
static int32_t size_of(int32_t len)
{
	return len == FETCHED_ABSENT ? 8 : max_of(len, 0);
}

/* A record may have less than its site announces: nothing, if nothing was loaded. */
void fetched__put(struct str *out, const struct event *w)
{
	put_number(out, w->fetched ? w->nfetched : 0);
	for (unsigned i = 0; w->fetched && i < w->nfetched; i++) {
		const struct fetched *f = &w->fetched[i];
		int32_t len = min_of(f->len, (int32_t)FETCHED_ROOM);

		put_delta(out, len, 0);
		if (size_of(len))
			str__put(out, (const char *)f->bytes, size_of(len));
	}
}

static void get_one(struct reader *r, struct fetched *f)
{
	int64_t len = get_delta(r, 0);

	*f = (struct fetched){.len = len};
	if (len > FETCHED_ROOM || len < INT32_MIN || r->end - r->at < size_of(len)) {
		r->bad = true;
		f->len = -1;
	} else if (size_of(len)) {
		memcpy(f->bytes, r->at, size_of(len));
		r->at += size_of(len);
	}
}

unsigned fetched__get(struct reader *r, struct fetched *to)
{
	uint64_t n = get_number(r);

	if (n > VALUES_FETCHED) {
		r->bad = true;
		return 0;
	}
	for (uint64_t i = 0; i < n; i++)
		get_one(r, &to[i]);
	return n;
}
