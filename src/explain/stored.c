// SPDX-License-Identifier: BSD-2-Clause
/*
 * The variables with which a program may end, found in its code; the stores to them, as they are
 * executed; and why each was: judged at once, since its call may be gone when the program ends.
 */
#include <stdlib.h>
#include "explain/state.h"
#include "plan/graph/meet.h"

#define JUDGED_MOST 1000

/* ---- instructions that have a variable's address ---- */

/* An access whose address doesn't depend on registers. */
struct fixed {
	uint64_t cell;
	uint32_t size;
	bool reads, writes;
	bool has_value; /* the instruction has what it stores: */
	uint32_t value;
};

static int accesses(const struct plan *p, uint32_t object, uint64_t vaddr, uint8_t fill,
		    struct access out[ACCESS_MOST])
{
	const struct object *o = p->objects.data[object].object;
	uint64_t regs[EVENT_REGS];
	struct access_state state = {.regs = regs};
	const uint8_t *bytes;
	size_t len;

	memset(regs, fill, sizeof(regs));
	bytes = o && p->arch->accesses ? object__bytes(o, vaddr, &len) : NULL;
	return bytes ? p->arch->accesses(bytes, len, object__code_address(o, vaddr), &state, out)
		     : 0;
}

/* Two states of the registers that have nothing in common: what is the same follows from the
 * instruction alone. Of several accesses it takes the one that writes. */
static bool fixed_access(const struct plan *p, uint32_t object, uint64_t vaddr, struct fixed *out)
{
	struct access a[ACCESS_MOST], b[ACCESS_MOST];
	int n = accesses(p, object, vaddr, 0, a);
	bool found = false;

	if (n <= 0 || accesses(p, object, vaddr, 0x55, b) != n)
		return false;
	*out = (struct fixed){0};
	for (int i = 0; i < n; i++) {
		size_t known = min_of((size_t)a[i].size, sizeof(out->value));

		if (!a[i].located || !b[i].located || a[i].addr != b[i].addr || a[i].repeats ||
		    (found && out->cell != a[i].addr))
			continue;
		found = true;
		out->cell = a[i].addr;
		out->size = a[i].size;
		out->reads |= a[i].reads;
		out->writes |= a[i].writes;
		if (!a[i].writes || !known || a[i].known < known || b[i].known < known ||
		    memcmp(a[i].stored, b[i].stored, known) != 0)
			continue;
		out->has_value = true;
		memcpy(&out->value, a[i].stored, known);
	}
	return found;
}

/* ---- the variables ---- */

static uint64_t key_of(uint32_t object, uint64_t cell)
{
	return (uint64_t)object << 48 | (cell & ((1ull << 48) - 1));
}

/* Returns true if the block ends in a call that ends the process with its argument. */
static bool calls_exit(const struct plan *p, const struct plan_block *b)
{
	const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];
	const struct object *o = p->objects.data[b->object].object;
	const struct symbol *symbol = s && s->target && o ? object__symbol_at(o, s->target) : NULL;
	struct location to = {.symbol = symbol ? symbol->name : NULL};

	return symbol && ending__is_exit(&to);
}

/* Of several that read it, the largest. */
static void add_cell(struct stores *s, uint32_t object, const struct fixed *f)
{
	uint64_t *index = map64__put(&s->cells, key_of(object, f->cell));
	struct stored *st;

	if (!*index) {
		vec__push(&s->last, (struct stored){.cell = f->cell, .object = object});
		*index = s->last.len;
	}
	st = &s->last.data[*index - 1];
	st->size = max_of(st->size, f->size);
}

static void add_cells(struct explain_state *s, uint32_t block)
{
	const struct block_ops *ops = code__ops(&s->code, block);
	uint32_t object = s->code.plan->blocks.data[block].object;
	struct fixed f;

	for (size_t i = 0; i < ops->n; i++)
		if (fixed_access(s->code.plan, object, ops->ops[i].vaddr, &f) && f.reads &&
		    !f.writes)
			add_cell(&s->stores, object, &f);
}

static bool is_of_program(const struct plan *p, const struct plan_block *b)
{
	return !p->objects.data[b->object].kernel && b->function != NO_FUNCTION;
}

/* Once: those that main reads, and functions that call exit(3). */
static void find_cells(struct explain_state *s)
{
	const struct plan *p = s->code.plan;
	autofree bool *ends = xcalloc(p->functions.len + 1, sizeof(*ends));
	const struct plan_block *b;

	s->stores.has = xcalloc(p->blocks.len + 1, 1);
	s->stores.has_field = xcalloc(p->blocks.len + 1, 1);
	s->stores.times = xcalloc(p->blocks.len + 1, sizeof(*s->stores.times));
	vec__each (b, &p->blocks)
		if (is_of_program(p, b))
			ends[b->function] |= plan__is_main(p, b->function) || calls_exit(p, b);
	vec__each (b, &p->blocks)
		if (is_of_program(p, b) && ends[b->function])
			add_cells(s, (uint32_t)(b - p->blocks.data));
}

