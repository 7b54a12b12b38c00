// SPDX-License-Identifier: BSD-2-Clause
/* Expressions, tables of types as bytes, where conventions have parameters, and the values that
 * expressions lead to. */
#include "arch/arch.h"
#include "tap.h"
#include "types/types.h"

/* ---- expressions ---- */

static void test_expressions(void)
{
	static const char *const bad[] = {"",
					  "1",
					  "a->",
					  "a..b",
					  "a[x]",
					  "a[1",
					  "a b",
					  "a + b",
					  "->a",
					  "a[99999999999999999999]",
					  "a->b->c->d->e->f->g->h->i->j"};
	expression_vec v = {0};
	struct expression e;

	ok(!expressions__parse("  **path->dentry . name[ -2 ] ", &v) && v.len == 1,
	   "an expression is understood");
	e = v.data[0];
	is_str(e.base, "path", "its base is a name");
	is(e.n, 5, "it has a step for each operator");
	ok(e.steps[0].what == WALK_MEMBER && e.steps[0].deref && !strcmp(e.steps[0].name, "dentry"),
	   "-> is a member of what is pointed to");
	ok(e.steps[1].what == WALK_MEMBER && !e.steps[1].deref && !strcmp(e.steps[1].name, "name"),
	   ". is a member");
	ok(e.steps[2].what == WALK_INDEX && e.steps[2].number == -2, "[] has a number");
	ok(e.steps[3].what == WALK_DEREF && e.steps[4].what == WALK_DEREF,
	   "stars come after what follows the name");
	is_str(e.text, "**path->dentry . name[ -2 ]", "its text is kept as written");
	expressions__free(&v);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ok(expressions__parse(bad[i], &v) < 0 && *err__text(), "'%s' is refused: %s",
		   bad[i], err__text());
		expressions__free(&v);
		err__clear();
	}
}

static void test_lists(void)
{
	expression_vec v = {0};
	struct type_names names = {0};

	ok(!expressions__parse("b->z, a, c.b[0]->a", &v) && v.len == 3, "a list is understood");
	expressions__names(&v, &names);
	ok(names.all.len == 3 && type_names__has(&names, "a") && type_names__has(&names, "z") &&
		   type_names__has(&names, "b") && !type_names__has(&names, "c"),
	   "the members that it names are known");
	vec__free(&names.all);
	expressions__free(&v);
	ok(expressions__parse("a,,b", &v) < 0, "an empty one is refused");
	err__clear();
	expressions__free(&v);
}

/* ---- tables ---- */

static uint32_t add(struct types *t, enum type_kind kind, uint64_t size, uint32_t ref)
{
	vec__push(&t->types, (struct type){.kind = kind, .size = size, .ref = ref});
	return t->types.len - 1;
}

static void add_param(struct types *t, const char *name, uint32_t type)
{
	vec__push(&t->params, (struct type_param){types__add_name(t, name), type});
}

/* struct s { int a; struct s *next; char text[8]; struct { short n[4]; unsigned f:3; }; };
 * int f(struct s *s, const char *name, long n) */
static void make(struct types *t)
{
	uint32_t i4 = add(t, TYPE_KIND_SIGNED, 4, NO_TYPE), c = add(t, TYPE_KIND_CHAR, 1, NO_TYPE);
	uint32_t i2 = add(t, TYPE_KIND_SIGNED, 2, NO_TYPE),
		 u4 = add(t, TYPE_KIND_UNSIGNED, 4, NO_TYPE);
	uint32_t text = add(t, TYPE_KIND_ARRAY, 8, c), ns = add(t, TYPE_KIND_ARRAY, 8, i2);
	uint32_t s = add(t, TYPE_KIND_STRUCT, 40, NO_TYPE), ps = add(t, TYPE_KIND_POINTER, 8, s);
	uint32_t in = add(t, TYPE_KIND_STRUCT, 12, NO_TYPE), pc = add(t, TYPE_KIND_POINTER, 8, c);
	struct type_member members[] = {
		{types__add_name(t, "a"), i4, 0},	{types__add_name(t, "next"), ps, 8},
		{types__add_name(t, "text"), text, 16}, {0, in, 24},
		{types__add_name(t, "n"), ns, 0},	{types__add_name(t, "f"), u4, 8, 2, 3}};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		vec__push(&t->members, members[i]);
	t->types.data[s].n = 4;
	t->types.data[in].first = 4;
	t->types.data[in].n = 2;
	t->types.data[i4].name = types__add_name(t, "int");
	t->types.data[c].name = types__add_name(t, "char");
	add_param(t, "s", ps);
	add_param(t, "name", pc);
	add_param(t, "n", add(t, TYPE_KIND_SIGNED, 8, NO_TYPE));
	vec__push(&t->prototypes, (struct prototype){.id = 7, .result = i4, .first = 0, .n = 3});
}

