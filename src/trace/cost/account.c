// SPDX-License-Identifier: BSD-2-Clause
/*
 * What tracing has cost each thread, and each of its calls: the price of the hits within it. A hit
 * is charged after its event, whose time is taken at the start of the hit. So a call has the cost
 * of its entry and not that of its ret, as its duration does.
 *
 * The time from a hit to the thread's next one is a sample of the hit's price, if all that the
 * thread ran in between is known and takes far less time than a hit. What such a time exceeds the
 * price by is noise: the thread may have been preempted in the hit, or its program may have waited
 * for a page.
 */
#include "trace/calls.h"

/* ---- accounts ---- */

static struct account *account_of(struct trace *t, struct thread *th)
{
	struct account *a = &thread__shown(th)->account;

	if (!a->id)
		a->id = ++t->last_account;
	return a;
}

/*
 * Sets how much of the last absence is after this time, which is that of a hit: the thread may be
 * preempted between the time that is taken and the record of its event. Returns false if more than
 * the last absence may be after it.
 */
static bool find_off_after(struct thread *th, uint64_t time, uint64_t *after)
{
	const struct absence *last = &thread__shown(th)->absence;

	*after = time < last->to ? last->to - max_of(time, last->from) : 0;
	return time >= last->earlier;
}

void account__open_call(struct trace *t, struct thread *th, struct call *c)
{
	uint64_t after;

	c->before = *account_of(t, th);
	c->off_known = find_off_after(th, c->time, &after);
	c->before.off -= after;
}

void account__copy(struct trace *t, struct thread *to, const struct thread *from)
{
	struct account *a = account_of(t, to);
	const uint64_t id = a->id;
	struct call *c;

	*a = from->account;
	a->id = id;
	vec__each (c, &to->calls)
		if (c->before.id == from->account.id)
			c->before.id = id;
}

void account__miss(struct trace *t, struct thread *th)
{
	struct account *a = account_of(t, th);

	a->holes++;
	a->era++;
	th->last_hit = (struct last_hit){0};
}

void account__off_cpu(struct thread *th, uint64_t time)
{
	th->off_since = time;
}

bool account__on_cpu(struct trace *t, struct thread *th, uint64_t time, uint64_t *off)
{
	bool known = th->off_since && time >= th->off_since;

	*off = known ? time - th->off_since : 0;
	if (known) {
		struct absence *last = &thread__shown(th)->absence;

		account_of(t, th)->off += *off;
		*last = (struct absence){th->off_since, time, last->to};
	} else {
		account_of(t, th)->holes++;
	}
	th->off_since = 0;
	return known;
}

/* A goroutine waits without a thread. */
bool account__off_of_call(struct event_context *n, const struct call *c, uint64_t time,
			  uint64_t *off)
{
	const struct account *now = account_of(n->t, n->th), *before = &c->before;
	uint64_t after;

	if (!n->t->switches || thread__shown(n->th)->goroutine || now->id != before->id ||
	    now->holes != before->holes || !c->off_known || !find_off_after(n->th, time, &after))
		return false;
	*off = now->off - before->off - after;
	return true;
}

bool account__of_call(struct event_context *n, const struct call *c, uint64_t *tracing,
		      uint64_t *noise)
{
	const struct account *now = account_of(n->t, n->th), *before = &c->before;

	if (now->id != before->id || now->holes != before->holes)
		return false;
	*tracing = now->spent - before->spent;
	*noise = now->spread - before->spread;
	for (unsigned k = 0; k <= HIT_KINDS; k++) {
		const uint32_t hits = now->unpriced[k] - before->unpriced[k];
		struct price p = {0};

		if (hits && !prices__of(&n->t->prices, k, &p))
			return false;
		*tracing += hits * p.usual;
		*noise += hits * (p.high - p.usual);
	}
	return true;
}

void account__total(const struct trace *t, struct trace_totals *totals)
{
	totals->hits = t->charged.hits;
	totals->tracing = t->charged.spent;
	totals->unpriced = totals->muted_hits;
	for (unsigned k = 0; k <= HIT_KINDS; k++) {
		const uint64_t hits = t->charged.unpriced[k];
		struct price p = {0};
		bool known = prices__of(&t->prices, k, &p);

		totals->hits += known ? hits : 0;
		totals->tracing += hits * p.usual;
		totals->unpriced += known ? 0 : hits;
	}
}

/* ---- hits ---- */

/* Whether an entry has a return probe of the kernel as well is known from its first hit on. */
static enum hit_kind kind_of(const struct trace *t, uint32_t site, bool returns)
{
	enum hit_kind kind = plan__hit_kind(t->plan, site, returns);

	if (kind == HIT_KERNEL_ENTRY &&
	    map64__get(&t->returning, t->plan->sites.data[site].function))
		return HIT_KERNEL_TWICE;
	return kind;
}

/* Returns what a hit of this kind cost, or else at most cost. */
static uint64_t cost_of(const struct trace *t, enum hit_kind kind)
{
	struct price p;

	if (prices__of(&t->prices, kind, &p))
		return p.usual;
	return kind < HIT_KINDS ? t->prices.of[kind].least : 0;
}

static void count_hit(struct event_context *n, enum hit_kind kind)
{
	const uint32_t pid = thread__shown(n->th)->pid;
	uint64_t *index = map64__put(&n->t->by_process, pid);

	if (!*index) {
		vec__push(&n->t->costs, (struct process_cost){.pid = pid});
		*index = n->t->costs.len;
	}
	n->t->costs.data[*index - 1].ns += cost_of(n->t, kind);
	n->t->site_hits[n->site]++;
}

