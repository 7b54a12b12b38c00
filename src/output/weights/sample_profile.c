// SPDX-License-Identifier: BSD-2-Clause
/* Which lines of the source ran how often, from the counts of blocks and debug information. */
#include "sample_profile.h"
#include <stdlib.h>

/* ---- names ---- */

/* Of the first len bytes. */
static uint32_t intern(struct sample_profile *p, const char *name, size_t len)
{
	uint64_t key, *known;

	if (!p->style->whole_names) {
		const char *period = memchr(name, '.', len);

		len = period ? (size_t)(period - name) : len;
	}
	for (key = map64__hash(name, len);; key++) {
		known = map64__put(&p->by_name, key);
		if (!*known)
			break;
		if (!strncmp(p->names.data[*known - 1], name, len) &&
		    !p->names.data[*known - 1][len])
			return *known - 1;
	}
	vec__push(&p->names, xstrndup(name, len));
	*known = p->names.len;
	return *known - 1;
}

static const char *name_of(const struct plan_scope *s)
{
	return s->raw ? s->raw : s->name;
}

/* ---- places ---- */

/* As the compilers do: a line before the function's own wraps around. */
static uint32_t offset_of(uint32_t line, const struct plan_scope *s)
{
	return (line - s->line) & 0xffff;
}

/* Returns the function of the source that an address is in; NO_SCOPE if not known. */
static uint32_t outermost_scope(const struct plan *plan, uint32_t object, uint64_t vaddr)
{
	uint32_t scope = plan__scope_at(plan, object, vaddr);

	while (scope != NO_SCOPE && plan->scopes.data[scope].parent != NO_SCOPE)
		scope = plan->scopes.data[scope].parent;
	return scope;
}

static bool is_part(const struct plan_function *f)
{
	const char *name = f->raw ? f->raw : f->name;

	return name && strstr(name, ".part.");
}

/* Each is a body of its own. */
static void find_parts(struct sample_profile *p)
{
	const struct plan_function *f;

	vec__each (f, &p->plan->functions) {
		uint32_t scope =
			is_part(f) ? outermost_scope(p->plan, f->object, plan__start(f)) : NO_SCOPE;
		const struct plan_scope *s;
		uint32_t name;

		if (scope == NO_SCOPE || p->of_scope[scope] != NO_BODY)
			continue;
		s = &p->plan->scopes.data[scope];
		name = s->line && name_of(s) ? intern(p, name_of(s), strlen(name_of(s))) : 0;
		if (!name)
			continue;
		p->of_scope[scope] = p->bodies.len;
		vec__push(&p->bodies,
			  (struct profile_body){.parent = NO_BODY, .name = name, .is_part = true});
	}
}

/* A scope's parent is before it. */
static void find_bodies(struct sample_profile *p)
{
	for (uint32_t i = 0; i < p->plan->scopes.len; i++) {
		const struct plan_scope *s = &p->plan->scopes.data[i];
		struct profile_spot call = {.body = NO_BODY};
		uint32_t name;

		if (p->of_scope[i] != NO_BODY || !s->line || !name_of(s))
			continue;
		if (s->parent != NO_SCOPE) {
			call.body = p->of_scope[s->parent];
			if (call.body == NO_BODY || !s->call_line)
				continue;
			call.offset = offset_of(s->call_line, &p->plan->scopes.data[s->parent]);
			call.discriminator = p->style->discriminator(s->call_discriminator);
		}
		name = intern(p, name_of(s), strlen(name_of(s)));
		if (name)
			p->of_scope[i] = sample_profile__body(p, &call, name);
	}
}

/* Returns false if it has none. */
static bool spot_of(const struct sample_profile *p, uint32_t scope, const struct plan_line *row,
		    struct profile_spot *out)
{
	if (scope == NO_SCOPE || p->of_scope[scope] == NO_BODY)
		return false;
	*out = (struct profile_spot){p->of_scope[scope],
				     offset_of(row->line, &p->plan->scopes.data[scope]),
				     p->style->discriminator(row->discriminator)};
	return true;
}

/* ---- counts ---- */

static void take_piece(void *ctx, const struct plan_piece *piece)
{
	struct sample_profile *p = ctx;
	struct profile_line s = {.copy = piece->scope, .count = p->runs.blocks[p->block]};

	if (s.count != RUNS_UNKNOWN && spot_of(p, piece->scope, piece->row, &s.at))
		vec__push(&p->lines, s);
}

