// SPDX-License-Identifier: BSD-2-Clause
/* Where a function finds its parameters: where debug information has them, else by the calling
 * conventions (struct arch_passing). A parameter whose place isn't certain has none, and neither
 * has what follows it, unless debug information has it. */
#include "arch/arch.h"
#include "classes.h"

struct passing {
	const struct arch *arch;
	const struct types *t;
	const struct convention *registers;
	unsigned used, floats; /* registers that are taken */
	unsigned words;	       /* of the stack */
	bool lost;	       /* it isn't known what the next one takes */
};

static const struct value_place nowhere = {.reg = REG_NONE, .second = REG_NONE};

static unsigned words_of(const struct passing *s, uint64_t size)
{
	return (size + s->arch->word - 1) / s->arch->word;
}

/* Returns the next n words of the stack, after a return address that calls push. */
static struct value_place on_stack(struct passing *s, unsigned n)
{
	unsigned first = s->arch->call_pushes / s->arch->word + s->words;

	s->words += n;
	if (first > UINT8_MAX)
		return nowhere;
	return (struct value_place){.from = FROM_STACK, .reg = first, .second = REG_NONE};
}

/* What comes next on the stack may be aligned to more than a word. */
static void lose_words(struct passing *s)
{
	s->words = UINT8_MAX + 1u;
}

/* If all arguments are on the stack, its first words count as registers. */
static bool all_on_stack(const struct passing *s)
{
	return s->arch->word == 4;
}

static struct value_place in_words(struct passing *s, unsigned n)
{
	const struct convention *c = s->registers;
	unsigned left = c->nargs - s->used;
	struct value_place at = nowhere;

	if (n > left && (!s->arch->passing.splits || !left)) {
		if (s->arch->passing.closes)
			s->used = c->nargs;
		return on_stack(s, n);
	}
	if (n > left) { /* the rest is on the stack */
		s->words += n - left;
		s->used = c->nargs;
		return nowhere;
	}
	if (n <= 2)
		at = (struct value_place){.from = FROM_REGISTER,
					  .reg = c->args[s->used],
					  .second = n == 2 ? c->args[s->used + 1] : REG_NONE};
	s->used += n;
	return at;
}

/* Takes registers for floating-point numbers, whose content is not recorded. */
static struct value_place in_floats(struct passing *s, unsigned n)
{
	if (s->floats + n > s->arch->passing.floats)
		return on_stack(s, n);
	s->floats += n;
	return nowhere;
}

/* A number in the x87's format, which is in memory, aligned to its size. */
static struct value_place place_long_double(struct passing *s, const struct type *type)
{
	if (!s->arch->passing.classes || type->size != 16) {
		s->lost = true;
		return nowhere;
	}
	s->words += s->words & 1;
	return on_stack(s, 2);
}

static struct value_place place_float(struct passing *s, const struct type *type)
{
	const struct arch_passing *how = &s->arch->passing;

	if (!how->floats)
		return in_words(s, words_of(s, type->size));
	if (type->size > 8)
		return place_long_double(s, type);
	if (s->floats >= how->floats && how->floats_follow)
		return in_words(s, 1);
	return in_floats(s, 1);
}

static struct value_place place_complex(struct passing *s, const struct type *type)
{
	if (s->arch->passing.classes && type->size <= 16)
		return in_floats(s, words_of(s, type->size));
	s->lost = true;
	return nowhere;
}

/* Its words are in registers by their classes, or all of it is on the stack. */
static struct value_place place_by_class(struct passing *s, const struct type *type)
{
	struct struct_classes c = type__classes(s->t, type);
	unsigned n = words_of(s, type->size), integers = 0, floats = 0;
	struct value_place at = {.from = FROM_REGISTER, .reg = REG_NONE, .second = REG_NONE};
	uint8_t *regs[] = {&at.reg, &at.second};

	for (unsigned i = 0; i < 2; i++) {
		integers += c.of[i] == CLASS_INTEGER;
		floats += c.of[i] == CLASS_FLOAT;
	}
	/* clang before 20 divides a number of two words. */
	if (c.of[0] == CLASS_UNKNOWN || (c.has_wide && s->used + 1 == s->registers->nargs)) {
		s->lost = true;
		return nowhere;
	}
	if (c.of[0] == CLASS_MEMORY || s->used + integers > s->registers->nargs ||
	    s->floats + floats > s->arch->passing.floats) {
		/* What is aligned to two words has an even number of them. */
		if (c.of[0] != CLASS_MEMORY || n % 2 || (n % 4 && s->words % 2 == 0))
			return on_stack(s, n);
		lose_words(s);
		return nowhere;
	}
	for (unsigned i = 0; i < 2; i++)
		if (c.of[i] == CLASS_INTEGER)
			*regs[i] = s->registers->args[s->used++];
	s->floats += floats;
	return integers ? at : nowhere;
}

