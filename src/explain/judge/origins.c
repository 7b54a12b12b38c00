// SPDX-License-Identifier: BSD-2-Clause
/* What a call may end with, from each block of its function on: a backward analysis to a fixed
 * point. A place stands for the value that it has at that point. */
#include <stdlib.h>
#include "explain/judge/loops.h"

struct origins {
	struct ending ending;
	bool known;
	origin_vec *at; /* by index into of_function, from first[function] on */
};

/* ---- sets ---- */

static bool put(origin_vec *v, uint64_t o)
{
	size_t i = v->len;

	while (i && v->data[i - 1] >= o)
		i--;
	if (i < v->len && v->data[i] == o)
		return false;
	vec__push(v, o);
	memmove(v->data + i + 1, v->data + i, (v->len - 1 - i) * sizeof(*v->data));
	v->data[i] = o;
	return true;
}

static bool put_all(origin_vec *to, const origin_vec *from)
{
	bool more = false;

	for (size_t i = 0; i < from->len; i++)
		more |= put(to, from->data[i]);
	return more;
}

/* ---- one instruction, backwards ---- */

/* Adds an origin that is neither a place nor a constant. */
static void put_else(origin_vec *to, enum origin_kind kind, uint64_t data, uint64_t marks)
{
	uint64_t chain = origin__chain(marks) ? ORIGIN_MANGLED : 0;

	put(to, ORIGIN(kind, data) | chain | (marks & ORIGIN_ANDED));
}

static void put_const(origin_vec *to, const struct op *op, uint64_t marks)
{
	if (op->imm == (int32_t)op->imm || op->imm == (uint32_t)op->imm)
		put(to, ORIGIN(FROM_CONST, (uint32_t)op->imm) | marks);
	else
		put_else(to, FROM_CODE, op->vaddr, marks);
}

static void put_place(origin_vec *to, place_t place, uint64_t marks, const struct op *op)
{
	if (place == PLACE_NONE)
		put_else(to, FROM_CODE, op->vaddr, marks);
	else
		put(to, ORIGIN(FROM_PLACE, place) | marks);
}

static void put_changed(origin_vec *to, const struct op *op, uint64_t marks)
{
	uint64_t chain = mangle(origin__chain(marks), op->vaddr);

	if (chain)
		put_place(to, op->src, (marks & ORIGIN_ANDED) | chain << ORIGIN_CHAIN, op);
	else
		put_else(to, FROM_CODE, op->vaddr, marks);
}

#define MARKS (ORIGIN_ANDED | 0xffffull << ORIGIN_CHAIN) /* the marks of a place */

static void put_value_of(origin_vec *to, const struct op *op, uint64_t marks)
{
	switch (op->kind) {
	case OP_CONST:
		put_const(to, op, marks);
		break;
	case OP_COPY:
		put_place(to, op->src, marks, op);
		break;
	case OP_CHOICE:
		put_place(to, op->src, marks, op);
		put_place(to, op->dst, marks, op);
		break;
	case OP_CHANGE:
		put_changed(to, op, marks);
		break;
	case OP_AND:
		put_place(to, op->dst, marks, op);
		put_place(to, op->src, marks | ORIGIN_ANDED, op);
		break;
	default:
		put_else(to, FROM_CODE, op->vaddr, marks);
	}
}

static void through(origin_vec *v, const struct op *op)
{
	origin_vec out = {0};

	for (size_t i = 0; i < v->len; i++) {
		uint64_t o = v->data[i], marks = o & MARKS;
		place_t place = (uint32_t)o;

		if (origin__kind(o) != FROM_PLACE)
			put(&out, o);
		else if (place == op->dst)
			put_value_of(&out, op, marks);
		else if ((place & PLACE_SLOT) ? place == op->spoils : op->writes >> place & 1)
			put_else(&out, FROM_CODE, op->vaddr, marks);
		else
			put(&out, o);
	}
	vec__free(v);
	*v = out;
}

static void through_call(struct code *c, uint32_t function, origin_vec *v, uint32_t site)
{
	origin_vec out = {0};

	for (size_t i = 0; i < v->len; i++) {
		uint64_t o = v->data[i];

		if (origin__kind(o) == FROM_PLACE && code__clobbers(c, function, (uint32_t)o))
			put_else(&out, FROM_CALL, site, o & MARKS);
		else
			put(&out, o);
	}
	vec__free(v);
	*v = out;
}

/* ---- one block ---- */

