// SPDX-License-Identifier: BSD-2-Clause
/* The values that are shown of arguments and results, from the prototypes of a plan's functions. */
#include <errno.h>
#include <stdlib.h>
#include "plan/plan_private.h"

/* ---- rows ---- */

void plan__add_value(struct plan *p, const struct plan_value *v)
{
	struct plan_value copy = *v;

	copy.name = xstrdup(v->name);
	copy.type = v->type ? xstrdup(v->type) : NULL;
	vec__push(&p->values, copy);
}

void plan__free_values(struct plan *p)
{
	const struct plan_enumerator *e;
	const struct plan_value *v;

	vec__each (v, &p->values) {
		free((char *)v->name);
		free((char *)v->type);
	}
	vec__each (e, &p->enumerators)
		free((char *)e->name);
	vec__free(&p->values);
	vec__free(&p->conditions);
	vec__free(&p->enumerators);
}

const struct plan_value *plan__values(const struct plan *p, uint32_t function, size_t *n)
{
	return rows_of(&p->values, function, function, n);
}

const struct plan_enumerator *plan__enumerators(const struct plan *p, uint32_t enumeration,
						size_t *n)
{
	return rows_of(&p->enumerators, enumeration, enumeration, n);
}

unsigned plan__fetched(const struct plan *p, uint32_t function, bool of_return)
{
	size_t n;
	const struct plan_value *v = plan__values(p, function, &n);
	unsigned most = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i].of_return == of_return)
			most = max_of(most, (unsigned)v[i].fetched);
	return most;
}

unsigned plan__site_fetched(const struct plan *p, uint32_t site, bool of_return)
{
	const struct plan_site *s;

	if (!p->values.len || site >= p->sites.len)
		return 0;
	s = &p->sites.data[site];
	if (of_return ? s->kind != BRANCH_RET && !s->entry : !s->entry)
		return 0;
	return plan__fetched(p, s->function, of_return);
}

unsigned plan__most_fetched(const struct plan *p)
{
	const struct plan_value *v;
	unsigned most = 0;

	vec__each (v, &p->values)
		most = max_of(most, (unsigned)v->fetched);
	return most;
}

size_t plan_value__rows(const struct plan_value *v, size_t n)
{
	bool holds = v->kind == KIND_STRUCT || v->kind == KIND_ARRAY;

	return min_of(1 + (holds ? (size_t)v->size : 0), n);
}

const char *plan_value__own_name(const struct plan_value *v)
{
	const char *dot = strrchr(v->name, '.'), *name = dot ? dot + 1 : v->name;
	size_t len = strlen(name);

	return name[0] == '{' || (len && name[len - 1] == ']') ? "" : name;
}

uint64_t value__lowest(uint64_t number, unsigned bits)
{
	return bits < 64 ? number & ((1ull << bits) - 1) : number;
}

unsigned plan_value__width(const struct plan_value *v)
{
	return v->bits ? v->bits : 8u * min_of(v->size, (uint8_t)8);
}

/* An enumeration is signed if one of its names is of a negative number. */
bool plan__is_signed(const struct plan *p, const struct plan_value *v)
{
	const struct plan_enumerator *e;
	size_t n;

	if (v->kind != KIND_ENUM)
		return v->kind == KIND_SIGNED;
	e = plan__enumerators(p, v->enumeration, &n);
	for (size_t i = 0; i < n; i++)
		if (e[i].value < 0)
			return true;
	return false;
}

/* ---- from types ---- */

struct adding {
	struct plan *p;
	const struct plan_values_options *o;
	struct plan_values_result *result;
	uint32_t object;
	const struct types *t; /* of the object's functions */
	struct map64 enums;    /* type -> 1 + its enumeration */
	uint32_t nenums;
	uint32_t nparams; /* of the function */
	bool *found;	  /* by expression: some function has it */
	/* By condition: 1 + the index, among what is loaded in a hit of the function, of the value
	 * that it names. */
	uint8_t reserved[CONDITIONS_MOST];
	size_t first_chunk; /* the first row that may share what is loaded */
	int error;	    /* of an expression that names a parameter */
};

