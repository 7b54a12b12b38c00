// SPDX-License-Identifier: BSD-2-Clause
/*
 * Switch statements: an indirect jump whose target is a table entry, absolute (8 or 4 bytes) or
 * relative to an address (4 bytes; with aligned instructions also 1 or 2, in units of these). A
 * check before the jump bounds the index, but doesn't prove the table's length: if the compiler
 * knows more than the check shows (an unreachable default), or the bound was misidentified, bytes
 * after the table would be read as entries. So every entry must lead to an instruction start of
 * this function on the linear sweep, and must not be at the start of another table. A table with an
 * invalid entry is read up to that entry and counts as unresolved.
 */
#include <stdlib.h>
#include "code/code.h"

#define GUESS_MAX 1024

/* The target is base + table[index] * times. Without an index there is one entry; with size 0 the
 * target is base + index * times: then the entries are branches, or other code. */
struct shape {
	uint64_t table, base;
	uint32_t node; /* the node that reads the entry */
	uint8_t index;
	uint8_t size;
	uint8_t times;
	uint8_t extend, index_extend; /* as in struct operand: of the entry, and of the index */
	bool scaled;		      /* the index register holds index * size */
	bool sign;
	bool guess; /* assumes without proof that a register's only known value is its value, and
		       that stack slots and tables are not overwritten */
};

typedef VEC(uint64_t) addr_vec;

static bool single_value(struct graph *g, uint32_t node, uint8_t reg, bool guess, uint64_t *out)
{
	struct values v;

	slice__values(g, node, reg, &v);
	*out = v.v[0];
	return v.n == 1 && (guess || !v.unknown);
}

/* Returns the index, if the instruction multiplies it by the size of an entry; REG_NONE if it
 * doesn't. */
static uint8_t index_of(const struct graph *g, const struct insn_detail *d, uint8_t size)
{
	if (!graph__is_whole(g, d))
		return REG_NONE;
	if (d->op == DETAIL_SHL_CONST)
		return d->imm < 4 && 1u << d->imm == size ? d->src : REG_NONE;
	return d->op == DETAIL_LEA && !d->mem.addr32 && d->mem.base == REG_NONE &&
			       d->mem.scale == size
		       ? d->mem.index
		       : REG_NONE;
}

/* Returns true if the scaled index is in its own register (gcc -O0). */
static bool index_before(struct graph *g, struct shape *out)
{
	uint32_t defs[DEFS_MAX];
	struct insn_detail d;
	uint8_t index;

	if (slice__defs(g, out->node, out->index, defs) != 1 || !graph__detail(g, defs[0], &d))
		return false;
	index = index_of(g, &d, out->size);
	if (index == REG_NONE)
		return false;
	out->table = arch__address(g->arch, out->table + d.mem.disp);
	out->node = defs[0];
	out->index = index;
	return true;
}

/* A register holds the entry's address: the sum of the table's address and an index. */
static bool address_before(struct graph *g, uint32_t node, const struct operand *m,
			   struct shape *out)
{
	uint32_t defs[DEFS_MAX];
	uint8_t first, second, scale;
	struct insn_detail d;

	if (slice__defs(g, node, m->base, defs) != 1 || !graph__detail(g, defs[0], &d) ||
	    !slice__sum(g, &d, &first, &second, &scale) || (scale != 1 && scale != out->size))
		return false;
	out->node = defs[0];
	out->scaled = scale == 1;
	out->index = second;
	out->index_extend = d.mem.extend;
	if (!single_value(g, defs[0], first, out->guess, &out->table)) {
		out->index = first;
		if (scale != 1 || d.mem.extend ||
		    !single_value(g, defs[0], second, out->guess, &out->table))
			return false;
	}
	out->table = arch__address(g->arch, out->table + m->disp + d.mem.disp);
	return true;
}

/* The address of entry 0 in an operand with an index. */
static bool table_address(struct graph *g, uint32_t node, const struct operand *m, int64_t imm,
			  struct shape *out)
{
	uint64_t base = 0;

