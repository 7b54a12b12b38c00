// SPDX-License-Identifier: BSD-2-Clause
/* The format files of tracepoints: names, types and places of fields, and text that is none. */
#include <elf.h>
#include "plan/plan.h"
#include "source/probes/session.h"
#include "tap.h"

#define COMMON                                                                                     \
	"name: x\nID: 1\nformat:\n"                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static struct plan *parsed(const char *format)
{
	struct plan *p = plan__empty(arch__by_machine(EM_X86_64));

	plan__add_named(p, NAMED_TRACEPOINT, "x:y");
	tracepoint__parse(format, p);
	return p;
}

static void has_field(const char *line, const char *name, const char *type, unsigned kind,
		      unsigned count)
{
	autofree char *format = xasprintf(COMMON "%s\nprint fmt: \"field:int z;\"\n", line);
	struct plan *p = parsed(format);
	const struct plan_field *f = p->fields.data;

	is(p->fields.len, 1, "'%s' is one field", name);
	if (p->fields.len == 1) {
		is_str(f->name, name, "its name");
		is_str(f->type, type, "its type");
		ok(f->kind == kind && f->count == count, "how it is read");
		ok(f->offset == 16 && f->named == 0, "where it is");
	}
	plan__free(p);
}

static void test_fields(void)
{
	has_field("\tfield:char prev_comm[16];\toffset:16;\tsize:16;\tsigned:0;", "prev_comm",
		  "char[16]", TYPE_STRING, 0);
	has_field("\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;", "pid", "pid_t", TYPE_SIGNED,
		  0);
	has_field("\tfield:unsigned long n;\toffset:16;\tsize:8;\tsigned:0;", "n", "unsigned long",
		  TYPE_UNSIGNED, 0);
	has_field("\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;", "ptr",
		  "const void *", TYPE_HEX, 0);
	has_field("\tfield:struct file *f;\toffset:16;\tsize:8;\tsigned:0;", "f", "struct file *",
		  TYPE_HEX, 0);
	has_field("\tfield:bool on;\toffset:16;\tsize:1;\tsigned:0;", "on", "bool", TYPE_BOOL, 0);
	has_field("\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;", "args",
		  "unsigned long[6]", TYPE_UNSIGNED, 6);
	has_field("\tfield:__data_loc char[] filename;\toffset:16;\tsize:4;\tsigned:0;", "filename",
		  "__data_loc char[]", TYPE_STRING_AT, 0);
	has_field("\tfield:__data_loc u8[] raw;\toffset:16;\tsize:4;\tsigned:0;", "raw",
		  "__data_loc u8[]", TYPE_BYTES_AT, 0);
	has_field("\tfield:struct uuid id;\toffset:16;\tsize:12;\tsigned:0;", "id", "struct uuid",
		  TYPE_BYTES, 0);
	has_field("\tfield:u8 mac[6];\toffset:16;\tsize:6;\tsigned:0;", "mac", "u8[6]",
		  TYPE_UNSIGNED, 6);
	has_field("\tfield:struct pair p[2];\toffset:16;\tsize:24;\tsigned:0;", "p",
		  "struct pair[2]", TYPE_BYTES, 0);
}

static void test_nonsense(void)
{
	static const char *const lines[] = {
		"\tfield:int;\toffset:16;\tsize:4;\tsigned:1;",
		"\tfield:;\toffset:16;\tsize:4;\tsigned:1;",
		"\tfield:int x;\tsize:4;\tsigned:1;",
		"\tfield:int x;\toffset:16;\tsigned:1;",
		"\tfield:int x;\toffset:-4;\tsize:4;\tsigned:1;",
		"\tfield:int x;\toffset:16;\tsize:99999;\tsigned:1;",
		"\tfield:int x",
		"\tfield:]",
		"\tfield:[",
		"field",
		"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct plan *p = parsed(lines[i]);

		is(p->fields.len, 0, "'%s' is no field", lines[i]);
		plan__free(p);
	}
}

int main(void)
{
	test_fields();
	test_nonsense();
	return tap__done();
}
