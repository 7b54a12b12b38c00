// SPDX-License-Identifier: BSD-2-Clause
/* Numbers are varints; which of the optional parts follow is a set of bits. */
#include "record.h"

enum part {
	TIMED = 1 << 0,
	IMPLIED = 1 << 1,
	TAKEN = 1 << 2,
	TO_KNOWN = 1 << 3,
	HAS_AT = 1 << 4,
	SINCE = 1 << 5,
	VALUE = 1 << 6,
	DURATION = 1 << 7,
	OFF = 1 << 8,
	TRACING = 1 << 9,
	AT_LEAST = 1 << 10,
	UNTYPED = 1 << 11,
	REGS = 1 << 12,
	SYSCALL_ARGS = 1 << 13,
	FETCHED = 1 << 14,
	STACK = 1 << 15,
	NAMED = 1 << 16,
	TEXT = 1 << 17,
	HAS_TESTED = 1 << 18,
	TO = 1 << 19,
	COUNT = 1 << 20,
	CONTEXT = 1 << 21, /* the interrupt */
};

/* ---- numbers ---- */

static void put_number(struct str *out, uint64_t v)
{
	char bytes[10];
	size_t n = 0;

	for (; v >= 128; v >>= 7)
		bytes[n++] = (char)(v | 128);
	bytes[n++] = (char)v;
	str__put(out, bytes, n);
}

struct bytes {
	const uint8_t *at, *end;
	bool bad;
};

static uint64_t number(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0; b->at < b->end && shift < 64; shift += 7) {
		v |= (uint64_t)(*b->at & 127) << shift;
		if (!(*b->at++ & 128))
			return v;
	}
	b->bad = true;
	return 0;
}

/* Returns the next bytes; NULL if there are fewer. */
static const uint8_t *block(struct bytes *b, size_t len)
{
	const uint8_t *at = b->at;

	if (b->bad || (size_t)(b->end - at) < len) {
		b->bad = true;
		return NULL;
	}
	b->at += len;
	return at;
}

static void copy(struct bytes *b, void *to, size_t len)
{
	const uint8_t *from = block(b, len);

	if (from)
		memcpy(to, from, len);
}

/* ---- what steps share ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15ull;
	return a ^ a >> 29;
}

static uint64_t hash_of_place(const struct location *l)
{
	uint64_t h = mix(l->addr, l->vaddr);

	h = mix(h, (uintptr_t)l->object);
	h = mix(h, (uintptr_t)l->symbol);
	return mix(mix(h, l->offset), (uintptr_t)l->inlined);
}

static bool same_place(const struct location *a, const struct location *b)
{
	return a->addr == b->addr && a->object == b->object && a->symbol == b->symbol &&
	       a->offset == b->offset && a->vaddr == b->vaddr && a->inlined == b->inlined;
}

static uint32_t number_of_place(struct names *n, const struct location *l)
{
	for (uint64_t h = hash_of_place(l);; h++) {
		uint64_t *known = map64__put(&n->place_of, h);

		if (*known && !same_place(&n->places.data[*known - 1], l))
			continue;
		if (!*known) {
			vec__push(&n->places, *l);
			*known = n->places.len;
		}
		return (uint32_t)*known - 1;
	}
}

static bool is_task(const struct task *t, const struct step *s)
{
	return t->pid == s->pid && t->tid == s->tid && t->ns_pid == s->ns_pid && t->run == s->run &&
	       t->goroutine == s->goroutine && !strncmp(t->comm, s->comm, sizeof(t->comm) - 1);
}

static uint32_t number_of_task(struct names *n, const struct step *s)
{
	uint64_t h;

	if (n->last < n->tasks.len && is_task(&n->tasks.data[n->last], s))
		return n->last;
	h = mix(map64__hash(s->comm, strlen(s->comm)), (uint64_t)s->pid << 32 | s->tid);
	for (h = mix(mix(h, s->goroutine), (uint64_t)s->ns_pid << 32 | s->run);; h++) {
		uint64_t *known = map64__put(&n->task_of, h);

		if (*known && !is_task(&n->tasks.data[*known - 1], s))
			continue;
		if (!*known) {
			struct task *t = vec__add(&n->tasks);

			*t = (struct task){s->pid, s->tid, s->ns_pid, s->run, s->goroutine, ""};
			snprintf(t->comm, sizeof(t->comm), "%s", s->comm);
			*known = n->tasks.len;
		}
		return n->last = (uint32_t)*known - 1;
	}
}

void names__free(struct names *n)
{
	vec__free(&n->places);
	vec__free(&n->tasks);
	map64__free(&n->place_of);
	map64__free(&n->task_of);
}

/* ---- to bytes ---- */

