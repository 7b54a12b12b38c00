// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks: the open calls of each thread, and what they add to the tree of calls, to the call edges
 * and to the functions' times. A step identifies its call, so a dormant call (another stack, a
 * longjmp) is found again. A call that never resumes has no time, but its callees' time is still
 * subtracted from its caller's own time.
 */
#include "stack.h"

/* The most dormant calls of a thread; beyond that the older half is dropped. */
#define MAX_DORMANT 1024
/* With more threads than this, one without open calls is dropped. */
#define MANY_STACKS 4096

uint64_t stats__hash(uint64_t a, uint64_t b, uint64_t c)
{
	/* the finalizer of MurmurHash3 over each word */
	uint64_t words[] = {a, b, c}, h = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		h ^= words[i] + 0x9e3779b97f4a7c15;
		h = (h ^ h >> 33) * 0xff51afd7ed558ccd;
		h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53;
		h ^= h >> 33;
	}
	return h;
}

/* ---- the tree ---- */

static uint32_t add_thread(struct stats *p, uint32_t pid, uint32_t tid, const char *comm)
{
	struct stats_thread *th = vec__add(&p->threads);
	struct stats_node *root = vec__add(&p->nodes);

	*root = (struct stats_node){.function = STATS_THREAD,
				    .parent = NO_NODE,
				    .thread = (uint32_t)p->threads.len - 1};
	th->pid = pid;
	th->tid = tid;
	th->root = (uint32_t)p->nodes.len - 1;
	snprintf(th->comm, sizeof(th->comm), "%s", comm);
	return root->thread;
}

static uint32_t other_thread(struct stats *p)
{
	if (p->priv->other == NO_NODE)
		p->priv->other = add_thread(p, 0, 0, "[other stacks]");
	return p->priv->other;
}

static bool is_thread(const struct stats_thread *th, const struct step *s)
{
	return th->pid == s->pid && th->tid == s->tid && !strncmp(th->comm, s->comm, 15);
}

static uint32_t thread_of(struct stats *p, const struct step *s)
{
	uint64_t name[2] = {0}, *slot;

	memcpy(name, s->comm, strnlen(s->comm, 15));
	slot = map64__put(&p->priv->threads,
			  stats__hash((uint64_t)s->pid << 32 | s->tid, name[0], name[1]));
	if (*slot && is_thread(&p->threads.data[*slot - 1], s))
		return *slot - 1;
	if (p->nodes.len >= STATS_NODES) {
		*slot = other_thread(p) + 1;
		return *slot - 1;
	}
	*slot = add_thread(p, s->pid, s->tid, s->comm) + 1;
	return *slot - 1;
}

static bool is_among_callers(const struct stats *p, uint32_t node, uint32_t function)
{
	for (; node != NO_NODE; node = p->nodes.data[node].parent)
		if (p->nodes.data[node].function == function)
			return true;
	return false;
}

/* The node of a function called at node. */
uint32_t stack__node_below(struct stats *p, uint32_t node, uint32_t function)
{
	struct stats_node child = {.parent = node};
	uint64_t *slot;

	if (p->nodes.data[node].function == STATS_DEEPER ||
	    p->nodes.data[node].thread == p->priv->other)
		return node;
	if (p->nodes.data[node].depth >= STATS_DEPTH)
		function = STATS_DEEPER;
	slot = map64__get(&p->priv->nodes, (uint64_t)node << 32 | function);
	if (slot)
		return *slot;
	if (p->nodes.len >= STATS_NODES)
		return p->threads.data[other_thread(p)].root;
	child.function = function;
	child.thread = p->nodes.data[node].thread;
	child.depth = p->nodes.data[node].depth + 1;
	child.recursive = is_among_callers(p, node, function);
	vec__push(&p->nodes, child);
	*map64__put(&p->priv->nodes, (uint64_t)node << 32 | function) = p->nodes.len - 1;
	return p->nodes.len - 1;
}

uint32_t stack__thread_node(struct stats *p, const struct step *s)
{
	uint32_t thread = thread_of(p, s); /* which may move them */

	return p->threads.data[thread].root;
}

/* Returns true if the node stands for one function's calls. */
static bool is_exact(const struct stats *p, uint32_t node)
{
	return p->nodes.data[node].function < p->plan->functions.len;
}

/* ---- who called whom ---- */

static bool is_stub_of(const struct location *to, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	return len && to->symbol && !strncmp(to->symbol, name, len) &&
	       !strcmp(to->symbol + len, "@plt");
}

/* A C++ function may be traced under a shorter name than its stub is shown with. */
static const char *full_name(struct stats *p, uint32_t function)
{
	uint64_t *slot = map64__put(&p->priv->full_names, function);
	const char *raw = p->plan->functions.data[function].raw;

	if (!*slot) {
		char *full = raw ? name__demangle(raw, DEMANGLE_FULL) : NULL;

		*slot = (uintptr_t)(full ? full : xstrdup(""));
	}
	return (const char *)(uintptr_t)*slot;
}

