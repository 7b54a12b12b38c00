// SPDX-License-Identifier: BSD-2-Clause
/* From parameters and expressions to values: where each is, and how it is read. */
#include <errno.h>
#include "arch/arch.h"
#include "types/types.h"

#define RESULT	   "ret"
#define PARAMS_MAX 64

enum value_kind value__kind_of(const struct type *type)
{
	static const uint8_t kinds[TYPE_KINDS] = {
		[TYPE_KIND_SIGNED] = KIND_SIGNED, [TYPE_KIND_UNSIGNED] = KIND_UNSIGNED,
		[TYPE_KIND_BOOL] = KIND_BOOL,	  [TYPE_KIND_CHAR] = KIND_CHAR,
		[TYPE_KIND_FLOAT] = KIND_FLOAT,	  [TYPE_KIND_POINTER] = KIND_POINTER,
		[TYPE_KIND_ENUM] = KIND_ENUM,
	};

	return type ? kinds[type->kind] : KIND_VOID;
}

static const struct type *target_of(const struct types *t, const struct type *type)
{
	return type && (type->kind == TYPE_KIND_POINTER || type->kind == TYPE_KIND_ARRAY)
		       ? types__at(t, type->ref)
		       : NULL;
}

bool type__is_text(const struct types *t, const struct type *type)
{
	const struct type *of = target_of(t, type);

	return of && of->kind == TYPE_KIND_CHAR && of->size == 1;
}

/* The value has a form that can't be shown, or bytes that are in none of its registers. */
static bool is_hidden(const struct callee *c, const struct type *of, const struct value_place *at)
{
	unsigned word = c->arch->word;

	if (!of || !of->size || at->by_address || at->missing || of->kind == TYPE_KIND_COMPLEX ||
	    of->kind == TYPE_KIND_ARRAY)
		return true;
	if (of->kind == TYPE_KIND_FLOAT && of->size != 4 && of->size != 8)
		return true;
	if (at->from == FROM_STACK)
		return of->kind == TYPE_KIND_STRUCT && of->size > word;
	if (at->from != FROM_REGISTER)
		return false;
	return at->reg == REG_NONE || (of->size > word && at->second == REG_NONE);
}

/* The value itself is in its place. */
static void take_place(const struct types *t, const struct callee *c, uint32_t type,
		       struct value_place at, struct value *out)
{
	const struct type *of = types__at(t, type);

	*out = (struct value){.place = at,
			      .kind = value__kind_of(of),
			      .size = of && of->size <= 16 ? of->size : 0,
			      .enumeration = NO_TYPE};
	if (out->kind == KIND_ENUM)
		out->enumeration = type;
	if (is_hidden(c, of, &at))
		out->place = (struct value_place){.reg = REG_NONE, .second = REG_NONE};
	/* i386's 64-bit numbers are two words, too */
	else if (at.second != REG_NONE && c->arch->word == 8 && out->kind == KIND_UNKNOWN)
		out->kind = KIND_PAIR;
	if (type__is_text(t, of) && of->kind == TYPE_KIND_POINTER) {
		out->kind = KIND_TEXT;
		out->size = VALUE_TEXT_MAX;
		out->nsteps = 1;
	}
}

void callee__place(const struct callee *c, const struct types *t, const struct prototype *p,
		   uint32_t param, struct value_place *out)
{
	struct value_place places[PARAMS_MAX], result;
	struct prototype few = *p;

	few.n = min_of(few.n, (uint32_t)PARAMS_MAX);
	callee__places(c, t, &few, places, &result);
	*out = param == UINT32_MAX ? result
	       : param < few.n	   ? places[param]
				   : (struct value_place){.reg = REG_NONE, .second = REG_NONE};
}

static uint32_t type_of(const struct types *t, const struct prototype *p, uint32_t param)
{
	return param == UINT32_MAX ? p->result : t->params.data[p->first + param].type;
}

