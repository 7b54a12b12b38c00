// SPDX-License-Identifier: BSD-2-Clause
/*
 * The autofdo format: a sample profile as text (LLVM's include/llvm/ProfileData/SampleProf.h), for
 * clang's -fprofile-sample-use and llvm-profdata. Counts instead of samples: how often each line of
 * each function ran, by its distance from where the function is declared, with what was inlined in
 * it where it was, and whom each line has called.
 *
 * A compiler tells several blocks of one line apart by discriminators. Clang packs into them how
 * often a loop was unrolled, too (llvm/lib/IR/DebugInfoMetadata.cpp, decodeDiscriminator()): counts
 * need no such factor, since each copy is counted.
 */
#include <stdlib.h>
#include "output/fields.h"
#include "output/runs.h"

/* A function of the source, or what was inlined at a place in one. */
struct body {
	uint32_t parent;		/* index; NO_BODY: a function */
	uint32_t offset, discriminator; /* of the call that was inlined, in the parent */
	const char *name;
	uint64_t total; /* of all its lines, and those of what was inlined */
	uint64_t head;	/* how often it was entered */
};
#define NO_BODY UINT32_MAX

/* A place in a body. */
struct spot {
	uint32_t body, offset, discriminator;
};

/* How often a block at a spot ran. Of one copy of the body the hottest block counts; several
 * copies, as of a loop that was unrolled, add up. */
struct line_count {
	struct spot at;
	uint32_t copy; /* its scope */
	uint64_t count;
};

struct callee {
	struct spot at;
	const char *name;
	uint64_t count;
};

struct autofdo {
	struct output *o;
	const struct stats *stats;
	const struct plan *plan;
	struct runs runs;
	VEC(struct body) bodies;
	struct map64 by_place; /* hash of parent, place and name -> 1 + index */
	uint32_t *of_scope;    /* by scope: its body, NO_BODY: it has no place in the source */
	VEC(struct line_count) samples;
	VEC(struct callee) callees;
	uint32_t block; /* the present one */
};

/* ---- places ---- */

static uint32_t base_discriminator(uint32_t d)
{
	if (d & 1)
		return 0;
	d >>= 1;
	return d & 0x20 ? (d >> 1 & 0xfe0) | (d & 0x1f) : d & 0x1f;
}

/* As LLVM has it: a line in front of the function's own wraps around. */
static uint32_t offset_of(uint32_t line, const struct plan_scope *s)
{
	return (line - s->line) & 0xffff;
}

static const char *name_of(const struct plan_scope *s)
{
	return s->raw ? s->raw : s->name;
}

static bool is_body(const struct body *b, uint32_t parent, const struct spot *call,
		    const char *name)
{
	return b->parent == parent && b->offset == call->offset &&
	       b->discriminator == call->discriminator && !strcmp(b->name, name);
}

static uint32_t body_at(struct autofdo *a, const struct spot *call, const char *name)
{
	uint64_t key = map64__hash(call, sizeof(*call)) ^ map64__hash(name, strlen(name)), *known;

	for (;; key++) {
		known = map64__put(&a->by_place, key);
		if (!*known)
			break;
		if (is_body(&a->bodies.data[*known - 1], call->body, call, name))
			return *known - 1;
	}
	vec__push(&a->bodies, (struct body){.parent = call->body,
					    .offset = call->offset,
					    .discriminator = call->discriminator,
					    .name = name});
	*known = a->bodies.len;
	return *known - 1;
}

/* A scope's parent is before it. */
static void find_bodies(struct autofdo *a)
{
	for (uint32_t i = 0; i < a->plan->scopes.len; i++) {
		const struct plan_scope *s = &a->plan->scopes.data[i];
		struct spot call = {.body = NO_BODY};

		a->of_scope[i] = NO_BODY;
		if (!s->line || !name_of(s))
			continue;
		if (s->parent != NO_SCOPE) {
			call.body = a->of_scope[s->parent];
			if (call.body == NO_BODY || !s->call_line)
				continue;
			call.offset = offset_of(s->call_line, &a->plan->scopes.data[s->parent]);
			call.discriminator = base_discriminator(s->call_discriminator);
		}
		a->of_scope[i] = body_at(a, &call, name_of(s));
	}
}

