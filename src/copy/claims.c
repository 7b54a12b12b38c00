// SPDX-License-Identifier: BSD-2-Clause
/* What leads into the functions of an object: branches and pointers of its other code, and its
 * data. Other code isn't followed, so every byte of it may be part of a branch or a pointer. */
#include "copy/copying.h"
#include "object/tables/tables.h"

static bool is_inside(const struct copying *c, uint64_t vaddr)
{
	return vaddr - c->first < c->last - c->first;
}

static void claim(struct copying *c, uint64_t vaddr, enum claim how)
{
	if (is_inside(c, vaddr))
		c->claims[vaddr - c->first] |= how;
}

/* Only instructions can be the target of a pointer. */
static void claim_pointer(void *ctx, uint64_t vaddr)
{
	struct copying *c = ctx;

	if (is_inside(c, vaddr) && graph__known(c->g, vaddr))
		claim(c, vaddr, CLAIM_WEAK);
}

/* ---- what is followed ---- */

static void claim_flow(struct copying *c, uint32_t owner, uint64_t vaddr, bool always)
{
	if (always || graph__owner(c->g, vaddr) != owner)
		claim(c, vaddr, CLAIM_STRONG);
}

static bool falls(const struct graph *g, const struct node *n)
{
	uint8_t kind = n->branch ? graph__branch(g, n)->kind : BRANCH_NONE;

	return n->flow != FLOW_STOP && !(n->flags & NODE_NORETURN) && kind != BRANCH_JMP &&
	       kind != BRANCH_IJMP && kind != BRANCH_RET;
}

/* Returns true if these bytes load the address vaddr. */
static bool loads_address(const struct copying *c, const uint8_t *bytes, size_t len, uint64_t at,
			  uint64_t vaddr)
{
	struct insn_detail d;

	return c->arch->detail(bytes, len, at, &d) && d.op == DETAIL_CONST &&
	       (uint64_t)d.imm == vaddr;
}

/* Notes any 4 bytes of an instruction that may be a distance from its end, or an address. */
static void claim_operands(struct copying *c, const uint8_t *bytes, size_t len, uint64_t vaddr)
{
	uint64_t target;
	int32_t word;

	for (size_t i = 1; i + 4 <= len; i++) {
		memcpy(&word, bytes + i, sizeof(word));
		target = vaddr + len + (int64_t)word;
		if (is_inside(c, target) && loads_address(c, bytes, len, vaddr, target))
			claim_pointer(c, target);
		if (!c->g->object->pie)
			claim_pointer(c, (uint64_t)(int64_t)word);
	}
}

static void claim_node(struct copying *c, uint32_t owner, uint32_t i)
{
	const struct node *n = &c->g->nodes.data[i];
	const struct insn *b = graph__branch(c->g, n);
	size_t avail;
	const uint8_t *bytes;

	if (falls(c->g, n))
		claim_flow(c, owner, node__next(n), false);
	if (n->branch && b->target)
		claim_flow(c, owner, b->target, b->kind == BRANCH_CALL);
	if (n->branch && b->kind == BRANCH_CALL && b->target && b->target == c->deferreturn)
		claim(c, n->addr, CLAIM_STRONG);
	if (n->branch && b->kind != BRANCH_IJMP && b->kind != BRANCH_ICALL)
		return;
	bytes = object__bytes(c->g->object, n->addr, &avail);
	if (bytes && avail >= n->len)
		claim_operands(c, bytes, n->len, n->addr);
}

static void claim_followed(struct copying *c)
{
	const struct owned_extent *p;
	const struct handler *h;
	const uint64_t *t;
	uint32_t i;

	vec__each (p, &c->g->extents)
		for (uint64_t addr = p->start; (i = graph__next_reached(c->g, &addr, p->end));
		     addr++)
			claim_node(c, p->function, i);
	vec__each (t, &c->g->targets)
		claim(c, *t, CLAIM_STRONG);
	vec__each (h, &c->g->handlers)
		claim(c, h->target, CLAIM_STRONG);
}

/* ---- code that isn't followed ---- */

/* The bytes before a distance in an instruction that loads an address; in a branch there are at
 * most as many. */
