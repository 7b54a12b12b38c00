// SPDX-License-Identifier: BSD-2-Clause
/*
 * Instructions by address, decoded once and on demand, and their predecessors.
 */
#include <stdlib.h>
#include "code/code.h"

struct graph *graph__new(const struct object *object, const struct object *kernel_object,
			 bool kernel)
{
	struct graph *g = xcalloc(1, sizeof(*g));

	g->object = object;
	g->kernel_object = kernel_object;
	g->kernel = kernel;
	g->arch = arch__by_machine(object->machine);
	g->pages = xcalloc(object->segments.len + 1, sizeof(*g->pages));
	(void)vec__add(&g->nodes);
	(void)vec__add(&g->branches);
	(void)vec__add(&g->edges);
	return g;
}

static void free_slots(struct graph *g)
{
	for (size_t i = 0; i < g->object->segments.len; i++) {
		size_t size = g->object->segments.data[i].size;

		for (size_t k = 0; g->pages[i] && k <= size / CODE_PAGE; k++)
			free(g->pages[i][k].nodes);
		free(g->pages[i]);
		g->pages[i] = NULL;
	}
}

void graph__forget(struct graph *g)
{
	free_slots(g);
	g->nodes.len = g->branches.len = g->edges.len = 1;
	g->work.len = g->jumps.len = g->outs.len = g->ends.len = g->pads.len = g->stops.len = 0;
	g->undecodable.len = 0;
	g->jumps_seen = 0;
	g->exclusives = false;
	g->handlers.len = g->tables.len = g->targets.len = 0;
	map64__free(&g->table_of);
	map64__free(&g->table_starts);
	map64__free(&g->data);
}

void graph__free(struct graph *g)
{
	struct graph_function *f;

	if (!g)
		return;
	free_slots(g);
	free(g->pages);
	vec__each (f, &g->functions) {
		function__free(&f->f);
	}
	vec__free(&g->nodes);
	vec__free(&g->branches);
	vec__free(&g->edges);
	vec__free(&g->functions);
	vec__free(&g->extents);
	vec__free(&g->work);
	vec__free(&g->jumps);
	vec__free(&g->outs);
	vec__free(&g->ends);
	vec__free(&g->pads);
	map64__free(&g->labels);
	vec__free(&g->stops);
	vec__free(&g->undecodable);
	vec__free(&g->handlers);
	vec__free(&g->tables);
	vec__free(&g->targets);
	map64__free(&g->table_of);
	map64__free(&g->table_starts);
	map64__free(&g->returns);
	map64__free(&g->thunks);
	map64__free(&g->parts);
	map64__free(&g->data);
	map64__free(&g->shared);
	free(g);
}

/* Nodes and bits are one allocation. */
static void make_page(struct code_page *p)
{
	p->nodes = xcalloc(1, CODE_PAGE * sizeof(*p->nodes) + CODE_PAGE / 8);
	p->reached = (uint64_t *)(void *)(p->nodes + CODE_PAGE);
}

/* Returns the page of addr, made if make is set, and makes its segment g->segment. */
static const struct code_page *page_at(struct graph *g, uint64_t addr, bool make)
{
	const struct segment *s = g->segment;
	struct code_page **pages, *page;

	if (!s || addr - s->vaddr >= s->size) {
		s = object__segment_at(g->object, addr);
		if (!s || !s->exec || addr - s->vaddr >= s->size)
			return NULL;
		g->segment = s;
	}
	pages = &g->pages[s - g->object->segments.data];
	if (!*pages) {
		if (!make)
			return NULL;
		*pages = xcalloc(s->size / CODE_PAGE + 1, sizeof(**pages));
	}
	page = &(*pages)[(addr - s->vaddr) / CODE_PAGE];
	if (!page->nodes && make)
		make_page(page);
	return page->nodes ? page : NULL;
}

/* The byte of addr in its page, after page_at(). */
static size_t byte_of(const struct graph *g, uint64_t addr)
{
	return (addr - g->segment->vaddr) % CODE_PAGE;
}

