// SPDX-License-Identifier: BSD-2-Clause
/*
 * decode: turns records of the BPF program (bpf/wire.h) into events. Compact records are expanded
 * from the thread's last full record. Targets that the BPF program could not read are looked up in
 * the program's file.
 */
#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include "event/event.h"
#include "plan/plan.h"
#include "../bpf/wire_named.h"

/* The BPF program can't include arch/log.h. */
#define IS_AT(member, word) _Static_assert(offsetof(struct log_ring, member) == 8 * (word), #member)
IS_AT(cursor, WIRE_LOG_CURSOR);
IS_AT(limit, WIRE_LOG_LIMIT);
IS_AT(segments, WIRE_LOG_SEGMENTS);
IS_AT(kept, WIRE_LOG_KEPT);
IS_AT(base, WIRE_LOG_BASE);
_Static_assert(LOG_RING_AT == WIRE_LOG_RING_AT && LOG_SEGMENT == WIRE_LOG_SEGMENT &&
		       LOG_SEGMENTS == WIRE_LOG_RING_SEGMENTS,
	       "the ring");

#define KEPT_MIN 1024

struct decoder {
	const struct plan *plan;
	struct event event; /* the last one */
	struct event_entry entry;
	struct event_named named;
	uint64_t stack[NAMED_FRAMES]; /* of named */
	char comm[sizeof(((struct wire_entry *)0)->comm) + 1];
	struct map64 full; /* cpu << WIRE_TID_BITS | tid -> struct wire_event *: the last full
			      record of a branch */
	size_t kept;	   /* their number after old ones were last dropped */
	unsigned fetched;  /* values in memory that a record has room for */
	uint64_t key;	   /* of .last */
	struct wire_event *last;
};

struct decoder *decoder__new(const struct plan *plan)
{
	struct decoder *d = xcalloc(1, sizeof(*d));

	d->plan = plan;
	d->fetched = plan__most_fetched(plan);
	return d;
}

void decoder__free(struct decoder *d)
{
	uint64_t value;

	if (!d)
		return;
	for (size_t i = 0; i < d->full.cap; i++)
		if (map64__slot(&d->full, i, &value))
			free((struct wire_event *)(uintptr_t)value);
	map64__free(&d->full);
	free(d);
}

/* ---- compact records ---- */

static uint64_t key_of(uint64_t cpu, uint64_t tid)
{
	return cpu << WIRE_TID_BITS | tid;
}

static struct wire_event *find_full(struct decoder *d, uint64_t key)
{
	const uint64_t *slot;

	if (d->last && key == d->key)
		return d->last;
	slot = map64__get(&d->full, key);
	d->last = slot ? (struct wire_event *)(uintptr_t)*slot : NULL;
	d->key = key;
	return d->last;
}

/* Drops full records that are too old for any later compact record to refer to. */
static void drop_old(struct decoder *d, uint64_t settled)
{
	VEC(uint64_t) old = {0};
	uint64_t value, *key;

	for (size_t i = 0; i < d->full.cap; i++) {
		struct wire_event *e;

		if (!map64__slot(&d->full, i, &value))
			continue;
		e = (struct wire_event *)(uintptr_t)value;
		if (e->time + 2 * WIRE_FULL_FOR < settled) {
			vec__push(&old, key_of(e->cpu, e->tid));
			free(e);
		}
	}
	vec__each (key, &old)
		map64__del(&d->full, *key);
	vec__free(&old);
	d->kept = d->full.len;
	d->last = NULL;
}

static void note_full(struct decoder *d, const struct wire_event *e, uint64_t settled)
{
	struct wire_event *full = find_full(d, key_of(e->cpu, e->tid));

	if (!full) {
		if (d->full.len > KEPT_MIN + 2 * d->kept)
			drop_old(d, settled);
		full = xmalloc(sizeof(*full));
		*map64__put(&d->full, key_of(e->cpu, e->tid)) = (uintptr_t)full;
		d->key = key_of(e->cpu, e->tid);
		d->last = full;
	}
	*full = *e;
}

static bool expand(struct decoder *d, const struct wire_compact *c, struct wire_event *out)
{
	const uint64_t sp_mask = (1ull << WIRE_SP_LOW) - 1;
	const struct wire_event *full =
		find_full(d, key_of(c->where >> 46 & 0xfff, c->where >> 24 & WIRE_TID_MASK));

	if (!full)
		return false;
	*out = *full;
	/* 40 bits, signed: the clock that probes read may step back by some ns
	 * (kernel/time/timekeeping.c, ktime_get_mono_fast_ns()) */
	out->time += (int64_t)((c->when >> 24 << 24) - (full->time << 24)) >> 24;
	out->sp = (full->sp & ~sp_mask) | (c->when << 3 & sp_mask);
	out->site_type = (c->where & WIRE_SITE_MASK) | WIRE_BRANCH << WIRE_SITE_BITS;
	out->state = (full->state & ~WIRE_TAKEN) | (c->where >> 58 & 1 ? WIRE_TAKEN : 0);
	return true;
}

