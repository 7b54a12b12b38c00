// SPDX-License-Identifier: BSD-2-Clause
/* Where a function finds its parameters, by the calling conventions (struct arch_passing). A
 * parameter whose place isn't certain has none, and neither has what follows it. */
#include "arch/arch.h"
#include "types/types.h"

struct passing {
	const struct arch *arch;
	const struct convention *registers;
	unsigned used, floats; /* registers that are taken */
	unsigned words;	       /* of the stack */
	bool lost;	       /* it isn't known what the next one takes */
};

static const struct value_place nowhere = {FROM_NOWHERE, REG_NONE, REG_NONE};

static unsigned words_of(const struct passing *s, uint64_t size)
{
	return (size + s->arch->word - 1) / s->arch->word;
}

/* Returns the next n words of the stack, after a return address that calls push. */
static struct value_place on_stack(struct passing *s, unsigned n)
{
	unsigned first = s->arch->call_pushes / s->arch->word + s->words;

	s->words += n;
	if (n != 1 || first > UINT8_MAX)
		return nowhere;
	return (struct value_place){FROM_STACK, first, REG_NONE};
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
		at = (struct value_place){FROM_REGISTER, c->args[s->used],
					  n == 2 ? c->args[s->used + 1] : REG_NONE};
	s->used += n;
	return at;
}

static struct value_place place_float(struct passing *s, const struct type *type)
{
	const struct arch_passing *how = &s->arch->passing;

	if (!how->floats) {
		in_words(s, words_of(s, type->size));
		return nowhere;
	}
	if (type->size >
	    8) /* in the x87's format, or in two words: each architecture has its own */
		s->lost = true;
	else if (s->floats < how->floats)
		s->floats++;
	else if (how->floats_follow)
		in_words(s, 1);
	else
		on_stack(s, 1);
	return nowhere;
}

static struct value_place place_struct(struct passing *s, const struct type *type)
{
	const struct arch_passing *how = &s->arch->passing;
	unsigned n = words_of(s, type->size);

	if (type->passed == PASSED_BY_ADDRESS) {
		in_words(s, 1);
		return nowhere;
	}
	if (!type->size || type->passed == PASSED_SOMEHOW) {
		s->lost = true;
	} else if (all_on_stack(s)) {
		in_words(s, n);
	} else if (how->float_structs && type->size <= PLAIN_MAX && !type->plain) {
		s->lost = true;
	} else if (n > 2) {
		/* it may be aligned to more than a word there */
		how->by_reference ? (void)in_words(s, 1) : (void)(s->words = UINT8_MAX + 1u);
	} else if (type->plain) {
		return in_words(s, n);
	} else {
		s->lost = true;
	}
	return nowhere;
}

/* A number of two words. */
static struct value_place place_pair(struct passing *s)
{
	unsigned words = s->words;
	struct value_place at;

	if (s->arch->passing.even_pairs)
		s->used += s->used & 1;
	if (s->used > s->registers->nargs)
		s->used = s->registers->nargs;
	at = in_words(s, 2);
	/* it may be aligned to both there */
	if (s->words > words && !all_on_stack(s))
		s->words = UINT8_MAX + 1u;
	return at;
}

static struct value_place place(struct passing *s, const struct type *type)
{
	unsigned n = type ? words_of(s, type->size) : 0;

	if (s->lost)
		return nowhere;
	if (!type || !type->size) {
		s->lost = true;
		return nowhere;
	}
	if (type->kind == TYPE_KIND_FLOAT)
		return place_float(s, type);
	if (type->kind == TYPE_KIND_STRUCT)
		return place_struct(s, type);
	/* an array: a vector */
	if (n > 2 || type->kind == TYPE_KIND_UNKNOWN || type->kind == TYPE_KIND_ARRAY) {
		s->lost = true;
		return nowhere;
	}
	return n == 1 ? in_words(s, 1) : place_pair(s);
}

/* Returns whether the address of the result is an argument, before all others; -1 if not known. */
static int result_is_argument(const struct passing *s, const struct type *type)
{
	if (!type || !s->arch->passing.result_argument)
		return 0;
	switch (type->kind) {
	case TYPE_KIND_UNKNOWN:
	case TYPE_KIND_ARRAY:
		return -1;
	case TYPE_KIND_FLOAT:
		return type->size > 16 ? -1 : 0; /* complex numbers */
	case TYPE_KIND_STRUCT:
		if (!type->size)
			return -1;
		if (type->passed == PASSED_BY_ADDRESS || words_of(s, type->size) > 2 ||
		    all_on_stack(s))
			return 1;
		return type->plain && type->passed == PASSED_BY_VALUE ? 0 : -1;
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

static void place_result(const struct passing *s, const struct type *type, struct value_place *out)
{
	*out = nowhere;
	if (type && type->size && type->size <= s->arch->word && is_returned(s, type))
		*out = (struct value_place){FROM_RESULT, 0, REG_NONE};
}

static void place_syscall(unsigned n, struct value_place *params, struct value_place *result)
{
	for (unsigned i = 0; i < n; i++)
		params[i] = i < 6 ? (struct value_place){FROM_SYSCALL, i, REG_NONE} : nowhere;
	*result = (struct value_place){FROM_RESULT, 0, REG_NONE};
}

void callee__places(const struct callee *c, const struct types *t, const struct prototype *p,
		    struct value_place *params, struct value_place *result)
{
	struct passing s = {.arch = c->arch, .registers = &c->arch->conventions[CONVENTION_C]};
	const struct type *type = types__at(t, p->result);
	int argument;

	if (c->syscall) {
		place_syscall(p->n, params, result);
		return;
	}
	if (all_on_stack(&s))
		s.words = s.registers->nargs;
	argument = result_is_argument(&s, type);
	s.lost = !c->arch->passing.known || argument < 0;
	place_result(&s, type, result);
	if (!c->arch->passing.known)
		*result = nowhere;
	if (argument > 0 && !s.lost)
		in_words(&s, 1);
	for (unsigned i = 0; i < p->n; i++)
		params[i] = place(&s, types__at(t, t->params.data[p->first + i].type));
}