/* Whatever is changed in the bytes, what is taken refers to nothing outside. */
static bool survives(const struct str *bytes)
{
	bool good = true;

	for (size_t i = 0; i < bytes->len; i++) {
		autofree char *copy = xmalloc(bytes->len);
		struct types t;

		memcpy(copy, bytes->data, bytes->len);
		copy[i] ^= 0xff;
		if (types__take(&t, copy, bytes->len)) {
			struct value v;
			const struct callee c = {.arch = arch__by_machine(62)};
			const struct prototype *p;

			vec__each (p, &t.prototypes)
				for (uint32_t k = 0; k < p->n; k++)
					value__of_param(&t, p, &c, k, &v);
			for (size_t k = 0; k < t.types.len; k++) {
				struct str name = {0};

				types__put_name(&t, k, &name);
				str__free(&name);
			}
		}
		types__free(&t);
		good &= !types__take(&t, bytes->data, i ? i : 1) || !i;
		types__free(&t);
	}
	return good;
}

static void test_bytes(void)
{
	struct types t = {0}, back;
	struct str bytes = {0}, again = {0}, name = {0};

	make(&t);
	types__put(&t, &bytes);
	ok(types__take(&back, bytes.data, bytes.len), "types are passed as bytes");
	types__put(&back, &again);
	ok(again.len == bytes.len && !memcmp(again.data, bytes.data, bytes.len),
	   "and are the same then");
	ok(types__prototype(&back, 7) && !types__prototype(&back, 8), "a prototype is found by id");
	types__put_name(&back, back.params.data[1].type, &name);
	is_str(name.data, "char *", "a type has C's name");
	ok(survives(&bytes), "bytes that are cut are refused, changed ones harm nothing");
	types__free(&back);
	types__free(&t);
	str__free(&bytes);
	str__free(&again);
	str__free(&name);
}

/* ---- values ---- */

static void test_values(void)
{
	static const struct {
		const char *text;
		int kind, size, nsteps;
		int64_t steps[VALUE_STEPS];
	} rows[] = {
		{"s", KIND_POINTER, 8, 0, {0}},
		{"n", KIND_SIGNED, 8, 0, {0}},
		{"name", KIND_TEXT, VALUE_TEXT_MAX, 1, {0}},
		{"*name", KIND_CHAR, 1, 1, {0}},
		{"name[3]", KIND_CHAR, 1, 1, {3}},
		{"s->a", KIND_SIGNED, 4, 1, {0}},
		{"(s)->a", -1, 0, 0, {0}},
		{"s->next->next->a", KIND_SIGNED, 4, 3, {8, 8, 0}},
		{"s->next->text", KIND_TEXT, 8, 2, {8, 16}},
		{"s->text[2]", KIND_CHAR, 1, 1, {18}},
		{"s->n", KIND_SIGNED, 2, 1, {24}},
		{"s->n[3]", KIND_SIGNED, 2, 1, {30}},
		{"*s->n", KIND_SIGNED, 2, 1, {24}},
		{"s->f", KIND_UNSIGNED, 4, 1, {32}},
		{"s[1].a", KIND_SIGNED, 4, 1, {40}},
		{"ret", KIND_SIGNED, 4, 0, {0}},
		{"s.a", -1, 0, 0, {0}},
		{"s->b", -1, 0, 0, {0}},
		{"*s", -1, 0, 0, {0}},
		{"*n", -1, 0, 0, {0}},
		{"ret->a", -1, 0, 0, {0}},
		{"x", -1, 0, 0, {0}},
	};
	const struct callee c = {.arch = arch__by_machine(62)};
	struct types t = {0};

	make(&t);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		expression_vec e = {0};
		struct value v = {0};
		int err = expressions__parse(rows[i].text, &e);

		if (!err)
			err = value__of_expression(&t, &t.prototypes.data[0], &c, e.data, &v);
		expressions__free(&e);
		if (rows[i].kind < 0)
			ok(err < 0, "%s is refused: %s", rows[i].text, err__text());
		else
			ok(!err && v.kind == rows[i].kind && v.size == rows[i].size &&
				   v.nsteps == rows[i].nsteps &&
				   !memcmp(v.steps, rows[i].steps, v.nsteps * sizeof(*v.steps)),
			   "%s leads to its value", rows[i].text);
		err__clear();
	}
	types__free(&t);
}