/* Returns the function that is called there, as the profile names it; NULL if not known. */
static const char *callee_at(const struct sample_profile *p, uint32_t object, uint64_t vaddr)
{
	const struct object *o = p->plan->objects.data[object].object;
	uint32_t scope = outermost_scope(p->plan, object, vaddr);
	const struct symbol *symbol = o ? object__symbol_at(o, vaddr) : NULL;

	if (scope != NO_SCOPE && name_of(&p->plan->scopes.data[scope]))
		return name_of(&p->plan->scopes.data[scope]);
	return symbol ? symbol->name : NULL;
}

/* In an object that isn't traced, names are known as they are shown: only those of C are the
 * symbols. */
static const char *target_name(const struct sample_profile *p, const struct location *to)
{
	for (uint32_t i = 0; to->object && i < p->plan->objects.len; i++)
		if (!strcmp(p->plan->objects.data[i].path, to->object))
			return callee_at(p, i, to->vaddr);
	return to->symbol && !strpbrk(to->symbol, " (<:") ? to->symbol : NULL;
}

static void add_call(struct sample_profile *p, const struct plan_site *s, const char *name,
		     uint64_t count)
{
	const struct plan_line *row = plan__line_at(p->plan, s->object, s->vaddr);
	struct profile_callee c = {.count = count};

	if (!count || count == COUNT_UNKNOWN || !row || !name ||
	    !spot_of(p, plan__scope_at(p->plan, s->object, s->vaddr), row, &c.at))
		return;
	c.name = intern(p, name, strcspn(name, "@")); /* "puts" of "puts@plt" */
	if (c.name)
		vec__push(&p->callees, c);
}

/* A jump may be a call, too. */
static void take_part_call(struct sample_profile *p, const struct plan_site *s, uint64_t count)
{
	uint32_t to = outermost_scope(p->plan, s->object, s->target);
	uint32_t part = to == NO_SCOPE ? NO_BODY : p->of_scope[to];
	uint32_t from = plan__scope_at(p->plan, s->object, s->vaddr);
	uint32_t caller = from == NO_SCOPE ? NO_BODY : p->of_scope[from];

	if (part != NO_BODY && caller != NO_BODY && p->bodies.data[part].is_part && count &&
	    count != COUNT_UNKNOWN && outermost_scope(p->plan, s->object, s->vaddr) != to)
		vec__push(&p->part_calls, (struct profile_part_call){part, caller, count});
}

static void take_calls(struct sample_profile *p, uint32_t site)
{
	const struct plan_site *s = &p->plan->sites.data[site];
	const struct stats_site *ps = &p->stats->sites[site];
	const struct stats_target *t;

	if (s->target)
		take_part_call(p, s, ps->taken);
	if (s->kind == BRANCH_CALL && p->style->direct)
		add_call(p, s, callee_at(p, s->object, s->target), ps->taken);
	if (s->kind == BRANCH_ICALL)
		vec__each (t, &ps->targets)
			add_call(p, s, target_name(p, &t->to), t->count);
}

static void take_blocks(struct sample_profile *p)
{
	size_t line = 0;

	for (size_t i = 0; i < p->plan->blocks_by_address.len; i++) {
		const struct plan_block *k;

		p->block = p->plan->blocks_by_address.data[i];
		k = &p->plan->blocks.data[p->block];
		plan__each_piece(p->plan, p->block, &line, take_piece, p);
		if (k->site != NO_SITE)
			take_calls(p, k->site);
	}
}

static void take_heads(struct sample_profile *p)
{
	for (uint32_t i = 0; i < p->plan->functions.len; i++) {
		const struct plan_function *f = &p->plan->functions.data[i];
		uint64_t calls = p->stats->functions[i].calls;
		uint32_t scope = outermost_scope(p->plan, f->object, plan__start(f));

		if (scope != NO_SCOPE && p->of_scope[scope] != NO_BODY && calls != COUNT_UNKNOWN &&
		    !is_part(f))
			p->bodies.data[p->of_scope[scope]].head += calls;
	}
}

/* ---- order ---- */

static int by_spot(const struct profile_spot *x, const struct profile_spot *y)
{
	if (x->body != y->body)
		return x->body < y->body ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->discriminator < y->discriminator ? -1 : x->discriminator > y->discriminator;
}

static int by_line(const void *a, const void *b)
{
	const struct profile_line *x = a, *y = b;
	int n = by_spot(&x->at, &y->at);

	return n ? n : x->copy < y->copy ? -1 : x->copy > y->copy;
}

static int by_callee(const void *a, const void *b, void *profile)
{
	const struct profile_callee *x = a, *y = b;
	char **names = ((struct sample_profile *)profile)->names.data;
	int n = by_spot(&x->at, &y->at);

	return n ? n : strcmp(names[x->name], names[y->name]);
}