/* ---- targets that the BPF program could not read ---- */

/*
 * The operand at a running address; ip is the running address of the site. The BPF program can't
 * read a page that is not resident, as with the first use of a table.
 */
static bool read_operand(const struct decoder *d, const struct plan_site *s, uint64_t addr,
			 uint64_t ip, uint64_t *target)
{
	return plan__read_pointer(d->plan, s - d->plan->sites.data, addr - (ip - s->vaddr), target);
}

/* Sets the target of an indirect branch, a ret or a return from the record's value. */
static void take_target(struct decoder *d, const struct plan_site *s, const struct wire_event *e,
			const __u64 *value)
{
	struct event *out = &d->event;
	bool is_return = out->type == EVENT_RETURN || s->kind == BRANCH_RET;

	if (s->test && !is_return)
		tested__take(&out->tested, d->plan, s, out->taken, (const uint64_t *)value,
			     (e->missing & WIRE_NO_VALUE0 ? 0 : 1) |
				     (e->missing & WIRE_NO_VALUE1 ? 0 : 2));
	if (!is_return && s->kind != BRANCH_IJMP && s->kind != BRANCH_ICALL)
		return;
	out->has_target = !(e->missing & WIRE_NO_VALUE0);
	out->target = out->has_target ? value[0] : 0;
	if (!out->has_target && s->operand.kind == OPERAND_MEM)
		out->has_target = read_operand(d, s, value[0], value[1], &out->target);
	out->has_value = is_return && !(e->missing & WIRE_NO_VALUE1);
	out->value = out->has_value ? value[1] : 0;
}

/* ---- events ---- */

static const size_t sizes[WIRE_TYPES] = {
	[WIRE_BRANCH] = sizeof(struct wire_event),  [WIRE_VALUE] = sizeof(struct wire_value),
	[WIRE_ENTRY] = sizeof(struct wire_entry),   [WIRE_LOST] = sizeof(struct wire_value),
	[WIRE_SIGNAL] = sizeof(struct wire_signal), [WIRE_GOROUTINE] = sizeof(struct wire_value),
	[WIRE_RETURN] = sizeof(struct wire_value),  [WIRE_END] = sizeof(struct wire_value),
	[WIRE_RESUME] = sizeof(struct wire_value),  [WIRE_PASSES] = sizeof(struct wire_value),
	[WIRE_SWITCH] = sizeof(struct wire_value),  [WIRE_MARK] = sizeof(struct wire_mark),
	[WIRE_NAMED] = sizeof(struct wire_named),
};

static const uint8_t types[WIRE_TYPES] = {
	[WIRE_BRANCH] = EVENT_BRANCH, [WIRE_VALUE] = EVENT_BRANCH,
	[WIRE_ENTRY] = EVENT_ENTRY,   [WIRE_LOST] = EVENT_LOST,
	[WIRE_SIGNAL] = EVENT_SIGNAL, [WIRE_GOROUTINE] = EVENT_GOROUTINE,
	[WIRE_RETURN] = EVENT_RETURN, [WIRE_END] = EVENT_END,
	[WIRE_RESUME] = EVENT_RESUME, [WIRE_PASSES] = EVENT_PASSES,
	[WIRE_SWITCH] = EVENT_SWITCH, [WIRE_MARK] = EVENT_MARK,
	[WIRE_NAMED] = EVENT_NAMED,
};

static void take_stack(struct event_entry *out, const struct wire_entry_stack *s)
{
	out->stack = (const uint64_t *)s->stack;
	out->nstack = min_of((uint64_t)s->frames, (uint64_t)WIRE_STACK);
}

/* room: the bytes of the record that follow, of which the copy is the first. */
static void set_copy(struct stack_copy *out, const struct wire_copied *c, const uint8_t *bytes,
		     uint64_t room)
{
	uint64_t half = WIRE_COPY_HALF(room), most = c->other ? half : room;

	*out = (struct stack_copy){.start = c->start,
				   .bytes = bytes,
				   .len = min_of((uint64_t)c->len, most),
				   .cut = c->len >= most};
	if (!c->other)
		return;
	out->other.start = c->other;
	out->other.at = half;
	out->other.len = min_of((uint64_t)c->other_len, room - half);
}

