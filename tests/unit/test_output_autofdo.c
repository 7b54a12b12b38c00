// SPDX-License-Identifier: BSD-2-Clause
/* A sample profile of a function by hand: lines by distance, copies that add up, and calls. */
#include "code_trace_fixture.h"

static struct plan_scope scopes[] = {
	{.name = "f", .raw = "_f", .parent = NO_SCOPE, .line = 5, .entry = 0x1000},
	{.name = "g", .parent = 0, .line = 7, .call_line = 6, .call_discriminator = 2},
	{.name = "g", .parent = 0, .line = 7, .call_line = 6, .call_discriminator = 2},
	{.name = "unlined", .parent = 0},
};
static struct plan_scope_range ranges[] = {
	{0x1000, 0x1004, 0, 0}, {0x1004, 0x1008, 0, 1}, {0x1008, 0x1009, 0, 2}};

static void renders(const char *calls, const char *want, const char *what)
{
	char *text = code_render("autofdo", calls);

	is_str(text, want, "%s", what);
	free(text);
}

int main(void)
{
	renders("--g", "", "without debug information there is nothing");
	code_plan.scopes.data = scopes;
	code_plan.scopes.len = 1;
	code_plan.scope_ranges.data = ranges;
	code_plan.scope_ranges.len = 1;
	ranges[0].end = 0x1009;
	renders("--g",
		"_f:4:3\n"
		" 2: 3\n"
		" 3: 1 go:1\n",
		"a line counts as its hottest block, and has its indirect calls");
	code_lines[2].discriminator = 4;
	renders("--g",
		"_f:7:3\n"
		" 2: 3\n"
		" 2.2: 3\n"
		" 3: 1 go:1\n",
		"blocks of a line are told apart by discriminators, as clang packs them");
	code_lines[2].discriminator = 0;
	ranges[0].end = 0x1004;
	code_plan.scopes.len = 4;
	code_plan.scope_ranges.len = 3;
	renders("--g",
		"_f:7:3\n"
		" 2: 3\n"
		" 1.1: g:4\n"
		"  0: 3\n"
		"  1: 1 go:1\n",
		"what was inlined is at its place: copies of one place are one, and add up");
	code_lines[1].line = 7;
	renders("--g",
		"_f:7:3\n"
		" 2: 3\n"
		" 1.1: g:4\n"
		"  0: 4 go:1\n",
		"two copies with the same line: 1 + 3");
	code_lines[1].line = 8;
	renders("", "", "what never ran is not there");
	code_plan.scopes.len = code_plan.scope_ranges.len = 0;
	return tap__done();
}