	if (m->seg || m->addr32)
		return false;
	out->index = m->index;
	out->index_extend = m->extend;
	if (m->base != REG_NONE && !single_value(g, node, m->base, out->guess, &base)) {
		if (m->index == REG_NONE)
			return address_before(g, node, m, out);
		/* the register with a known value is the table */
		if (m->scale != 1 || m->extend ||
		    !single_value(g, node, m->index, out->guess, &base))
			return false;
		out->index = m->base;
	}
	out->table = arch__address(g->arch, base + m->disp + imm);
	out->node = node;
	return m->index == REG_NONE || m->scale == out->size ||
	       (m->scale == 1 && index_before(g, out));
}

static bool table_load(struct graph *g, uint32_t node, enum detail_op op, struct shape *out)
{
	struct insn_detail d;

	if (!graph__detail(g, node, &d) || d.op != op)
		return false;
	out->size = d.bits / 8;
	out->sign = d.sign;
	return table_address(g, node, &d.mem, d.imm, out);
}

/* The entry was spilled to the stack by one instruction and reloaded. */
static bool kept_entry(struct graph *g, uint32_t node, struct shape *out)
{
	uint32_t stores[DEFS_MAX], defs[DEFS_MAX];
	struct insn_detail d;

	return out->guess && slice__stores(g, node, stores) == 1 &&
	       graph__detail(g, stores[0], &d) && graph__is_whole(g, &d) &&
	       slice__defs(g, stores[0], d.src, defs) == 1 &&
	       table_load(g, defs[0], DETAIL_LOAD, out);
}

/* Returns true if the entry was loaded, perhaps extended (gcc -O0), or spilled. */
static bool table_entry(struct graph *g, uint32_t node, struct shape *out)
{
	uint32_t defs[DEFS_MAX];
	struct insn_detail d;

	if (!graph__detail(g, node, &d) || d.op != DETAIL_COPY || d.bits != 32 ||
	    graph__is_whole(g, &d))
		return table_load(g, node, DETAIL_LOAD, out) || kept_entry(g, node, out);
	if (slice__defs(g, node, d.src, defs) != 1 || !table_load(g, defs[0], DETAIL_LOAD, out))
		return false;
	out->sign = d.sign;
	return out->size == 4;
}

/* base + entry, either way round */
static bool table_sum(struct graph *g, uint32_t add, uint8_t entry, uint8_t base, struct shape *out)
{
	uint32_t defs[DEFS_MAX];

	return slice__defs(g, add, entry, defs) == 1 &&
	       single_value(g, add, base, out->guess, &out->base) && table_entry(g, defs[0], out);
}

/* An entry of the register is added to the address of a label. */
static bool label_sum(struct graph *g, uint32_t add, uint8_t entry, int64_t label,
		      struct shape *out)
{
	uint32_t defs[DEFS_MAX];

	out->base = arch__address(g->arch, (uint64_t)label);
	return entry != REG_NONE && graph__owner(g, out->base) != NO_FUNCTION &&
	       slice__defs(g, add, entry, defs) == 1 && table_entry(g, defs[0], out);
}

/* The shape of what set the jump's register. */
static bool shape_of_def(struct graph *g, uint32_t def, struct shape *out)
{
	uint8_t first, second, scale;
	struct insn_detail d;

	*out = (struct shape){.guess = out->guess, .times = 1};
	if (!graph__detail(g, def, &d))
		return false;
	switch (d.op) {
	case DETAIL_CONST:
		out->base = d.imm;
		out->index = REG_NONE;
		return true;
	case DETAIL_LOAD:
		return table_load(g, def, DETAIL_LOAD, out) && out->index != REG_NONE;
	case DETAIL_ADD_LOAD:
		return single_value(g, def, d.dst, out->guess, &out->base) &&
		       table_load(g, def, DETAIL_ADD_LOAD, out) && out->index != REG_NONE;
	case DETAIL_ADD_CONST:
		return graph__is_whole(g, &d) && label_sum(g, def, d.dst, d.imm, out);
	case DETAIL_ADD:
	case DETAIL_LEA:
		if (d.op == DETAIL_LEA && graph__is_whole(g, &d) &&
		    (d.mem.base == REG_NONE || d.mem.index == REG_NONE))
			return label_sum(g, def, slice__only_register(&d.mem), d.mem.disp, out);
		if (!slice__sum(g, &d, &first, &second, &scale) || d.mem.disp)
			return false;
		out->times = scale;
		out->extend = d.mem.extend;
		return (scale == 1 && !d.mem.extend && table_sum(g, def, first, second, out)) ||
		       table_sum(g, def, second, first, out);
	default:
		return false;
	}
}