void value__of_param(const struct types *t, const struct prototype *p, const struct callee *c,
		     uint32_t param, struct value *out)
{
	struct value_place at;

	callee__place(c, t, p, param, &at);
	take_place(t, c, type_of(t, p, param), at, out);
}

/* ---- expressions ---- */

/* On the path to a value. In memory, the last step leads to it; else it is offset bytes within what
 * is at a place. */
struct walk {
	const struct types *t;
	const struct callee *c;
	const struct expression *e;
	struct value_place at;
	uint64_t whole; /* the size of what is at the place */
	uint64_t offset;
	const struct type *type;
	uint32_t number; /* of type */
	struct value *out;
	bool in_memory;
	uint8_t bit_at, bits;
};

static int cannot(const struct walk *w, const char *why)
{
	return err__set(EINVAL, "'%s': %s", w->e->text, why);
}

static int forward(struct walk *w, int64_t bytes)
{
	if (w->in_memory)
		w->out->steps[w->out->nsteps - 1] += bytes;
	else
		w->offset += bytes;
	return 0;
}

/* Takes the pointer at the place, or in it. */
static int leave_place(struct walk *w)
{
	if (!value__follow(w->c, &w->at, w->offset, w->out))
		return cannot(w, "it is not recorded");
	w->in_memory = true;
	return 0;
}

/* Follows a pointer to what it points to. */
static int follow(struct walk *w)
{
	if (!w->type || w->type->kind != TYPE_KIND_POINTER)
		return cannot(w, "only pointers lead somewhere");
	if (w->out->nsteps == VALUE_STEPS)
		return cannot(w, "too many pointers lead to it");
	if (w->in_memory)
		w->out->steps[w->out->nsteps++] = 0;
	else if (leave_place(w))
		return -EINVAL;
	w->number = w->type->ref;
	w->type = types__at(w->t, w->number);
	return 0;
}

#define EMBEDDED 8

/* A member of the struct or of what it contains without a name. */
static bool find_member(const struct types *t, const struct type *in, const char *name,
			unsigned depth, uint64_t at, struct type_member *out)
{
	for (uint32_t i = 0; i < in->n && depth < EMBEDDED; i++) {
		const struct type_member *m = &t->members.data[in->first + i];
		const struct type *of = types__at(t, m->type);

		if (m->name && !strcmp(types__name(t, m->name), name)) {
			*out = *m;
			out->offset += at;
			return true;
		}
		if (!m->name && of && of->kind == TYPE_KIND_STRUCT &&
		    find_member(t, of, name, depth + 1, at + m->offset, out))
			return true;
	}
	return false;
}

static int walk_member(struct walk *w, const char *name, bool deref)
{
	struct type_member m;
	int err = 0;

	if (w->type && w->type->kind == TYPE_KIND_ARRAY && deref)
		return cannot(w, "an array's elements are named by [NUMBER]");
	if (deref)
		err = follow(w);
	if (err)
		return err;
	if (!w->type || w->type->kind != TYPE_KIND_STRUCT)
		return cannot(w, "it has no members, or they are not known");
	if (!find_member(w->t, w->type, name, 0, 0, &m))
		return err__set(EINVAL, "'%s': there is no member %s", w->e->text, name);
	w->number = m.type;
	w->type = types__at(w->t, m.type);
	w->bit_at = m.bit_at;
	w->bits = m.bits;
	return forward(w, m.offset);
}

#define INDEX_MAX (1 << 20)

static int walk_index(struct walk *w, int64_t index)
{
	bool of_array = w->type && w->type->kind == TYPE_KIND_ARRAY;
	int err = of_array ? 0 : follow(w);

	if (err)
		return err;
	if (of_array) {
		w->number = w->type->ref;
		w->type = types__at(w->t, w->number);
	}
	if (!w->type || !w->type->size || w->type->size > INDEX_MAX || index > INDEX_MAX ||
	    index < -INDEX_MAX)
		return cannot(w, "it has no elements whose size is known, or not so many");
	return forward(w, index * (int64_t)w->type->size);
}