/* False: it has none. */
static bool spot_of(const struct autofdo *a, uint32_t scope, const struct plan_line *row,
		    struct spot *out)
{
	if (scope == NO_SCOPE || a->of_scope[scope] == NO_BODY)
		return false;
	*out = (struct spot){a->of_scope[scope], offset_of(row->line, &a->plan->scopes.data[scope]),
			     base_discriminator(row->discriminator)};
	return true;
}

/* ---- counts ---- */

static void take_piece(void *ctx, const struct plan_piece *piece)
{
	struct autofdo *a = ctx;
	struct line_count s = {.copy = piece->scope, .count = a->runs.blocks[a->block]};

	if (s.count != RUNS_UNKNOWN && spot_of(a, piece->scope, piece->row, &s.at))
		vec__push(&a->samples, s);
}

/* The function that is called there, as the profile names it; NULL: not known. */
static const char *callee_at(const struct autofdo *a, uint32_t object, uint64_t vaddr)
{
	const struct object *o = a->plan->objects.data[object].object;
	uint32_t scope = plan__scope_at(a->plan, object, vaddr);
	const struct symbol *symbol = o ? object__symbol_at(o, vaddr) : NULL;

	while (scope != NO_SCOPE && a->plan->scopes.data[scope].parent != NO_SCOPE)
		scope = a->plan->scopes.data[scope].parent;
	if (scope != NO_SCOPE && name_of(&a->plan->scopes.data[scope]))
		return name_of(&a->plan->scopes.data[scope]);
	return symbol ? symbol->name : NULL;
}

/* In an object that isn't traced, names are known as they are shown: those of C alone are the
 * symbols. */
static const char *target_name(const struct autofdo *a, const struct location *to)
{
	for (uint32_t i = 0; to->object && i < a->plan->objects.len; i++)
		if (!strcmp(a->plan->objects.data[i].path, to->object))
			return callee_at(a, i, to->vaddr);
	return to->symbol && !strpbrk(to->symbol, " (<:") ? to->symbol : NULL;
}

static void add_call(struct autofdo *a, const struct plan_site *s, const char *name, uint64_t count)
{
	const struct plan_line *row = plan__line_at(a->plan, s->object, s->vaddr);
	struct callee c = {.name = name, .count = count};

	if (count && count != COUNT_UNKNOWN && row && name &&
	    spot_of(a, plan__scope_at(a->plan, s->object, s->vaddr), row, &c.at))
		vec__push(&a->callees, c);
}

static void take_calls(struct autofdo *a, uint32_t site)
{
	const struct plan_site *s = &a->plan->sites.data[site];
	const struct stats_site *ps = &a->stats->sites[site];
	const struct stats_target *t;

	if (s->kind == BRANCH_CALL)
		add_call(a, s, callee_at(a, s->object, s->target), ps->taken);
	if (s->kind == BRANCH_ICALL)
		vec__each (t, &ps->targets)
			add_call(a, s, target_name(a, &t->to), t->count);
}

static void take_blocks(struct autofdo *a)
{
	size_t line = 0;

	for (size_t i = 0; i < a->plan->blocks_by_address.len; i++) {
		const struct plan_block *k;

		a->block = a->plan->blocks_by_address.data[i];
		k = &a->plan->blocks.data[a->block];
		plan__each_piece(a->plan, a->block, &line, take_piece, a);
		if (k->site != NO_SITE)
			take_calls(a, k->site);
	}
}

