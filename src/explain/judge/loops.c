// SPDX-License-Identifier: BSD-2-Clause
/*
 * Natural loops (Aho, Lam, Sethi, Ullman: Compilers, 9.6), by dominators (Cooper, Harvey, Kennedy:
 * A Simple, Fast Dominance Algorithm), and the values that they compute.
 */
#include <stdlib.h>
#include "explain/judge/judging.h"
#include "explain/judge/loops.h"

/* ---- the loops of a function ---- */

/* Blocks by their number within the function; all of a loop lead to its header. */
struct loop {
	uint32_t header;
	uint32_t size; /* blocks */
	bool *has;     /* by block */
	/* What its instructions write: registers, one bit each, and slots; if known is set. */
	bool known;
	uint32_t regs;
	VEC(place_t) slots;
};

struct loops {
	uint32_t n;
	VEC(struct loop) all; /* inner ones first */
};

void loops__free(struct loops *l)
{
	struct loop *p;

	if (!l)
		return;
	vec__each (p, &l->all) {
		free(p->has);
		vec__free(&p->slots);
	}
	vec__free(&l->all);
	free(l);
}

#define NONE UINT32_MAX

struct finding {
	const struct code *code;
	uint32_t function, n;
	VEC(uint32_t) order; /* reachable blocks in postorder */
	uint32_t *rank;	     /* by block: 1 + its index in order; 0: not reached */
	uint32_t *idom;	     /* by block: the immediate dominator; NONE: not known yet */
	id_vec *preds;	     /* by block */
};

static uint32_t block_of(const struct finding *f, uint32_t number)
{
	return f->code->of_function[f->code->first[f->function] + number];
}

/* Calls fn with each successor of the block that is in the function. */
static void each_successor(const struct finding *f, uint32_t number,
			   void (*fn)(void *ctx, uint32_t), void *ctx)
{
	const struct plan *p = f->code->plan;
	const struct plan_block *b = &p->blocks.data[block_of(f, number)];
	uint32_t direct[2] = {b->next, b->taken};

	for (uint32_t i = 0; i < 2 + b->ntable; i++) {
		uint32_t to = i < 2 ? direct[i] : p->table.data[b->table + i - 2];

		if (to != NO_BLOCK && p->blocks.data[to].function == f->function)
			fn(ctx, f->code->number[to]);
	}
}

struct visiting {
	struct finding *f;
	uint32_t from;
	bool *open; /* by block: it was entered */
	id_vec stack;
};

static void note_edge(void *ctx, uint32_t to)
{
	struct visiting *v = ctx;

	vec__push(&v->f->preds[to], v->from);
	if (!v->open[to])
		vec__push(&v->stack, to);
}

/* Depth first: a block is numbered when it is met again, after its successors. */
static void visit(struct finding *f, uint32_t root)
{
	struct visiting v = {.f = f, .open = xcalloc(f->n, sizeof(bool))};

	vec__push(&v.stack, root);
	while (v.stack.len) {
		v.from = *vec__last(&v.stack);
		if (f->rank[v.from]) {
			v.stack.len--;
		} else if (v.open[v.from]) {
			vec__push(&f->order, v.from);
			f->rank[v.from] = f->order.len;
			v.stack.len--;
		} else {
			v.open[v.from] = true;
			each_successor(f, v.from, note_edge, &v);
		}
	}
	vec__free(&v.stack);
	free(v.open);
}

static uint32_t common_dominator(const struct finding *f, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (f->rank[a] < f->rank[b])
			a = f->idom[a];
		while (f->rank[b] < f->rank[a])
			b = f->idom[b];
	}
	return a;
}

static void find_dominators(struct finding *f, uint32_t root)
{
	bool again = true;

	f->idom[root] = root;
	while (again) {
		again = false;
		for (size_t i = f->order.len; i-- > 0;) {
			uint32_t b = f->order.data[i], dom = NONE;
			const uint32_t *p;

			if (b == root)
				continue;
			vec__each (p, &f->preds[b])
				if (f->idom[*p] != NONE)
					dom = dom == NONE ? *p : common_dominator(f, *p, dom);
			again |= dom != f->idom[b];
			f->idom[b] = dom;
		}
	}
}

static bool dominates(const struct finding *f, uint32_t a, uint32_t b)
{
	while (f->rank[b] < f->rank[a])
		b = f->idom[b];
	return a == b;
}

static struct loop *loop_at(struct loops *l, uint32_t header)
{
	struct loop *p;

