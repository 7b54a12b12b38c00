// SPDX-License-Identifier: BSD-2-Clause
/*
 * The function table of a Go program. The first byte tells whether the program is position-
 * independent, the rest is the table. moduledata always agrees with the table (go_fixture.h), since
 * otherwise hardly any table would be read.
 */
#include "object/dwarf/dwarf.h"
#include "fuzz.h"
#include "go_fixture.h"
#include "resolve/resolve.h"

static void resolve(struct object *o, const char *text)
{
	function_vec v = {0};
	const struct function *f;
	const struct range *r;
	struct spec spec;

	CHECK(!spec__parse(text, false, &spec));
	err__clear();
	CHECK(!object__resolve(o, &spec, &v) || *err__text());
	vec__each (f, &v)
		vec__each (r, &f->ranges) {
			size_t avail;

			CHECK(object__bytes(o, r->vaddr, &avail) && r->size && r->size <= avail);
		}
	functions__free(&v);
	spec__free(&spec);
}

static void check_row(void *ctx, const struct line_row *row)
{
	uint64_t *last = ctx;

	CHECK(row->vaddr >= *last && !row->file == !row->line);
	CHECK(!row->file || strlen(row->file) < 1u << 20);
	*last = row->vaddr;
}

static void look_at(struct object *o)
{
	const struct range ranges[] = {{GO_TEXT, 0x30}, {GO_TEXT + 0x48, GO_TEXT_LEN - 0x48}};
	const struct symbol *s;
	uint64_t last = 0;

	vec__each (s, &o->symbols) {
		CHECK(s->vaddr >= GO_TEXT && s->size <= GO_TEXT + GO_TEXT_LEN - s->vaddr);
		CHECK(*s->name && (s == o->symbols.data || s[-1].vaddr <= s->vaddr));
	}
	resolve(o, "*");
	resolve(o, "main.main");
	resolve(o, "a.go:9");
	resolve(o, "d/b.go:21");
	object__lines(o, ranges, ARRAY_SIZE(ranges), check_row, &last);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size}, made;
	bool relocated = input__number(&in, 1) & 1;
	struct str table = {0}, program;
	struct memory_file f;
	struct object *o;

	note__set_level(NOTE_QUIET);
	str__put(&table, (const char *)in.p, input__left(&in));
	program = go__program(&table, relocated);
	made = (struct input){(uint8_t *)program.data, (uint8_t *)program.data + program.len};
	memory_file__open(&f, &made);
	if (table.len) {
		CHECK(!object__open(f.path, &o));
		look_at(o);
		object__free(o);
	}
	close(f.fd);
	str__free(&program);
	str__free(&table);
	return 0;
}
