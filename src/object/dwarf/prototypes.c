// SPDX-License-Identifier: BSD-2-Clause
/*
 * The parameters and results of functions by debug information (DWARF, through libdw, in the
 * sandbox), with what it has about where parameters are at the entry (param_place.c).
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include "arch/arch.h"
#include "object/debug/debug.h"
#include "die_types.h"
#include "dies.h"
#include "dwarf.h"
#include "folded.h"
#include "param_place.h"

#define PARAMS_MOST 64

struct asked {
	const struct type_query *queries; /* by vaddr */
	size_t n;
	const struct type_names *members;
	const struct arch *arch;
};

struct finder {
	const struct asked *asked;
	const struct debug_session *session;
	struct die_types types;
	VEC(enum folded_fit)
	fits; /* by prototype: how well it fits the function that is asked for */
	Dwarf_Addr bias;
	Dwarf_Off walked;
	bool c_language; /* a language in which a function declared without parameters may have some
			  */
};

/* ---- functions ---- */

static bool is_param(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_formal_parameter;
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

/* Sets the function that this is an instance of. */
static bool find_origin(Dwarf_Die *die, Dwarf_Die *origin)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, DW_AT_abstract_origin, &attr) && dwarf_formref_die(&attr, origin);
}

/* Sets the parameter of an instance that was declared as this one; false if it was dropped. */
static bool find_instance(Dwarf_Die *function, Dwarf_Die *declared, Dwarf_Die *out)
{
	Dwarf_Die origin;

	if (dwarf_child(function, out))
		return false;
	do
		if (is_param(out) && find_origin(out, &origin) &&
		    dwarf_dieoffset(&origin) == dwarf_dieoffset(declared))
			return true;
	while (die__next(out));
	return false;
}

/* A float of a function that was declared without its parameters is passed as a double. */
static bool is_promoted(const struct finder *f, Dwarf_Die *function, Dwarf_Die *param)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;

	return f->c_language && !dwarf_attr_integrate(function, DW_AT_prototyped, &attr) &&
	       die__peeled_type(param, &type) && dwarf_tag(&type) == DW_TAG_base_type &&
	       die__number(&type, DW_AT_encoding) == DW_ATE_float;
}

/* instance: NULL if it has none, for it was dropped. */
static void add_param(struct finder *f, const struct entered *e, Dwarf_Die *die,
		      Dwarf_Die *instance)
{
	struct type_param p = {.type = die_types__of(&f->types, die), .where = WHERE_NOWHERE};

	die_types__add_parts(&f->types, die);
	p.place = (struct value_place){.reg = REG_NONE, .second = REG_NONE};
	if (instance)
		param__locate(e, instance, &p);
	if (p.where == WHERE_CONVENTION && is_promoted(f, e->function, die))
		p.where = WHERE_PLACE;
	p.name = types__add_name(&f->types.types, dwarf_diename(die));
	vec__push(&f->types.types.params, p);
}

/* Adds the parameters as they are declared. */
static void add_params(struct finder *f, const struct entered *e, Dwarf_Die *declared)
{
	Dwarf_Die child, instance;

	if (dwarf_child(declared, &child))
		return;
	do
		if (!is_param(&child))
			continue;
		else if (declared == e->function)
			add_param(f, e, &child, &child);
		else
			add_param(f, e, &child,
				  find_instance(e->function, &child, &instance) ? &instance : NULL);
	while (die__next(&child));
}

static void take_function(struct finder *f, Dwarf_Die *die, Dwarf_Addr entry, uint32_t id)
{
	struct prototype p = {
		.id = id, .first = f->types.types.params.len, .changed = is_nocall(die)};
	const struct entered e = {.arch = f->asked->arch, .function = die, .entry = entry};
	Dwarf_Die origin, *declared = die;
	Dwarf_Attribute attr;

	if (find_origin(die, &origin) && count_params(&origin) != count_params(die))
		declared = &origin;
	if (count_params(declared) > PARAMS_MOST || count_params(declared) < count_params(die))
		return;
	if (f->c_language && !count_params(declared) &&
	    !dwarf_attr_integrate(die, DW_AT_prototyped, &attr))
		return;
	p.result = die_types__of(&f->types, die);
	die_types__add_parts(&f->types, die);
	add_params(f, &e, declared);
	p.n = f->types.types.params.len - p.first;
	if (!types__are_full(&f->types.types)) /* else it may lack some */
		vec__push(&f->types.types.prototypes, p);
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
	struct folded_function fn;
	Dwarf_Addr entry;

	if (!folded__describe(die, f->bias, f->session, &fn) || !fn.entry)
		return;
	q = query_of(f, die, &entry);
	if (!q)
		return;
	take_function(f, die, entry, q->id);
	if (f->fits.len < f->types.types.prototypes.len)
		vec__push(&f->fits, folded__fit(&fn, fn.entry, q->name));
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

/* If an entry occurs several times, the first one with the function's name is right: a linker has
 * folded functions, or has kept one of several copies. If none has the name, it isn't known which
 * one is right: all are dropped. */
static void drop_doubtful(struct finder *f)
{
	struct types *t = &f->types.types;
	struct map64 times = {0}, taken = {0};
	const struct prototype *p;
	size_t kept = 0;

	vec__each (p, &t->prototypes)
		++*map64__put(&times, p->id);
	for (size_t i = 0; i < t->prototypes.len; i++) {
		p = &t->prototypes.data[i];
		if (*map64__get(&times, p->id) > 1 &&
		    (f->fits.data[i] != FOLDED_EXACT || (*map64__put(&taken, p->id))++))
			continue;
		t->prototypes.data[kept++] = *p;
	}
	t->prototypes.len = kept;
	map64__free(&times);
	map64__free(&taken);
}

static void find_all(void *ctx, const struct debug_session *s, struct str *answer)
{
	const struct asked *asked = ctx;
	struct finder f = {.asked = asked,
			   .session = s,
			   .types = {.wanted = asked->members, .word = asked->arch->word}};
	Dwarf_Die *unit = NULL, whole;

	if (!debug__has_dwarf(s))
		return;
	while ((unit = dwfl_module_nextcu(s->module, unit, &f.bias))) {
		f.walked = 0;
		if (!has_asked(&f, unit))
			continue;
		whole = unit__whole(unit);
		if (is_typed(&f, &whole))
			walk(&f, &whole, 0);
	}
	die_types__settle(&f.types);
	drop_doubtful(&f);
	types__put(&f.types.types, answer);
	die_types__free(&f.types);
	vec__free(&f.fits);
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