#define LOAD_AHEAD   3
#define BRANCH_AHEAD 2
#define SHORT_REACH  256 /* more than a short branch reaches */

static void claim_branch(struct copying *c, const struct segment *s, uint64_t i)
{
	uint64_t target;

	if (c->arch->leads_to &&
	    c->arch->leads_to(s->bytes + i, s->size - i, s->vaddr + i, &target))
		claim_pointer(c, target);
}

/* Notes 4 bytes that may be a distance, of a branch or of an instruction that loads an address, or
 * an address. ahead is the number of bytes before them that aren't followed code. */
static void claim_word(struct copying *c, const struct segment *s, uint64_t i, uint64_t ahead)
{
	const uint8_t *bytes = s->bytes + i;
	uint64_t vaddr = s->vaddr + i, target;
	int32_t word;

	memcpy(&word, bytes, sizeof(word));
	target = vaddr + sizeof(word) + (int64_t)word;
	if (is_inside(c, target)) {
		for (unsigned k = 1; k <= BRANCH_AHEAD && k <= ahead; k++)
			claim_branch(c, s, i - k);
		if (ahead >= LOAD_AHEAD && loads_address(c, bytes - LOAD_AHEAD, LOAD_AHEAD + 4,
							 vaddr - LOAD_AHEAD, target))
			claim_pointer(c, target);
	}
	if (!c->g->object->pie)
		claim_pointer(c, (uint64_t)(int64_t)word);
}

static void claim_segment(struct copying *c, const struct segment *s)
{
	uint64_t from = c->first - min_of(c->first, (uint64_t)SHORT_REACH);
	uint64_t len = c->last + SHORT_REACH - from, followed = 0;

	for (uint64_t i = 0; i < s->size;) {
		uint64_t vaddr = s->vaddr + i;
		uint32_t n = is_inside(c, vaddr) ? graph__known(c->g, vaddr) : 0;

		if (n && c->g->nodes.data[n].flags & NODE_REACHED) {
			followed = i += c->g->nodes.data[n].len;
			continue;
		}
		if (vaddr - from < len)
			claim_branch(c, s, i);
		if (s->size - i >= sizeof(int32_t))
			claim_word(c, s, i, i - followed);
		i++;
	}
}

static void claim_pads(struct copying *c)
{
	const struct frame *f;

	vec__each (f, &c->g->object->frames)
		for (size_t i = 0; i < f->npads; i++)
			claim_pointer(c, f->pads[i]);
}

static void claim_symbols(struct copying *c)
{
	const struct symbol *s;

	vec__each (s, &c->g->object->symbols)
		claim_pointer(c, s->vaddr);
}

/*
 * Notes the addresses that Go's runtime computes and transfers control to: the one after the first
 * byte of goexit, to which the outermost function of a goroutine returns; and, when a panic was
 * recovered, the function's call of deferreturn.
 */
static void claim_go(struct copying *c)
{
	const struct symbol *s;

	vec__each (s, &c->g->object->symbols) {
		if (!strcmp(s->name, "runtime.goexit") || !strcmp(s->name, "runtime.goexit.abi0"))
			claim(c, c->goexit = s->vaddr + 1, CLAIM_STRONG);
		if (!strcmp(s->name, "runtime.deferreturn"))
			c->deferreturn = s->vaddr;
	}
}

bool copying__knows_go(const struct copying *c)
{
	return c->deferreturn && c->goexit;
}

void copying__find_claims(struct copying *c)
{
	const struct owned_extent *p;
	const struct segment *s;

	c->first = UINT64_MAX;
	c->last = 0;
	vec__each (p, &c->g->extents) {
		c->first = min_of(c->first, p->start);
		c->last = max_of(c->last, p->end);
	}
	if (c->first >= c->last)
		c->first = c->last = 0;
	c->claims = xcalloc(c->last - c->first + 1, 1);
	if (c->g->object->go)
		claim_go(c);
	claim_followed(c);
	vec__each (s, &c->g->object->segments)
		if (s->exec && s->bytes)
			claim_segment(c, s);
	object__pointers(c->g->object, claim_pointer, c);
	claim_pads(c);
	claim_symbols(c);
}
