// SPDX-License-Identifier: BSD-2-Clause
/*
 * The parameters and results of functions by debug information (DWARF, through libdw, in the
 * sandbox). A function whose parameters are elsewhere than in the calling convention, or nowhere,
 * has none.
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include "arch/arch.h"
#include "object/debug/debug.h"
#include "die_types.h"
#include "dies.h"
#include "dwarf.h"

#define PARAMS_MOST 64

struct asked {
	const struct type_query *queries; /* by vaddr */
	size_t n;
	const struct type_names *members;
	const struct arch *arch;
};

/* A prototype; its parameters' places are checked when all types are complete. */
struct pending {
	Dwarf_Die die;
	Dwarf_Addr entry;
};

struct finder {
	const struct asked *asked;
	struct die_types types;
	VEC(struct pending) pending; /* by prototype */
	Dwarf_Addr bias;
	Dwarf_Off walked;
	bool c_language; /* a language in which a function declared without parameters may have some
			  */
};

/* ---- functions ---- */

/* Returns true if debug information has this parameter in another register than the convention. If
 * a compiler has dropped a parameter, later ones have moved. */
static bool is_moved(const struct finder *f, Dwarf_Die *die, Dwarf_Addr entry,
		     const struct value_place *place)
{
	const struct arch_dwarf *regs = &f->asked->arch->dwarf;
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n, dwarf;

	if ((place->from != FROM_REGISTER && place->from != FROM_STACK) ||
	    place->second != REG_NONE || !dwarf_attr(die, DW_AT_location, &attr) ||
	    dwarf_getlocation_addr(&attr, entry, &ops, &n, 1) <= 0 || n != 1)
		return false;
	if (ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31)
		dwarf = ops->atom - DW_OP_reg0;
	else if (ops->atom == DW_OP_regx)
		dwarf = ops->number;
	else
		return false;
	return dwarf < regs->nregs &&
	       (place->from == FROM_STACK || regs->regs[dwarf] != place->reg);
}

static void add_param(struct finder *f, Dwarf_Die *die)
{
	struct type_param p = {.type = die_types__of(&f->types, die)};

	p.name = types__add_name(&f->types.types, dwarf_diename(die));
	vec__push(&f->types.types.params, p);
}

static bool is_param(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_formal_parameter;
}

/* Returns true if all parameters are where the convention has them. */
static bool is_usual(const struct finder *f, Dwarf_Die *function, Dwarf_Addr entry,
		     const struct prototype *p)
{
	const struct callee call = {.arch = f->asked->arch};
	struct value_place places[PARAMS_MOST], result;
	uint32_t i = 0;
	Dwarf_Die child;

	callee__places(&call, &f->types.types, p, places, &result);
	if (!p->n || dwarf_child(function, &child))
		return true;
	do {
		if (!is_param(&child))
			continue;
		if (i >= p->n || is_moved(f, &child, entry, &places[i]))
			return false;
		i++;
	} while (die__next(&child));
	return i == p->n;
}

/* Returns true if the compiler calls this function in its own way. */
static bool is_nocall(Dwarf_Die *die)
{
	return die__number(die, DW_AT_calling_convention) == DW_CC_nocall;
}

static unsigned count_params(Dwarf_Die *die)
{
	unsigned n = 0;
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return 0;
	do
		n += is_param(&child);
	while (die__next(&child));
	return n;
}

/* Sets what was declared, if this is an instance of that; else itself. */
static bool has_all_params(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;

	return !dwarf_attr(die, DW_AT_abstract_origin, &attr) ||
	       !dwarf_formref_die(&attr, &origin) || count_params(&origin) == count_params(die);
}

