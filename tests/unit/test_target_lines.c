// SPDX-License-Identifier: BSD-2-Clause
/* FILE:LINE means a function, its inlined instances or a single line; a message tells if it has no
 * code. */
#include <errno.h>
#include "target_fixture.h"

/* line numbers matter: the first line is 1 */
static const char header[] = "#include <stdlib.h>\n"			      /* 1 */
			     "static inline __attribute__((always_inline))\n" /* 2 */
			     "int small(int x)\n"			      /* 3 */
			     "{\n"					      /* 4 */
			     "	if (x > rand())\n"			      /* 5 */
			     "		return x + rand();\n"		      /* 6 */
			     "	return 7;\n"				      /* 7 */
			     "}\n";
static const char source[] = "#include \"small.h\"\n"	   /* 1 */
			     "int other(int);\n"	   /* 2 */
			     "__attribute__((noinline))\n" /* 3 */
			     "int first(int x)\n"	   /* 4 */
			     "{\n"			   /* 5 */
			     "	int y = small(x);\n"	   /* 6 */
			     "	if (y > 3)\n"		   /* 7 */
			     "		y += rand();\n"	   /* 8 */
			     "	return y;\n"		   /* 9 */
			     "}\n"			   /* 10 */
			     "static int twice(int x)\n"   /* 11 */
			     "{\n"			   /* 12 */
			     "	return x + rand();\n"	   /* 13 */
			     "}\n"			   /* 14 */
			     "int (*keep)(int) = twice;\n" /* 15 */
			     "int main(int c, char **v)\n" /* 16 */
			     "{\n"			   /* 17 */
			     "	return first(c) + twice(c) + other(c);\n"
			     "}\n";
static const char source2[] = "#include \"small.h\"\n"
			      "int other(int x)\n"
			      "{\n"
			      "	return small(x) * 2;\n"
			      "}\n";

/* How many rows of objdump's line table for this line start at addresses that aren't in v. */
static size_t rows_missing(const char *path, const char *file, int line, const function_vec *v)
{
	char text[4096], name[256];
	unsigned long long at;
	int row;
	size_t missing = 0;
	const struct function *fn;
	const struct range *r;
	FILE *f = tool("objdump --dwarf=decodedline '%s'", path);

	while (next(f, text)) {
		bool in = false;

		if (sscanf(text, "%255s %d 0x%llx", name, &row, &at) != 3 || strcmp(name, file) ||
		    row != line)
			continue;
		vec__each (fn, v)
			vec__each (r, &fn->ranges)
				in |= at - r->vaddr <= r->size;
		missing += !in;
	}
	return missing;
}

static void test_function(struct object *o)
{
	const struct symbol *first = symbol_named(o, "first");
	function_vec v = {0};

	ok(!resolve(o, "source.c:4", &v) && v.len == 1 && v.data[0].entry == first->vaddr &&
		   v.data[0].ranges.data[0].size == first->size && !v.data[0].flags,
	   "the first line of a function is the whole function: %s", err__text());
	ok(v.len && !strcmp(v.data[0].name, "first"),
	   "the function that a line means has its symbol's name");
	resolve(o, "./sub/../source.c:4", &v);
	is(v.len, 1, "a source file is found by a path with . and ..");
	is(resolve(o, "ource.c:4", &v), -ENOENT,
	   "a source file's name matches by whole components: %s", err__text());
	functions__free(&v);
}

static void test_inlined(struct object *o)
{
	function_vec v = {0};
	const struct function *f;
	const struct symbol *first = symbol_named(o, "first"), *other = symbol_named(o, "other");
	bool in_first = false, in_other = false, ranges = true;

	is(resolve(o, "small.h:3", &v), 0, "the first line of an inlined function is found");
	vec__each (f, &v) {
		const struct range *r = f->ranges.data;

		ranges &= f->flags == FUNCTION_RANGE && f->entry + r->offset == r->vaddr;
		in_first |= r->vaddr - first->vaddr < first->size && !strcmp(f->name, "first");
		in_other |= r->vaddr - other->vaddr < other->size && !strcmp(f->name, "other");
	}
	ok(ranges && in_first && in_other,
	   "each instance of an inlined function is a range in the function around it");
	is(resolve(o, "source.c:11", &v), 0,
	   "the line of a function with a copy and an inlined instance is found");
	ok(v.len >= 2 && v.data[0].flags != v.data[v.len - 1].flags,
	   "a function's copy and its inlined instance are both taken");
	functions__free(&v);
}

