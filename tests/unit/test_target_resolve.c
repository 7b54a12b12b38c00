// SPDX-License-Identifier: BSD-2-Clause
/* FUNC on the command line: its forms, and the functions that they mean. */
#include <errno.h>
#include "target_fixture.h"

/* ---- the forms ---- */

static const struct {
	const char *text;
	bool kernel;
	int kind; /* -1: refused */
	const char *name, *module;
	uint64_t start, len;
} forms[] = {
	{"malloc", false, SPEC_NAME, "malloc", NULL, 0, 0},
	{"add", false, SPEC_NAME, "add", NULL, 0, 0},
	{"dead", false, SPEC_NAME, "dead", NULL, 0, 0},
	{"x0", false, SPEC_NAME, "x0", NULL, 0, 0},
	{"memcpy@GLIBC_2.2.5", false, SPEC_NAME, "memcpy@GLIBC_2.2.5", NULL, 0, 0},
	{"memcpy@@GLIBC_2.14", false, SPEC_NAME, "memcpy@@GLIBC_2.14", NULL, 0, 0},
	{"puts@plt", false, SPEC_NAME, "puts@plt", NULL, 0, 0},
	{"ns::f(int)", false, SPEC_NAME, "ns::f(int)", NULL, 0, 0},
	{"ns::f(char*)", false, SPEC_NAME, "ns::f(char*)", NULL, 0, 0},
	{"v<int*>::get", false, SPEC_NAME, "v<int*>::get", NULL, 0, 0},
	{"ns::a::operator*", false, SPEC_NAME, "ns::a::operator*", NULL, 0, 0},
	{"ns::a::operator[]", false, SPEC_NAME, "ns::a::operator[]", NULL, 0, 0},
	{"vfs_*", false, SPEC_GLOB, "vfs_*", NULL, 0, 0},
	{"ns::*", false, SPEC_GLOB, "ns::*", NULL, 0, 0},
	{"v<int, *", false, SPEC_GLOB, "v<int, *", NULL, 0, 0},
	{"f?o", false, SPEC_GLOB, "f?o", NULL, 0, 0},
	{"[ab]x", false, SPEC_GLOB, "[ab]x", NULL, 0, 0},
	{"0x1f", false, SPEC_OFFSET, NULL, NULL, 0x1f, 0},
	{"0X1F", false, SPEC_OFFSET, NULL, NULL, 0x1f, 0},
	{"0xffffffffffffffff", false, SPEC_OFFSET, NULL, NULL, UINT64_MAX, 0},
	{"0x1f:mine", false, SPEC_OFFSET, "mine", NULL, 0x1f, 0},
	{"0x1f:12", false, SPEC_OFFSET, "12", NULL, 0x1f, 0},
	{"0x1f+0x20", false, SPEC_RANGE, NULL, NULL, 0x1f, 0x20},
	{"a.c:12", false, SPEC_LINE, "a.c", NULL, 12, 0},
	{"src/a.c:12", false, SPEC_LINE, "src/a.c", NULL, 12, 0},
	{"c:d.c:7", false, SPEC_LINE, "c:d.c", NULL, 7, 0},
	{"a.c:12 inlined", false, SPEC_LINE, "a.c", NULL, 12, 0},
	{"a.c:12 outlined", false, SPEC_NAME, "a.c:12 outlined", NULL, 0, 0},
	{"f+0x13", false, SPEC_PLACE, "f", NULL, 0x13, 0},
	{"ns::operator++0x2", false, SPEC_PLACE, "ns::operator+", NULL, 2, 0},
	{"f+0x0", false, SPEC_NAME, "f", NULL, 0, 0},
	{"f+13", false, SPEC_NAME, "f+13", NULL, 0, 0},
	{"ext4:ext4_open+0x1f", true, SPEC_PLACE, "ext4_open", "ext4", 0x1f, 0},
	{"@points", false, SPEC_POINTS, "points", NULL, 0, 0},
	{"ext4:ext4_open", true, SPEC_NAME, "ext4_open", "ext4", 0, 0},
	{"ext4:*open", true, SPEC_GLOB, "*open", "ext4", 0, 0},
	{"vfs_read", true, SPEC_NAME, "vfs_read", NULL, 0, 0},
	{"0xffffffff81000000", true, SPEC_OFFSET, NULL, NULL, 0xffffffff81000000, 0},
	{"", false, -1, NULL, NULL, 0, 0},
	{"@", false, -1, NULL, NULL, 0, 0},
	{"0x", false, -1, NULL, NULL, 0, 0},
	{"0xg", false, -1, NULL, NULL, 0, 0},
	{"0x1g", false, -1, NULL, NULL, 0, 0},
	{"0x1:", false, -1, NULL, NULL, 0, 0},
	{"0x1+", false, -1, NULL, NULL, 0, 0},
	{"0x1+5", false, -1, NULL, NULL, 0, 0},
	{"0x1+0x0", false, -1, NULL, NULL, 0, 0},
	{"0x1+0x2z", false, -1, NULL, NULL, 0, 0},
	{"0x10000000000000000", false, -1, NULL, NULL, 0, 0},
	{"0xffffffffffffffff+0x2", false, -1, NULL, NULL, 0, 0},
	{"ext4:", true, -1, NULL, NULL, 0, 0},
	{"f*+0x13", false, -1, NULL, NULL, 0, 0},
};

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void test_forms(void)
{
	struct spec s;
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		err = spec__parse(forms[i].text, forms[i].kernel, &s);
		if (forms[i].kind < 0) {
			ok(err == -EINVAL && *err__text(), "'%s' is refused: %s", forms[i].text,
			   err__text());
			continue;
		}
		ok(!err && (int)s.kind == forms[i].kind && same(s.name, forms[i].name) &&
			   same(s.module, forms[i].module) && s.start == forms[i].start &&
			   s.len == forms[i].len && same(s.text, forms[i].text),
		   "'%s' is understood", forms[i].text);
		spec__free(&s);
	}
}