struct shapes {
	struct shape v[DEFS_MAX];
	int n;
	bool guess;
};

/* Adds the shapes of what set the jump's register, which may have been copied or spilled. Other
 * stores to its slot of the stack are not excluded. */
static bool add_shapes(struct graph *g, uint32_t def, struct shapes *out, unsigned depth)
{
	uint32_t from[DEFS_MAX], defs[DEFS_MAX];
	struct insn_detail d;
	int n;

	if (depth == 4 || out->n == DEFS_MAX)
		return false;
	if (graph__detail(g, def, &d) && d.op == DETAIL_COPY)
		return graph__is_whole(g, &d) && slice__defs(g, def, d.src, defs) == 1 &&
		       add_shapes(g, defs[0], out, depth + 1);
	out->v[out->n] = (struct shape){.guess = out->guess};
	if (shape_of_def(g, def, &out->v[out->n]))
		return ++out->n;
	n = out->guess ? slice__stores(g, def, from) : 0;
	for (int i = 0; i < n; i++)
		if (!graph__detail(g, from[i], &d) || !graph__is_whole(g, &d) ||
		    slice__defs(g, from[i], d.src, defs) != 1 ||
		    !add_shapes(g, defs[0], out, depth + 1))
			return false;
	return n > 0;
}

/* The jump reads the entry itself. */
static bool shape_in_memory(struct graph *g, uint32_t node, const struct operand *op,
			    struct shape *out)
{
	if (op->index == REG_NONE)
		return false;
	out->size = g->arch->word;
	if (op->kind == OPERAND_AHEAD) {
		out->size = op->size;
		out->times = g->arch->alignment;
		out->base = node__next(&g->nodes.data[node]);
	}
	return table_address(g, node, op, 0, out);
}

/* The jump adds an entry, or an index, to a known address. */
static bool shape_of_sum(struct graph *g, uint32_t node, const struct operand *op,
			 struct shape *out)
{
	const struct shape fresh = *out;
	uint32_t defs[DEFS_MAX];

	if (op->index == REG_NONE)
		return false;
	out->times = op->scale;
	if (op->base != REG_NONE)
		return (op->scale == 1 && table_sum(g, node, op->base, op->index, out)) ||
		       table_sum(g, node, op->index, op->base, out);
	out->base = arch__address(g->arch, (uint64_t)op->disp);
	if (slice__defs(g, node, op->index, defs) == 1 && table_entry(g, defs[0], out))
		return true;
	*out = fresh;
	out->base = arch__address(g->arch, (uint64_t)op->disp);
	out->times = op->scale;
	out->index = op->index;
	out->node = node;
	return true;
}

/* Sets the tables that the jump may read, one for each path to it. Returns false if not known. */
static bool shapes_of(struct graph *g, uint32_t node, bool guess, struct shapes *out)
{
	const struct operand op = graph__branch(g, &g->nodes.data[node])->operand;
	uint32_t defs[DEFS_MAX];
	int n;

	*out = (struct shapes){.v[0] = {.guess = guess, .times = 1}, .guess = guess};
	switch (op.kind) {
	case OPERAND_NONE:
		return false;
	case OPERAND_MEM:
	case OPERAND_AHEAD:
		out->n = shape_in_memory(g, node, &op, &out->v[0]);
		return out->n;
	case OPERAND_SUM:
		out->n = shape_of_sum(g, node, &op, &out->v[0]);
		return out->n;
	}
	n = slice__defs(g, node, op.base, defs);
	for (int i = 0; i < n; i++)
		if (!add_shapes(g, defs[i], out, 0))
			return false;
	return n > 0;
}

static int64_t extended(uint64_t value, unsigned bits, bool sign)
{
	value <<= 64 - bits;
	return sign ? (int64_t)value >> (64 - bits) : (int64_t)(value >> (64 - bits));
}

static bool entry_at(struct graph *g, const struct shape *s, uint64_t i, uint64_t *target)
{
	size_t avail;
	const uint8_t *bytes = object__bytes(g->object, s->table + i * s->size, &avail);
	uint64_t entry = 0;

	*target = arch__address(g->arch, s->base + (s->size ? 0 : i * s->times));
	if (!s->size) {
		*target = object__code_vaddr(g->object, *target);
		return true;
	}
	if (!bytes || avail < s->size ||
	    !(s->guess || object__is_constant(g->object, s->table + i * s->size, s->size)))
		return false;
	memcpy(&entry, bytes, s->size);
	entry = extended(entry, 8 * s->size, s->sign);
	if (s->extend)
		entry = extended(entry, s->extend & ~EXTEND_SIGNED, s->extend & EXTEND_SIGNED);
	*target = object__code_vaddr(g->object, arch__address(g->arch, *target + entry * s->times));
	return true;
}