static void put_end(origin_vec *v, const struct ending *e)
{
	put(v, e->place == PLACE_NONE ? ORIGIN(FROM_END, 0) : ORIGIN(FROM_PLACE, e->place));
}

/* Adds what is known if control leaves the function by this site, or at the end of this block. */
static void put_exit(origin_vec *v, const struct origins *o, uint32_t site)
{
	if (o->ending.site != NO_SITE || o->ending.place == PLACE_NONE)
		put(v, ORIGIN(FROM_ELSEWHERE, 0));
	else
		put(v, site == NO_SITE ? ORIGIN(FROM_ELSEWHERE, 0) : ORIGIN(FROM_TAIL, site));
}

static void put_successor(struct code *c, origin_vec *v, const struct origins *o, uint32_t block,
			  uint32_t site)
{
	if (block != NO_BLOCK && c->plan->blocks.data[block].function == o->ending.function)
		put_all(v, &o->at[c->number[block]]);
	else
		put_exit(v, o, site);
}

/* Returns true if control can't end there: in the kernel, what doesn't return is the end of a
 * warning; in programs it may be how they end. */
static bool is_no_ending(const struct plan *p, const struct plan_block *b)
{
	const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];
	const struct object *o = p->objects.data[b->object].object;
	const struct symbol *symbol = s && s->target && o ? object__symbol_at(o, s->target) : NULL;

	return p->objects.data[b->object].kernel || !s ||
	       (symbol && strstr(symbol->shown ? symbol->shown : "", "__stack_chk_fail"));
}

static bool has_function(const struct object *o, const char *name)
{
	const struct symbol *s;

	vec__each (s, &o->symbols)
		if (!strcmp(s->name, name))
			return true;
	return false;
}

/* Returns true if the symbol is that of the C library, not a function of the program's own with the
 * same name: where the library is linked statically, error_at_line() comes with it. */
static bool is_error(const struct object *o, const struct symbol *s)
{
	return !strcmp(s->name, "error@plt") || !strcmp(s->name, "error_at_line@plt") ||
	       (!strcmp(s->name, "error") && has_function(o, "error_at_line"));
}

/* error(3) does not return if its first argument isn't 0. Compilers know this, so the code after
 * such a call belongs to something else. */
static bool find_error_exit(struct code *c, uint32_t block)
{
	const struct plan_block *b = &c->plan->blocks.data[block];
	const struct plan_site *s = &c->plan->sites.data[b->site];
	const struct object *o = c->plan->objects.data[b->object].object;
	const struct symbol *symbol = s->target && o ? object__symbol_at(o, s->target) : NULL;
	const struct block_ops *ops = code__ops(c, block);
	size_t n = ops->n;

	if (!symbol || !is_error(o, symbol))
		return false;
	while (n-- > 0)
		if (ops->ops[n].dst == code__argument(c))
			return ops->ops[n].kind == OP_CONST && ops->ops[n].imm;
	return false;
}

static bool is_error_exit(struct code *c, uint32_t block)
{
	uint8_t *known = &c->error_exit[block];

	if (!*known)
		*known = find_error_exit(c, block) ? 2 : 1;
	return *known == 2;
}

static void put_after(struct code *c, origin_vec *v, const struct origins *o, uint32_t block)
{
	const struct plan *p = c->plan;
	const struct plan_block *b = &p->blocks.data[block];
	const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];

	if (b->noreturn || (s && s->kind == BRANCH_CALL && is_error_exit(c, block))) {
		if (o->ending.site != NO_SITE && !is_no_ending(p, b))
			put(v, ORIGIN(FROM_ELSEWHERE, 0));
		return;
	}
	if (!s) { /* What follows a trap at the end of a function isn't an end of that function. */
		if (b->next != NO_BLOCK && p->blocks.data[b->next].function == o->ending.function)
			put_successor(c, v, o, b->next, NO_SITE);
		return;
	}
	switch (s->kind) {
	case BRANCH_RET:
		if (o->ending.site == NO_SITE && o->ending.place != PLACE_NONE)
			put_end(v, &o->ending);
		else
			put(v, ORIGIN(FROM_ELSEWHERE, 0));
		break;
	case BRANCH_JCC:
	case BRANCH_LOOP:
		put_successor(c, v, o, b->taken, b->site);
		put_successor(c, v, o, b->next, b->site);
		break;
	case BRANCH_JMP:
		put_successor(c, v, o, b->taken, b->site);
		break;
	case BRANCH_IJMP:
		for (uint32_t i = 0; i < b->ntable; i++)
			put_successor(c, v, o, p->table.data[b->table + i], b->site);
		if (b->unresolved || !b->ntable)
			put_exit(v, o, b->site);
		break;
	default:
		if (b->next != NO_BLOCK)
			put_successor(c, v, o, b->next, b->site);
		if (o->ending.place != PLACE_NONE)
			through_call(c, o->ending.function, v, b->site);
	}
}

