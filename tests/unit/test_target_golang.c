// SPDX-License-Identifier: BSD-2-Clause
/* The function table of Go programs: each layout, its lines, and tables that aren't believed.
 * tests/e2e/t_go_stripped.sh has real programs. */
#include <errno.h>
#include "object/dwarf/dwarf.h"
#include "go_fixture.h"
#include "target_fixture.h"

/* A function with padding behind it, one that inlines the third one's code, a generic one twice. */
static const struct go_made made[] = {
	{"main.main", 0x00, 3, {{0, 0x2a}}, {{3, 0x08}, {4, 0x20}, {3, 0x2a}}, {{0, 0}}},
	{"main.(*T).Get",
	 0x40,
	 9,
	 {{0, 0x10}, {1, 0x18}, {0, 0x30}},
	 {{9, 0x10}, {20, 0x14}, {21, 0x18}, {12, 0x30}},
	 {{-1, 0x10}, {0, 0x18}, {-1, 0x30}}},
	{"main.Map[...]", 0x80, 20, {{1, 0x40}}, {{22, 0x04}, {20, 0x40}}, {{0, 0x04}, {-1, 0x40}}},
	{"main.Map[...]", 0xc0, 20, {{1, 0x11}}, {{20, 0x11}}, {{0, 0}}},
	{"main.one\xc2\xb7two", 0x100, 30, {{1, 0x11}}, {{31, 0x11}}, {{0, 0}}},
};
#define END 0x111

static struct object *open_program(const struct str *program)
{
	FILE *f = fopen("program", "w");

	if (!f || fwrite(program->data, 1, program->len, f) != program->len || fclose(f)) {
		puts("Bail out! can't write program");
		exit(2);
	}
	return open_or_die("program");
}

static struct object *open_table(const struct str *table, bool relocated)
{
	struct str program = go__program(table, relocated);
	struct object *o = open_program(&program);

	str__free(&program);
	return o;
}

struct rows {
	char text[256];
};

static void take_row(void *ctx, const struct line_row *row)
{
	struct rows *r = ctx;
	size_t len = strlen(r->text);

	snprintf(r->text + len, sizeof(r->text) - len, "%llx:%s:%u ",
		 (unsigned long long)(row->vaddr - GO_TEXT), row->file ? row->file : "-",
		 row->line);
}

static void test_functions(struct object *o)
{
	static const unsigned sizes[] = {0x2a, 0x30, 0x40, 0x11, 0x11};
	const struct symbol *s;
	function_vec v = {0};

	ok(o->go && o->symbols.len == ARRAY_SIZE(made),
	   "each function of a Go program is there once");
	vec__each (s, &o->symbols) {
		size_t i = s - o->symbols.data;

		ok(s->vaddr == GO_TEXT + made[i].entry && s->size == sizes[i],
		   "%s ends where its last line does, not where the next function begins", s->name);
	}
	ok(symbol_named(o, "main.one.two"), "the middle dot of a Go name is a dot, as in .symtab");
	ok(!resolve(o, "main.Map[...]", &v) && v.len == 2,
	   "two Go functions of one name are both taken: %s", err__text());
	ok(!resolve(o, "main.(*T).Get", &v) && v.len == 1, "a Go method is found by its name: %s",
	   err__text());
	ok(!resolve(o, "main.*", &v) && v.len == 5,
	   "a glob takes all functions of a Go package: %s", err__text());
	functions__free(&v);
}