uint32_t graph__known(struct graph *g, uint64_t addr)
{
	const struct code_page *page = page_at(g, addr, false);

	return page ? page->nodes[byte_of(g, addr)] : 0;
}

void graph__mark_reached(struct graph *g, struct node *n)
{
	const struct code_page *page = page_at(g, n->addr, false);
	size_t k = byte_of(g, n->addr);

	n->flags |= NODE_REACHED | (g->claims ? 0 : NODE_CERTAIN);
	page->reached[k / 64] |= 1ull << k % 64;
}

/* Returns the first byte from k on, before end, whose bit is set; end if there is none. */
static size_t next_bit(const uint64_t *bits, size_t k, size_t end)
{
	while (k < end) {
		uint64_t word = bits[k / 64] >> k % 64;

		if (word)
			return min_of(k + __builtin_ctzll(word), end);
		k = (k / 64 + 1) * 64;
	}
	return end;
}

uint32_t graph__next_reached(struct graph *g, uint64_t *addr, uint64_t end)
{
	while (*addr < end) {
		const struct code_page *page = page_at(g, *addr, false);
		size_t k = g->segment ? byte_of(g, *addr) : 0;
		size_t n = min_of(CODE_PAGE - k, end - *addr);
		size_t at = page ? next_bit(page->reached, k, k + n) : k + n;

		*addr += at - k;
		if (at < k + n)
			return page->nodes[at];
	}
	return 0;
}

/* In the segment that page_at() has found. */
static int decode(const struct graph *g, uint64_t addr, struct insn *out)
{
	const struct segment *s = g->segment;
	uint64_t offset = addr - s->vaddr;

	return g->arch->decode(s->bytes + offset, s->size - offset,
			       object__code_address(g->object, addr), g->kernel, out);
}

static void set_node(struct graph *g, struct node *n, const struct insn *insn)
{
	n->addr = insn->addr;
	n->len = insn->len;
	n->flow = insn->flow;
	/* Go has no functions that make their caller's frame */
	n->sp_effect = insn->kind == BRANCH_CALL && g->object->go ? SP_SAME : insn->sp_effect;
	n->sp_value = insn->sp_value;
	n->padding = insn->padding;
	n->exclusive = insn->exclusive;
	g->exclusives |= n->exclusive != EXCLUSIVE_NONE;
	n->flags = insn->slow || insn->enters_kernel ? NODE_SLOW : 0;
	n->branch = 0;
	if (insn->flow == FLOW_NEXT || insn->flow == FLOW_STOP)
		return;
	n->branch = g->branches.len;
	vec__push(&g->branches, *insn);
	graph__note_thunk(g, vec__last(&g->branches));
	graph__note_far(g, vec__last(&g->branches));
}

uint32_t graph__node(struct graph *g, uint64_t addr)
{
	const struct code_page *page = page_at(g, addr, true);
	uint32_t *at, i;
	struct insn insn;

	if (!page)
		return 0;
	at = &page->nodes[byte_of(g, addr)];
	if (*at)
		return *at;
	if (!plain__find(g, addr, &insn)) {
		if (addr % g->arch->alignment || decode(g, addr, &insn))
			return 0;
		plain__note(g, &insn);
	}
	i = *at = g->nodes.len;
	(void)vec__add(&g->nodes);
	set_node(g, &g->nodes.data[i], &insn);
	if (insn.next_state)
		graph__set_state(g, addr + insn.len, insn.next_state);
	return i;
}

void graph__set_state(struct graph *g, uint64_t addr, uint8_t state)
{
	while (object__code_state(g->object, addr) != state) {
		uint32_t i = graph__known(g, addr);
		struct insn insn;

		if (i && g->nodes.data[i].flags & NODE_REACHED)
			return;
		object__set_code_state(g->object, addr, state);
		if (!i || decode(g, addr, &insn))
			return;
		set_node(g, &g->nodes.data[i], &insn);
		addr += insn.len;
		state = insn.next_state;
	}
}