static void test_line(struct object *o, const char *path)
{
	function_vec v = {0};
	const struct function *f;
	bool ranges = true;

	is(resolve(o, "source.c:8", &v), 0, "a line within a function is found");
	vec__each (f, &v)
		ranges &= f->flags == FUNCTION_RANGE && !strcmp(f->name, f->ranges.data[0].name);
	ok(v.len && ranges, "a line within a function is ranges of the function");
	is(rows_missing(path, "source.c", 8, &v), 0,
	   "a line within a function has all rows of objdump's line table");
	is(resolve(o, "small.h:6", &v), 0, "a line of inlined code is found");
	ok(v.len >= 2, "a line of inlined code is found in every instance");
	is(rows_missing(path, "small.h", 6, &v), 0,
	   "a line of inlined code has all rows of objdump's line table");
	functions__free(&v);
}

static void test_messages(struct object *o)
{
	function_vec v = {0};

	is(resolve(o, "source.c:15", &v), -ENOENT, "a line without code is not found");
	ok(strstr(err__text(), "nearest lines") && strstr(err__text(), "17"),
	   "the message about a line without code names the nearest lines: %s", err__text());
	is(resolve(o, "source.c:9999", &v), -ENOENT, "a line behind the end is not found");
	ok(strstr(err__text(), "nearest line"),
	   "the message about a line behind the end names the nearest line: %s", err__text());
	is(resolve(o, "source.c:99999999999", &v), -ENOENT, "a huge line number is not found");
	is(resolve(o, "absent.c:3", &v), -ENOENT, "a line of an unknown file is not found");
	ok(strstr(err__text(), "absent.c"), "the message about an unknown file names it: %s",
	   err__text());
}

static void test_all(const char *path)
{
	struct object *o = open_or_die(path);

	printf("# %s\n", path);
	test_function(o);
	test_inlined(o);
	test_line(o, strcmp(path, "linked") ? path : "plain.debug");
	test_messages(o);
	object__free(o);
}

static void test_none(void)
{
	struct object *o = open_or_die("stripped");
	function_vec v = {0};

	is(resolve(o, "source.c:4", &v), -ENOENT, "without debug information no line is found");
	ok(strstr(err__text(), "-g") && strstr(err__text(), "build-id"),
	   "the message about missing debug information names -g and the build-id: %s",
	   err__text());
	object__free(o);
}

int main(void)
{
	enter();
	write_file("small.h", header);
	write_file("source.c", source);
	write_file("source2.c", source2);
	run("gcc -O2 -g -o plain source.c source2.c");
	run("gcc -O2 -g -no-pie -o fixed source.c source2.c");
	run("gcc -O2 -gdwarf-4 -o dwarf4 source.c source2.c");
	run("gcc -O2 -g -gz -o packed source.c source2.c");
	run("objcopy --only-keep-debug plain plain.debug && strip -o linked plain && "
	    "objcopy --add-gnu-debuglink=plain.debug linked");
	run("strip -o stripped plain");
	test_all("plain");
	test_all("fixed");
	test_all("dwarf4");
	test_all("packed");
	test_all("linked");
	run("rm plain.debug");
	run("objcopy --only-keep-debug packed plain.debug && "
	    "strip -o linked packed && objcopy --add-gnu-debuglink=plain.debug linked");
	test_all("linked");
	run("rm plain.debug");
	if (!system("objcopy --compress-debug-sections=zstd plain zstd"))
		test_all("zstd");
	test_none();
	if (!system("command -v clang >/dev/null")) {
		run("clang -O2 -g -o clang source.c source2.c");
		test_all("clang");
	}
	return tap__done();
}