static unsigned flags_of(const struct step *s)
{
	return (s->timed ? TIMED : 0) | (s->implied ? IMPLIED : 0) | (s->taken ? TAKEN : 0) |
	       (s->to_known ? TO_KNOWN : 0) | (s->has_at ? HAS_AT : 0) |
	       (s->has_since ? SINCE : 0) | (s->has_value ? VALUE : 0) |
	       (s->has_duration ? DURATION : 0) | (s->has_off ? OFF : 0) |
	       (s->has_tracing ? TRACING : 0) | (s->at_least ? AT_LEAST : 0) |
	       (s->untyped ? UNTYPED : 0) | (s->regs ? REGS : 0) |
	       (s->syscall_args ? SYSCALL_ARGS : 0) | (s->nfetched ? FETCHED : 0) |
	       (s->nstack || s->stack_end ? STACK : 0) | (s->named ? NAMED : 0) |
	       (s->text ? TEXT : 0) | (s->tested.flags ? HAS_TESTED : 0) |
	       (s->to.addr || s->to.object ? TO : 0) | (s->count ? COUNT : 0) |
	       (s->interrupt ? CONTEXT : 0);
}

static void put_words(struct str *out, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_number(out, words[i]);
}

static void put_fetched(struct str *out, const struct step *s)
{
	put_number(out, s->nfetched);
	str__put(out, (const char *)s->fetched, s->nfetched * sizeof(*s->fetched));
}

static void put_stack(struct names *n, struct str *out, const struct step *s)
{
	put_number(out, s->nstack);
	for (size_t i = 0; i < s->nstack; i++)
		put_number(out, number_of_place(n, &s->stack[i]));
	put_number(out, s->stack_end);
}

static void put_named(struct str *out, const struct event_named *e)
{
	put_number(out, e->which);
	put_number(out, e->count);
	put_number(out, e->ip);
	put_number(out, e->kernel);
	put_number(out, (uint64_t)e->nkernel << 32 | e->nuser);
	put_number(out, (uint64_t)e->kernel_end << 8 | e->user_end);
	put_number(out, e->len);
	str__put(out, (const char *)e->data, e->len);
}

static void put_tested(struct str *out, const struct tested *t)
{
	put_number(out, t->flags);
	put_words(out, t->value, ARRAY_SIZE(t->value));
}

static void put_text(struct str *out, const char *text)
{
	size_t len = strlen(text);

	put_number(out, len);
	str__put(out, text, len);
}

static void put_times(struct str *out, const struct step *s, unsigned flags)
{
	if (flags & SINCE)
		put_number(out, s->since_entry);
	if (flags & VALUE)
		put_number(out, s->value);
	if (flags & DURATION)
		put_number(out, s->duration);
	if (flags & OFF)
		put_number(out, s->off);
	if (flags & TRACING) {
		put_number(out, s->tracing);
		put_number(out, s->noise);
	}
	if (flags & COUNT)
		put_number(out, s->count);
}

static void put_parts(struct names *n, struct str *out, const struct step *s, unsigned flags)
{
	if (flags & TO)
		put_number(out, number_of_place(n, &s->to));
	if (flags & HAS_TESTED)
		put_tested(out, &s->tested);
	put_times(out, s, flags);
	if (flags & REGS)
		put_words(out, s->regs, EVENT_REGS);
	if (flags & SYSCALL_ARGS) {
		put_number(out, min_of(s->nsyscall_args, (unsigned)EVENT_ARGS));
		put_words(out, s->syscall_args, min_of(s->nsyscall_args, (unsigned)EVENT_ARGS));
	}
	if (flags & FETCHED)
		put_fetched(out, s);
	if (flags & STACK)
		put_stack(n, out, s);
	if (flags & NAMED)
		put_named(out, s->named);
	if (flags & TEXT)
		put_text(out, s->text);
	if (flags & CONTEXT)
		put_number(out, s->interrupt);
}

