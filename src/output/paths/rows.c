// SPDX-License-Identifier: BSD-2-Clause
/* Paths as a tree of the edges that they take, how often each was run, and how long it took. */
#include "calls.h"

#define NO_ROW UINT32_MAX

/* ---- the tree ---- */

static uint32_t add_node(struct path_counts *p, uint64_t *slot, struct paths_node n)
{
	if (*slot)
		return *slot - 1;
	if (p->nodes.len == PATHS_NODES)
		return NO_NODE;
	vec__push(&p->nodes, n);
	*slot = p->nodes.len;
	return p->nodes.len - 1;
}

/* After a back edge to the entry is not at the entry. */
static uint32_t beginning_at(struct path_counts *p, const struct path_call *c, uint32_t block)
{
	uint64_t key = (uint64_t)c->function << 33 | (uint64_t)block << 1 | c->from_entry;
	uint64_t *slot = map64__put(&p->begins, key);

	return add_node(p, slot, (struct paths_node){.parent = NO_NODE, .way = block});
}

void path__choose(struct path_counts *p, struct path_call *c, uint32_t way)
{
	uint64_t *slot;

	if (c->apart)
		return;
	slot = map64__put(&p->children, (uint64_t)c->node << 32 | way);
	c->node = add_node(p, slot, (struct paths_node){.parent = c->node, .way = way});
	c->apart = c->node == NO_NODE ? APART_MORE : APART_NOT;
}

static uint32_t start_of(const struct path_counts *p, uint32_t node)
{
	while (p->nodes.data[node].parent != NO_NODE)
		node = p->nodes.data[node].parent;
	return p->nodes.data[node].way;
}

static uint32_t row_of(struct path_counts *p, const struct path_call *c)
{
	struct paths_node *n = &p->nodes.data[c->node];

	if (!n->path) {
		vec__push(&p->rows, (struct path_row){.function = c->function,
						      .node = c->node,
						      .start = start_of(p, c->node),
						      .is_entry = c->from_entry,
						      .min = UINT64_MAX});
		n->path = p->rows.len;
	}
	return n->path - 1;
}

/* ---- times ---- */

static struct moment moment_of(const struct step *s)
{
	if (!s->timed)
		return (struct moment){.state = AT_NEXT};
	return (struct moment){.state = AT,
			       .time = s->time,
			       .era = s->era,
			       .spent = s->spent,
			       .spread = s->spread};
}

static void add_ns(struct path_row *r, uint64_t ns, bool near)
{
	r->timed++;
	r->near += near;
	r->min = min_of(r->min, ns);
	r->max = max_of(r->max, ns);
	if (__builtin_add_overflow(r->ns, ns, &r->ns))
		r->ns = UINT64_MAX;
}

static uint64_t since(uint64_t from, uint64_t to)
{
	return to - min_of(from, to);
}

static void add_time(struct path_row *r, const struct moment *from, const struct moment *to)
{
	uint64_t ns = to->time - from->time;
	const struct stats_net net = {.ns = ns,
				      .tracing = min_of(ns, since(from->spent, to->spent)),
				      .noise = since(from->spread, to->spread),
				      .calls = 1};

	if (from->state != AT || to->time < from->time)
		return;
	add_ns(r, ns, from->near || to->near);
	if (from->era && from->era == to->era)
		stats_net__add(&r->net, &net, 1);
}

/* The whole call took as long as it returned to have. */
static void add_duration(struct path_row *r, const struct step *s)
{
	const struct stats_net net = {
		.ns = s->duration, .tracing = s->tracing, .noise = s->noise, .calls = 1};

	add_ns(r, s->duration, false);
	if (s->has_tracing)
		stats_net__add(&r->net, &net, 1);
}

void path__settle(struct path_counts *p, struct path_thread *th, const struct step *s)
{
	struct moment now = moment_of(s);
	struct path_ended *e;
	uint64_t *call;

	now.near = true;
	vec__each (e, &th->ended)
		add_time(&p->rows.data[e->row], e->began.state == AT_NEXT ? &now : &e->began, &now);
	vec__each (call, &th->beginning) {
		struct path_call *c = path_calls__find(th, *call);

		if (c && c->began.state == AT_NEXT)
			c->began = now;
	}
	th->ended.len = th->beginning.len = th->unmeasured = 0;
}

void path__miss_event(struct path_thread *th)
{
	uint64_t *call;

	if (++th->unmeasured == 1)
		return;
	th->unmeasured = 2;
	vec__each (call, &th->beginning) {
		struct path_call *c = path_calls__find(th, *call);

		if (c && c->began.state == AT_NEXT)
			c->began.state = NEVER;
	}
	th->ended.len = th->beginning.len = 0;
}

/* ---- where paths begin and end ---- */

void path__begin(struct path_counts *p, struct path_thread *th, struct path_call *c, uint32_t block,
		 const struct step *s)
{
	c->block = block;
	c->at = WITHIN;
	c->node = beginning_at(p, c, block);
	c->apart = c->node == NO_NODE ? APART_MORE : APART_NOT;
	c->began = moment_of(s);
	if (c->began.state == AT_NEXT && th->unmeasured > 1)
		c->began.state = NEVER;
	else if (c->began.state == AT_NEXT)
		vec__push(&th->beginning, c->call);
}

void path__set_apart(struct path_call *c, enum apart why)
{
	c->apart = c->apart ? c->apart : why;
	c->node = NO_NODE;
	c->at = NOWHERE;
}

/* Returns the row of its path; NO_ROW if it doesn't count. */
static uint32_t count_path(struct path_counts *p, const struct path_call *c)
{
	struct paths_function *f = &p->functions[c->function];
	uint32_t row;

	if (c->apart) {
		f->apart[c->apart]++;
		return NO_ROW;
	}
	row = row_of(p, c);
	p->rows.data[row].count++;
	if (c->from_entry)
		f->calls++;
	else
		f->loops++;
	return row;
}

void path__end(struct path_counts *p, struct path_thread *th, struct path_call *c,
	       const struct step *s)
{
	const bool whole = c->from_entry && !c->again && s->type == STEP_RETURN && s->has_duration;
	const struct moment now = moment_of(s);
	uint32_t row;

	if (now.state != AT && !whole)
		path__miss_event(th);
	row = count_path(p, c);
	if (row == NO_ROW)
		return;
	if (whole)
		add_duration(&p->rows.data[row], s);
	else if (now.state == AT)
		add_time(&p->rows.data[row], &c->began, &now);
	else if (th->unmeasured == 1)
		vec__push(&th->ended, (struct path_ended){row, c->began});
}

void path__give_up(struct path_counts *p, struct path_call *c)
{
	if (c->at != JUMPED)
		path__set_apart(c, APART_OPEN);
	count_path(p, c);
}