/* ---- stores ---- */

#define CELL_MOST 8 /* bytes of a variable that matter */

static bool is_store(const struct plan *p, uint32_t object, const struct op *op, struct fixed *f)
{
	return fixed_access(p, object, op->vaddr, f) && f->writes;
}

/* Returns the first of the variables from *at on that the store reaches, and sets *at after it;
 * NULL if there is none. */
static struct stored *next_cell(const struct stores *s, uint32_t object, const struct fixed *f,
				uint64_t *at)
{
	while (*at < f->cell + f->size) {
		const uint64_t *index = map64__get(&s->cells, key_of(object, (*at)++));
		struct stored *st = index ? &s->last.data[*index - 1] : NULL;

		if (st && st->cell + st->size > f->cell)
			return st;
	}
	return NULL;
}

static uint64_t first_cell(const struct fixed *f)
{
	return f->cell - (CELL_MOST - 1);
}

static bool may_store(struct explain_state *s, uint32_t block)
{
	const struct block_ops *ops = code__ops(&s->code, block);
	uint32_t object = s->code.plan->blocks.data[block].object;
	uint8_t *has = &s->stores.has[block];
	struct fixed f;
	uint64_t at;

	if (*has)
		return *has == 2;
	*has = 1;
	for (size_t i = 0; i < ops->n && *has == 1; i++)
		if (is_store(s->code.plan, object, &ops->ops[i], &f) &&
		    (at = first_cell(&f), next_cell(&s->stores, object, &f, &at)))
			*has = 2;
	return *has == 2;
}

/* Returns true if the register still has at the end of the block what the instruction stored. */
static bool is_kept(const struct block_ops *ops, size_t i)
{
	place_t reg = ops->ops[i].src;

	if (reg == PLACE_NONE || reg & PLACE_SLOT)
		return false;
	while (++i < ops->n)
		if (ops->ops[i].writes >> reg & 1)
			return false;
	return true;
}

/* Control reached it. */
static struct verdict *judge_reached(struct explain_state *s, const struct call *c, uint64_t vaddr)
{
	struct call before = *c;

	before.items.len--;
	return judge__end(&s->code, &before, true, vaddr, PLACE_NONE, false, 0);
}

/* Where the value of a register is from that was stored. */
static struct verdict *judge_value(struct explain_state *s, const struct call *c, place_t reg)
{
	return judge__end(&s->code, c, false, 0, reg, false, 0);
}

/* Returns true if the value is what the variable had. */
static bool is_its_own(const struct plan *p, const struct stored *st, const struct verdict *v)
{
	struct fixed f;

	return v->origin.kind == VALUE_LOAD && !v->origin.mangled &&
	       fixed_access(p, st->object, v->origin.vaddr, &f) && f.cell == st->cell;
}

/* Returns false if the store changes nothing. */
static bool judge(struct explain_state *s, const struct call *c, uint32_t block, size_t i,
		  struct stored *st)
{
	const struct plan_block *b = &s->code.plan->blocks.data[block];
	const struct block_ops *ops = code__ops(&s->code, block);
	bool of_register = ops->ops[i].kind == OP_COPY && b->site != NO_SITE && is_kept(ops, i);
	const struct value_origin *m;

	if ((st->has_value && !st->value) || s->stores.judged++ >= JUDGED_MOST)
		return true;
	if (st->has_value || st->changes || !of_register) {
		/* what flags or something else decided isn't decided by how control came there */
		if (st->has_value || st->changes || ops->ops[i].kind == OP_COPY)
			st->why = judge_reached(s, c, st->vaddr);
		return true;
	}
	st->why = judge_value(s, c, ops->ops[i].src);
	m = &verdict__innermost(st->why)->origin;
	st->has_value = m->kind == VALUE_CONST && !m->mangled;
	st->value = (uint32_t)m->value;
	return !is_its_own(s->code.plan, st, st->why);
}

static void take(struct explain_state *s, const struct call *c, uint32_t block, size_t i,
		 const struct fixed *f, struct stored *last)
{
	bool begins = last->cell == f->cell, whole = begins && f->size >= last->size;
	struct stored st = {.vaddr = code__ops(&s->code, block)->ops[i].vaddr,
			    .cell = last->cell,
			    .size = last->size,
			    .function = c->function,
			    .object = last->object,
			    .number = s->stores.seen,
			    .gaps = s->stores.gaps,
			    .has_value = whole && f->has_value && !f->reads,
			    .changes = begins && f->reads,
			    .value = f->value};

	/* a compiler may change a part of it only: `flags |= 4` */
	if ((whole || st.changes) && !judge(s, c, block, i, &st)) {
		verdict__free(st.why);
		return;
	}
	verdict__free(last->why);
	*last = st;
}