/* ---- names ---- */

static const char c_file[] =
	"#include <stdio.h>\n#include <stdlib.h>\n"
	"__attribute__((noinline, cold)) void unlikely(int x) { printf(\"%d\", x); puts(\"x\"); }\n"
	"__attribute__((noinline)) static int twin(int x) { if (__builtin_expect(x > 3, 0)) { unlikely(x); unlikely(x + 1); abort(); } return x * 2 + rand(); }\n"
	"int use_a(int x) { return twin(x); }\n"
	"__attribute__((noinline, cold)) static void rare(int x) { printf(\"%d\", x); }\n"
	"__attribute__((noinline)) int hot(int x) { if (__builtin_expect(x == 7, 0)) { rare(x); rare(x + 1); abort(); } return x + rand(); }\n"
	"int other_name(int x) __attribute__((alias(\"hot\")));\n"
	"__attribute__((noinline)) static int copied(int x, int *y) { *y += rand(); return x * *y; }\n"
	"int use_b(int *p) { return copied(3, p) + copied(3, p + 1); }\n"
	"int add(int x) { return x + 1; }\n"
	"int dead(int x) { return x + 2; }\n"
	"__asm__(\".pushsection .text\\n.globl no_size\\nno_size: nop\\nnop\\nret\\n.popsection\");\n";
static const char c_file2[] =
	"#include <stdio.h>\n#include <stdlib.h>\n"
	"__attribute__((cold)) void unlikely(int x);\n"
	"__attribute__((noinline)) static int twin(int x) { if (__builtin_expect(x > 4, 0)) { unlikely(x); unlikely(x + 2); abort(); } return x * 5 + rand(); }\n"
	"int use_c(int x) { return twin(x); }\n"
	"int use_a(int), use_b(int *), hot(int), add(int), dead(int);\n"
	"int main(int c, char **v) { int a[2] = {c, c}; return use_a(c) + use_b(a) + use_c(c) + hot(c) + add(c) + dead(c); }\n";