static void take_heads(struct autofdo *a)
{
	for (uint32_t i = 0; i < a->plan->functions.len; i++) {
		const struct plan_function *f = &a->plan->functions.data[i];
		uint64_t calls = a->stats->functions[i].calls;
		uint32_t scope = plan__scope_at(a->plan, f->object, plan__start(f));

		while (scope != NO_SCOPE && a->plan->scopes.data[scope].parent != NO_SCOPE)
			scope = a->plan->scopes.data[scope].parent;
		if (scope != NO_SCOPE && a->of_scope[scope] != NO_BODY && calls != COUNT_UNKNOWN)
			a->bodies.data[a->of_scope[scope]].head += calls;
	}
}

/* ---- order ---- */

static int by_spot(const struct spot *x, const struct spot *y)
{
	if (x->body != y->body)
		return x->body < y->body ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->discriminator < y->discriminator ? -1 : x->discriminator > y->discriminator;
}

static int by_sample(const void *a, const void *b)
{
	const struct line_count *x = a, *y = b;
	int n = by_spot(&x->at, &y->at);

	return n ? n : x->copy < y->copy ? -1 : x->copy > y->copy;
}

static int by_callee(const void *a, const void *b)
{
	const struct callee *x = a, *y = b;
	int n = by_spot(&x->at, &y->at);

	return n ? n : strcmp(x->name, y->name);
}

/* One for each spot. */
static void join_samples(struct autofdo *a)
{
	struct line_count *s = a->samples.data, *last;
	uint64_t most = 0;
	size_t n = 0;

	vec__sort(&a->samples, by_sample);
	for (size_t i = 0; i < a->samples.len; i++) {
		last = n ? &s[n - 1] : NULL;
		if (!last || by_spot(&last->at, &s[i].at) != 0) {
			most = s[i].count;
			s[n++] = s[i];
		} else if (last->copy != s[i].copy) {
			last->copy = s[i].copy;
			last->count += most = s[i].count;
		} else if (s[i].count > most) {
			last->count += s[i].count - most;
			most = s[i].count;
		}
	}
	a->samples.len = n;
	for (size_t i = 0; i < n; i++)
		for (uint32_t b = s[i].at.body; b != NO_BODY; b = a->bodies.data[b].parent)
			a->bodies.data[b].total += s[i].count;
}

static void join_callees(struct autofdo *a)
{
	struct callee *c = a->callees.data;
	size_t n = 0;

	vec__sort(&a->callees, by_callee);
	for (size_t i = 0; i < a->callees.len; i++)
		if (n && !by_callee(&c[n - 1], &c[i]))
			c[n - 1].count += c[i].count;
		else
			c[n++] = c[i];
	a->callees.len = n;
}

/* Bodies by parent, functions last: the hottest first; what was inlined by its place. */
static int by_parent(const void *x, const void *y, void *bodies)
{
	const struct body *a = &((const struct body *)bodies)[*(const uint32_t *)x];
	const struct body *b = &((const struct body *)bodies)[*(const uint32_t *)y];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->parent == NO_BODY && a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->discriminator != b->discriminator)
		return a->discriminator < b->discriminator ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* ---- text ---- */

struct writing {
	struct autofdo *a;
	struct str *s;
	VEC(uint32_t) order; /* bodies, by_parent() */
};

static void put_spot(struct writing *w, unsigned indent, uint32_t offset, uint32_t discriminator)
{
	for (unsigned i = 0; i < indent; i++)
		str__putc(w->s, ' ');
	str__printf(w->s, "%u", offset);
	if (discriminator)
		str__printf(w->s, ".%u", discriminator);
	str__puts(w->s, ": ");
}

/* The first element of a body in a sorted vector. */
#define FIRST_OF(vec, wanted)                                                                      \
	({                                                                                         \
		size_t low_ = 0, high_ = (vec)->len;                                               \
		while (low_ < high_) {                                                             \
			size_t mid_ = low_ + (high_ - low_) / 2;                                   \
			if ((vec)->data[mid_].at.body < (wanted))                                  \
				low_ = mid_ + 1;                                                   \
			else                                                                       \
				high_ = mid_;                                                      \
		}                                                                                  \
		low_;                                                                              \
	})

