// SPDX-License-Identifier: BSD-2-Clause
/* The instructions of a function, whether it can be copied, and its points, where control may come
 * from the original. */
#include "copy/copying.h"

const uint8_t *body__bytes(const struct body *b, const struct item *i)
{
	size_t avail;
	const uint8_t *bytes = object__bytes(b->c->g->object, i->addr, &avail);

	return bytes && avail >= i->len ? bytes : NULL;
}

const struct plan_site *body__site(const struct body *b, const struct item *i, unsigned k)
{
	const struct plan *p = b->c->plan;
	const struct plan_site *s = &p->sites.data[p->sites_by_address.data[i->site + k]];

	return s->probe == PROBE_TRAP || s->probe == PROBE_COUNT ? s : NULL;
}

/* ---- instructions ---- */

static uint16_t flags_of(const struct body *b, const struct node *n, const struct insn *insn)
{
	bool call = insn->kind == BRANCH_CALL || insn->kind == BRANCH_ICALL;
	bool stays = insn->kind == BRANCH_JMP || insn->kind == BRANCH_IJMP ||
		     insn->kind == BRANCH_RET || insn->flow == FLOW_STOP;
	uint16_t flags = n->flags & NODE_LEADER ? ITEM_LEADER : 0;

	(void)b;
	if (call)
		return flags | ITEM_KEPT | ITEM_CALL |
		       (n->flags & NODE_NORETURN ? 0 : ITEM_RETURNS);
	if (insn->enters_kernel || plan__is_kept(b->c->plan, b->c->object, n->addr))
		return flags | ITEM_KEPT | ITEM_RETURNS;
	return flags | (stays ? 0 : ITEM_FALLS);
}

/* Returns true if the register's value is a sum. Then it may be that of a table's base and an
 * entry, in a form that isn't known. */
static bool is_sum(struct graph *g, uint32_t node, uint8_t reg)
{
	uint32_t defs[DEFS_MAX];
	int n = slice__defs(g, node, reg, defs);
	struct insn_detail d;

	for (int i = 0; i < n; i++)
		if (graph__detail(g, defs[i], &d) &&
		    (d.op == DETAIL_ADD || d.op == DETAIL_ADD_CONST || d.op == DETAIL_LEA))
			return true;
	return false;
}

static enum copy_refusal check_jump(struct body *b, uint32_t node)
{
	struct graph *g = b->c->g;
	const struct jump_table *t = graph__table_of(g, node);
	const struct operand *o = &graph__branch(g, &g->nodes.data[node])->operand;

	b->guesses |= t && !t->proved;
	if (t)
		return COPY_OK;
	if (!graph__is_tail_jump(g, node) || (o->kind == OPERAND_REG && is_sum(g, node, o->base)))
		return COPY_UNRESOLVED;
	return COPY_OK;
}

/* Takes the sites at addr. *at is the first site at or after the item before. */
static enum copy_refusal take_sites(const struct body *b, struct item *i, size_t *at)
{
	const struct plan *p = b->c->plan;
	const struct plan_site *s;

	i->site = *at;
	for (; *at < p->sites_by_address.len; ++*at, i->nsites++) {
		s = &p->sites.data[p->sites_by_address.data[*at]];
		if (s->object != b->c->object || s->vaddr > i->addr)
			return COPY_OK;
		if (s->vaddr < i->addr)
			return COPY_UNCERTAIN;
		if (p->functions.data[s->function].flags & FUNCTION_RANGE)
			return COPY_RANGE;
		if (s->probe == PROBE_TRAP && (s->lowered || (s->probe_at && p->late_entries) ||
					       s - p->sites.data >= 1 << LOG_SITE_BITS))
			return COPY_SITE;
	}
	return COPY_OK;
}

static bool is_reserved(const struct body *b, uint64_t vaddr)
{
	const struct plan_place *p;

	vec__each (p, &b->c->plan->reserved)
		if (p->object == b->c->object && p->vaddr == vaddr)
			return true;
	return false;
}

/* Decodes what is more than a plain instruction: of those, the node says all that is asked here. */
static int decode(const struct body *b, const struct node *n, const uint8_t *bytes,
		  struct insn *out)
{
	*out = (struct insn){.flow = FLOW_NEXT};
	if (n->flow == FLOW_NEXT && !(n->flags & NODE_SLOW))
		return 0;
	return b->c->arch->decode(bytes, n->len, n->addr, false, out);
}

static enum copy_refusal add_item(struct body *b, uint32_t node, size_t *site)
{
	const struct graph *g = b->c->g;
	const struct node *n = &g->nodes.data[node];
	struct item *i = vec__add(&b->items);
	struct insn insn;
	const uint8_t *bytes;
	enum copy_refusal why;

	if (is_reserved(b, n->addr))
		return COPY_RESERVED;
	if (object__noprobe_at(g->object, n->addr))
		return COPY_CHANGES;
	i->addr = n->addr;
	i->node = node;
	i->len = n->len;
	bytes = body__bytes(b, i);
	if (n->flags & NODE_UNCERTAIN || !bytes || decode(b, n, bytes, &insn))
		return COPY_UNCERTAIN;
	if (insn.flow == FLOW_UNSUPPORTED)
		return COPY_INSN;
	i->flags = flags_of(b, n, &insn);
	if (g->arch->copier->landing(bytes, n->len))
		i->flags |= ITEM_LANDING;
	why = take_sites(b, i, site);
	if (!why && insn.kind == BRANCH_IJMP)
		why = check_jump(b, node);
	if (!why && insn.kind == BRANCH_CALL && callee__uses_return(b->c, insn.target))
		why = COPY_RETURN;
	return why;
}