static const char cc_file[] =
	"#include <stdexcept>\n#include <cstdlib>\n"
	"namespace ns {\n"
	"__attribute__((noinline)) int f(int x) { return x + rand(); }\n"
	"__attribute__((noinline)) int f(char *x) { return *x + rand(); }\n"
	"struct a { int v; __attribute__((noinline)) a(int x) : v(x + rand()) {}\n"
	"  __attribute__((noipa)) int operator*(int o) { return v * o + rand(); }\n"
	"  __attribute__((noipa)) int operator[](int o) { return v - o + rand(); } };\n"
	"template <class T> __attribute__((noinline)) T twice(T x) { return x + x + rand(); }\n"
	"__attribute__((noinline)) int guarded(int x) { try { if (x > 2) throw std::runtime_error(\"x\"); return f(x); } catch (std::exception &e) { return f(3); } }\n"
	"}\n"
	"int main(int c, char **v) { ns::a x(c); return ns::f(c) + ns::f(v[0]) + x * 3 + x[2] + ns::twice(c) + (int)ns::twice(2.0) + ns::guarded(c); }\n";

static size_t count(struct object *o, const char *text)
{
	function_vec v = {0};
	size_t n = resolve(o, text, &v) ? 0 : v.len;

	functions__free(&v);
	return n;
}

/* The text means one function, at the symbol's address, with this name. */
static void one(struct object *o, const char *text, const char *raw, const char *name)
{
	const struct symbol *s = symbol_named(o, raw);
	function_vec v = {0};
	int err = resolve(o, text, &v);
	struct spec spec;

	ok(!err && s && v.len == 1 && v.data[0].entry == s->vaddr &&
		   !strcmp(v.data[0].name, name) && v.data[0].ranges.data[0].vaddr == s->vaddr &&
		   v.data[0].ranges.data[0].size,
	   "'%s' means the symbol %s (%s)", text, raw,
	   err	   ? err__text()
	   : v.len ? v.data[0].name
		   : "none");
	if (!err && v.len) {
		spec__parse(text, false, &spec);
		ok(spec__matches(&spec, &v.data[0]),
		   "--exclude %s matches the function that this text means", text);
		spec__free(&spec);
	}
	functions__free(&v);
}

static void test_c(struct object *o)
{
	const struct symbol *cold = symbol_named(o, "hot.cold"), *twin = symbol_named(o, "twin");
	function_vec v = {0};
	size_t i, j, wrong = 0;
	struct function f;

	one(o, "add", "add", "add");
	one(o, "dead", "dead", "dead");
	one(o, "hot", "hot", "hot");
	one(o, "other_name", "hot", "other_name");
	one(o, "no_size", "no_size", "no_size");
	ok(cold && twin, "the compiler split off hot.cold and kept twin");
	resolve(o, "other_name", &v);
	ok(v.data[0].ranges.len == 2 && v.data[0].ranges.data[1].vaddr == cold->vaddr,
	   "hot.cold belongs to hot, also under hot's other name");
	is_str(v.data[0].ranges.data[1].name, "hot.cold", "a cold part has a name of its own");
	ok(object__function_at(o, cold->vaddr + 1, &f) && f.entry == symbol_named(o, "hot")->vaddr,
	   "the function at hot.cold is hot");
	function_vec one_more = {0};
	vec__push(&one_more, f);
	functions__free(&one_more);
	resolve(o, "twin", &v);
	is(v.len, 2, "two static functions of one name are both taken");
	for (i = 0; i < v.len; i++)
		for (j = 1; j < v.data[i].ranges.len; j++)
			wrong += v.data[i].ranges.len != 2;
	ok(v.data[0].ranges.len == 2 && v.data[1].ranges.len == 2 && !wrong &&
		   v.data[0].ranges.data[1].vaddr != v.data[1].ranges.data[1].vaddr,
	   "two functions called twin have a twin.cold each");
	resolve(o, "hot.cold", &v);
	ok(v.len == 1 && v.data[0].flags == FUNCTION_RANGE,
	   "a cold part that is named has no entry");
	resolve(o, "use_*", &v);
	is(v.len, 3, "a glob takes each function once");
	resolve(o, "hot*", &v);
	is(v.len, 1, "a glob does not take a cold part without its function");
	functions__free(&v);
	if (!symbol_named(o, "copied"))
		ok(count(o, "copied") == 1,
		   "the name of a function that was made into a copy (.isra or .constprop) means the copy");
	is(count(o, "put*"), 0, "a glob takes no PLT stub");
	is(count(o, "puts@plt"), 1, "a PLT stub is found by its own name");
}