static void test_lines(struct object *o, bool start_lines)
{
	struct range ranges[] = {{GO_TEXT + 0x44, 0x44, NULL}, {GO_TEXT + 0x200, 4, NULL}};
	struct rows rows = {""};
	function_vec v = {0};

	ok(!resolve(o, "a.go:9", &v) && v.len == 1 && !(v.data[0].flags & FUNCTION_RANGE) &&
		   !strcmp(v.data[0].name, "main.(*T).Get"),
	   "the first line of a Go function is the whole function: %s", err__text());
	ok(!resolve(o, "d/b.go:21", &v) && v.len == 1 && v.data[0].flags & FUNCTION_RANGE &&
		   v.data[0].entry == GO_TEXT + 0x40 && v.data[0].ranges.len == 1 &&
		   v.data[0].ranges.data[0].vaddr == GO_TEXT + 0x54 &&
		   v.data[0].ranges.data[0].offset == 0x14 && v.data[0].ranges.data[0].size == 4,
	   "a line of inlined Go code is that code in the function around it: %s", err__text());
	ok(!resolve(o, "b.go:31", &v) && v.len == 1 && !(v.data[0].flags & FUNCTION_RANGE),
	   "a Go function is found by its first line with code: %s", err__text());
	is(resolve(o, "b.go:30", &v), start_lines ? 0 : -ENOENT,
	   "a Go function is found by the line of its declaration if the table has that: %s",
	   err__text());
	is(resolve(o, "b.go:22", &v), 0, "a line of code inlined at a function's start is found");
	ok(v.len == 1 && v.data[0].flags & FUNCTION_RANGE,
	   "a line of code inlined at a function's start is a range");
	is(resolve(o, "a.go:8", &v), -ENOENT, "a line without Go code is not found");
	ok(strstr(err__text(), "4 and 9"),
	   "the message about a line without Go code names the nearest lines: %s", err__text());
	is(resolve(o, "c.go:8", &v), -ENOENT,
	   "a line of a file that no Go code is from is not found");
	ok(strstr(err__text(), "no source file"),
	   "the message about an unknown Go file says so: %s", err__text());
	object__lines(o, ranges, 2, take_row, &rows);
	is_str(rows.text,
	       "44:/src/a.go:9 50:/src/d/b.go:20 54:/src/d/b.go:21 58:/src/a.go:12 70:-:0 "
	       "80:/src/d/b.go:22 84:/src/d/b.go:20 88:-:0 200:-:0 204:-:0 ",
	       "Go code has its lines within a function, between two and behind all");
	functions__free(&v);
}

static void test_layouts(void)
{
	for (enum go_version v = 0; v < GO_VERSIONS; v++)
		for (int relocated = 0; relocated < 2; relocated++) {
			struct str table = go__table(v, made, ARRAY_SIZE(made), END);
			struct object *o = open_table(&table, relocated);

			printf("# layout %u%s\n", v, relocated ? ", relocated" : "");
			test_functions(o);
			test_lines(o, v == GO_1_20);
			object__free(o);
			str__free(&table);
		}
}

/* If one number of a sound table is wrong, nothing of the table is believed. */
static void refused(uint64_t at, uint64_t value, unsigned size, const char *what)
{
	struct str table = go__table(GO_1_20, made, ARRAY_SIZE(made), END);
	struct object *o;

	memcpy(table.data + at, &value, size);
	o = open_table(&table, false);
	is(o->symbols.len, 0, "a table with %s is not believed", what);
	object__free(o);
	str__free(&table);
}

static void test_refused(void)
{
	struct str table = go__table(GO_1_20, made, ARRAY_SIZE(made), END), program;
	uint64_t list = go__get(&table, 0x40, 8), wrong = GO_TEXT + 0x40;
	uint64_t data = (GO_PAGE + GO_TEXT_LEN + table.len + 15) / 16 * 16;
	struct object *o;

	refused(0, 0xfffffff2, 4, "another magic");
	refused(7, 4, 1, "pointers of four bytes");
	refused(8, 1ull << 40, 8, "more functions than bytes");
	refused(0x40, table.len, 8, "a list behind its end");
	refused(list + 8, 0x90, 4, "functions out of order");
	refused(list + 4, go__get(&table, list + 12, 4), 4,
		"one function's record in the place of another's");
	refused(list + 4, 0xfffffff0, 4, "a record behind its end");
	refused(list + 40, 0x1000, 4, "functions that end outside the code");
	refused(list + go__get(&table, list + 4, 4) + 4, 0x7fffffff, 4, "a name behind its end");
	program = go__program(&table, false);
	memcpy(program.data + data + GO_MODULE + 8 * (GO_BOUNDS + 2), &wrong, 8);
	o = open_program(&program);
	is(o->symbols.len, 0, "a table whose moduledata has another text is not believed");
	object__free(o);
	str__free(&program);
	str__free(&table);
}

int main(void)
{
	enter();
	note__set_level(NOTE_QUIET);
	test_layouts();
	test_refused();
	return tap__done();
}