/* The head is what record__peek() reads. */
void record__put(struct names *n, const struct step *s, uint32_t call, struct str *out)
{
	unsigned flags = flags_of(s);

	str__putc(out, (char)s->type);
	put_number(out, call);
	put_number(out, s->depth);
	put_number(out, flags);
	put_number(out, number_of_task(n, s));
	put_number(out, (uint32_t)(s->site + 1));
	put_number(out, (uint32_t)(s->function + 1));
	put_number(out, s->time);
	put_number(out, s->cpu);
	put_number(out, s->call);
	put_number(out, s->caller);
	put_number(out, number_of_place(n, &s->at));
	put_parts(n, out, s, flags);
}

/* ---- and back ---- */

uint32_t record__peek(const uint8_t *data, size_t len, uint8_t *type, uint32_t *depth)
{
	struct bytes b = {data, data + len, false};
	uint32_t call;

	*type = STEP_TYPES;
	copy(&b, type, 1);
	call = (uint32_t)number(&b);
	*depth = (uint32_t)number(&b);
	return b.bad ? 0 : call;
}

static void get_words(struct bytes *b, uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		words[i] = number(b);
}

static void get_place(struct bytes *b, const struct names *n, struct location *out)
{
	uint64_t i = number(b);

	if (i < n->places.len)
		*out = n->places.data[i];
	else
		b->bad = true;
}

static void get_fetched(struct bytes *b, struct kept_step *k)
{
	uint64_t n = number(b);

	if (n > (size_t)(b->end - b->at) / sizeof(*k->fetched)) {
		b->bad = true;
		return;
	}
	k->fetched = xcalloc(n + 1, sizeof(*k->fetched));
	copy(b, k->fetched, n * sizeof(*k->fetched));
	k->step.nfetched = (unsigned)n;
}

static void get_stack(struct bytes *b, const struct names *n, struct kept_step *k)
{
	uint64_t len = number(b), end;

	if (len > (size_t)(b->end - b->at)) {
		b->bad = true;
		return;
	}
	k->stack = xcalloc(len + 1, sizeof(*k->stack));
	for (size_t i = 0; i < len; i++)
		get_place(b, n, &k->stack[i]);
	end = number(b);
	k->step.nstack = len;
	k->step.stack_end = end < STACK_ENDS ? (enum stack_end)end : STACK_WHOLE;
}

static void get_named(struct bytes *b, struct kept_step *k)
{
	struct event_named *e = &k->named;
	uint64_t frames, ends;

	e->which = (uint32_t)number(b);
	e->count = number(b);
	e->ip = number(b);
	e->kernel = number(b);
	frames = number(b);
	ends = number(b);
	e->nkernel = frames >> 32;
	e->nuser = (uint32_t)frames;
	e->kernel_end = ends >> 8;
	e->user_end = (uint8_t)ends;
	e->len = number(b);
	if (b->bad || e->len > (size_t)(b->end - b->at)) {
		b->bad = true;
		return;
	}
	k->data = xmalloc(e->len + 1);
	copy(b, k->data, e->len);
	k->step.named = e;
}

static void get_text(struct bytes *b, struct kept_step *k)
{
	uint64_t len = number(b);
	const uint8_t *text = block(b, len);

	if (text)
		k->text = xstrndup((const char *)text, len);
}

static void get_times(struct bytes *b, struct step *s, unsigned flags)
{
	s->since_entry = flags & SINCE ? number(b) : 0;
	s->value = flags & VALUE ? number(b) : 0;
	s->duration = flags & DURATION ? number(b) : 0;
	s->off = flags & OFF ? number(b) : 0;
	if (flags & TRACING) {
		s->tracing = number(b);
		s->noise = number(b);
	}
	s->count = flags & COUNT ? number(b) : 0;
}