static void test_offsets(struct object *o)
{
	const struct symbol *s = symbol_named(o, "use_b");
	function_vec v = {0};
	uint64_t offset;
	char text[128];

	object__vaddr_to_offset(o, s->vaddr, &offset);
	sprintf(text, "0x%llx", (unsigned long long)offset);
	one(o, text, "use_b", "use_b");
	sprintf(text, "0x%llx:mine", (unsigned long long)offset);
	one(o, text, "use_b", "mine");
	sprintf(text, "0x%llx", (unsigned long long)offset + 4);
	resolve(o, text, &v);
	ok(v.len == 1 && v.data[0].entry == s->vaddr + 4 &&
		   v.data[0].ranges.data[0].size == s->size - 4 && !v.data[0].flags,
	   "an offset inside a function means the code from there to the function's end");
	ok(!strcmp(v.data[0].name, "use_b+0x4") &&
		   !strcmp(v.data[0].ranges.data[0].name, "use_b") &&
		   v.data[0].ranges.data[0].offset == 4,
	   "an offset inside a function is named by its place in the function");
	sprintf(text, "0x%llx:mine", (unsigned long long)offset + 4);
	resolve(o, text, &v);
	ok(!strcmp(v.data[0].name, "mine") && !strcmp(v.data[0].ranges.data[0].name, "mine") &&
		   !v.data[0].ranges.data[0].offset,
	   "an offset with a name is called by that name");
	sprintf(text, "0x%llx+0x6", (unsigned long long)offset + 4);
	resolve(o, text, &v);
	ok(v.len == 1 && v.data[0].flags == FUNCTION_RANGE && v.data[0].ranges.data[0].size == 6 &&
		   !strcmp(v.data[0].ranges.data[0].name, "use_b") &&
		   v.data[0].ranges.data[0].offset == 4 && v.data[0].entry == s->vaddr,
	   "a range is named by its place in the function around it");
	is(resolve(o, "0x0", &v), -EINVAL, "an offset outside the code is refused: %s",
	   err__text());
	is(resolve(o, "0xffffffffffffffff", &v), -EINVAL, "a huge offset is refused");
	sprintf(text, "0x%llx+0xfffffff", (unsigned long long)offset);
	is(resolve(o, text, &v), -EINVAL, "a range that ends outside the code is refused: %s",
	   err__text());
	functions__free(&v);
}

static void write_number(char *text, uint64_t number)
{
	sprintf(text, "0x%llx", (unsigned long long)number);
}

/* A program at fixed addresses: a file offset is understood, and an address as disassemblers show.
 */
static void test_fixed(void)
{
	const struct symbol *s;
	function_vec v = {0};
	struct object *o, *full;
	char address[64], offset[64];
	uint64_t at;

	run("gcc -no-pie -O2 -o fixed.full a.c b.c && strip -o fixed fixed.full");
	full = open_or_die("fixed.full");
	o = open_or_die("fixed");
	s = symbol_named(full, "use_b");
	write_number(address, s->vaddr);
	object__vaddr_to_offset(o, s->vaddr, &at);
	write_number(offset, at);
	ok(at != s->vaddr && !resolve(o, offset, &v) && v.len == 1 && v.data[0].entry == s->vaddr,
	   "a function of a program at fixed addresses is found by its file offset");
	is_str(v.data[0].name, address, "a function without symbol is named by its address");
	functions__free(&v);
	ok(!resolve(o, address, &v) && v.len == 1 && v.data[0].entry == s->vaddr,
	   "a function of a program at fixed addresses is found by its address");
	functions__free(&v);
	object__free(full);
	object__free(o);
}

