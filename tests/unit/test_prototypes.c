// SPDX-License-Identifier: BSD-2-Clause
/* Prototypes as compilers' debug information and BTF tell them: the same from gcc and clang, and
 * none where parameters may have changed. */
#include <bpf/btf.h>
#include <errno.h>
#include "arch/arch.h"
#include "arch/x86/x86.h"
#include "kernel/btf_types.h"
#include "object/dwarf/dwarf.h"
#include "target_fixture.h"

static const char source[] =
	"#include <stddef.h>\n"
	"enum colour { RED, GREEN = 5, BLUE = -1 };\n"
	"typedef unsigned long size;\n"
	"typedef struct node node_t;\n"
	"struct pair { int a, b; };\n"
	"struct mixed { float f; int i; };\n"
	"struct node { const char *name; node_t *next; struct pair p; unsigned lo : 3, hi : 5;\n"
	"	union { int inner; char c; }; char text[16]; short n[3]; };\n"
	"#define KEEP __attribute__((noinline, used))\n"
	"KEEP int f1(const char *name, size n, enum colour c, _Bool yes) { asm(\"\"); return n + c + yes; }\n"
	"KEEP node_t *f2(node_t *at, struct pair by_value, unsigned char u, signed char s) { asm(\"\"); return at->next; }\n"
	"KEEP double f3(float x, double y, long long z) { asm(\"\"); return x + y + z; }\n"
	"KEEP void f4(int (*fn)(int), void *p, struct mixed m, short h) { asm(\"\"); *(volatile char *)p = h; }\n"
	"KEEP int f5(void) { asm(\"\"); return 5; }\n"
	"KEEP int f6(int a, int b, int c, int d, int e, int f, int g, ...) { asm(\"\"); return a + g; }\n"
	"static __attribute__((noinline)) int f7(int unused, int used) { return used * 7 + (used >> 3); }\n"
	"KEEP int f8(int x) { return f7(1, x) + f7(2, x + 1); }\n"
	"enum wide { LOW = 200, HIGH = 3000000000u };\n"
	"struct packed { unsigned a : 30, b : 30; } __attribute__((packed));\n"
	"KEEP int f9(enum wide w, struct packed *at) { asm(\"\"); return w + at->b; }\n"
	"int main(void) { return f8(3); }\n";

static const struct {
	const char *name, *want;
} rows[] = {
	{"f1", "int4(char * t8 name, size u8 n, colour e4/3 c, _Bool b1 yes)"},
	{"f2", "node * p8(node * p8 at, pair S8+ by_value, unsigned char u1 u, signed char s1 s)"},
	{"f3", "double f8(float f4 x, double f8 y, long long int s8 z)"},
	{"f4", "void(void * p8 fn, void * p8 p, mixed S8 m, short int s2 h)"},
	{"f5", "int4()"},
	{"f9", "int4(wide e4/2 w, packed * p8 at)"},
	{"f6", "int4(int4 a, int4 b, int4 c, int4 d, int4 e, int4 f, int4 g)"},
};

/* "size u8": the name of the type, a letter for its kind, its size. */
static void describe(const struct types *t, uint32_t number, struct str *out)
{
	static const char letters[TYPE_KINDS] = "?subcfpeSa";
	const struct type *type = types__at(t, number), *of = type ? types__at(t, type->ref) : NULL;
	struct str name = {0};

	types__put_name(t, number, &name);
	if (!type) {
		str__puts(out, "void");
	} else if (!strcmp(name.data, "int") && type->kind == TYPE_KIND_SIGNED) {
		str__printf(out, "int%u", (unsigned)type->size);
	} else {
		/* a typedef of a struct is named differently by compilers */
		str__puts(out, !strcmp(name.data, "node_t *")	 ? "node *"
			       : !strcmp(name.data, "? *")	 ? "void *"
			       : !strcmp(name.data, "long long") ? "long long int"
			       : !strcmp(name.data, "short")	 ? "short int"
								 : name.data);
		str__printf(out, " %c%u",
			    of && of->kind == TYPE_KIND_CHAR ? 't' : letters[type->kind],
			    (unsigned)type->size);
		if (type->kind == TYPE_KIND_ENUM)
			str__printf(out, "/%u", type->n);
		str__puts(out, type->plain ? "+" : "");
	}
	str__free(&name);
}

static void check(const struct types *t, size_t row, const char *what)
{
	const struct prototype *p = types__prototype(t, row);
	struct str got = {0};

	if (p) {
		describe(t, p->result, &got);
		str__putc(&got, '(');
		for (uint32_t i = 0; i < p->n; i++) {
			const struct type_param *a = &t->params.data[p->first + i];

			str__puts(&got, i ? ", " : "");
			describe(t, a->type, &got);
			str__printf(&got, " %s", types__name(t, a->name));
		}
		str__putc(&got, ')');
	}
	is_str(got.data, rows[row].want, "%s: %s", what, rows[row].name);
	str__free(&got);
}