static void take_all(struct explain_state *s, const struct call *c, uint32_t block)
{
	const struct block_ops *ops = code__ops(&s->code, block);
	uint32_t object = s->code.plan->blocks.data[block].object;
	struct stored *last;
	struct fixed f;

	for (size_t i = 0; i < ops->n; i++) {
		uint64_t at;

		if (!is_store(s->code.plan, object, &ops->ops[i], &f))
			continue;
		s->stores.seen++;
		for (at = first_cell(&f); (last = next_cell(&s->stores, object, &f, &at));)
			take(s, c, block, i, &f, last);
	}
}

/* ---- stores by pointers ---- */

#define FIELDS_MOST	  1000
#define FOLLOWED_MOST	  3000
#define FOLLOWED_OF_BLOCK 50

/* A store of a constant, or a change by one, at an address that depends on a register. */
static bool is_field_store(const struct explain_state *s, uint32_t object, uint64_t vaddr,
			   struct fixed *out)
{
	struct access a[ACCESS_MOST];
	struct operand mem;
	int n = code__memory(&s->code, object, vaddr, &mem)
			? accesses(s->code.plan, object, vaddr, 0, a)
			: 0;

	if (n <= 0 || mem.base == s->code.plan->arch->sp_reg)
		return false;
	*out = (struct fixed){0};
	for (int i = 0; i < n; i++) {
		size_t known = min_of((size_t)a[i].size, sizeof(out->value));

		if (a[i].repeats)
			return false;
		out->size = a[i].size;
		out->reads |= a[i].reads;
		out->writes |= a[i].writes;
		out->has_value |= a[i].writes && known && a[i].known >= known;
		if (a[i].writes)
			memcpy(&out->value, a[i].stored, known);
	}
	return out->writes && out->size <= sizeof(uint64_t);
}

/* Returns true if what the instruction stores is followed: a constant, a change, or a register that
 * holds no address. */
static bool is_followed(struct explain_state *s, uint32_t block, size_t i, struct fixed *out)
{
	const struct op *op = &code__ops(&s->code, block)->ops[i];
	uint32_t object = s->code.plan->blocks.data[block].object;
	struct access again[ACCESS_MOST];
	size_t known;

	if ((op->dst != PLACE_NONE && op->dst & PLACE_SLOT) || op->spoils != PLACE_NONE ||
	    !is_field_store(s, object, op->vaddr, out))
		return false;
	if (out->reads || !out->has_value)
		return out->reads;
	known = min_of((size_t)out->size, sizeof(out->value));
	if (accesses(s->code.plan, object, op->vaddr, 0x55, again) != 1)
		return false;
	if (!memcmp(again[0].stored, &out->value, known))
		return true;
	out->has_value = false;
	return out->size <= sizeof(uint32_t) && op->kind == OP_COPY;
}

static struct stored_field *field_at(struct stores *s, uint64_t addr)
{
	struct stored_field *f;

	vec__each (f, &s->fields)
		if (f->addr == addr)
			return f;
	if (s->fields.len == FIELDS_MOST)
		return NULL;
	f = vec__add(&s->fields);
	*f = (struct stored_field){.addr = addr};
	return f;
}

static uint64_t address_of(struct explain_state *s, const struct call *c, uint32_t block,
			   uint64_t vaddr)
{
	CLEANUP(path__free) path_vec path = {0};
	struct slicing slicing = {.code = &s->code, .call = c, .path = &path};
	size_t at;

	if (path__of(s->code.plan, c, false, &path))
		return 0;
	for (at = path.len; at-- > 0;)
		if (path.data[at].block == block)
			return slice__address(&slicing, at, vaddr);
	return 0;
}

static void take_field(struct explain_state *s, const struct call *c, uint32_t block, size_t i,
		       const struct fixed *f)
{
	uint64_t vaddr = code__ops(&s->code, block)->ops[i].vaddr;
	uint64_t addr = address_of(s, c, block, vaddr);
	struct stored_field *field = addr ? field_at(&s->stores, addr) : NULL;
	struct stored st = {.vaddr = vaddr,
			    .size = f->size,
			    .function = c->function,
			    .object = s->code.plan->functions.data[c->function].object,
			    .number = ++s->stores.seen,
			    .gaps = s->stores.gaps,
			    .has_value = f->has_value && !f->reads,
			    .changes = f->reads,
			    .value = f->value};

	if (!field)
		return;
	judge(s, c, block, i, &st);
	verdict__free(field->last.why);
	field->last = st;
}