	vec__each (p, &l->all)
		if (p->header == header)
			return p;
	p = vec__add(&l->all);
	*p = (struct loop){.header = header, .size = 1, .has = xcalloc(l->n, sizeof(bool))};
	p->has[header] = true;
	return p;
}

/* Adds what leads to the end of a back edge without passing the header. */
static void add_body(const struct finding *f, struct loop *p, uint32_t from)
{
	id_vec todo = {0};
	const uint32_t *pred;

	vec__push(&todo, from);
	while (todo.len) {
		uint32_t b = todo.data[--todo.len];

		if (p->has[b])
			continue;
		p->has[b] = true;
		p->size++;
		vec__each (pred, &f->preds[b])
			vec__push(&todo, *pred);
	}
	vec__free(&todo);
}

static int by_size(const void *a, const void *b)
{
	const struct loop *x = a, *y = b;

	return x->size != y->size ? (x->size < y->size ? -1 : 1)
				  : (x->header > y->header) - (x->header < y->header);
}

static void find_loops(const struct finding *f, struct loops *l)
{
	const uint32_t *b, *p;

	vec__each (b, &f->order)
		vec__each (p, &f->preds[*b])
			if (dominates(f, *b, *p))
				add_body(f, loop_at(l, *b), *p);
	vec__sort(&l->all, by_size);
}

#define BLOCKS_MOST 20000 /* of a function whose loops are examined */

static struct loops *make(const struct code *c, uint32_t function)
{
	struct finding f = {
		.code = c, .function = function, .n = c->first[function + 1] - c->first[function]};
	struct loops *l = xcalloc(1, sizeof(*l));
	uint32_t entry = c->plan->functions.data[function].entry_block;

	l->n = f.n;
	if (entry == NO_BLOCK || f.n > BLOCKS_MOST)
		return l;
	f.rank = xcalloc(f.n, sizeof(*f.rank));
	f.preds = xcalloc(f.n, sizeof(*f.preds));
	f.idom = xmalloc(f.n * sizeof(*f.idom));
	memset(f.idom, 0xff, f.n * sizeof(*f.idom));
	visit(&f, c->number[entry]);
	find_dominators(&f, c->number[entry]);
	find_loops(&f, l);
	for (uint32_t i = 0; i < f.n; i++)
		vec__free(&f.preds[i]);
	vec__free(&f.order);
	free(f.rank);
	free(f.preds);
	free(f.idom);
	return l;
}

static struct loops *loops_of(struct code *c, uint32_t function)
{
	if (!c->loops[function])
		c->loops[function] = make(c, function);
	return c->loops[function];
}

/* ---- what a value depends on ---- */

#define SLOTS_MOST 16

/* Places. Slots beyond SLOTS_MOST are left out: what they depend on isn't followed. */
struct places {
	uint32_t regs;
	place_t slots[SLOTS_MOST];
	unsigned n;
};

static bool has(const struct places *p, place_t place)
{
	if (place == PLACE_NONE)
		return false;
	if (!(place & PLACE_SLOT))
		return p->regs >> place & 1;
	for (unsigned i = 0; i < p->n; i++)
		if (p->slots[i] == place)
			return true;
	return false;
}

static void add(struct places *p, place_t place)
{
	if (place == PLACE_NONE || has(p, place))
		return;
	if (!(place & PLACE_SLOT))
		p->regs |= 1u << place;
	else if (p->n < SLOTS_MOST)
		p->slots[p->n++] = place;
}

static void drop(struct places *p, place_t place)
{
	if (place == PLACE_NONE || !has(p, place))
		return;
	if (!(place & PLACE_SLOT))
		p->regs &= ~(1u << place);
	for (unsigned i = 0; place & PLACE_SLOT && i < p->n; i++)
		if (p->slots[i] == place)
			p->slots[i--] = p->slots[--p->n];
}

static bool writes_any(const struct op *op, const struct places *p)
{
	return op->writes & p->regs || has(p, op->dst) || has(p, op->spoils);
}

/* Adds what the instruction computes what it writes from. */
static void add_sources(const struct code *c, uint32_t object, const struct op *op,
			struct places *out)
{
	const struct object *o = c->plan->objects.data[object].object;
	const struct arch *a = c->plan->arch;
	struct reg_use use;
	const uint8_t *bytes;
	size_t len;