static uint32_t enumeration_of(struct adding *a, uint32_t type)
{
	const struct type *t = types__at(a->t, type);
	uint64_t *known;

	if (!t || t->kind != TYPE_KIND_ENUM)
		return UINT32_MAX;
	known = map64__put(&a->enums, type);
	if (*known)
		return *known - 1;
	*known = ++a->nenums;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct type_enumerator *e = &a->t->enumerators.data[t->first + i];

		vec__push(&a->p->enumerators,
			  (struct plan_enumerator){xstrdup(types__name(a->t, e->name)), e->value,
						   a->nenums - 1});
	}
	return a->nenums - 1;
}

/* A kernel function that returns a signed number, or a pointer, may return an error instead; and so
 * may a system call. */
static bool has_errnos(const struct callee *c, const struct value *v)
{
	return c->kernel && !v->nsteps && v->place.from == FROM_RESULT &&
	       (v->kind == KIND_SIGNED || v->kind == KIND_POINTER) && v->size >= 4;
}

static uint8_t reserved_for(const struct adding *a, const char *name)
{
	const struct value_condition *c;

	vec__each (c, a->o->conditions)
		if (!strcmp(c->left.text, name))
			return a->reserved[c - a->o->conditions->data];
	return 0;
}

static bool same_chunk(const struct plan_value *a, const struct plan_value *b)
{
	return a->chunk && a->chunk == b->chunk && a->of_return == b->of_return &&
	       a->from == b->from && a->reg == b->reg && a->nsteps == b->nsteps &&
	       !memcmp(a->steps, b->steps, a->nsteps * sizeof(*a->steps));
}

/* Returns the index of what is loaded for a member of the same struct, and contains this one; 0 if
 * there is none. */
static uint8_t loaded_with(const struct adding *a, const struct plan_value *row)
{
	for (size_t i = a->first_chunk; i < a->p->values.len; i++)
		if (a->p->values.data[i].fetched && same_chunk(&a->p->values.data[i], row))
			return a->p->values.data[i].fetched;
	return 0;
}

/* Sets its index among what is loaded in the same hit. */
static void place_fetched(struct adding *a, struct plan_value *row, unsigned *fetched)
{
	if (!row->nsteps && row->from != FROM_STACK)
		return;
	row->fetched = reserved_for(a, row->name);
	if (!row->fetched)
		row->fetched = loaded_with(a, row);
	if (row->fetched)
		return;
	if (row->from != FROM_NOWHERE && !a->o->no_memory && *fetched < VALUES_FETCHED) {
		row->fetched = ++*fetched;
		return;
	}
	if (row->from != FROM_NOWHERE && !a->o->no_memory && !a->result->unfetched++)
		a->result->first_unfetched = row->function;
	/* for a string, the address is there */
	if (row->kind == KIND_TEXT && row->nsteps == 1 && !row->steps[0] && row->from != FROM_STACK)
		row->kind = KIND_POINTER, row->size = a->p->arch->word;
	else
		row->from = FROM_NOWHERE;
	row->nsteps = 0;
}

static bool is_recorded(const struct adding *a, uint8_t reg)
{
	return reg == REG_NONE || !a->o->recorded || (reg < 64 && a->o->recorded >> reg & 1);
}

/* What isn't loaded is what the entry reports. */
static void place_recorded(const struct adding *a, struct plan_value *row)
{
	if (row->from == FROM_REGISTER && !row->fetched &&
	    (!is_recorded(a, row->reg) || !is_recorded(a, row->second)))
		row->from = FROM_NOWHERE;
}

