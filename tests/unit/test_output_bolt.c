// SPDX-License-Identifier: BSD-2-Clause
/* The edges of a function by hand, as llvm-bolt names their ends. */
#include "code_trace_fixture.h"

static struct symbol symbols[] = {
	{.vaddr = 0xff0, .size = 4, .name = "g", .shown = "g"},
	{.vaddr = 0x1000, .size = 8, .name = "f", .shown = "f", .global = true},
	{.vaddr = 0x1008, .size = 2, .name = "g", .shown = "g"},
	{.vaddr = 0x100a, .size = 2, .name = "puts@plt", .shown = "puts@plt", .type = SYMBOL_PLT},
};

static void renders(const char *calls, const char *want, const char *what)
{
	char *text = code_render("bolt", calls);

	is_str(text, want, "%s", what);
	free(text);
}

int main(void)
{
	code_object.symbols.data = symbols;
	code_object.symbols.len = ARRAY_SIZE(symbols);
	renders("", "", "without calls there is no edge");
	renders("--",
		"1 f 2 1 g/2 0 0 2\n"
		"0 [unknown] 0 1 f 0 0 2\n",
		"a jump, and calls from elsewhere");
	renders("g",
		"1 f 2 1 f 4 0 1\n"
		"1 f 4 0 [unknown] 0 0 1\n"
		"1 f 6 1 g/2 0 0 1\n"
		"0 [unknown] 0 1 f 0 0 1\n",
		"a side that was not taken, a call of another object, and a block without a branch");
	code_sites[CODE_JE].target = 0x1004;
	code_blocks[0].taken = 1;
	renders("g",
		"1 f 2 1 f 4 0 1\n"
		"1 f 4 0 [unknown] 0 0 1\n"
		"0 [unknown] 0 1 f 0 0 1\n",
		"where both sides lead to one place that is one edge");
	code_sites[CODE_JE].target = 0x1008;
	code_blocks[0].taken = 3;
	code_sites[CODE_ICALL].kind = BRANCH_CALL;
	code_sites[CODE_ICALL].target = 0x100a;
	renders("g",
		"1 f 2 1 f 4 0 1\n"
		"1 f 4 1 puts@PLT 0 0 1\n"
		"1 f 6 1 g/2 0 0 1\n"
		"0 [unknown] 0 1 f 0 0 1\n",
		"a call by the PLT");
	code_sites[CODE_ICALL].target = 0x1000;
	renders("g",
		"1 f 2 1 f 4 0 1\n"
		"1 f 4 1 f 0 0 1\n"
		"1 f 6 1 g/2 0 0 1\n",
		"calls that the object itself makes are not from elsewhere");
	code_sites[CODE_ICALL].kind = BRANCH_ICALL;
	code_sites[CODE_ICALL].target = 0;
	return tap__done();
}