static void test_stripped(struct object *full)
{
	struct object *o;
	const struct symbol *s = symbol_named(full, "use_b");
	function_vec v = {0};
	struct function f;
	uint64_t offset;
	char text[64];

	run("strip -o c.stripped c");
	o = open_or_die("c.stripped");
	object__vaddr_to_offset(full, s->vaddr, &offset);
	sprintf(text, "0x%llx", (unsigned long long)offset);
	ok(!resolve(o, text, &v) && v.len == 1 && v.data[0].ranges.data[0].size == s->size,
	   "a function without symbol is bounded by .eh_frame");
	ok(object__function_at(o, s->vaddr + 2, &f) && f.entry == s->vaddr && !strcmp(f.name, text),
	   "a function without symbol is found by an address in it");
	functions__free(&v);
	vec__push(&v, f);
	functions__free(&v);
	is(resolve(o, "use_b", &v), -ENOENT,
	   "a function of a stripped program is not found by its name: %s", err__text());
	ok(strstr(err__text(), "0xOFF"), "the message about a stripped program recommends offsets");
	object__free(o);
}

static void test_messages(struct object *o)
{
	function_vec v = {0};

	is(resolve(o, "use_d", &v), -ENOENT, "an unknown name is not found");
	ok(strstr(err__text(), "did you mean use_") && strstr(err__text(), "bbtrace list"),
	   "the message about an unknown name suggests a known one: %s", err__text());
	is(resolve(o, "rand", &v), -ENOENT, "an imported function is not found");
	ok(strstr(err__text(), "rand@plt"),
	   "the message about an imported function names its PLT stub: %s", err__text());
	is(resolve(o, "zz*", &v), -ENOENT, "a glob without matches is refused: %s", err__text());
}

static void test_cc(struct object *o)
{
	function_vec v = {0};
	char line[4096], raw[1024];
	size_t bad = 0, n = 0, pads = 0, i;
	int err;
	const struct symbol *s;
	FILE *f;

	one(o, "ns::f(int)", "_ZN2ns1fEi", "ns::f(int)");
	one(o, "ns::f( int )", "_ZN2ns1fEi", "ns::f( int )");
	one(o, "ns::f(char*)", "_ZN2ns1fEPc", "ns::f(char*)");
	one(o, "_ZN2ns1fEi", "_ZN2ns1fEi", "_ZN2ns1fEi");
	one(o, "ns::a::operator*", "_ZN2ns1amlEi", "ns::a::operator*");
	one(o, "ns::a::operator[]", "_ZN2ns1aixEi", "ns::a::operator[]");
	one(o, "ns::twice<int>", "_ZN2ns5twiceIiEET_S1_", "ns::twice<int>");
	one(o, "ns::guarded", "_ZN2ns7guardedEi", "ns::guarded");
	is(count(o, "ns::f"), 2, "a name without parameters means all overloads");
	is(count(o, "ns::twice"), 2, "the name of a template means all its instances");
	is(count(o, "ns::a::a"), 1, "a constructor is taken once, whatever its aliases");
	ok(count(o, "ns::*") >= 8, "a glob matches readable names");
	one(o, "ns::gu*", "_ZN2ns7guardedEi", "ns::guarded");
	one(o, "*f(char*)", "_ZN2ns1fEPc", "ns::f");
	err = resolve(o, "ns::f*", &v);
	ok(!err && v.len == 2 && !strcmp(v.data[0].name, "ns::f(int)") &&
		   !strcmp(v.data[1].name, "ns::f(char*)"),
	   "overloads of a pattern have their parameters: %s, %s", v.data[0].name, v.data[1].name);
	functions__free(&v);
	is(count(o, "f"), 2, "f is the end of ns::f's name, of all overloads");
	is(count(o, "s::f"), 0, "the end is whole parts of the name");
	object__demangle(o);
	f = tool(
		"nm --defined-only c++ | awk '$2 ~ /[tTW]/ && $3 ~ /^_Z/ {print $3}' | while read n; do echo \"$n $(c++filt $n)\"; done");
	while (next(f, line)) {
		sscanf(line, "%1023s", raw);
		s = symbol_named(o, raw);
		bad += !s || strcmp(s->shown, line + strlen(raw) + 1);
		n++;
	}
	ok(n > 6 && !bad, "readable names are as c++filt shows them (%zu of %zu differ)", bad, n);
	resolve(o, "ns::guarded", &v);
	for (i = 0; i < o->frames.len; i++)
		pads += o->frames.data[i].npads;
	ok(pads >= 1, "a C++ program has landing pads");
	functions__free(&v);
}