/* ---- places ---- */

/* A struct of two numbers, all of whose parts are known. */
static uint32_t add_whole(struct types *t, uint64_t size, enum type_kind kind, uint64_t first,
			  uint32_t at, enum type_kind other, uint64_t second, uint32_t behind)
{
	uint32_t a = add(t, kind, first, NO_TYPE), b = add(t, other, second, NO_TYPE);
	struct type type = {.kind = TYPE_KIND_STRUCT,
			    .size = size,
			    .whole = true,
			    .ref = NO_TYPE,
			    .first_part = t->parts.len,
			    .nparts = 2};

	vec__push(&t->parts, (struct type_part){.type = a, .offset = at});
	vec__push(&t->parts, (struct type_part){.type = b, .offset = behind});
	vec__push(&t->types, type);
	return t->types.len - 1;
}

/* A letter for each parameter: i word, f float, l long double, s small struct, b big one, d struct
 * with floats, D a big one, a struct that is passed by its address, u perhaps, V vector, q 16-byte
 * integer, m struct { double; long }, n { long; double }, F { float; int }, x { char; long }
 * packed, L { long double }, Q { 16-byte integer }, c complex number. The places: a register's
 * name, sN: word of the stack, "-", with * if its address is there. */
static uint32_t lettered(struct types *t, char letter)
{
	switch (letter) {
	case 'i':
		return add(t, TYPE_KIND_SIGNED, 8, NO_TYPE);
	case 'w':
		return add(t, TYPE_KIND_SIGNED, 4, NO_TYPE);
	case 'f':
		return add(t, TYPE_KIND_FLOAT, 8, NO_TYPE);
	case 'l':
		return add(t, TYPE_KIND_FLOAT, 16, NO_TYPE);
	case 'q':
		return add(t, TYPE_KIND_SIGNED, 16, NO_TYPE);
	case 'V':
		return add(t, TYPE_KIND_ARRAY, 8, NO_TYPE);
	case 'c':
		return add(t, TYPE_KIND_COMPLEX, 16, NO_TYPE);
	case 'm':
		return add_whole(t, 16, TYPE_KIND_FLOAT, 8, 0, TYPE_KIND_SIGNED, 8, 8);
	case 'n':
		return add_whole(t, 16, TYPE_KIND_SIGNED, 8, 0, TYPE_KIND_FLOAT, 8, 8);
	case 'F':
		return add_whole(t, 8, TYPE_KIND_FLOAT, 4, 0, TYPE_KIND_SIGNED, 4, 4);
	case 'x':
		return add_whole(t, 9, TYPE_KIND_CHAR, 1, 0, TYPE_KIND_SIGNED, 8, 1);
	case 'L':
		return add_whole(t, 16, TYPE_KIND_FLOAT, 16, 0, TYPE_KIND_FLOAT, 16, 0);
	case 'Q':
		return add_whole(t, 16, TYPE_KIND_SIGNED, 16, 0, TYPE_KIND_SIGNED, 16, 0);
	case 'v':
		return NO_TYPE;
	}
	vec__push(&t->types, (struct type){.kind = TYPE_KIND_STRUCT,
					   .size = letter == 'b' || letter == 'D' ? 24 : 16,
					   .plain = letter == 's' || letter == 'b',
					   .passed = letter == 'a'   ? PASSED_BY_ADDRESS
						     : letter == 'u' ? PASSED_SOMEHOW
								     : PASSED_BY_VALUE,
					   .ref = NO_TYPE});
	return t->types.len - 1;
}