static struct value_place by_address(struct value_place at)
{
	at.by_address = true;
	return at;
}

/* Without the classes of its words: plain structs of up to two words are in registers. */
static struct value_place place_plain(struct passing *s, const struct type *type)
{
	const struct arch_passing *how = &s->arch->passing;
	unsigned n = words_of(s, type->size);

	if (how->float_structs && type->size <= PLAIN_MAX && !type->plain) {
		s->lost = true;
	} else if (n > 2) {
		if (how->by_reference)
			return by_address(in_words(s, 1));
		lose_words(s);
	} else if (type->plain) {
		return in_words(s, n);
	} else {
		s->lost = true;
	}
	return nowhere;
}

static struct value_place place_struct(struct passing *s, const struct type *type, unsigned passed)
{
	if (passed == PASSED_BY_ADDRESS)
		return by_address(in_words(s, 1));
	if (!type->size || passed == PASSED_SOMEHOW) {
		s->lost = true;
		return nowhere;
	}
	if (all_on_stack(s))
		return in_words(s, words_of(s, type->size));
	return s->arch->passing.classes && type->whole ? place_by_class(s, type)
						       : place_plain(s, type);
}

/* A number of two words. */
static struct value_place place_pair(struct passing *s)
{
	unsigned words = s->words, left = s->registers->nargs - s->used;
	struct value_place at;

	if (s->arch->passing.classes && left == 1) {
		s->lost = true; /* clang before 20 divides it. */
		return nowhere;
	}
	if (s->arch->passing.even_pairs)
		s->used += s->used & 1;
	if (s->used > s->registers->nargs)
		s->used = s->registers->nargs;
	at = in_words(s, 2);
	/* it may be aligned to both there */
	if (s->words > words && !all_on_stack(s)) {
		lose_words(s);
		return nowhere;
	}
	return at;
}

/* An array that is passed by value is a vector. Larger ones depend on what the compiler may use. */
static bool is_vector(const struct passing *s, const struct type *type)
{
	return type->kind == TYPE_KIND_ARRAY && type->size == 16 && s->arch->passing.classes;
}

static unsigned passed_how(const struct type_param *param, const struct type *type)
{
	return type->passed == PASSED_SOMEHOW && param->passed ? param->passed - 1u : type->passed;
}

static struct value_place place(struct passing *s, const struct type_param *param)
{
	const struct type *type = types__at(s->t, param->type);
	unsigned n = type ? words_of(s, type->size) : 0;

	if (s->lost)
		return nowhere;
	if (!type || !type->size) {
		s->lost = true;
		return nowhere;
	}
	if (type->kind == TYPE_KIND_FLOAT)
		return place_float(s, type);
	if (type->kind == TYPE_KIND_COMPLEX)
		return place_complex(s, type);
	if (type->kind == TYPE_KIND_STRUCT)
		return place_struct(s, type, passed_how(param, type));
	if (is_vector(s, type) && s->floats < s->arch->passing.floats)
		return in_floats(s, 1);
	if (n > 2 || type->kind == TYPE_KIND_UNKNOWN || type->kind == TYPE_KIND_ARRAY) {
		s->lost = true;
		return nowhere;
	}
	return n == 1 ? in_words(s, 1) : place_pair(s);
}

/* ---- the result ---- */

static int struct_is_argument(const struct passing *s, const struct type *type)
{
	struct struct_classes c;

	if (!type->size)
		return -1;
	if (type->passed == PASSED_BY_ADDRESS || words_of(s, type->size) > 2 || all_on_stack(s))
		return 1;
	if (type->passed != PASSED_BY_VALUE)
		return -1;
	if (!s->arch->passing.classes || !type->whole)
		return type->plain ? 0 : -1;
	c = type__classes(s->t, type);
	/* A long double is returned in a register of its own. */
	return c.of[0] >= CLASS_MEMORY ? -1 : 0;
}

/* Returns whether the address of the result is an argument, before all others; -1 if not known. */
static int result_is_argument(const struct passing *s, const struct type *type)
{
	if (!type || !s->arch->passing.result_argument)
		return 0;
	switch (type->kind) {
	case TYPE_KIND_UNKNOWN:
		return -1;
	case TYPE_KIND_ARRAY:
		return is_vector(s, type) ? 0 : -1;
	case TYPE_KIND_FLOAT:
	case TYPE_KIND_COMPLEX:
		return type->size > 16 ? -1 : 0;
	case TYPE_KIND_STRUCT:
		return struct_is_argument(s, type);
	}
	return 0;
}