/* Returns true if both belong to one function. A range counts as the function that encloses it.
 * Without symbols a cold part may look like a function. */
static bool same_function(struct graph *g, uint64_t from, uint64_t target)
{
	uint32_t own = graph__owner(g, from), to = graph__owner(g, target);
	const struct frame *f;

	if (own == to || graph__holds(g, own, target) || graph__holds(g, to, from) ||
	    !object__symbol_at(g->object, target))
		return true;
	f = object__frame_at(g->object, from);
	return f && f == object__frame_at(g->object, target);
}

/* Returns true if the jump at node can lead to target. It must be an instruction of its function or
 * of a cold part of it. */
static bool is_inside(struct graph *g, uint32_t node, uint64_t target)
{
	uint64_t from = g->nodes.data[node].addr, before, after;
	uint32_t own = graph__owner(g, from), to = graph__owner(g, target);
	const struct frame *part;
	struct range r;

	if (to != NO_FUNCTION) {
		if (!same_function(g, from, target))
			return false;
		graph__join(g, own, to);
		return graph__in_batch(g, to) && sweep__is_start(g, to, target, &before, &after);
	}
	part = graph__part_at(g, target);
	if (!part)
		return false;
	graph__share(g, own, part->vaddr);
	r = (struct range){.vaddr = part->vaddr, .size = part->size};
	return sweep__is_start_in(g, &r, target, &before, &after);
}

static bool another_table(const struct graph *g, uint64_t vaddr)
{
	return map64__get(&g->table_starts, vaddr);
}

/* Reads entry i of the jump at node, if valid. */
static bool entry_of(struct graph *g, uint32_t node, const struct shape *s, uint64_t i,
		     uint64_t *target)
{
	if (i && s->size)
		graph__share(g, graph__owner(g, g->nodes.data[node].addr), s->table + i * s->size);
	return !(i && s->size && another_table(g, s->table + i * s->size)) &&
	       entry_at(g, s, i, target);
}

/* A table may also select functions: then an entry is a traced function's start. */
static bool read_proved(struct graph *g, uint32_t node, const struct shape *s, addr_vec *out)
{
	uint64_t max = 0, target;

	if (s->index != REG_NONE && !slice__bound(g, s->node, s->index, s->index_extend, &max))
		return false;
	if (s->scaled)
		max /= s->size;
	pool__note_table(g, s->table, (max + 1) * s->size, false);
	for (uint64_t i = 0; i <= max; i++) {
		if (!entry_of(g, node, s, i, &target) ||
		    !(graph__is_entry(g, target) || is_inside(g, node, target))) {
			pool__forget_table(g, s->table, (max + 1) * s->size);
			return false;
		}
		vec__push(out, target);
	}
	pool__note_table(g, s->table, (max + 1) * s->size, !s->guess);
	return true;
}

/* A table among the code ends at the latest where the first of its entries leads. */
static uint64_t most_entries(struct graph *g, uint32_t node, const struct shape *s)
{
	uint64_t most = GUESS_MAX, target;

	for (uint64_t i = 0; i < most && object__is_code(g->object, s->table); i++)
		if (!entry_of(g, node, s, i, &target))
			most = i;
		else if (target > s->table)
			most = min_of(most, (target - s->table) / s->size);
	return most;
}