static int walk(struct walk *w, unsigned i)
{
	w->bits = 0;
	switch (w->e->steps[i].what) {
	case WALK_MEMBER:
		return walk_member(w, w->e->steps[i].name, w->e->steps[i].deref);
	case WALK_INDEX:
		return walk_index(w, w->e->steps[i].number);
	case WALK_DEREF:
		return w->type && w->type->kind == TYPE_KIND_ARRAY ? walk_index(w, 0) : follow(w);
	}
	return 0;
}

/* Names of files in the kernel are of unsigned char; u8 is no text. */
static bool is_named_text(const struct types *t, const struct type *type)
{
	const struct type *of = target_of(t, type);
	const char *name = of ? types__name(t, of->name) : NULL;

	return type__is_text(t, type) || (of && of->kind == TYPE_KIND_UNSIGNED && of->size == 1 &&
					  name && !strcmp(name, "unsigned char"));
}

/* Takes the value at the end of the path. */
static int take_end(struct walk *w)
{
	struct value *out = w->out;

	/* of an array its first element; of characters all */
	if (w->type && w->type->kind == TYPE_KIND_ARRAY &&
	    (!w->in_memory || !is_named_text(w->t, w->type))) {
		w->number = w->type->ref;
		w->type = types__at(w->t, w->number);
	}
	if (!w->type || !w->type->size)
		return cannot(w, "what it is, is not known");
	out->kind = value__kind_of(w->type);
	out->size = min_of(w->type->size, (uint64_t)VALUE_TEXT_MAX);
	if (is_named_text(w->t, w->type)) {
		out->kind = KIND_TEXT;
		/* an array's end ends a string, too */
		out->array =
			w->type->kind == TYPE_KIND_ARRAY && w->type->size <= VALUE_TEXT_MAX + 1;
		out->size = out->array ? w->type->size : VALUE_TEXT_MAX;
		return w->type->kind == TYPE_KIND_POINTER ? follow(w) : 0;
	}
	if (w->type->kind == TYPE_KIND_STRUCT)
		return cannot(w, "it is a struct: name a member of it");
	if (w->type->size > 8)
		return cannot(w, "it is larger than a word");
	if (out->kind == KIND_ENUM)
		out->enumeration = w->number;
	out->bit_at = w->bit_at;
	out->bits = w->bits;
	if (!w->in_memory)
		value__locate(w->c, &w->at, w->whole,
			      &(struct type_part){
				      .offset = w->offset, .bit_at = w->bit_at, .bits = w->bits},
			      w->type->size, out);
	return 0;
}

static uint32_t param_named(const struct types *t, const struct prototype *p, const char *name)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const char *own = types__name(t, t->params.data[p->first + i].name);

		if (own && !strcmp(own, name))
			return i;
	}
	return UINT32_MAX;
}

int value__of_expression(const struct types *t, const struct prototype *p, const struct callee *c,
			 const struct expression *e, struct value *out)
{
	bool of_result = !strcmp(e->base, RESULT);
	uint32_t param = of_result ? UINT32_MAX : param_named(t, p, e->base);
	uint32_t type;
	int err = 0;

	if (!of_result && param == UINT32_MAX)
		return err__set(ENOENT, "it has no parameter %s", e->base);
	value__of_param(t, p, c, param, out);
	if (!e->n)
		return 0;
	type = type_of(t, p, param);

	struct walk w = {
		.t = t, .c = c, .e = e, .type = types__at(t, type), .number = type, .out = out};

	callee__place(c, t, p, param, &w.at);
	w.whole = w.type ? w.type->size : 0;
	out->nsteps = 0; /* of a string */
	for (unsigned i = 0; !err && i < e->n; i++)
		err = walk(&w, i);
	return err ? err : take_end(&w);
}