static int value_of(const struct types *t, uint32_t id, const char *text, struct value *out)
{
	const struct callee c = {.arch = arch__by_machine(62)};
	const struct prototype *p = types__prototype(t, id);
	expression_vec e = {0};
	int err = p ? expressions__parse(text, &e) : -ENOENT;

	if (!err)
		err = value__of_expression(t, p, &c, e.data, out);
	expressions__free(&e);
	return err;
}

/* Offsets of members, through pointers, embedded structs and bit fields. */
static void check_members(const struct types *t, const char *what)
{
	static const struct {
		const char *text;
		int kind, size, nsteps, bit_at, bits;
		int64_t first, last;
	} ways[] = {
		{"at->name", KIND_TEXT, VALUE_TEXT_MAX, 2, 0, 0, 0, 0},
		{"at->next->p.b", KIND_SIGNED, 4, 2, 0, 0, 8, 20},
		{"at->lo", KIND_UNSIGNED, 4, 1, 0, 3, 24, 24},
		{"at->hi", KIND_UNSIGNED, 4, 1, 3, 5, 24, 24},
		{"at->inner", KIND_SIGNED, 4, 1, 0, 0, 28, 28},
		{"at->text", KIND_TEXT, 16, 1, 0, 0, 32, 32},
		{"at->n[2]", KIND_SIGNED, 2, 1, 0, 0, 52, 52},
		{"ret->p.a", KIND_SIGNED, 4, 1, 0, 0, 16, 16},
	};
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct value v = {0};
		int err = value_of(t, 1, ways[i].text, &v);

		ok(!err && v.kind == ways[i].kind && v.size == ways[i].size &&
			   v.nsteps == ways[i].nsteps && v.bits == ways[i].bits &&
			   v.bit_at == ways[i].bit_at && v.steps[0] == ways[i].first &&
			   v.steps[v.nsteps - 1] == ways[i].last,
		   "%s: %s is found: %s", what, ways[i].text, err__text());
		err__clear();
	}
}

/* No aligned word has all of the bit field b. */
static void check_packed(const struct types *t, const char *what)
{
	const struct prototype *p = types__prototype(t, 5);
	const struct type *w = p ? types__at(t, t->params.data[p->first].type) : NULL;
	struct value v = {0};

	ok(w && w->n == 2 && t->enumerators.data[w->first].value == 200 &&
		   t->enumerators.data[w->first + 1].value == 3000000000,
	   "%s: large enumerators are not negative", what);
	ok(!value_of(t, 5, "at->a", &v) && v.bits == 30, "%s: a packed bit field", what);
	ok(p && value_of(t, 5, "at->b", &v) == -EINVAL, "%s: one that no word contains: %s", what,
	   err__text());
	err__clear();
}

static expression_vec members;
static struct type_names names;

static void name_members(void)
{
	expressions__parse("x.hi, x.inner, x.lo, x.n, x.name, x.next, x.p, x.text, x.a, x.b",
			   &members);
	expressions__names(&members, &names);
}

static void test_dwarf(const char *compiler, const char *options)
{
	autofree char *what = xasprintf("%s %s", compiler, options);
	struct type_query queries[ARRAY_SIZE(rows) + 1] = {0};
	const struct symbol *s;
	struct object *o;
	struct types t;

	run("%s %s -o program source.c 2>log", compiler, options);
	o = open_or_die("program");
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++)
		queries[i] =
			(struct type_query){symbol_named(o, rows[i].name)->vaddr, rows[i].name, i};
	vec__each (s, &o->symbols)
		if (!strncmp(s->name, "f7", 2))
			queries[ARRAY_SIZE(rows)] =
				(struct type_query){s->vaddr, s->name, ARRAY_SIZE(rows)};
	object__prototypes(o, queries, ARRAY_SIZE(queries), &names, &t);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check(&t, i, what);
	check_members(&t, what);
	check_packed(&t, what);
	/* unoptimized it has all its parameters */
	ok(!types__prototype(&t, ARRAY_SIZE(rows)) || strstr(options, "-O0") ||
		   types__prototype(&t, ARRAY_SIZE(rows))->n == 2,
	   "%s: a function without one of its parameters has no types", what);
	types__free(&t);
	object__free(o);
}