static void add_value(struct adding *a, const struct callee *c, uint32_t function, const char *name,
		      uint32_t type, const struct value *v, bool of_return, unsigned fetched[2])
{
	autofree struct str text = {0};
	struct plan_value row = {.name = name,
				 .function = function,
				 .enumeration = enumeration_of(a, v->enumeration),
				 .of_return = of_return,
				 .kind = v->kind,
				 .from = v->place.from,
				 .reg = v->place.reg,
				 .second = v->place.second,
				 .size = v->size,
				 .bit_at = v->bit_at,
				 .bits = v->bits,
				 .errnos = has_errnos(c, v),
				 .nsteps = v->nsteps,
				 .chunk = v->chunk,
				 .at = v->at,
				 .array = v->array};

	if (of_return && !strcmp(name, "ret"))
		row.reg = min_of(a->nparams, (uint32_t)UINT8_MAX);
	memcpy(row.steps, v->steps, sizeof(row.steps));
	if (type != NO_TYPE)
		types__put_name(a->t, type, &text);
	row.type = text.len ? text.data : NULL;
	place_fetched(a, &row, &fetched[of_return]);
	place_recorded(a, &row);
	plan__add_value(a->p, &row);
}

/* Adding a struct: its type is that of its first row. */
struct adding_parts {
	struct adding *a;
	const struct callee *c;
	uint32_t function, type;
	bool of_return;
	unsigned *fetched;
};

static void add_part(void *ctx, const char *path, uint32_t type, const struct value *v)
{
	struct adding_parts *p = ctx;

	(void)type;
	add_value(p->a, p->c, p->function, path, p->type, v, p->of_return, p->fetched);
	p->type = NO_TYPE;
}

/* Adds a parameter, or the result (UINT32_MAX), with all its parts. */
static void add_whole(struct adding *a, const struct callee *c, const struct prototype *p,
		      uint32_t function, uint32_t param, const char *name, unsigned fetched[2])
{
	bool of_return = param == UINT32_MAX;
	uint32_t type = of_return ? p->result : a->t->params.data[p->first + param].type;
	struct adding_parts parts = {.a = a,
				     .c = c,
				     .function = function,
				     .type = of_return ? NO_TYPE : type,
				     .of_return = of_return,
				     .fetched = fetched};
	struct value_place at;
	struct value v;

	a->first_chunk = a->p->values.len;
	callee__place(c, a->t, p, param, &at);
	if (value__each_part(a->t, c, type, &at, name, add_part, &parts))
		return;
	value__of_param(a->t, p, c, param, &v);
	add_value(a, c, function, name, parts.type, &v, of_return, fetched);
}

static void add_params(struct adding *a, const struct callee *c, const struct prototype *p,
		       uint32_t function, unsigned fetched[2])
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct type_param *param = &a->t->params.data[p->first + i];
		char numbered[16];

		snprintf(numbered, sizeof(numbered), "arg%u", i);
		add_whole(a, c, p, function, i,
			  param->name ? types__name(a->t, param->name) : numbered, fetched);
	}
}

static uint32_t param_named(const struct types *t, const struct prototype *p, const char *name)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const char *own = types__name(t, t->params.data[p->first + i].name);

		if (own && !strcmp(own, name))
			return i;
	}
	return 0;
}

static void add_expressions(struct adding *a, const struct callee *c, const struct prototype *p,
			    uint32_t function, unsigned fetched[2])
{
	const struct expression *e;

	vec__each (e, a->o->expressions) {
		struct value v;
		int err = value__of_expression(a->t, p, c, e, &v);

		if (err == -EINVAL && !a->error)
			a->error =
				err__prefix(err, "--args: %s", a->p->functions.data[function].name);
		if (err)
			continue;
		a->found[e - a->o->expressions->data] = true;
		a->first_chunk = a->p->values.len;
		if (!strcmp(e->text, "ret")) /* it always exists */
			continue;
		if (!e->n)
			add_whole(a, c, p, function, param_named(a->t, p, e->base), e->text,
				  fetched);
		else
			add_value(a, c, function, e->text, NO_TYPE, &v, !strcmp(e->base, "ret"),
				  fetched);
	}
}