/* Each landing pad is at the start of an instruction that objdump shows. */
static void test_pads(struct object *o)
{
	struct map64 starts = {0};
	char line[4096];
	unsigned long long at;
	size_t bad = 0, i, j;
	FILE *f = tool("objdump -d c++ | grep -E '^ +[0-9a-f]+:'");

	while (next(f, line))
		if (sscanf(line, " %llx:", &at) == 1)
			*map64__put(&starts, at) = 1;
	for (i = 0; i < o->frames.len; i++)
		for (j = 0; j < o->frames.data[i].npads; j++)
			bad += !map64__get(&starts, o->frames.data[i].pads[j]);
	is(bad, 0, "landing pads are at starts of instructions");
	map64__free(&starts);
}

static void test_rust(void)
{
	struct object *o;

	write_file("legacy.c", "int f(int x) __asm__(\"_ZN1r4deep4work17h0123456789abcdefE\");\n"
			       "int f(int x) { return x + 1; }\n");
	run("gcc -O2 -shared -fPIC -o legacy.so legacy.c");
	o = open_or_die("legacy.so");
	is(count(o, "r::deep::work"), 1, "a legacy name of Rust is found without its hash");
	is(count(o, "r::deep::work::h0123456789abcdef"), 1,
	   "a legacy name of Rust is found with its hash");
	object__free(o);
	if (system("command -v rustc >/dev/null")) {
		ok(true, "a v0 name of Rust is found # SKIP no rustc");
		return;
	}
	write_file("r.rs", "mod deep { #[inline(never)] pub fn work(x: u32) -> u32 {"
			   " unsafe { std::ptr::read_volatile(&x) + 1 } } }\n"
			   "fn main() { println!(\"{}\", deep::work(3)); }\n");
	run("rustc -g -C symbol-mangling-version=v0 -o rust-v0 r.rs");
	o = open_or_die("rust-v0");
	is(count(o, "r::deep::work"), 1, "a v0 name of Rust is found");
	object__free(o);
}