static const char plus_source[] = "struct copied { long a; copied(const copied &); ~copied(); };\n"
				  "struct holds { copied in[1]; };\n"
				  "struct large { long a, b, c; ~large(); };\n"
				  "struct plain { int a, b, c; };\n"
				  "long p0(copied x, int y) { return x.a + y; }\n"
				  "long p1(holds x, int y) { return x.in[0].a + y; }\n"
				  "long p2(large x, int y) { return x.a + y; }\n"
				  "copied p3(copied *x, int y) { return *x; }\n"
				  "long p4(plain x, int y) { return x.c + y; }\n";

/* The register that y is in; REG_NONE: it isn't known. */
static uint8_t place_of_y(const struct types *t, uint32_t id)
{
	const struct callee c = {.arch = arch__by_machine(62)};
	const struct prototype *p = types__prototype(t, id);
	struct value v = {.place = {FROM_NOWHERE, REG_NONE, REG_NONE}};

	if (p)
		value__of_param(t, p, &c, 1, &v);
	return v.place.from == FROM_NOWHERE ? REG_NONE : v.place.reg;
}

/* What has functions that copy it is passed by its address. Not all compilers record that of a
 * result. */
static void test_plus(const char *compiler, bool records)
{
	static const char *const functions[] = {"_Z2p06copiedi", "_Z2p15holdsi", "_Z2p25largei",
						"_Z2p3P6copiedi", "_Z2p45plaini"};
	static const uint8_t wanted[] = {X86_RSI, X86_RSI, X86_RSI, X86_RDX, X86_RDX};
	struct type_query queries[ARRAY_SIZE(functions)];
	struct object *o;
	struct types t;

	run("%s -O0 -g -shared -fPIC -o plus.so plus.cc 2>log", compiler);
	o = open_or_die("plus.so");
	for (uint32_t i = 0; i < ARRAY_SIZE(functions); i++)
		queries[i] =
			(struct type_query){symbol_named(o, functions[i])->vaddr, functions[i], i};
	object__prototypes(o, queries, ARRAY_SIZE(queries), &names, &t);
	for (uint32_t i = 0; i < ARRAY_SIZE(functions); i++)
		is(place_of_y(&t, i), records || i != 3 ? wanted[i] : REG_NONE, "%s: %s", compiler,
		   functions[i]);
	types__free(&t);
	object__free(o);
}

/* Whose functions pass arguments as they like. */
static void test_rust(void)
{
	struct type_query query = {0, "add", 0};
	struct object *o;
	struct types t;

	if (system("command -v rustc >/dev/null")) {
		ok(true, "the functions of Rust have no types # SKIP no rustc");
		return;
	}
	write_file("add.rs", "#[no_mangle]\npub fn add(a: i32, b: i32) -> i32 { a + b }\n");
	run("rustc -g --crate-type cdylib -o libadd.so add.rs 2>log");
	o = open_or_die("libadd.so");
	query.vaddr = symbol_named(o, "add")->vaddr;
	object__prototypes(o, &query, 1, &names, &t);
	ok(!types__prototype(&t, 0), "the functions of Rust have no types");
	types__free(&t);
	object__free(o);
}

static void test_btf(void)
{
	struct type_query queries[ARRAY_SIZE(rows) + 1];
	struct types t = {0};
	struct btf *btf;

	run("sed 's/struct mixed { float f/struct mixed { int f/; /f3\\|f6/d; s/, \\.\\.\\.//' source.c "
	    ">bpf.c");
	run("clang -target bpf -O1 -g -c -o bpf.o bpf.c 2>log");
	btf = btf__parse("bpf.o", NULL);
	ok(btf, "clang writes BTF");
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++)
		queries[i] = (struct type_query){0, rows[i].name, i};
	queries[ARRAY_SIZE(rows)] = (struct type_query){0, "f1.isra.0", ARRAY_SIZE(rows)};
	btf_types__read(btf, 1, queries, ARRAY_SIZE(queries), &names, &t);
	check(&t, 0, "BTF");
	check(&t, 1, "BTF");
	check(&t, 4, "BTF");
	check(&t, 5, "BTF");
	check_members(&t, "BTF");
	check_packed(&t, "BTF");
	ok(!types__prototype(&t, 2) && !types__prototype(&t, ARRAY_SIZE(rows)),
	   "BTF: what there isn't, and a clone, have no types");
	types__free(&t);
	btf__free(btf);
}

int main(void)
{
	enter();
	name_members();
	write_file("source.c", source);
	test_dwarf("gcc", "-O2 -g");
	test_dwarf("gcc", "-O0 -g -gdwarf-4");
	test_dwarf("clang", "-O2 -g");
	test_dwarf("clang", "-O0 -g");
	write_file("plus.cc", plus_source);
	test_plus("g++", false);
	test_plus("clang++ -fstandalone-debug", true);
	test_rust();
	test_btf();
	vec__free(&names.all);
	expressions__free(&members);
	return tap__done();
}