/* "puts" of "puts@plt" */
static void put_callee(struct str *s, const char *name)
{
	autofree char *bare = strndup(name, strcspn(name, "@"));

	str__shown(s, bare);
}

static void put_samples(struct writing *w, uint32_t body, unsigned indent)
{
	const struct autofdo *a = w->a;
	size_t c = FIRST_OF(&a->callees, body);

	for (size_t i = FIRST_OF(&a->samples, body);
	     i < a->samples.len && a->samples.data[i].at.body == body; i++) {
		const struct line_count *s = &a->samples.data[i];

		put_spot(w, indent, s->at.offset, s->at.discriminator);
		str__printf(w->s, "%llu", (unsigned long long)s->count);
		while (c < a->callees.len && by_spot(&a->callees.data[c].at, &s->at) < 0)
			c++;
		for (; c < a->callees.len && !by_spot(&a->callees.data[c].at, &s->at); c++) {
			str__putc(w->s, ' ');
			put_callee(w->s, a->callees.data[c].name);
			str__printf(w->s, ":%llu", (unsigned long long)a->callees.data[c].count);
		}
		str__putc(w->s, '\n');
	}
}

static size_t first_within(const struct writing *w, uint32_t parent)
{
	size_t low = 0, high = w->order.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->a->bodies.data[w->order.data[mid]].parent < parent)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void put_body(struct writing *w, uint32_t body, unsigned indent)
{
	const struct body *b = &w->a->bodies.data[body];

	str__shown(w->s, b->name);
	str__printf(w->s, ":%llu", (unsigned long long)b->total);
	if (!indent)
		str__printf(w->s, ":%llu", (unsigned long long)b->head);
	str__putc(w->s, '\n');
	put_samples(w, body, indent + 1);
	for (size_t i = first_within(w, body); i < w->order.len; i++) {
		const struct body *inner = &w->a->bodies.data[w->order.data[i]];

		if (inner->parent != body)
			break;
		if (!inner->total)
			continue;
		put_spot(w, indent + 1, inner->offset, inner->discriminator);
		put_body(w, w->order.data[i], indent + 1);
	}
}

static int put_functions(struct autofdo *a)
{
	struct writing w = {.a = a, .s = &a->o->buffer};
	int err = 0;

	for (uint32_t i = 0; i < a->bodies.len; i++)
		vec__push(&w.order, i);
	vec__sort_by(&w.order, by_parent, a->bodies.data);
	for (size_t i = first_within(&w, NO_BODY); !err && i < w.order.len; i++) {
		const struct body *b = &a->bodies.data[w.order.data[i]];

		if (b->total || b->head)
			put_body(&w, w.order.data[i], 0);
		err = aggregate__flush_full(a->o);
	}
	vec__free(&w.order);
	return err;
}

static int autofdo__end(struct output *o, const struct trace_totals *t)
{
	struct autofdo a = {.o = o, .stats = o->state, .plan = o->plan};
	int err;

	stats__end(o->state);
	runs__init(&a.runs, o->state, &o->options);
	a.of_scope = xcalloc(o->plan->scopes.len + 1, sizeof(*a.of_scope));
	find_bodies(&a);
	take_blocks(&a);
	take_heads(&a);
	join_samples(&a);
	join_callees(&a);
	err = put_functions(&a);
	runs__free(&a.runs);
	map64__free(&a.by_place);
	vec__free(&a.bodies);
	vec__free(&a.samples);
	vec__free(&a.callees);
	free(a.of_scope);
	return err;
}

const struct output_format output_autofdo = {
	.name = "autofdo",
	.wants = {.events = OUTPUT_EDGES, .lines = true, .scopes = true},
	.suffixes = ".prof",
	.help = "a sample profile for clang: how often each line ran",
	.size = sizeof(struct stats),
	AGGREGATES,
	ADDS_UP,
	.count = aggregate__count,
	.end = autofdo__end,
};