/*
 * C code has a red zone, so it is refused. Go's compiler keeps no more than a frame pointer below
 * the stack pointer during calls. Such calls aren't emulated, since an emulated call would use that
 * place.
 */
static enum copy_refusal check_go(struct body *b)
{
	const struct object *o = b->c->g->object;
	uint32_t f = b->c->g->functions.data[b->function].plan;
	uint64_t entry = b->c->plan->functions.data[f].ranges[0].vaddr;
	size_t i = object__symbols_from(o, entry);
	const struct item *item;
	uint32_t below = 0;

	if (i == o->symbols.len || o->symbols.data[i].args == ARGS_SYSTEM ||
	    !copying__knows_go(b->c))
		return COPY_GO;
	vec__each (item, &b->items)
		below = max_of(below,
			       b->c->arch->copier->keeps_below(body__bytes(b, item), item->len));
	if (below > b->c->arch->copier->small_zone)
		return COPY_GO;
	b->keeps_below = below;
	return copying__has_room(b->c, entry) ? COPY_OK : COPY_STACK;
}

/*
 * Makes a point in each loop: a thread may be interrupted and sent to another function, which
 * returns to the interrupted instruction. So a thread must reach a springboard soon, wherever it
 * is.
 */
static void find_loops(struct body *b)
{
	struct item *i;

	vec__each (i, &b->items) {
		const struct insn *insn = body__branch(b, i);

		if (b->c->g->nodes.data[i->node].branch && insn->target &&
		    insn->target <= i->addr && insn->kind != BRANCH_CALL)
			body__make_point(b, insn->target);
	}
}

static bool has_gap(struct graph *g, const struct owned_extent *p)
{
	gap_vec gaps = {0};
	bool any;

	sweep__gaps(g, p->start, p->end, &gaps);
	any = gaps.len;
	vec__free(&gaps);
	return any;
}

bool body__is_found(const struct object *o, uint64_t vaddr)
{
	const struct frame *f = object__frame_at(o, vaddr);

	return f && f->found;
}

/* All sites in the extent have to be at items. */
static enum copy_refusal add_items(struct body *b, const struct owned_extent *p)
{
	struct graph *g = b->c->g;
	size_t site = plan__sites_from(b->c->plan, b->c->object, p->start);
	size_t end = plan__sites_from(b->c->plan, b->c->object, p->end);
	enum copy_refusal why = COPY_OK;
	uint32_t i;

	if (body__is_found(g->object, p->start))
		return COPY_BOUNDS;
	for (uint64_t addr = p->start; !why && (i = graph__next_reached(g, &addr, p->end)); addr++)
		why = add_item(b, i, &site);
	if (!why && b->items.len && item__next(vec__last(&b->items)) > p->end)
		return COPY_UNCERTAIN; /* the rest of it is another function's */
	if (why)
		return why;
	return site < end ? COPY_UNCERTAIN : has_gap(g, p) ? COPY_GAP : COPY_OK;
}

/* ---- points ---- */

/* Returns false if something that was followed leads into the middle of an instruction. */
static bool note_claims(struct body *b, const struct owned_extent *p)
{
	for (uint64_t addr = p->start; addr < p->end; addr++) {
		unsigned claims = copying__claims(b->c, addr);

		if (!claims)
			continue;
		if (claims & CLAIM_STRONG && !body__at(b, addr))
			return false;
		body__make_point(b, addr);
	}
	return true;
}

static void find_points(struct body *b)
{
	struct item *i;

	vec__each (i, &b->items) {
		const struct node *n = &b->c->g->nodes.data[i->node];

		if (n->flags & NODE_ROOT)
			i->flags |= ITEM_POINT | ITEM_LEADER;
		if (graph__is_entry(b->c->g, i->addr))
			i->flags |= ITEM_ENTRY | ITEM_POINT | ITEM_LEADER;
		if (i->flags & ITEM_RETURNS)
			body__make_point(b, item__next(i));
	}
}

/* Marks the items which control reaches in the copy in another way than from the item before: they
 * need labels. */
static void find_leaders(struct body *b)
{
	struct item *i, *to;

	vec__each (i, &b->items) {
		to = body__next(b, i);
		if (i->flags & ITEM_FALLS && to && to != i + 1)
			to->flags |= ITEM_LEADER;
	}
}

enum copy_refusal body__gather(struct body *b)
{
	const struct owned_extent *p;
	enum copy_refusal why = COPY_OK;

	copying__each_extent(p, b->c, b->function) if (!why) why = add_items(b, p);
	if (!why && b->c->rooms)
		why = check_go(b);
	if (why)
		return why;
	body__link(b);
	copying__each_extent(p, b->c, b->function) if (!note_claims(b, p)) return COPY_UNCERTAIN;
	find_points(b);
	if (b->c->rooms)
		find_loops(b);
	if (b->guesses)
		body__note_tables(b);
	find_leaders(b);
	return COPY_OK;
}

void body__free(struct body *b)
{
	struct zone *z;

	vec__each (z, &b->zones)
		free(z->bytes);
	vec__free(&b->zones);
	vec__free(&b->items);
	vec__free(&b->springs);
	vec__free(&b->order);
}