/* Returns true if the caller's last branch led here, as far as is known. */
static bool led_here(struct stats *p, const struct open_call *caller, const struct step *s)
{
	const struct plan_function *fn = &p->plan->functions.data[s->function];
	const struct location *to = &caller->last_to;

	if (caller->last_site == NO_SITE || !to->object || !s->at.object)
		return false;
	return (to->vaddr == s->at.vaddr && !strcmp(to->object, s->at.object)) ||
	       is_stub_of(to, fn->name) || is_stub_of(to, fn->raw) ||
	       is_stub_of(to, full_name(p, s->function));
}

static uint32_t edge_of(struct stats *p, const struct open_call *caller, const struct step *s)
{
	struct stats_call new = {caller->function, NO_SITE, s->function}, *c;
	uint64_t *slot;

	if (caller->function >= p->plan->functions.len)
		return NO_EDGE;
	if (led_here(p, caller, s))
		new.site = caller->last_site;
	slot = map64__put(&p->priv->edges, stats__hash(new.caller, new.site, new.callee));
	c = *slot ? &p->calls.data[*slot - 1] : NULL;
	if (c && c->caller == new.caller && c->site == new.site && c->callee == new.callee)
		return *slot - 1;
	vec__push(&p->calls, new);
	*slot = p->calls.len;
	return p->calls.len - 1;
}

/* ---- the open calls of a thread ---- */

static uint64_t key_of(const struct step *s)
{
	return step__thread_key(s);
}

static struct stack *stack_of(struct stats *p, const struct step *s)
{
	uint64_t *slot = map64__put(&p->priv->stacks, key_of(s));

	if (!*slot)
		*slot = (uintptr_t)xcalloc(1, sizeof(struct stack));
	return (struct stack *)(uintptr_t)*slot;
}

static uint64_t more_than(uint64_t all, uint64_t given)
{
	return all - min_of(all, given);
}

/* Adds what the call has up to now to its caller, in case it never resumes. */
static void give(struct open_call *caller, struct open_call *c, struct share all)
{
	struct share *to = &caller->inner, *given = &c->given;

	all.branches = c->inner.branches;
	to->ns += more_than(all.ns, given->ns);
	to->branches += all.branches - given->branches;
	to->tracing += more_than(all.tracing, given->tracing);
	to->noise += more_than(all.noise, given->noise);
	to->unpriced += more_than(all.unpriced, given->unpriced);
	to->off += more_than(all.off, given->off);
	*given = all;
}

/* Returns the time on no CPU; that of its callees, as far as it is known, if it isn't known for the
 * call. */
static uint64_t off_of(const struct open_call *c, const struct step *s)
{
	return s->has_off ? s->off : c->inner.off;
}

/* What a call took that returns here. */
static struct share share_of(const struct open_call *c, const struct step *s)
{
	if (!s->has_duration)
		return c->inner;
	if (!s->has_tracing)
		return (struct share){
			.ns = s->duration, .unpriced = s->duration, .off = off_of(c, s)};
	return (struct share){
		.ns = s->duration, .tracing = s->tracing, .noise = s->noise, .off = off_of(c, s)};
}

static void forget_older_half(struct stack *st)
{
	st->dormant.len /= 2;
	for (size_t i = 0; i < st->dormant.len; i++) {
		inclusive__hand_on(st, &st->dormant.data[i]);
		self_time__free(&st->dormant.data[i].self_time);
	}
	memmove(st->dormant.data, st->dormant.data + st->dormant.len,
		st->dormant.len * sizeof(*st->dormant.data));
}

/* Makes the calls from live.data[n] on dormant. */
static void suspend_call(struct stack *st, size_t n)
{
	while (st->live.len > n) {
		struct open_call *c = vec__last(&st->live);

		if (st->live.len > 1)
			give(c - 1, c, c->inner);
		if (st->dormant.len == MAX_DORMANT)
			forget_older_half(st);
		vec__push(&st->dormant, *c);
		st->live.len--;
	}
}

static struct open_call *resume(struct stack *st, uint64_t id)
{
	for (size_t i = st->dormant.len; i-- > 0;) {
		struct open_call *c = &st->dormant.data[i];

		if (c->id != id)
			continue;
		vec__push(&st->live, *c);
		memmove(c, c + 1, (st->dormant.len - i - 1) * sizeof(*c));
		st->dormant.len--;
		return vec__last(&st->live);
	}
	return NULL;
}