static void take_copy(struct event_entry *out, const struct wire_entry_copy *s, size_t size)
{
	set_copy(&out->copy, &s->copied, s->bytes, size - sizeof(*s));
}

/* Returns how many registers an entry's record has. Arguments on the stack have the numbers of
 * registers; if they couldn't be read, only those before them are known. */
static unsigned reported_regs(const struct arch *arch, const struct wire_event *e)
{
	const struct convention *c = &arch->conventions[CONVENTION_C];

	return min_of(e->missing & WIRE_NO_STACK && c->nargs ? c->args[0] : arch->nregs,
		      (unsigned)WIRE_REGS);
}

static void take_entry(struct decoder *d, const struct wire_entry *e, size_t size)
{
	struct event_entry *out = &d->entry;

	memcpy(d->comm, e->comm, sizeof(e->comm));
	*out = (struct event_entry){
		.ip = e->regs[d->plan->arch->ip_reg % WIRE_REGS],
		.caller = e->event.missing & WIRE_NO_CALLER ? 0 : e->caller,
		.user_ip = e->user_ip,
		.user_sp = e->user_sp,
		.pending = e->event.state & WIRE_PENDING,
		.comm = d->comm,
		.regs = (const uint64_t *)e->regs,
		.nregs = reported_regs(d->plan->arch, &e->event),
		.args = e->event.missing & WIRE_NO_SYSCALL ? NULL : (const uint64_t *)e->args,
	};
	if (e->event.state & WIRE_COPIED && size >= sizeof(struct wire_entry_copy))
		take_copy(out, (const struct wire_entry_copy *)e, size);
	else if (size >= sizeof(struct wire_entry_stack))
		take_stack(out, (const struct wire_entry_stack *)e);
	d->event.entry = out;
}

_Static_assert(sizeof(struct fetched) == sizeof(struct wire_fetched) &&
		       FETCHED_ROOM == WIRE_FETCH_ROOM && FETCHED_ABSENT == WIRE_FETCH_ABSENT &&
		       VALUES_FETCHED == WIRE_FETCHES,
	       "values in memory");

/* They are at the end of the record: returns the size of the rest; 0 if it is too small. */
static size_t take_fetched(struct decoder *d, const uint8_t *record, size_t size, size_t least)
{
	unsigned room = d->fetched, n;
	const struct fetched *f;

	if (!(((const struct wire_event *)record)->state & WIRE_FETCHED))
		return size;
	if (size < least + room * sizeof(*f))
		return 0;
	size -= room * sizeof(*f);
	f = (const struct fetched *)(record + size);
	for (n = 0; n < room && f[n].len != WIRE_FETCH_NONE; n++)
		;
	d->event.fetched = n ? f : NULL;
	d->event.nfetched = n;
	return size;
}

static void take_common(struct event *out, const struct wire_event *e, uint32_t type)
{
	*out = (struct event){
		.time = e->time,
		.pid = e->pid,
		.tid = e->tid,
		.sp = e->sp,
		.site = e->site_type & WIRE_SITE_MASK,
		.cpu = e->cpu,
		.type = types[type],
		.interrupt = e->state & WIRE_INTERRUPT,
		.taken = e->state & WIRE_TAKEN,
		.logged = e->logged,
	};
}

static const struct event *bad_record(void)
{
	return err__set(EIO, "a record of the ring buffer does not belong to this plan"), NULL;
}

_Static_assert(NAMED_KERNEL_FRAMES == WIRE_NAMED_FRAMES && NAMED_USER_FRAMES == WIRE_NAMED_FRAMES &&
		       NAMED_DATA == WIRE_NAMED_DATA,
	       "named events");

static void take_frames(struct decoder *d, const struct wire_frames *f)
{
	struct event_named *n = &d->named;

	n->nkernel = min_of((unsigned)f->kernel, NAMED_KERNEL_FRAMES);
	n->nuser = min_of((unsigned)f->user, NAMED_USER_FRAMES);
	n->kernel_end = n->nkernel == NAMED_KERNEL_FRAMES ? STACK_LIMIT : STACK_WHOLE;
	n->user_end = min_of(f->user_end, (uint8_t)(STACK_ENDS - 1));
	memcpy(d->stack, f->kernel_stack, n->nkernel * sizeof(*d->stack));
	memcpy(d->stack + n->nkernel, f->user_stack, n->nuser * sizeof(*d->stack));
	n->stack = d->stack;
}

/* Returns its size; 0 if it is not as large as it claims. */
static size_t take_user_copy(struct event_named *n, const struct wire_user_copy *c, size_t size)
{
	if (size < sizeof(*c) || c->room > size - sizeof(*c))
		return 0;
	n->regs = (const uint64_t *)c->regs;
	set_copy(&n->copy, &c->copied, c->copied.start ? c->bytes : NULL, c->room);
	return sizeof(*c) + c->room;
}