static void test_versions(void)
{
	struct object *o;

	write_file("v.c",
		   "int one(int x) { return x + 1; }\nint two(int x) { return x + 2; }\n"
		   "__asm__(\".symver one, f@OLD_1\"); __asm__(\".symver two, f@@NEW_2\");\n");
	write_file("v.map", "OLD_1 { global: f; local: *; }; NEW_2 { global: f; } OLD_1;\n");
	run("gcc -O2 -shared -fPIC -Wl,--version-script=v.map -o v.so v.c && strip v.so");
	o = open_or_die("v.so");
	is(count(o, "f"), 2, "a name without version means all its versions");
	is(count(o, "f@OLD_1"), 1, "a name with an old version after @ means that version");
	is(count(o, "f@NEW_2"), 1, "a name with the default version after @ means that version");
	is(count(o, "f@@NEW_2"), 1, "a name with the default version after @@ means that version");
	is(count(o, "f@@OLD_1"), 0, "a name with an old version after @@ means none");
	is(count(o, "f@NONE"), 0, "a name with an unknown version means none");
	ok(strstr(err__text(), " has no f@NONE, but "),
	   "the message about an unknown version says that it is the version: %s", err__text());
	ok(strstr(err__text(), "f@OLD_1") && strstr(err__text(), "f@@NEW_2"),
	   "the message about an unknown version names those that there are");
	object__free(o);

	/* as libc's malloc, which libc also calls through a stub */
	write_file("w.c", "int f(int x) { return x + 1; }\nint g(int x) { return f(x) + 2; }\n");
	write_file("w.map", "NEW_2 { global: f; g; };\n");
	run("gcc -O2 -fno-inline -shared -fPIC -Wl,--version-script=w.map -o w.so w.c");
	o = open_or_die("w.so");
	is(count(o, "f@plt"), 1, "an own function that is called through a stub");
	is(count(o, "f@OLD_1"), 0, "an unknown version of it means none");
	ok(strstr(err__text(), "w.so has no f@OLD_1, but f@@NEW_2") &&
		   !strstr(err__text(), "another object"),
	   "the message doesn't say that the function is another object's: %s", err__text());
	object__free(o);
}

/* What compilers make of a function, by the names they give. */
static void test_copies(void)
{
	static const char *const names[] = {"foo",
					    "foo.cold",
					    "foo.part.0",
					    "foo.part.0.cold",
					    "foo.constprop.0",
					    "bar.isra.0",
					    "bar.constprop.0",
					    "bar.isra.0.cold",
					    "inner.0",
					    "_ZN2ns1gEi.constprop.0",
					    "_ZN2ns1gEi.part.0",
					    "lone.cold",
					    "x.llvm.123"};
	FILE *f = fopen("copies.s", "w");
	function_vec v = {0};
	struct object *o;
	size_t i;

	fputs(".text\n", f);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		fprintf(f, ".type \"%s\",@function\n\"%s\": nop\nret\n.size \"%s\",.-\"%s\"\n",
			names[i], names[i], names[i], names[i]);
	fclose(f);
	run("gcc -shared -nostdlib -o copies.so copies.s");
	o = open_or_die("copies.so");
	resolve(o, "foo", &v);
	ok(v.len == 2 && !strcmp(v.data[0].name, "foo") && !strcmp(v.data[1].name, "foo.part.0"),
	   "foo.part.0 comes along with foo, foo.constprop.0 does not");
	ok(v.len == 2 && v.data[0].ranges.len == 2 && v.data[1].ranges.len == 2 &&
		   !strcmp(v.data[1].ranges.data[1].name, "foo.part.0.cold"),
	   "foo and foo.part.0 have a cold part each");
	resolve(o, "bar", &v);
	ok(v.len == 2 && !strcmp(v.data[0].name, "bar.isra.0") && v.data[0].ranges.len == 2,
	   "bar means its copies if nothing else is left of it");
	is(count(o, "inner"), 1, "a nested function is found by its name");
	is(count(o, "x"), 1, "a function that LLVM renamed is found by its name");
	is(count(o, "ns::g"), 2, "copies of a mangled name are found by the readable name");
	is(count(o, "ns::g(int)"), 2,
	   "copies of a mangled name are found by the readable name with parameters");
	is(count(o, "foo.constprop.0"), 1, "a copy is found by its own name");
	is(count(o, "lone"), 0,
	   "a cold part without its function is not found by the function's name");
	is(count(o, "foo*"), 3, "the glob foo* means foo, foo.part.0 and foo.constprop.0");
	is(count(o, "*.cold"), 4, "the glob *.cold means the cold parts alone");
	functions__free(&v);
	object__free(o);
}