/* Makes the call the innermost one. NULL: unknown. */
static struct open_call *make_current(struct stack *st, uint64_t id)
{
	for (size_t i = st->live.len; i-- > 0;)
		if (st->live.data[i].id == id) {
			suspend_call(st, i + 1);
			return &st->live.data[i];
		}
	return resume(st, id);
}

static uint32_t node_of_inner(struct stats *p, struct stack *st, const struct step *s)
{
	if (st->live.len)
		return vec__last(&st->live)->node;
	st->thread = thread_of(p, s);
	return p->threads.data[st->thread].root;
}

/* The node of the innermost call, or of the site by which it called c. */
static uint32_t node_of_caller(struct stats *p, struct stack *st, const struct step *s,
			       const struct open_call *c)
{
	uint32_t node = node_of_inner(p, st, s);
	const struct open_call *caller = st->live.len ? vec__last(&st->live) : NULL;

	if (!p->site_nodes || !c->seen || !caller || !is_exact(p, node) || !led_here(p, caller, s))
		return node;
	return stack__node_below(p, node, STATS_SITE + caller->last_site);
}

static struct open_call *push(struct stats *p, struct stack *st, const struct step *s,
			      struct open_call c)
{
	c.node = stack__node_below(p, node_of_caller(p, st, s, &c), c.function);
	c.edge = NO_EDGE;
	c.last_site = NO_SITE;
	c.self_time.charged = NO_SITE;
	c.recursive = p->nodes.data[c.node].recursive || !is_exact(p, c.node);
	if (c.function < p->plan->functions.len)
		p->functions[c.function].open++;
	if (c.seen && st->live.len)
		c.edge = edge_of(p, vec__last(&st->live), s);
	st->newest = max_of(st->newest, c.id);
	vec__push(&st->live, c);
	return vec__last(&st->live);
}

/* Pushes an open call at this depth whose entry was not seen. */
static struct open_call *push_unseen(struct stats *p, struct stack *st, const struct step *s,
				     struct open_call c, unsigned depth)
{
	if (st->live.len > depth)
		suspend_call(st, depth);
	/* calls in between were not seen either */
	if (st->live.len < depth &&
	    (!st->live.len || vec__last(&st->live)->function != STATS_UNSEEN))
		push(p, st, s, (struct open_call){.function = STATS_UNSEEN});
	p->unseen++;
	if (st->live.len)
		c.caller = vec__last(&st->live)->id;
	return push(p, st, s, c);
}

static struct open_call *call_of(struct stats *p, struct stack *st, const struct step *s)
{
	struct open_call *c =
		st->live.len && vec__last(&st->live)->id == s->call ? vec__last(&st->live) : NULL;

	c = c ? c : make_current(st, s->call);
	return c ? c
		 : push_unseen(p, st, s, (struct open_call){.id = s->call, .function = s->function},
			       s->depth);
}

/* ---- steps ---- */

static void count_entry(struct stats *p, const struct open_call *c, uint32_t function)
{
	p->functions[function].calls++;
	p->nodes.data[c->node].calls++;
	p->deeper += p->nodes.data[c->node].function == STATS_DEEPER;
	p->other += p->nodes.data[c->node].thread == p->priv->other;
	if (c->edge != NO_EDGE)
		p->calls.data[c->edge].calls++;
}

void stack__entry(struct stats *p, const struct step *s)
{
	struct stack *st = stack_of(p, s);
	/* an open call: control came back to its first instruction */
	struct open_call *c = s->call > st->newest ? NULL : make_current(st, s->call);

	if (!c) {
		if (!s->caller)
			suspend_call(st, 0);
		else if (!make_current(st, s->caller))
			push_unseen(p, st, s,
				    (struct open_call){.id = s->caller, .function = STATS_UNSEEN},
				    s->depth ? s->depth - 1 : 0);
		c = push(p, st, s,
			 (struct open_call){.id = s->call,
					    .caller = s->caller,
					    .function = s->function,
					    .seen = true});
		p->priv->seen++;
		if (st->live.len > 1)
			self_time__inner(p, c - 1, s);
	}
	self_time__event(p, c, s, NO_SITE);
	count_entry(p, c, s->function);
}

static bool is_range(const struct stats *p, uint32_t function)
{
	return p->plan->functions.data[function].flags & FUNCTION_RANGE;
}

/* Sets its last branch; to is NULL if its target is not known. */
static void set_last(struct open_call *c, uint32_t site, const struct location *to)
{
	c->last_site = to ? site : NO_SITE;
	if (to)
		c->last_to = *to;
}

void stack__branch(struct stats *p, const struct step *s)
{
	struct open_call *c;

	if (!s->call || is_range(p, s->function))
		return;
	c = call_of(p, stack_of(p, s), s);
	c->inner.branches++;
	set_last(c, s->site, s->to_known ? &s->to : NULL);
	self_time__event(p, c, s, s->site);
}