void trace__each_cost(const struct trace *t, void (*fn)(void *ctx, uint32_t pid, uint64_t ns),
		      void *ctx)
{
	const struct process_cost *c;

	vec__each (c, &t->costs)
		fn(ctx, c->pid, c->ns);
}

uint64_t trace__site_hits(const struct trace *t, uint32_t site, uint64_t *ns)
{
	*ns = t->site_hits[site] * cost_of(t, kind_of(t, site, false));
	return t->site_hits[site];
}

static void charge(struct event_context *n, enum hit_kind kind, struct last_hit *last)
{
	struct account *a = account_of(n->t, n->th);
	struct price p;

	if (prices__of(&n->t->prices, kind, &p)) {
		a->spent += p.usual;
		a->spread += p.high - p.usual;
		n->t->charged.spent += p.usual;
		n->t->charged.hits++;
		last->charged = p;
		last->account = a->id;
	} else {
		a->unpriced[kind]++;
		a->era++;
		n->t->charged.unpriced[kind]++;
	}
}

/* Reduces the charge of the last hit, if it and quick code took all the time since then: it is
 * charged no more than that time, and its noise is the rest. */
static void settle(struct event_context *n)
{
	struct account *a = account_of(n->t, n->th);
	const struct last_hit *last = n->last_hit;
	const struct price *p = &last->charged;
	const uint64_t took = n->e->time - last->time;

	if (last->account != a->id)
		return;
	a->spread -= p->high - p->usual;
	if (took >= p->usual) {
		a->spread += took - p->usual;
	} else {
		a->spent -= p->usual - took;
		n->t->charged.spent -= p->usual - took;
	}
}

/* Notes that c ran only quick code since the last hit, if that hit was its own. */
static void pass_quickly(struct event_context *n, const struct call *c)
{
	const struct last_hit *last = n->last_hit;

	if (n->t->any_changing || n->quick || last->call != c->id || n->e->time < last->time)
		return;
	n->quick = true;
	settle(n);
}

void account__walked(struct event_context *n, const struct call *c, const struct path *path)
{
	const struct plan *p = n->t->plan;
	const struct last_hit *last = n->last_hit;
	unsigned instructions = 0;

	if (!last)
		return;
	for (size_t i = 0; i < path->len; i++) {
		const struct plan_block *b = &p->blocks.data[path->blocks[i]];
		uint8_t kind = b->site == NO_SITE ? BRANCH_NONE : p->sites.data[b->site].kind;

		/* what is called isn't known */
		if (!b->quick ||
		    (i + 1 < path->len && (kind == BRANCH_CALL || kind == BRANCH_ICALL)))
			return;
		instructions += b->quick;
	}
	if (instructions <= QUICK_MAX && last->block == path->blocks[0])
		pass_quickly(n, c);
}

void account__passed(struct event_context *n, const struct call *c)
{
	const struct last_hit *last = n->last_hit;

	if (last && last->call == c->id && walk__is_quick_ahead(n->t->walk, last->block))
		pass_quickly(n, c);
}

/* Returns the block that the call's entry, or the return of a call that it made, leads to. Without
 * events of branches, these alone give its position. */
static uint32_t block_without_branches(struct event_context *n, const struct call *c)
{
	const struct plan *p = n->t->plan;
	uint32_t block;

	if (n->e->type == EVENT_ENTRY)
		return c->id == n->runs_in && c->time == n->e->time ? c->block : NO_BLOCK;
	if (!n->returned_to)
		return NO_BLOCK;
	block = locate__block_in(n->t, thread__space(n->th), p->blocks.data[c->block].object,
				 n->returned_to);
	return block != NO_BLOCK && p->blocks.data[block].function == c->function ? block
										  : NO_BLOCK;
}

/* Returns the block that the thread is about to run in its innermost call; NO_BLOCK if
 * not known. */
static uint32_t block_of(struct event_context *n, const struct call *c)
{
	if (!c || c->state != CALL_AT || c->block == NO_BLOCK || c->in_call || n->e->interrupt ||
	    n->t->any_changing)
		return NO_BLOCK;
	if (!(n->t->options.events & PLAN_BRANCH))
		return block_without_branches(n, c);
	return c->id == n->runs_in ? c->block : NO_BLOCK;
}

/* Returns where the thread is, if all that it runs up to its next hit will be known. */
static struct last_hit position_of(struct event_context *n, enum hit_kind kind)
{
	const struct call *c = calls__top(n->th);
	struct last_hit h = {.time = n->e->time, .kind = kind};
	uint32_t block = kind == HIT_KINDS ? NO_BLOCK : block_of(n, c);

	if (block == NO_BLOCK)
		return h;
	h.call = c->id;
	h.block = block;
	return h;
}

void account__hit(struct event_context *n)
{
	enum hit_kind kind = kind_of(n->t, n->site, n->e->type == EVENT_RETURN);
	struct last_hit *last = n->last_hit, hit = position_of(n, kind);

	if (n->s->probe == PROBE_INLINE) { /* A copy has no trap: its log takes some ns. */
		*last = (struct last_hit){0};
		return;
	}
	if (n->quick && last->call)
		prices__sample(&n->t->prices, last->kind, n->e->time - last->time);
	if (last->time && last->kind < HIT_KINDS && n->e->time >= last->time)
		prices__bound(&n->t->prices, last->kind, n->e->time - last->time);
	charge(n, kind, &hit);
	if (kind == HIT_KERNEL_RETURN)
		*map64__put(&n->t->returning, n->s->function) = 1;
	if (n->t->options.account)
		count_hit(n, kind);
	*last = hit;
}