/* Those beyond a number aren't followed: what they may have replaced isn't known any more. */
static void take_fields(struct explain_state *s, const struct call *c, uint32_t block)
{
	const struct block_ops *ops = code__ops(&s->code, block);
	uint8_t *has = &s->stores.has_field[block];
	struct fixed f;

	if (*has == 1)
		return;
	if (*has == 2 && (s->stores.times[block] >= FOLLOWED_OF_BLOCK ||
			  s->stores.followed >= FOLLOWED_MOST || !c->nargs || c->cut)) {
		s->stores.fields_from = s->stores.seen + 1;
		return;
	}
	*has = 1;
	for (size_t i = 0; i < ops->n; i++) {
		if (!is_followed(s, block, i, &f))
			continue;
		*has = 2;
		take_field(s, c, block, i, &f);
	}
	s->stores.times[block] += *has == 2;
	s->stores.followed += *has == 2;
}

void stored__see(struct explain_state *s, const struct call *c)
{
	const struct plan *p = s->code.plan;
	const struct item *last = vec__last(&c->items);
	const struct item *before = c->items.len > 1 ? last - 1 : NULL;
	uint32_t block =
		before	 ? plan__block_after(p, before->site, before->taken, before->to.vaddr)
		: c->cut ? p->sites.data[last->site].block
			 : p->functions.data[c->function].entry_block;

	if (!s->stores.has)
		find_cells(s);
	for (size_t n = 0; block != NO_BLOCK && n <= p->blocks.len; n++) {
		const struct plan_block *b = &p->blocks.data[block];

		if (may_store(s, block))
			take_all(s, c, block);
		take_fields(s, c, block);
		if (b->site != NO_SITE)
			return;
		block = b->next;
	}
}

/* Returns the instruction of the block that loaded the register which the one at setter tests; the
 * latter if it tests none. */
static uint64_t loader_of(struct explain_state *s, uint32_t block, uint64_t setter)
{
	const struct block_ops *ops = code__ops(&s->code, block);
	uint64_t loader = setter;
	struct test t;

	if (!code__test(&s->code, s->code.plan->blocks.data[block].object, setter, &t) || !t.n ||
	    t.operand[0].kind != OPERAND_REG || t.operand[0].at.base >= EVENT_REGS)
		return setter;
	for (size_t i = 0; i < ops->n && ops->ops[i].vaddr < setter; i++)
		if (ops->ops[i].writes >> t.operand[0].at.base & 1)
			loader = ops->ops[i].kind == OP_LOAD ? ops->ops[i].vaddr : setter;
	return loader;
}

/* Returns the instruction that read the variable; 0 if not known. */
static uint64_t reader_of(struct explain_state *s, const struct verdict *v)
{
	if (v->origin.kind == VALUE_LOAD)
		return v->origin.vaddr;
	if (v->origin.kind == VALUE_FLAGS && !v->decided)
		return loader_of(s, v->origin_block,
				 code__setter(&s->code, v->origin_block, v->origin.vaddr));
	if (v->decided && v->loaded)
		return v->loaded;
	if (v->decided)
		return code__setter(&s->code, v->block,
				    s->code.plan->sites.data[v->branch.site].vaddr);
	return v->choice ? loader_of(s, v->block, code__setter(&s->code, v->block, v->choice)) : 0;
}

static const struct stored *field_of(const struct explain_state *s, const struct verdict *v,
				     uint64_t until)
{
	const struct stored_field *f;

	vec__each (f, &s->stores.fields)
		if (v->read_at && f->addr == v->read_at && f->last.gaps == s->stores.gaps &&
		    f->last.number <= until && f->last.number >= s->stores.fields_from)
			return &f->last;
	return NULL;
}

const struct stored *stored__in(struct explain_state *s, const struct verdict *v)
{
	uint32_t object = s->code.plan->functions.data[v->function].object;
	uint64_t reader = reader_of(s, v);
	uint64_t until = v->decided && v->origin.kind != VALUE_LOAD ? v->branch.stores : v->stores;
	const struct stored *st;
	const uint64_t *index;
	struct fixed f;

	if (!reader || !fixed_access(s->code.plan, object, reader, &f))
		return field_of(s, v, until);
	index = map64__get(&s->stores.cells, key_of(object, f.cell));
	st = index ? &s->stores.last.data[*index - 1] : NULL;
	/* what was stored after that is not what was read */
	return st && st->number && st->gaps == s->stores.gaps && st->number <= until ? st : NULL;
}

void stores__gap(struct stores *s)
{
	s->gaps++;
}

void stores__free(struct stores *s)
{
	struct stored_field *field;
	struct stored *st;

	vec__each (st, &s->last)
		verdict__free(st->why);
	vec__free(&s->last);
	vec__each (field, &s->fields)
		verdict__free(field->last.why);
	vec__free(&s->fields);
	free(s->has_field);
	free(s->times);
	map64__free(&s->cells);
	free(s->has);
	*s = (struct stores){0};
}