/* Returns true if it is returned in the register that numbers are in. */
static bool is_returned(const struct passing *s, const struct type *type)
{
	switch (type->kind) {
	case TYPE_KIND_UNKNOWN:
	case TYPE_KIND_ARRAY:
	case TYPE_KIND_FLOAT:
		return false;
	case TYPE_KIND_STRUCT:
		return type->plain && type->passed == PASSED_BY_VALUE && !all_on_stack(s);
	}
	return true;
}

/* A struct by the classes of its words: the first one that isn't in a register for floating-point
 * numbers is in the return register. */
static struct value_place classed_result(const struct passing *s, const struct type *type)
{
	struct struct_classes c = type__classes(s->t, type);
	struct value_place at = {.from = FROM_RESULT, .reg = REG_NONE, .second = REG_NONE};

	if (c.of[0] == CLASS_INTEGER)
		at.reg = 0;
	else if (c.of[0] == CLASS_FLOAT && c.of[1] == CLASS_INTEGER)
		at.second = 0;
	else
		return nowhere;
	return at;
}

static struct value_place place_result(const struct passing *s, const struct type *type)
{
	struct value_place at = {.from = FROM_RESULT, .second = REG_NONE};

	if (!type || !type->size || !s->arch->passing.known)
		return nowhere;
	if (type->kind == TYPE_KIND_STRUCT && s->arch->passing.classes && type->whole) {
		int argument = struct_is_argument(s, type);

		return argument > 0   ? by_address(at)
		       : argument < 0 ? nowhere
				      : classed_result(s, type);
	}
	return type->size <= s->arch->word && is_returned(s, type) ? at : nowhere;
}

/* ---- all of a function ---- */

static void place_syscall(unsigned n, struct value_place *params, struct value_place *result)
{
	for (unsigned i = 0; i < n; i++)
		params[i] = i < 6 ? (struct value_place){.from = FROM_SYSCALL,
							 .reg = i,
							 .second = REG_NONE}
				  : nowhere;
	*result = (struct value_place){.from = FROM_RESULT, .second = REG_NONE};
}

static bool same_place(const struct value_place *a, const struct value_place *b)
{
	return a->from == b->from && a->by_address == b->by_address &&
	       (a->reg == b->reg || a->reg == REG_NONE || b->reg == REG_NONE) &&
	       (a->second == b->second || a->second == REG_NONE || b->second == REG_NONE);
}

static bool share_register(const struct value_place *a, const struct value_place *b)
{
	return a->from == FROM_REGISTER && b->from == FROM_REGISTER &&
	       ((a->reg != REG_NONE && (a->reg == b->reg || a->reg == b->second)) ||
		(a->second != REG_NONE && (a->second == b->reg || a->second == b->second)));
}

/* Where debug information and the convention differ, the convention does not hold for what follows;
 * nor does it after a parameter that has no location, which may not be passed at all. */
static struct value_place place_param(struct passing *s, const struct type_param *a)
{
	struct value_place at = place(s, a);

	if (a->where == WHERE_CONVENTION)
		return at;
	if (a->where == WHERE_NOWHERE)
		s->lost = true;
	else if (at.from != FROM_NOWHERE && !same_place(&at, &a->place))
		s->lost = true;
	return a->where == WHERE_PLACE ? a->place : nowhere;
}

/* By the convention, one parameter is where another one is by debug information. */
static void drop_doubtful(const struct types *t, const struct prototype *p,
			  struct value_place *params)
{
	const struct type_param *a = &t->params.data[p->first];

	for (unsigned i = 0; i < p->n; i++)
		for (unsigned k = 0; k < p->n; k++)
			if (a[i].where == WHERE_CONVENTION && a[k].where == WHERE_PLACE &&
			    share_register(&params[i], &params[k]))
				params[i] = nowhere;
}

void callee__places(const struct callee *c, const struct types *t, const struct prototype *p,
		    struct value_place *params, struct value_place *result)
{
	struct passing s = {
		.arch = c->arch, .t = t, .registers = &c->arch->conventions[CONVENTION_C]};
	const struct type *type = types__at(t, p->result);
	int argument;

	if (c->syscall) {
		place_syscall(p->n, params, result);
		return;
	}
	if (all_on_stack(&s))
		s.words = s.registers->nargs;
	argument = result_is_argument(&s, type);
	s.lost = !c->arch->passing.known || argument < 0 || p->changed;
	*result = p->changed ? nowhere : place_result(&s, type);
	if (argument > 0 && !s.lost)
		in_words(&s, 1);
	for (unsigned i = 0; i < p->n; i++)
		params[i] = place_param(&s, &t->params.data[p->first + i]);
	drop_doubtful(t, p, params);
}