void graph__add_edge(struct graph *g, uint32_t from, uint32_t to)
{
	struct node *n = &g->nodes.data[to];
	struct edge e = {.from = from};

	if (!n->pred) {
		n->pred = from;
		return;
	}
	if (!(n->pred & PRED_LIST)) {
		vec__push(&g->edges, (struct edge){.from = n->pred});
		n->pred = PRED_LIST | (g->edges.len - 1);
	}
	e.next = n->pred & ~PRED_LIST;
	n->pred = PRED_LIST | g->edges.len;
	vec__push(&g->edges, e);
}

struct preds graph__preds(const struct graph *g, uint32_t node)
{
	uint32_t pred = g->nodes.data[node].pred;

	if (pred & PRED_LIST)
		return (struct preds){.list = pred & ~PRED_LIST};
	return (struct preds){.one = pred};
}

uint32_t preds__next(const struct graph *g, struct preds *it)
{
	uint32_t from = it->one;

	it->one = 0;
	if (it->list) {
		from = g->edges.data[it->list].from;
		it->list = g->edges.data[it->list].next;
	}
	return from;
}

/* Returns the register that a call's target loads with its return address. */
static uint8_t loaded_return(struct graph *g, const struct node *n)
{
	const struct insn *b = graph__branch(g, n);
	const uint8_t *bytes;
	size_t avail;

	if (!n->branch || b->kind != BRANCH_CALL)
		return REG_NONE;
	bytes = object__bytes(g->object, b->target, &avail);
	return bytes ? g->arch->loads_return(bytes, avail) : REG_NONE;
}

/* Returns the register that is popped right after a call of the next instruction. */
static uint8_t popped_return(struct graph *g, const struct node *n, const struct insn_detail *d)
{
	uint32_t written = d->writes & ~(1u << g->arch->sp_reg);
	const struct insn *b;

	if (n->sp_effect != SP_ADD || n->sp_value != g->arch->call_pushes || !written ||
	    written & (written - 1) || !n->pred || n->pred & PRED_LIST)
		return REG_NONE;
	b = graph__branch(g, &g->nodes.data[n->pred]);
	return b->kind == BRANCH_CALL && b->target == n->addr && b->addr + b->len == n->addr
		       ? __builtin_ctz(written)
		       : REG_NONE;
}

/* Notes how code finds its own address where no instruction is relative to it. */
static void note_own_address(struct graph *g, uint32_t node, struct insn_detail *d)
{
	const struct node *n = &g->nodes.data[node];
	uint8_t loaded = loaded_return(g, n), popped = popped_return(g, n, d);

	if (loaded == REG_NONE && popped == REG_NONE)
		return;
	*d = (struct insn_detail){
		.op = DETAIL_CONST,
		.dst = loaded != REG_NONE ? loaded : popped,
		.src = REG_NONE,
		.bits = 8 * g->arch->word,
		.imm = loaded != REG_NONE ? node__next(n) : n->addr,
	};
	d->writes = 1u << d->dst | (loaded == REG_NONE ? 1u << g->arch->sp_reg : 0);
}

bool graph__detail(struct graph *g, uint32_t node, struct insn_detail *out)
{
	uint64_t addr = g->nodes.data[node].addr;
	size_t avail;
	const uint8_t *bytes = object__bytes(g->object, addr, &avail);

	if (!bytes || !g->arch->detail(bytes, avail, object__code_address(g->object, addr), out))
		return false;
	if (g->arch->loads_return)
		note_own_address(g, node, out);
	return true;
}

uint32_t graph__writes(struct graph *g, uint32_t node)
{
	struct node *n = &g->nodes.data[node];
	struct insn_detail d;

	if (!(n->flags & NODE_DETAILED)) {
		n->writes = graph__detail(g, node, &d) ? d.writes : UINT32_MAX;
		n->flags |= NODE_DETAILED;
	}
	return n->writes;
}