void stack__run(struct stats *p, const struct passed_run *run)
{
	/* all that is read of it for a call that isn't known yet */
	const struct step s = {.type = STEP_BRANCH,
			       .pid = run->pid,
			       .tid = run->tid,
			       .goroutine = run->goroutine,
			       .comm = run->comm,
			       .call = run->call,
			       .depth = run->depth,
			       .site = run->site,
			       .function = run->function};
	struct open_call *c = call_of(p, stack_of(p, &s), &s);

	c->inner.branches += run->branches;
	set_last(c, run->site, run->to);
}

static struct open_call *caller_of(struct stack *st, const struct open_call *c)
{
	for (size_t i = c - st->live.data; i-- > 0;)
		if (st->live.data[i].id == c->caller)
			return &st->live.data[i];
	return NULL;
}

/* Returns what the call's own hits took of its own time. If it isn't known for a callee, it may be
 * nothing or all of the callee's time. */
static struct stats_net self_net(const struct open_call *c, const struct step *s, uint64_t self)
{
	if (!s->has_tracing)
		return (struct stats_net){0};
	return (struct stats_net){.ns = self,
				  .tracing = min_of(self, more_than(s->tracing, c->inner.tracing)),
				  .noise = more_than(s->noise, c->inner.noise) + c->inner.unpriced,
				  .calls = 1};
}

/* Adds a frame below the function's. Returns what it has taken. */
static uint64_t add_off(struct stats *p, uint32_t node, uint64_t off)
{
	uint32_t below = off ? stack__node_below(p, node, STATS_OFF_CPU) : node;

	if (below == node)
		return 0;
	p->nodes.data[below].self += off;
	p->nodes.data[below].time += off;
	return off;
}

static void add_time(struct stats *p, struct stack *st, struct open_call *c, const struct step *s)
{
	struct stats_function *fn = &p->functions[c->function];
	uint64_t ns = s->duration, self = more_than(ns, c->inner.ns),
		 off = min_of(self, more_than(off_of(c, s), c->inner.off));
	const struct stats_net of_self = self_net(c, s, self - off);
	struct stats_net net = s->has_tracing ? (struct stats_net){ns, s->tracing, s->noise, 1}
					      : (struct stats_net){0};
	struct stats_node *node;
	uint64_t of_sites;

	net.off = s->has_off ? s->off : 0;
	net.off_calls = s->has_off;
	off = add_off(p, c->node, off);
	of_sites = self_time__take(p, c, self);
	node = &p->nodes.data[c->node];

	histogram__add(&fn->time, ns);
	fn->self += self;
	fn->self_off += off;
	node->timed++;
	node->self += more_than(self - off, of_sites);
	stats_net__add(&node->self_net, &of_self, 1);
	node->time += is_exact(p, c->node) ? ns : 0;
	inclusive__add(p, st, c, ns, &net);
}

static void free_stack(struct stack *st)
{
	struct open_call *c;

	vec__each (c, &st->live)
		self_time__free(&c->self_time);
	vec__each (c, &st->dormant)
		self_time__free(&c->self_time);
	vec__free(&st->live);
	vec__free(&st->dormant);
	vec__free(&st->credits);
	free(st);
}

static void forget(struct stats_priv *priv, struct stack *st, const struct step *s)
{
	map64__del(&priv->stacks, key_of(s));
	free_stack(st);
}

void stack__return(struct stats *p, const struct step *s)
{
	struct stack *st = stack_of(p, s);
	struct open_call *c = call_of(p, st, s), *caller;

	p->priv->returned += c->seen;
	if (c->function < p->plan->functions.len)
		p->functions[c->function].open--;
	c->function = s->function; /* may have been STATS_UNSEEN */
	caller = caller_of(st, c);
	self_time__event(p, c, s, s->site);
	if (s->has_duration) {
		add_time(p, st, c, s);
	} else {
		p->functions[s->function].unseen++;
		inclusive__hand_on(st, c);
	}
	if (caller) {
		give(caller, c, share_of(c, s));
		self_time__inner(p, caller, s);
	}
	self_time__free(&c->self_time);
	st->live.len--;
	if (p->priv->stacks.len > MANY_STACKS && !st->live.len && !st->dormant.len)
		forget(p->priv, st, s);
}

void stack__free_all(struct stats_priv *priv)
{
	uint64_t value;

	for (size_t i = 0; i < priv->stacks.cap; i++)
		if (map64__slot(&priv->stacks, i, &value))
			free_stack((struct stack *)(uintptr_t)value);
	map64__free(&priv->stacks);
	for (size_t i = 0; i < priv->full_names.cap; i++)
		if (map64__slot(&priv->full_names, i, &value))
			free((char *)(uintptr_t)value);
	map64__free(&priv->full_names);
}