static void places(const struct arch *arch, char result, const char *params, struct str *out)
{
	const struct callee c = {.arch = arch};
	struct value_place at[16], back;
	struct types t = {0};
	struct prototype p = {.n = strlen(params), .result = lettered(&t, result)};

	for (const char *l = params; *l; l++)
		add_param(&t, NULL, lettered(&t, *l));
	callee__places(&c, &t, &p, at, &back);
	for (unsigned i = 0; i < p.n; i++) {
		str__puts(out, i ? " " : "");
		str__puts(out, at[i].by_address ? "*" : "");
		if (at[i].from == FROM_REGISTER && at[i].reg == REG_NONE)
			str__putc(out, '-');
		else if (at[i].from == FROM_REGISTER)
			str__puts(out, arch->reg_names[at[i].reg]);
		else if (at[i].from == FROM_STACK)
			str__printf(out, "s%u", at[i].reg);
		else
			str__puts(out, "-");
		if (at[i].second != REG_NONE)
			str__printf(out, "+%s", arch->reg_names[at[i].second]);
	}
	str__printf(out, "%s> %s", p.n ? " " : "", back.from == FROM_RESULT ? "ret" : "-");
	types__free(&t);
}

static void test_places(void)
{
	static const struct {
		unsigned machine;
		char result;
		const char *params, *want;
	} rows[] = {
		{62, 'i', "iiiiiiiii", "rdi rsi rdx rcx r8 r9 s1 s2 s3 > ret"},
		{62, 'f', "ififi", "rdi - rsi - rdx > -"},
		{62, 'b', "ii", "rsi rdx > -"},
		{62, 's', "ii", "rdi rsi > -"},
		{62, 'd', "ii", "- - > -"},
		{62, 'v', "isi", "rdi rsi+rdx rcx > -"},
		{62, 'v', "iiiiisi", "rdi rsi rdx rcx r8 s1 r9 > -"},
		{62, 'v', "bii", "- rdi rsi > -"},
		{62, 'v', "idi", "rdi - - > -"},
		{62, 'v', "ilii", "rdi s1 rsi rdx > -"},
		{62, 'v', "mni", "-+rdi rsi rdx > -"},
		{62, 'n', "i", "rdi > ret"},
		{62, 'm', "i", "rdi > ret"},
		{62, 'v', "Fi", "rdi rsi > -"},
		{62, 'v', "xi", "s1 rdi > -"},
		{62, 'v', "iLi", "rdi s1 rsi > -"},
		{62, 'v', "iQi", "rdi rsi+rdx rcx > -"},
		{62, 'v', "iiiiiQi", "rdi rsi rdx rcx r8 - - > -"},
		{62, 'v', "ici", "rdi - rsi > -"},
		{62, 'v', "iq", "rdi rsi+rdx > -"},
		{62, 'v', "iiiiiqii", "rdi rsi rdx rcx r8 - - - > -"},
		{62, 'v', "iai", "rdi *rsi rdx > -"},
		{62, 'v', "iui", "rdi - - > -"},
		{62, 'a', "ii", "rsi rdx > -"},
		{62, 'u', "ii", "- - > -"},
		{62, 'V', "ii", "- - > -"},
		{62, 'v', "iVi", "rdi - - > -"},
		{62, 'v', "fffffffffi", "- - - - - - - - s1 rdi > -"},
		{183, 'i', "iiiiiiiii", "x0 x1 x2 x3 x4 x5 x6 x7 s0 > ret"},
		{183, 'b', "ii", "x0 x1 > -"},
		{183, 'v', "ibi", "x0 *x1 x2 > -"},
		{183, 'v', "iqi", "x0 x2+x3 x4 > -"},
		{183, 'v', "iDi", "x0 - - > -"},
		{183, 'a', "ii", "x0 x1 > -"},
		{183, 'u', "ii", "x0 x1 > -"},
		{183, 'v', "iiiiiiisi", "x0 x1 x2 x3 x4 x5 x6 s0 s2 > -"},
		{243, 'i', "iiiiiiiii", "a0 a1 a2 a3 a4 a5 a6 a7 s0 > ret"},
		{243, 'b', "i", "a1 > -"},
		{243, 'v', "iDi", "a0 *a1 a2 > -"},
		{243, 'a', "i", "a1 > -"},
		{243, 'v', "fffffffffi", "- - - - - - - - a0 a1 > -"},
		{243, 'v', "iiiiiiisi", "a0 a1 a2 a3 a4 a5 a6 - s1 > -"},
		{3, 'w', "wwwwwwww", "arg0 arg1 arg2 arg3 arg4 arg5 s7 s8 > ret"},
		{3, 'v', "wiw", "arg0 arg1+arg2 arg3 > -"},
		{3, 's', "w", "arg1 > -"},
		{3, 'v', "fw", "arg0+arg1 arg2 > -"},
		{40, 'i', "i", "- > -"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct arch *arch = arch__by_machine(rows[i].machine);
		struct str got = {0};

		places(arch, rows[i].result, rows[i].params, &got);
		is_str(got.data, rows[i].want, "%s: parameters %s, result %c", arch->name,
		       rows[i].params, rows[i].result);
		str__free(&got);
	}
}

/* Debug information beats the convention, which does not hold for what follows a difference. */
static void test_places_of_debug_information(void)
{
	const struct value_place at_rcx = {.from = FROM_REGISTER, .reg = 1, .second = REG_NONE};
	const struct callee c = {.arch = arch__by_machine(62)};
	struct value_place at[4], back;
	struct types t = {0};
	struct prototype p = {.n = 4, .result = NO_TYPE};

	for (unsigned i = 0; i < p.n; i++)
		add_param(&t, NULL, add(&t, TYPE_KIND_SIGNED, 8, NO_TYPE));
	t.params.data[1].where = WHERE_PLACE;
	t.params.data[1].place = at_rcx;
	callee__places(&c, &t, &p, at, &back);
	ok(at[0].from == FROM_REGISTER && at[1].reg == 1, "a parameter is where it is said to be");
	ok(at[2].from == FROM_NOWHERE && at[3].from == FROM_NOWHERE, "the others may have moved");
	t.params.data[1].place.reg = 6; /* rsi */
	callee__places(&c, &t, &p, at, &back);
	ok(at[2].from == FROM_REGISTER && at[3].from == FROM_REGISTER,
	   "if it is in its usual place, the others are, too");
	t.params.data[1].where = WHERE_NOWHERE;
	callee__places(&c, &t, &p, at, &back);
	ok(at[0].from == FROM_REGISTER && at[1].from == FROM_NOWHERE && at[2].from == FROM_NOWHERE,
	   "one that is nowhere may not have been passed");
	p.changed = true;
	callee__places(&c, &t, &p, at, &back);
	ok(at[0].from == FROM_NOWHERE, "a function whose calls were changed has no convention");
	types__free(&t);
}

static void test_table(void)
{
	struct types t = {0};
	const struct prototype *p;

	ok(types__from_table(&t, TABLE_LIBC, "open", 1), "libc's table has open()");
	ok(types__from_table(&t, TABLE_SYSCALLS, "openat", 2), "that of system calls has openat()");
	ok(!types__from_table(&t, TABLE_LIBC, "no_such_function", 3), "not what there isn't");
	types__sort(&t);
	p = types__prototype(&t, 2);
	ok(p && p->n == 4 && !strcmp(types__name(&t, t.params.data[p->first + 1].name), "filename"),
	   "with the names of parameters");
	types__free(&t);
	ok(type_query__is_changed("f.constprop.0") && type_query__is_changed("f.isra.0.cold") &&
		   !type_query__is_changed("f.llvm.1") && !type_query__is_changed(NULL),
	   "a clone's name tells that its parameters may be others");
}

int main(void)
{
	test_expressions();
	test_lists();
	test_bytes();
	test_values();
	test_places();
	test_places_of_debug_information();
	test_table();
	return tap__done();
}