/* The values that conditions name are loaded in any case. */
static void reserve(struct adding *a, const struct callee *c, const struct prototype *p,
		    uint32_t function, unsigned fetched[2])
{
	const struct value_condition *one;

	memset(a->reserved, 0, sizeof(a->reserved));
	vec__each (one, a->o->conditions) {
		bool of_return = !strcmp(one->left.base, "ret");
		struct value v;

		if (reserved_for(a, one->left.text) ||
		    value__of_expression(a->t, p, c, &one->left, &v) ||
		    v.place.from == FROM_NOWHERE || (!v.nsteps && v.place.from != FROM_STACK))
			continue;
		a->reserved[one - a->o->conditions->data] = ++fetched[of_return];
	}
	err__clear();
}

static bool has_row(const struct adding *a, size_t first, const char *name)
{
	for (size_t i = first; i < a->p->values.len; i++)
		if (!strcmp(a->p->values.data[i].name, name))
			return true;
	return false;
}

/* Adds the values that conditions name, unless they are shown anyway. first is the first of the
 * function's rows. */
static void add_conditions(struct adding *a, const struct callee *c, const struct prototype *p,
			   uint32_t function, size_t first, unsigned fetched[2])
{
	const struct value_condition *one;

	vec__each (one, a->o->conditions) {
		struct value v;
		int err = value__of_expression(a->t, p, c, &one->left, &v);

		if (err == -EINVAL && !a->error)
			a->error =
				err__prefix(err, "--if: %s", a->p->functions.data[function].name);
		a->first_chunk = a->p->values.len;
		if (!err && strcmp(one->left.text, "ret") != 0 &&
		    !has_row(a, first, one->left.text))
			add_value(a, c, function, one->left.text, NO_TYPE, &v,
				  !strcmp(one->left.base, "ret"), fetched);
	}
}

static void add_function(struct adding *a, uint32_t function)
{
	const struct plan_function *f = &a->p->functions.data[function];
	const struct prototype *p = types__prototype(a->t, function);
	struct callee c = {.arch = a->p->arch,
			   .syscall = f->flags & FUNCTION_SYSCALL,
			   .kernel = a->p->objects.data[f->object].kernel};
	size_t first = a->p->values.len;
	unsigned fetched[2] = {0};

	if (!p) {
		if (!a->result->untyped++)
			a->result->first_untyped = function;
		return;
	}
	a->nparams = p->n;
	reserve(a, &c, p, function, fetched);
	if (a->o->expressions)
		add_expressions(a, &c, p, function, fetched);
	else
		add_params(a, &c, p, function, fetched);
	add_conditions(a, &c, p, function, first, fetched);
	add_whole(a, &c, p, function, UINT32_MAX, "ret", fetched);
}

/* ---- asking ---- */

static bool is_typed(const struct plan_function *f)
{
	return !(f->flags & (FUNCTION_RANGE | FUNCTION_HELPER | FUNCTION_GO_ARGS |
			     FUNCTION_NO_ARGS | FUNCTION_SYSCALL32 | FUNCTION_REMOVED));
}

/* Returns the name of a system call's wrapper without its prefix: "openat". */
static const char *syscall_name(const char *raw)
{
	const char *at = raw ? strstr(raw, "_sys_") : NULL;

	return at ? at + strlen("_sys_") : NULL;
}

/* Asks the tables by name, without debug information. */
static void ask_tables(const struct adding *a, const struct type_query *queries, size_t n,
		       struct types *t)
{
	const struct plan_object *o = &a->p->objects.data[a->object];
	bool libc = !o->kernel && a->o->is_libc && a->o->is_libc(o->object);
	autofree bool *known = xcalloc(n + 1, sizeof(*known));

	/* What is added can be found only when all is added. */
	for (size_t i = 0; i < n; i++)
		known[i] = types__prototype(t, queries[i].id);
	for (size_t i = 0; a->p->arch->word == 8 && i < n; i++) {
		const struct type_query *q = &queries[i];
		const struct plan_function *f = &a->p->functions.data[q->id];

		if (f->flags & FUNCTION_SYSCALL)
			types__from_table(t, TABLE_SYSCALLS, syscall_name(q->name), q->id);
		else if (libc && !known[i])
			types__from_table(t, TABLE_LIBC, q->name ? q->name : f->name, q->id);
	}
	types__sort(t);
}