static bool read_guessed(struct graph *g, uint32_t node, const struct shape *s, addr_vec *out)
{
	uint64_t most = most_entries(g, node, s), i, target;

	if (!g->object->mixed)
		pool__note_table(g, s->table, most * s->size, false);
	for (i = 0; i < most && entry_of(g, node, s, i, &target); i++) {
		pool__note_table(g, s->table + i * s->size, s->size, false);
		if (!is_inside(g, node, target))
			break;
		vec__push(out, target);
	}
	pool__forget_table(g, s->table, most * s->size);
	if (out->len > 1)
		pool__note_table(g, s->table, i * s->size, false);
	return out->len > 1;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void add_table(struct graph *g, uint32_t node, addr_vec *found, uint64_t vaddr, bool proved)
{
	struct jump_table *t = vec__add(&g->tables);

	t->node = node;
	t->vaddr = vaddr;
	t->proved = proved;
	t->first = g->targets.len;
	vec__sort(found, by_value);
	for (size_t i = 0; i < found->len; i++) {
		if (i && found->data[i] == found->data[i - 1])
			continue;
		vec__push(&g->targets, found->data[i]);
		if (graph__owner(g, found->data[i]) == NO_FUNCTION)
			graph__take_part(g, g->nodes.data[node].addr, found->data[i]);
	}
	t->count = g->targets.len - t->first;
	*map64__put(&g->table_of, node) = g->tables.len;
}

/* Without a table, the code itself has every address that the register can have (lea label; jmp
 * *reg). */
static bool read_constants(struct graph *g, uint32_t node, addr_vec *out)
{
	const struct operand op = graph__branch(g, &g->nodes.data[node])->operand;
	struct values v;

	if (op.kind != OPERAND_REG)
		return false;
	slice__values(g, node, op.base, &v);
	for (unsigned i = 0; i < v.n && !v.unknown; i++) {
		uint64_t target = object__code_vaddr(g->object, v.v[i]);

		if (!graph__is_entry(g, target) && !is_inside(g, node, target))
			return false;
		vec__push(out, target);
	}
	return v.n && !v.unknown;
}

static bool read_tables(struct graph *g, uint32_t node, bool guess, addr_vec *out, uint64_t *vaddr)
{
	struct shapes shapes;

	if (!shapes_of(g, node, guess, &shapes))
		return false;
	for (int i = 0; i < shapes.n; i++)
		if (!(guess && shapes.v[i].index != REG_NONE && shapes.v[i].size
			      ? read_guessed
			      : read_proved)(g, node, &shapes.v[i], out))
			return false;
	*vaddr = shapes.v[0].table;
	return true;
}

static bool resolve(struct graph *g, uint32_t node, bool guess)
{
	addr_vec found = {0};
	uint64_t vaddr = 0;
	bool proved = !guess, good = read_tables(g, node, guess, &found, &vaddr);

	if (!good) {
		found.len = 0;
		good = proved = read_constants(g, node, &found);
	}
	if (good)
		add_table(g, node, &found, vaddr, proved);
	vec__free(&found);
	return good;
}

/* Cold parts that a table leads to are indexed before their code is followed. */
static void follow_tables(struct graph *g, size_t first)
{
	graph__start(g);
	for (size_t i = first; i < g->tables.len; i++) {
		const struct jump_table t = g->tables.data[i];

		for (uint32_t k = 0; k < t.count; k++)
			graph__jump(g, t.node, g->targets.data[t.first + k]);
	}
}

/* Other functions' tables end there at the latest. */
static void see_start(struct graph *g, uint32_t jump, uint64_t table)
{
	*map64__put(&g->table_starts, table) = 1;
	graph__share(g, graph__owner(g, g->nodes.data[jump].addr), table);
}

/* Collects the starts of all tables before reading any: tables are often adjacent. */
static void see_table_starts(struct graph *g)
{
	struct shapes shapes;

	for (; g->jumps_seen < g->jumps.len; g->jumps_seen++) {
		uint32_t jump = g->jumps.data[g->jumps_seen];

		if (!shapes_of(g, jump, false, &shapes) && !shapes_of(g, jump, true, &shapes))
			continue;
		for (int i = 0; i < shapes.n; i++)
			if (shapes.v[i].index != REG_NONE && shapes.v[i].size)
				see_start(g, jump, shapes.v[i].table);
	}
}

bool graph__resolve_jumps(struct graph *g, bool guess)
{
	size_t first = g->tables.len;

	see_table_starts(g);
	for (size_t i = 0; i < g->jumps.len; i++)
		if (!graph__table_of(g, g->jumps.data[i]))
			resolve(g, g->jumps.data[i], guess);
	if (g->tables.len == first)
		return false;
	follow_tables(g, first);
	return true;
}

const struct jump_table *graph__table_of(const struct graph *g, uint32_t node)
{
	uint64_t *i = map64__get(&g->table_of, node);

	return i ? &g->tables.data[*i - 1] : NULL;
}