static const struct event *take_named(struct decoder *d, const struct wire_named *w, size_t size)
{
	const uint8_t *data = (const uint8_t *)(w + 1);

	size -= sizeof(*w);
	d->named = (struct event_named){
		.which = w->event.site_type & WIRE_SITE_MASK,
		.count = w->count,
		.ip = w->ip,
		.kernel = w->event.state & WIRE_KERNEL,
		.comm = d->comm,
	};
	memcpy(d->comm, w->comm, sizeof(w->comm));
	if (w->event.state & WIRE_FRAMES) {
		if (size < sizeof(struct wire_frames))
			return bad_record();
		take_frames(d, (const struct wire_frames *)data);
		data += sizeof(struct wire_frames);
		size -= sizeof(struct wire_frames);
	}
	if (w->event.state & WIRE_COPIED) {
		size_t taken = take_user_copy(&d->named, (const void *)data, size);

		if (!taken)
			return bad_record();
		data += taken;
		size -= taken;
	}
	if (d->named.which >= d->plan->named.len || w->len > size || w->len > NAMED_DATA)
		return bad_record();
	d->named.data = data;
	d->named.len = w->len;
	d->event.site = NO_SITE;
	d->event.named = &d->named;
	return &d->event;
}

static void take_mark(struct event *out, const struct wire_mark *m)
{
	out->count = m->marker;
	out->value = m->value;
	out->target = m->name;
	out->sp = m->ip;
	out->text = m->event.missing || m->text[WIRE_TEXT - 1] ? NULL : m->text;
}

const struct event *decoder__event(struct decoder *d, const void *record, size_t size,
				   uint64_t settled)
{
	const struct wire_value *v = record;
	const struct wire_event *e = record;
	struct event *out = &d->event;
	struct wire_event expanded;
	uint32_t type;

	if (size == sizeof(struct wire_compact)) {
		if (!expand(d, record, &expanded))
			return bad_record();
		take_common(out, &expanded, WIRE_BRANCH);
		return out->site < d->plan->sites.len ? out : bad_record();
	}
	if (size < sizeof(*e) || e->site_type >> WIRE_SITE_BITS >= WIRE_TYPES)
		return bad_record();
	type = e->site_type >> WIRE_SITE_BITS;
	if (size < sizes[type])
		return bad_record();
	take_common(out, e, type);
	if (type == WIRE_NAMED)
		return take_named(d, record, size);
	if (type == WIRE_LOST) {
		out->count = v->value[0];
		out->hits = v->value[1];
	} else if (type == WIRE_GOROUTINE) {
		out->goroutine = v->value[0];
	} else if (type == WIRE_SIGNAL) {
		out->has_target = true;
		out->target = v->value[0];
		out->has_value = !(e->missing & WIRE_NO_VALUE1);
		out->value = out->has_value ? v->value[1] : 0;
		out->above = (const uint64_t *)((const struct wire_signal *)record)->above;
		out->nabove = WIRE_ABOVE;
		out->unhandled = e->state & WIRE_UNHANDLED;
		out->fault = e->state & WIRE_FAULT;
	} else if (type == WIRE_END) {
		out->has_target = true;
		out->target = v->value[0];
		out->last = v->value[1] & END_LAST;
		out->count = v->value[1] >> END_CODE_SHIFT;
	} else if (type == WIRE_RESUME) {
		out->has_target = true;
		out->target = v->value[0];
	} else if (type == WIRE_PASSES) {
		out->count = v->value[0] & ~PASSES_PROCESS;
		out->process = v->value[0] & PASSES_PROCESS;
		out->value = v->value[1];
	} else if (type == WIRE_SWITCH) {
		out->count = v->value[0];
		out->value = v->value[1];
	} else if (type == WIRE_MARK) {
		take_mark(out, record);
	}
	if (type == WIRE_LOST || type == WIRE_GOROUTINE || type == WIRE_SIGNAL ||
	    type == WIRE_END || type == WIRE_RESUME || type == WIRE_PASSES || type == WIRE_SWITCH ||
	    type == WIRE_MARK)
		return out;
	if (out->site >= d->plan->sites.len)
		return bad_record();
	size = take_fetched(d, record, size, sizes[type]);
	if (!size)
		return bad_record();
	if (type == WIRE_BRANCH)
		note_full(d, e, settled);
	else
		take_target(d, &d->plan->sites.data[out->site], e, v->value);
	if (type == WIRE_ENTRY)
		take_entry(d, record, size);
	return out;
}