static void ask(const struct adding *a, const struct type_query *queries, size_t n,
		const struct type_names *members, struct types *t)
{
	const struct plan_object *o = &a->p->objects.data[a->object];
	VEC(struct type_query) usual = {0};

	*t = (struct types){0};
	for (size_t i = 0; i < n; i++)
		if (!(a->p->functions.data[queries[i].id].flags & FUNCTION_SYSCALL))
			vec__push(&usual, queries[i]);
	if (usual.len && !o->kernel)
		object__prototypes(o->object, usual.data, usual.len, members, t);
	else if (usual.len && a->o->kernel)
		a->o->kernel(a->o->ctx, o->object, usual.data, usual.len, members, t);
	ask_tables(a, queries, n, t);
	vec__free(&usual);
}

static void take_object(struct adding *a, const struct type_names *members)
{
	const struct object *o = a->p->objects.data[a->object].object;
	VEC(struct type_query) queries = {0};
	struct types t;

	for (uint32_t i = 0; i < a->p->functions.len; i++) {
		const struct plan_function *f = &a->p->functions.data[i];

		if (f->object == a->object && is_typed(f))
			vec__push(&queries, (struct type_query){f->ranges[0].vaddr, f->raw, i});
	}
	if (o && queries.len) {
		ask(a, queries.data, queries.len, members, &t);
		a->t = &t;
		for (size_t i = 0; i < queries.len; i++)
			add_function(a, queries.data[i].id);
		types__free(&t);
		map64__free(&a->enums);
		a->enums = (struct map64){0};
	}
	vec__free(&queries);
}

/* The rows of a function keep their order. */
static void sort_values(struct plan *p)
{
	autofree size_t *at = xcalloc(p->functions.len + 2, sizeof(*at));
	autofree struct plan_value *sorted = xcalloc(p->values.len + 1, sizeof(*sorted));
	const struct plan_value *v;

	vec__each (v, &p->values)
		at[v->function + 1]++;
	for (size_t i = 0; i < p->functions.len; i++)
		at[i + 1] += at[i];
	vec__each (v, &p->values)
		sorted[at[v->function]++] = *v;
	if (p->values.len)
		memcpy(p->values.data, sorted, p->values.len * sizeof(*sorted));
}

/* An expression that no function has is an error; one that is wrong for some functions is not shown
 * there. */
static int check_found(struct adding *a)
{
	const struct expression *e;

	if (a->error && a->o->conditions->len && !a->o->expressions)
		return a->error;
	if (!a->o->expressions || !a->p->values.len)
		return 0;
	vec__each (e, a->o->expressions)
		if (!a->found[e - a->o->expressions->data])
			return a->error ? a->error
					: err__set(EINVAL, "--args: no function has a parameter %s",
						   e->base);
	err__clear();
	return 0;
}

int plan__add_values(struct plan *p, const struct plan_values_options *o,
		     struct plan_values_result *out)
{
	autofree bool *found = xcalloc(o->expressions ? o->expressions->len + 1 : 1, 1);
	struct adding a = {.p = p, .o = o, .result = out, .found = found};
	struct type_names members = {0};
	expression_vec named = {0};
	const struct value_condition *c;
	const struct expression *e;
	int err;

	*out = (struct plan_values_result){0};
	if (o->expressions)
		vec__each (e, o->expressions)
			vec__push(&named, *e);
	vec__each (c, o->conditions)
		vec__push(&named, c->left);
	expressions__names(&named, &members);
	for (a.object = 0; a.object < p->objects.len; a.object++)
		take_object(&a, &members);
	vec__free(&members.all);
	vec__free(&named);
	sort_values(p);
	err = check_found(&a);
	return err;
}