static void test_exported_parts(void)
{
	struct spec spec = {.kind = SPEC_GLOB, .name = (char *)"*", .exported = true};
	function_vec v = {0}, back = {0};
	struct object *o;
	char **words;

	write_file(
		"parts.s",
		".text\n.globl foo\n.globl bar\n.set bar,foo\n.type bar,@function\n.type foo,@function\nfoo: nop\nret\n.size foo,.-foo\n"
		".type foo.part.0,@function\nfoo.part.0: nop\nret\n.size foo.part.0,.-foo.part.0\n"
		".type foo.part.0.cold,@function\nfoo.part.0.cold: nop\nret\n"
		".size foo.part.0.cold,.-foo.part.0.cold\n");
	run("gcc -shared -nostdlib -o parts.so parts.s");
	o = open_or_die("parts.so");
	is(object__resolve(o, &spec, &v), 0, "exported functions are found");
	is(v.len, 2, "an exported function brings its part, and that its cold part");
	resolve(o, "foo", &back);
	ok(back.len == 2 && back.data[1].ranges.len == 2 && v.data[v.len - 1].ranges.len == 2,
	   "by its name it is the same");
	words = functions__words(&v, &o, 1);
	ok(words[0] && !strcmp(v.data[0].name, "bar") && !strcmp(words[0], "foo") && !words[1],
	   "of two names the one that brings the part is written");
	free(words[0]);
	free(words);
	functions__free(&v);
	functions__free(&back);
	object__free(o);
}

static void test_points(struct object *o)
{
	points_vec p = {0};
	function_vec v = {0};
	char text[256];

	write_file(
		"good",
		"# objname=/bin/a\n0x10+0x4\n\n# a remark\n  0x20+0x1 \r\n#objname=/bin/b\n0x30+0x2");
	is(points__read("good", &p), 0, "a points file is read");
	ok(p.len == 2 && p.data[0].ranges.len == 2 && p.data[1].ranges.len == 1 &&
		   p.data[0].ranges.data[1].vaddr == 0x20 && !strcmp(p.data[1].path, "/bin/b"),
	   "a points file has objects and their ranges");
	points__free(&p);
	write_file("bad", "# objname=/bin/a\n0x10+0x4\n0x10-0x4\n");
	is(points__read("bad", &p), -EINVAL, "a damaged points file is refused");
	ok(strstr(err__text(), "bad, line 3") && !p.len,
	   "the message about a damaged points file names the line: %s", err__text());
	write_file("bad", "0x10+0x4\n");
	is(points__read("bad", &p), -EINVAL,
	   "a points file with an address without object is refused");
	write_file("bad", "# objname=/a\n0xffffffffffffffff+0x4\n");
	is(points__read("bad", &p), -EINVAL, "a points file with a range that wraps is refused");
	ok(points__read("missing", &p) < 0, "a missing points file is refused");
	sprintf(text, "# objname=%s\n0x%llx+0x5\n", o->path,
		(unsigned long long)symbol_named(o, "use_b")->vaddr + 4);
	write_file("mine", text);
	ok(!resolve(o, "@mine", &v) && v.len == 1 && v.data[0].flags == FUNCTION_RANGE &&
		   !strcmp(v.data[0].name, "use_b") && v.data[0].ranges.data[0].offset == 4,
	   "@FILE means the points of the object");
	functions__free(&v);
}

int main(void)
{
	struct object *o;

	enter();
	test_forms();
	write_file("a.c", c_file);
	write_file("b.c", c_file2);
	write_file("c.cc", cc_file);
	run("gcc -O2 -g -o c a.c b.c && g++ -O2 -g -o c++ c.cc");
	o = open_or_die("c");
	test_c(o);
	test_offsets(o);
	test_stripped(o);
	test_fixed();
	test_messages(o);
	test_points(o);
	object__free(o);
	o = open_or_die("c++");
	test_pads(o);
	test_cc(o);
	object__free(o);
	test_rust();
	test_versions();
	test_copies();
	test_exported_parts();
	return tap__done();
}