static bool is_ending(const struct origins *o, const struct plan_block *b, uint32_t block)
{
	return (o->ending.site != NO_SITE && b->site == o->ending.site) ||
	       (o->ending.block != NO_BLOCK && o->ending.block == block);
}

/* Returns true if an origin was added. */
static bool visit(struct code *c, struct origins *o, uint32_t i)
{
	uint32_t block = c->of_function[c->first[o->ending.function] + i];
	const struct block_ops *ops = code__ops(c, block);
	origin_vec v = {0};
	bool more;

	if (is_ending(o, &c->plan->blocks.data[block], block))
		put_end(&v, &o->ending);
	else
		put_after(c, &v, o, block);
	o->known &= ops->known;
	for (size_t n = ops->n; o->ending.place != PLACE_NONE && n-- > 0;)
		through(&v, &ops->ops[n]);
	more = put_all(&o->at[i], &v);
	vec__free(&v);
	return more;
}

static struct origins *solve(struct code *c, const struct ending *e)
{
	struct origins *o = xcalloc(1, sizeof(*o));
	uint32_t n = c->first[e->function + 1] - c->first[e->function];
	bool more = true;

	*o = (struct origins){.ending = *e, .known = true, .at = xcalloc(n + 1, sizeof(*o->at))};
	while (more) {
		more = false;
		for (uint32_t i = n; i-- > 0;)
			more |= visit(c, o, i);
	}
	return o;
}

/* ---- for callers ---- */

static bool is_same(const struct ending *a, const struct ending *b)
{
	return a->function == b->function && a->site == b->site && a->place == b->place &&
	       a->block == b->block;
}

static const struct origins *find(struct code *c, const struct ending *e)
{
	const uint32_t key[] = {e->function, e->site, e->place, e->block};
	uint64_t *known = map64__put(&c->known, map64__hash(key, sizeof(key)));
	struct origins *o = *known ? c->origins.data[*known - 1] : NULL;

	if (o && is_same(&o->ending, e))
		return o;
	o = solve(c, e);
	vec__push(&c->origins, o);
	*known = c->origins.len;
	return o;
}

const origin_vec *code__origins(struct code *c, const struct ending *e, uint32_t block)
{
	const struct origins *o = find(c, e);

	if (block == NO_BLOCK || c->plan->blocks.data[block].function != e->function || !o->known)
		return NULL;
	return &o->at[c->number[block]];
}

void code__callees(struct code *c, uint32_t function, id_vec *sites)
{
	const struct ending e = {function, NO_SITE, code__result(c), NO_BLOCK};
	uint32_t entry = c->plan->functions.data[function].entry_block;
	const origin_vec *v = entry == NO_BLOCK ? NULL : code__origins(c, &e, entry);

	for (size_t i = 0; v && i < v->len; i++)
		if (origin__kind(v->data[i]) == FROM_CALL || origin__kind(v->data[i]) == FROM_TAIL)
			vec__push(sites, v->data[i] & ORIGIN_DATA);
}

void code__free(struct code *c)
{
	struct origins **o;

	vec__each (o, &c->origins) {
		uint32_t f = (*o)->ending.function;

		for (uint32_t i = 0; i < c->first[f + 1] - c->first[f]; i++)
			vec__free(&(*o)->at[i]);
		free((*o)->at);
		free(*o);
	}
	vec__free(&c->origins);
	map64__free(&c->known);
	for (size_t b = 0; c->blocks && b < c->nblocks; b++)
		free(c->blocks[b].ops);
	free(c->blocks);
	free(c->first);
	free(c->of_function);
	free(c->number);
	free(c->escapes);
	free(c->error_exit);
	free(c->scanned);
	free(c->frame);
	free(c->framed);
	free(c->lowest);
	for (size_t f = 0; c->loops && f < c->plan->functions.len; f++)
		loops__free(c->loops[f]);
	free(c->loops);
	*c = (struct code){0};
}