/* One for each spot. */
static void join_lines(struct sample_profile *p)
{
	struct profile_line *s = p->lines.data, *last;
	uint64_t most = 0;
	size_t n = 0;

	vec__sort(&p->lines, by_line);
	for (size_t i = 0; i < p->lines.len; i++) {
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
	p->lines.len = n;
	for (size_t i = 0; i < n; i++)
		for (uint32_t b = s[i].at.body; b != NO_BODY; b = p->bodies.data[b].parent)
			p->bodies.data[b].total += s[i].count;
}

static void join_callees(struct sample_profile *p)
{
	struct profile_callee *c = p->callees.data;
	size_t n = 0;

	vec__sort_by(&p->callees, by_callee, p);
	for (size_t i = 0; i < p->callees.len; i++)
		if (n && !by_callee(&c[n - 1], &c[i], p))
			c[n - 1].count += c[i].count;
		else
			c[n++] = c[i];
	p->callees.len = n;
}

/* By parent, functions last: the hottest first; what was inlined by its place. */
static int by_parent(const void *x, const void *y, void *profile)
{
	const struct sample_profile *p = profile;
	const struct profile_body *a = &p->bodies.data[*(const uint32_t *)x];
	const struct profile_body *b = &p->bodies.data[*(const uint32_t *)y];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->parent == NO_BODY && a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->discriminator != b->discriminator)
		return a->discriminator < b->discriminator ? -1 : 1;
	return strcmp(p->names.data[a->name], p->names.data[b->name]);
}

/* Orders the bodies that ran. */
static void order_bodies(struct sample_profile *p)
{
	for (uint32_t i = 0; i < p->bodies.len; i++) {
		const struct profile_body *b = &p->bodies.data[i];

		if (b->total || (b->parent == NO_BODY && b->head))
			vec__push(&p->order, i);
	}
	vec__sort_by(&p->order, by_parent, p);
}

/* ---- what is asked ---- */

void sample_profile__init(struct sample_profile *p, struct output *o,
			  const struct profile_style *style)
{
	*p = (struct sample_profile){.style = style, .stats = o->state, .plan = o->plan};
	stats__end(o->state);
	runs__init(&p->runs, o->state, &o->options);
	p->of_scope = xcalloc(o->plan->scopes.len + 1, sizeof(*p->of_scope));
	memset(p->of_scope, 0xff, o->plan->scopes.len * sizeof(*p->of_scope));
	intern(p, "", 0);
	find_parts(p);
	find_bodies(p);
	take_blocks(p);
	take_heads(p);
	sample_profile__divide_parts(p);
	join_lines(p);
	join_callees(p);
	order_bodies(p);
}

void sample_profile__free(struct sample_profile *p)
{
	char **name;

	vec__each (name, &p->names)
		free(*name);
	vec__free(&p->names);
	vec__free(&p->bodies);
	vec__free(&p->order);
	vec__free(&p->lines);
	vec__free(&p->callees);
	vec__free(&p->part_calls);
	map64__free(&p->by_name);
	map64__free(&p->by_place);
	runs__free(&p->runs);
	free(p->of_scope);
}

/* The number of elements of a sorted vector that are equal to what is wanted. order: of an element
 * less it. */
#define EQUAL_IN(vec, first, order)                                                                \
	({                                                                                         \
		size_t low_ = 0, high_ = (vec)->len;                                               \
		while (low_ < high_) {                                                             \
			size_t it = low_ + (high_ - low_) / 2;                                     \
			if ((order) < 0)                                                           \
				low_ = it + 1;                                                     \
			else                                                                       \
				high_ = it;                                                        \
		}                                                                                  \
		*(first) = low_;                                                                   \
		for (size_t it = low_; it < (vec)->len && (order) == 0; it++)                      \
			low_++;                                                                    \
		low_ - *(first);                                                                   \
	})

static int order_of(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

size_t sample_profile__within(const struct sample_profile *p, uint32_t parent, size_t *first)
{
	return EQUAL_IN(&p->order, first,
			order_of(p->bodies.data[p->order.data[it]].parent, parent));
}

size_t sample_profile__lines(const struct sample_profile *p, uint32_t body, size_t *first)
{
	return EQUAL_IN(&p->lines, first, order_of(p->lines.data[it].at.body, body));
}

size_t sample_profile__callees(const struct sample_profile *p, const struct profile_spot *at,
			       size_t *first)
{
	return EQUAL_IN(&p->callees, first, by_spot(&p->callees.data[it].at, at));
}