static bool take_function(struct finder *f, Dwarf_Die *die, uint32_t id)
{
	struct prototype p = {.id = id, .first = f->types.types.params.len};
	Dwarf_Attribute attr;
	Dwarf_Die child;

	if (is_nocall(die) || !has_all_params(die) || count_params(die) > PARAMS_MOST)
		return false;
	if (f->c_language && !count_params(die) &&
	    !dwarf_attr_integrate(die, DW_AT_prototyped, &attr))
		return false;
	p.result = die_types__of(&f->types, die);
	if (dwarf_child(die, &child) == 0)
		do
			if (is_param(&child))
				add_param(f, &child);
		while (die__next(&child));
	p.n = f->types.types.params.len - p.first;
	if (types__are_full(&f->types.types)) /* It may lack some. */
		return false;
	vec__push(&f->types.types.prototypes, p);
	return true;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct type_query *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static const struct type_query *query_at(const struct asked *a, uint64_t vaddr)
{
	const struct type_query key = {.vaddr = vaddr};

	return bsearch(&key, a->queries, a->n, sizeof(key), by_vaddr);
}

/* A function with cold parts only has ranges, one of which begins with its entry. */
static const struct type_query *query_of(const struct finder *f, Dwarf_Die *die, Dwarf_Addr *entry)
{
	const struct type_query *q = NULL;
	Dwarf_Addr base, end;
	ptrdiff_t at = 0;

	if (!dwarf_entrypc(die, entry))
		return query_at(f->asked, *entry + f->bias);
	while (!q && (at = dwarf_ranges(die, at, &base, entry, &end)) > 0)
		q = query_at(f->asked, *entry + f->bias);
	return q;
}

static void look_at(struct finder *f, Dwarf_Die *die)
{
	const struct type_query *q;
	Dwarf_Addr entry;

	if (dwarf_tag(die) != DW_TAG_subprogram)
		return;
	q = query_of(f, die, &entry);
	if (q && take_function(f, die, q->id))
		vec__push(&f->pending, (struct pending){*die, entry});
}

static void walk(struct finder *f, Dwarf_Die *die, unsigned depth)
{
	int tag = dwarf_tag(die);
	Dwarf_Die child;

	f->walked = dwarf_dieoffset(die);
	look_at(f, die);
	/* Functions within functions are in their blocks. */
	if (tag == DW_TAG_inlined_subroutine || depth >= DIE_DEPTH || dwarf_child(die, &child))
		return;
	do
		walk(f, &child, depth + 1);
	while (die__next_after(&child, f->walked));
}

struct code {
	Dwarf_Addr start, end;
};

static int is_within(const void *code, const void *query)
{
	const struct code *c = code;
	const struct type_query *q = query;

	return c->end <= q->vaddr ? -1 : c->start > q->vaddr;
}

static bool has_asked(const struct finder *f, Dwarf_Die *unit)
{
	const struct asked *a = f->asked;
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (!dwarf_hasattr(unit, DW_AT_ranges) && !dwarf_hasattr(unit, DW_AT_high_pc))
		return true;
	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		const struct code c = {start + f->bias, end + f->bias};

		if (bsearch(&c, a->queries, a->n, sizeof(*a->queries), is_within))
			return true;
	}
	return false;
}

/* From DWARF 6; elfutils doesn't know all of them. */
#define LANG_C_PLUS_PLUS_17 0x2a
#define LANG_C_PLUS_PLUS_20 0x2b
#define LANG_C17	    0x2c

/* Other languages pass arguments as they like: Rust, Go, Swift. Assemblers describe functions
 * without their parameters. */
static bool is_typed(struct finder *f, Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case LANG_C17:
	case -1:
		f->c_language = true;
		return true;
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case LANG_C_PLUS_PLUS_17:
	case LANG_C_PLUS_PLUS_20:
	case DW_LANG_ObjC:
	case DW_LANG_ObjC_plus_plus:
		f->c_language = false;
		return true;
	}
	return false;
}

/* If an entry occurs twice, it isn't known which one is right: both are dropped. */
static void drop_unusual(struct finder *f)
{
	struct types *t = &f->types.types;
	struct map64 times = {0};
	struct prototype *p;
	size_t kept = 0;

	vec__each (p, &t->prototypes)
		++*map64__put(&times, p->id);
	for (size_t i = 0; i < t->prototypes.len; i++) {
		struct pending *at = &f->pending.data[i];

		p = &t->prototypes.data[i];
		if (*map64__get(&times, p->id) == 1 && is_usual(f, &at->die, at->entry, p))
			t->prototypes.data[kept++] = *p;
	}
	t->prototypes.len = kept;
	map64__free(&times);
}

static void find_all(void *ctx, const struct debug_session *s, struct str *answer)
{
	const struct asked *asked = ctx;
	struct finder f = {.asked = asked,
			   .types = {.wanted = asked->members, .word = asked->arch->word}};
	Dwarf_Die *unit = NULL;

	if (!debug__has_dwarf(s))
		return;
	while ((unit = dwfl_module_nextcu(s->module, unit, &f.bias))) {
		f.walked = 0;
		if (is_typed(&f, unit) && has_asked(&f, unit))
			walk(&f, unit, 0);
	}
	die_types__settle(&f.types);
	drop_unusual(&f);
	types__put(&f.types.types, answer);
	die_types__free(&f.types);
	vec__free(&f.pending);
}

/* ---- in bbtrace's own process ---- */

void object__prototypes(const struct object *o, const struct type_query *queries, size_t n,
			const struct type_names *members, struct types *out)
{
	VEC(struct type_query) usual = {0};
	struct asked asked = {.members = members, .arch = arch__by_machine(o->machine)};
	struct str answer = {0};

	*out = (struct types){0};
	for (size_t i = 0; i < n; i++)
		if (!type_query__is_changed(queries[i].name))
			vec__push(&usual, queries[i]);
	vec__sort(&usual, by_vaddr);
	asked.queries = usual.data;
	asked.n = usual.len;
	if (usual.len && asked.arch && debug__try(o, find_all, &asked, &answer, "types"))
		types__take(out, answer.data, answer.len);
	str__free(&answer);
	vec__free(&usual);
}