static void get_flags(struct step *s, unsigned flags)
{
	s->timed = flags & TIMED;
	s->implied = flags & IMPLIED;
	s->taken = flags & TAKEN;
	s->to_known = flags & TO_KNOWN;
	s->has_at = flags & HAS_AT;
	s->has_since = flags & SINCE;
	s->has_value = flags & VALUE;
	s->has_duration = flags & DURATION;
	s->has_off = flags & OFF;
	s->has_tracing = flags & TRACING;
	s->at_least = flags & AT_LEAST;
	s->untyped = flags & UNTYPED;
}

static void get_tested(struct bytes *b, struct tested *t)
{
	t->flags = (uint8_t)number(b);
	get_words(b, t->value, ARRAY_SIZE(t->value));
}

static void get_parts(struct bytes *b, const struct names *n, struct kept_step *k, unsigned flags)
{
	struct step *s = &k->step;

	if (flags & TO)
		get_place(b, n, &s->to);
	if (flags & HAS_TESTED)
		get_tested(b, &s->tested);
	get_times(b, s, flags);
	if (flags & REGS)
		get_words(b, k->regs, EVENT_REGS);
	s->regs = flags & REGS ? k->regs : NULL;
	if (flags & SYSCALL_ARGS) {
		s->nsyscall_args = (unsigned)min_of(number(b), (uint64_t)EVENT_ARGS);
		get_words(b, k->syscall_args, s->nsyscall_args);
	}
	s->syscall_args = flags & SYSCALL_ARGS ? k->syscall_args : NULL;
	if (flags & FETCHED)
		get_fetched(b, k);
	if (flags & STACK)
		get_stack(b, n, k);
	if (flags & NAMED)
		get_named(b, k);
	if (flags & TEXT)
		get_text(b, k);
	if (flags & CONTEXT)
		s->interrupt = (uint8_t)number(b);
}

static void get_task(struct bytes *b, const struct names *n, struct kept_step *k)
{
	uint64_t i = number(b);
	const struct task *t = i < n->tasks.len ? &n->tasks.data[i] : NULL;
	struct step *s = &k->step;

	if (!t) {
		b->bad = true;
		return;
	}
	s->pid = t->pid;
	s->tid = t->tid;
	s->ns_pid = t->ns_pid;
	s->run = t->run;
	s->goroutine = t->goroutine;
	memcpy(k->comm, t->comm, sizeof(k->comm));
}

static unsigned get_head(struct bytes *b, const struct names *n, struct kept_step *k)
{
	struct step *s = &k->step;
	uint8_t type = STEP_TYPES;
	unsigned flags;

	copy(b, &type, 1);
	b->bad |= type >= STEP_TYPES;
	s->type = type;
	number(b); /* the call */
	s->depth = (unsigned)number(b);
	flags = (unsigned)number(b);
	get_task(b, n, k);
	s->site = (uint32_t)number(b) - 1;
	s->function = (uint32_t)number(b) - 1;
	s->time = number(b);
	s->cpu = (uint32_t)number(b);
	s->call = number(b);
	s->caller = number(b);
	get_place(b, n, &s->at);
	return flags;
}

bool record__get(const struct names *n, const struct plan *plan, const uint8_t *data, size_t len,
		 struct kept_step *k)
{
	struct bytes b = {data, data + len, false};
	unsigned flags;

	*k = (struct kept_step){.step.plan = plan};
	flags = get_head(&b, n, k);
	get_flags(&k->step, flags);
	if (!b.bad)
		get_parts(&b, n, k, flags);
	b.bad |= (k->step.site != NO_SITE && k->step.site >= plan->sites.len) ||
		 (k->step.function != NO_FUNCTION && k->step.function >= plan->functions.len) ||
		 (k->step.type == STEP_BRANCH && k->step.site == NO_SITE);
	if (!b.bad)
		return true;
	kept__free(k);
	*k = (struct kept_step){0};
	return false;
}