	if (op->kind == OP_CONST)
		return;
	add(out, op->src);
	if (op->kind == OP_AND || op->kind == OP_OR)
		add(out, op->dst);
	if ((op->kind == OP_COPY || op->kind == OP_CHANGE) && op->src != PLACE_NONE)
		return;
	add(out, op->spoils);
	bytes = object__bytes(o, op->vaddr, &len);
	if (bytes && a->copier &&
	    a->copier->use(bytes, min_of(len, (size_t)op->len), op->vaddr, &use))
		out->regs |= use.reads & ~(1u << a->sp_reg);
}

/* ---- the loop ---- */

static bool contains(const struct slicing *s, const struct loop *l, size_t at)
{
	uint32_t block = s->path->data[at].block;

	return s->code->plan->blocks.data[block].function == s->call->function &&
	       l->has[s->code->number[block]];
}

static int by_place(const void *a, const void *b)
{
	const place_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void add_written(struct loop *l, place_t place)
{
	if (place == PLACE_NONE)
		return;
	if (place & PLACE_SLOT)
		vec__push(&l->slots, place);
	else
		l->regs |= 1u << place;
}

static void find_written(struct code *c, uint32_t function, struct loop *l)
{
	const uint32_t *blocks = c->of_function + c->first[function];

	for (uint32_t i = 0; i < c->first[function + 1] - c->first[function]; i++) {
		const struct block_ops *ops = l->has[i] ? code__ops(c, blocks[i]) : NULL;

		for (size_t k = 0; ops && k < ops->n; k++) {
			l->regs |= ops->ops[k].writes;
			add_written(l, ops->ops[k].dst);
			add_written(l, ops->ops[k].spoils);
		}
	}
	vec__sort(&l->slots, by_place);
	l->known = true;
}

/* Returns true if the loop changes one of these places. */
static bool changes(struct slicing *s, struct loop *l, const struct places *p)
{
	if (!l->known)
		find_written(s->code, s->call->function, l);
	if (l->regs & p->regs)
		return true;
	for (unsigned i = 0; i < p->n; i++) {
		size_t k = bisect(l->slots.len, l->slots.data[i_] < p->slots[i]);

		if (k < l->slots.len && l->slots.data[k] == p->slots[i])
			return true;
	}
	return false;
}

/* Returns true if control left the loop by the branch at this index of the path: its other side
 * stays. */
static bool leaves(const struct slicing *s, const struct loop *l, size_t at)
{
	int32_t item = s->path->data[at].item;

	return item >= 0 && contains(s, l, at) && !contains(s, l, at + 1) &&
	       plan_site__is_conditional(
		       &s->code->plan->sites.data[s->call->items.data[item].site]);
}

static const struct loop *left_at(struct slicing *s, size_t at, const struct places *p)
{
	struct loops *all = loops_of(s->code, s->call->function);
	struct loop *l;

	vec__each (l, &all->all)
		if (leaves(s, l, at) && changes(s, l, p))
			return l;
	return NULL;
}

/* What a call may have written isn't followed. */
static void pass_call(struct slicing *s, struct places *p)
{
	for (uint32_t r = 0; r < 32; r++)
		if (p->regs >> r & 1 && code__clobbers(s->code, s->call->function, r))
			p->regs &= ~(1u << r);
}

static bool ends_in_call(const struct plan *p, const struct plan_block *b)
{
	uint8_t kind = b->site == NO_SITE ? BRANCH_NONE : p->sites.data[b->site].kind;

	return kind == BRANCH_CALL || kind == BRANCH_ICALL;
}

static bool depends(const struct places *p)
{
	return p->regs || p->n;
}

/* Replaces what the instruction writes by what it is computed from. */
static void step_back(struct slicing *s, size_t at, const struct op *op, struct places *p)
{
	uint32_t object = s->code->plan->blocks.data[s->path->data[at].block].object;
	struct places sources = {0};

	if (!writes_any(op, p))
		return;
	add_sources(s->code, object, op, &sources);
	p->regs &= ~op->writes;
	drop(p, op->dst);
	drop(p, op->spoils);
	p->regs |= sources.regs;
	for (unsigned i = 0; i < sources.n; i++)
		add(p, sources.slots[i]);
}

/* Returns true if found() holds for a block that control left with what the place depends on. */
static bool follow(struct slicing *s, size_t end, size_t n, place_t place, size_t *out,
		   bool (*found)(struct slicing *s, size_t at, const struct places *p))
{
	const struct plan *p = s->code->plan;
	struct places places = {0};

	add(&places, place);
	for (size_t at = end + 1; at-- > 0 && depends(&places);) {
		uint32_t block = s->path->data[at].block;
		const struct block_ops *ops = code__ops(s->code, block);

		if (!ops->known)
			return false;
		if (at < end && found(s, at, &places)) {
			*out = at;
			return true;
		}
		if (at < end && ends_in_call(p, &p->blocks.data[block]))
			pass_call(s, &places);
		for (size_t k = at < end ? ops->n : min_of(n, ops->n); k-- > 0;)
			step_back(s, at, &ops->ops[k], &places);
	}
	return false;
}

static bool left_loop(struct slicing *s, size_t at, const struct places *p)
{
	return left_at(s, at, p);
}

bool loops__exit(struct slicing *s, size_t at, size_t n, place_t place, size_t *out)
{
	return follow(s, at, n, place, out, left_loop);
}

/* Returns true if the block ends in a call whose result is a part. */
static bool is_part(struct slicing *s, size_t at, const struct places *p)
{
	int32_t n = s->path->data[at].item;
	const struct item *it = n < 0 ? NULL : &s->call->items.data[n];
	const struct verdict *v = it && it->results.len ? *vec__last(&it->results) : NULL;

	return v && (uint32_t)v->value && has(p, code__result(s->code)) &&
	       ends_in_call(s->code->plan, &s->code->plan->blocks.data[s->path->data[at].block]) &&
	       verdict__is_of_callee(s->code->plan, it, v);
}

bool loops__part(struct slicing *s, size_t at, size_t n, place_t place, size_t *out)
{
	return follow(s, at, n, place, out, is_part);
}

bool loops__left(struct slicing *s, size_t at, size_t inside)
{
	struct loops *all = loops_of(s->code, s->call->function);
	struct loop *l;

	vec__each (l, &all->all)
		if (at + 1 < s->path->len && contains(s, l, inside) && leaves(s, l, at))
			return true;
	return false;
}

/* ---- what a loop has not changed ---- */

static bool writes_place(struct code *c, uint32_t block, place_t place)
{
	const struct block_ops *ops = code__ops(c, block);

	for (size_t i = 0; i < ops->n; i++) {
		const struct op *op = &ops->ops[i];

		if (place & PLACE_SLOT ? op->dst == place || op->spoils == place
				       : op->writes >> place & 1)
			return true;
	}
	return false;
}

struct searching {
	struct finding f; /* only what each_successor() needs */
	const struct loop *loop;
	bool *seen; /* by block */
	id_vec todo;
};

static void note_successor(void *ctx, uint32_t to)
{
	struct searching *q = ctx;

	if (!q->loop->has[to] || to == q->loop->header || q->seen[to])
		return;
	q->seen[to] = true;
	vec__push(&q->todo, to);
}

/* Returns true if a round of the loop may still change the place from this block on. */
static bool may_change(struct slicing *s, const struct loop *l, uint32_t block, place_t place)
{
	uint32_t function = s->call->function;
	uint32_t n = s->code->first[function + 1] - s->code->first[function];
	autofree bool *seen = xcalloc(n, sizeof(*seen));
	struct searching q = {
		.f = {.code = s->code, .function = function}, .loop = l, .seen = seen};
	bool found = false;

	if (block != NO_BLOCK && s->code->plan->blocks.data[block].function == function)
		note_successor(&q, s->code->number[block]);
	while (q.todo.len && !found) {
		uint32_t b = q.todo.data[--q.todo.len];

		found = writes_place(s->code, block_of(&q.f, b), place);
		each_successor(&q.f, b, note_successor, &q);
	}
	vec__free(&q.todo);
	return found;
}

bool loops__unchanged(struct slicing *s, size_t exit, place_t place, size_t *out)
{
	const struct plan *p = s->code->plan;
	struct places places = {0};
	const struct loop *l;

	if (place == PLACE_NONE)
		return false;
	add(&places, place);
	l = left_at(s, exit, &places);
	for (size_t at = exit; l && at-- > 0 && contains(s, l, at);) {
		int32_t n = s->path->data[at].item;
		const struct item *it = n < 0 ? NULL : &s->call->items.data[n];
		const struct plan_block *b = &p->blocks.data[s->path->data[at].block];

		if (!it || !plan_site__is_conditional(&p->sites.data[it->site]))
			continue;
		if (may_change(s, l, it->taken ? b->next : b->taken, place) &&
		    !may_change(s, l, it->taken ? b->taken : b->next, place)) {
			*out = at;
			return true;
		}
	}
	return false;
}
