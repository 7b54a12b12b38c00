// SPDX-License-Identifier: BSD-2-Clause
/* Coverage of a function by hand: what is counted, what is left out, and what inlined code adds. */
#include "code_trace_fixture.h"

#define HEAD "TN:\nSF:/src/a.c\n"
#define END  "end_of_record\n"

static void renders(const char *format, const char *calls, const char *want, const char *what)
{
	char *text = code_render(format, calls);

	is_str(text, want, "%s", what);
	free(text);
}

static void has(const char *format, const char *calls, const char *part, const char *what)
{
	char *text = code_render(format, calls);

	ok(strstr(text, part) != NULL, "%s", what);
	if (!strstr(text, part))
		printf("# %s\n", text);
	free(text);
}

/* ---- lcov ---- */

static void test_lines(void)
{
	renders("lcov", "--gh",
		HEAD "FN:7,f<\"&>\nFNDA:4,f<\"&>\nFNF:1\nFNH:1\n"
		     "BRDA:7,0,0,2\nBRDA:7,0,1,2\nBRF:2\nBRH:2\nDA:7,4\nDA:8,2\nLF:2\nLH:2\n" END,
		"a line ran as often as its hottest block");
	renders("lcov", "",
		HEAD "FN:7,f<\"&>\nFNDA:0,f<\"&>\nFNF:1\nFNH:0\n"
		     "BRDA:7,0,0,-\nBRDA:7,0,1,-\nBRF:2\nBRH:0\nDA:7,0\nDA:8,0\nLF:2\nLH:0\n" END,
		"what never ran is there");
	has("lcov", "-", "BRDA:7,0,0,0\nBRDA:7,0,1,1\nBRF:2\nBRH:1\nDA:7,1\nDA:8,0\nLF:2\nLH:1\n",
	    "a side that was never taken, of a branch that was reached");
}

static void test_not_known(void)
{
	code_options.events = PLAN_ENTRY;
	renders("lcov", "-", HEAD "FN:7,f<\"&>\nFNDA:1,f<\"&>\nFNF:1\nFNH:1\nLF:0\nLH:0\n" END,
		"without branch events lines and branches are not known");
	code_options.events = 0;
}

/* Copies could not be put into a process: what was not seen to run there is not known. */
static void test_untraced(void)
{
	struct untraced row = {7, UNTRACED_ALL, UNTRACED_ALL, (char *)"no memory"};
	uint8_t probe = code_sites[CODE_JE].probe;

	code_untraced.data = &row;
	code_untraced.len = 1;
	has("lcov", "", "BRDA:7,0,0,-", "a function with probes is traced in each process");
	code_sites[CODE_JE].probe = PROBE_INLINE;
	renders("lcov", "", HEAD "FNF:0\nFNH:0\nLF:0\nLH:0\n" END,
		"what did not run where it is seen is not known");
	renders("lcov", "-",
		HEAD "FN:7,f<\"&>\nFNDA:1,f<\"&>\nFNF:1\nFNH:1\nBRDA:7,0,1,1\nBRF:1\nBRH:1\n"
		     "DA:7,1\nLF:1\nLH:1\n" END,
		"what ran is told");
	row.object = 1;
	has("lcov", "", "BRDA:7,0,0,-", "what is untraced of another object says nothing");
	row.object = 0;
	has("summary", "", "?", "the summary has no count");
	has("json", "",
	    "\"untraced\":[{\"pid\":7,\"object\":\"/usr/bin/pr\\\"og\",\"reason\":\"no memory\"}]",
	    "JSON's summary says what is untraced, and why");
	code_untraced.len = 0;
	code_sites[CODE_JE].probe = probe;
}

static void test_no_source(void)
{
	size_t n = code_plan.lines.len;

	code_plan.lines.len = 0;
	renders("lcov", "-g", "", "without source lines there is nothing");
	has("cobertura", "-g", "lines-covered=\"0\" lines-valid=\"0\"", "likewise in cobertura");
	code_plan.lines.len = n;
}

static void test_files(void)
{
	static char *files[] = {(char *)"/src/b.c", (char *)"/src/a.c", (char *)"/src/a/z.c"};

	code_plan.line_files.data = files;
	code_plan.line_files.len = 3;
	code_lines[1].file = 1;
	has("lcov", "g",
	    "SF:/src/a.c\nFNF:0\nFNH:0\nDA:8,1\nLF:1\nLH:1\n" END "TN:\nSF:/src/b.c\nFN:7,",
	    "files are in order of their names");
	code_lines[1].file = 2;
	has("lcov", "g", "TN:\nSF:/src/b.c\nFN:7,", "those of a folder are in front");
	has("cobertura", "g", "<package name=\".\" line-rate=\"1.0000\" branch-rate=\"0.5000\"",
	    "a package is a folder");
	has("cobertura", "g", "<package name=\"a\" line-rate=\"1.0000\" branch-rate=\"1.0000\"",
	    "each has its own");
	code_lines[1].file = 0;
	code_plan.line_files.data = code_files;
	code_plan.line_files.len = 1;
}

/* clang gives the jump of a switch line 0. */
static void test_table_without_line(void)
{
	static uint32_t table[] = {2, 3};

	code_plan.table.data = table;
	code_plan.table.len = 2;
	code_blocks[1].ntable = 2;
	code_sites[CODE_ICALL].kind = BRANCH_IJMP;
	code_lines[1].line = 0;
	has("lcov", "",
	    "BRDA:7,0,0,-\nBRDA:7,0,1,-\nBRDA:7,1,0,-\nBRDA:7,1,1,-\nBRF:4\nBRH:0\nDA:7,0\n",
	    "the sides of a table whose jump has no line are at that of the code in front of it");
	code_lines[1].line = 8;
	code_sites[CODE_ICALL].kind = BRANCH_ICALL;
	code_blocks[1].ntable = 0;
	code_plan.table.len = 0;
}

/* ---- inlined code ---- */

static void test_inlined(void)
{
	static struct plan_scope scopes[] = {
		{.name = "f", .raw = "_f", .parent = NO_SCOPE, .line = 6, .entry = 0x1000},
		{.name = "g", .parent = 0, .line = 20, .entry = 0x1004},
		{.name = "g", .parent = 0, .line = 20, .entry = 0x1008},
		{.name = "unlined", .parent = 0, .entry = 0x1004},
	};
	static struct plan_scope_range ranges[] = {
		{0x1000, 0x1004, 0, 0}, {0x1004, 0x1006, 0, 1}, {0x1008, 0x1009, 0, 2}};

	code_plan.scopes.data = scopes;
	code_plan.scopes.len = 4;
	code_plan.scope_ranges.data = ranges;
	code_plan.scope_ranges.len = 3;
	has("lcov", "-gh", "FN:6,_f\nFN:20,g\nFNDA:3,_f\nFNDA:5,g\nFNF:2\nFNH:2\n",
	    "a function is where it is declared, an inlined one has the calls of all copies");
	has("lcov", "-gh", "DA:7,6\nDA:8,4\n",
	    "so have its lines: 3 + 3, 2 + 2 outside of the copy");
	has("lcov", "", "FNDA:0,_f\nFNDA:0,g\nFNF:2\nFNH:0\n", "one that never ran has none");
	code_functions[0].raw = "f.part.0";
	has("lcov", "-gh", "FN:6,_f\nFN:20,g\nFNDA:3,_f\n",
	    "an outlined part alone has the function's calls");
	scopes[2] = (struct plan_scope){
		.name = "f", .raw = "_f", .parent = 0, .line = 6, .entry = 0x1000};
	has("lcov", "-gh", "FNDA:3,_f\n", "but not in addition to the part that is inlined");
	code_functions[0].raw = NULL;
	code_plan.scopes.len = code_plan.scope_ranges.len = 0;
}

static void with_scopes(struct plan_scope *scopes, size_t n, struct plan_scope_range *ranges,
			size_t nranges)
{
	code_plan.scopes.data = scopes;
	code_plan.scopes.len = n;
	code_plan.scope_ranges.data = ranges;
	code_plan.scope_ranges.len = nranges;
}

/* gcc has no linkage names for static functions of C++. */
static void test_shared_names(void)
{
	static struct plan_scope scopes[] = {
		{.name = "f", .parent = NO_SCOPE, .line = 6, .entry = 0x1000},
		{.name = "g", .parent = 0, .line = 20, .entry = 0x1004},
		{.name = "g", .parent = 0, .line = 30, .entry = 0x1008},
	};
	static struct plan_scope_range ranges[] = {{0x1000, 0x1009, 0, 0}};

	with_scopes(scopes, 3, ranges, 1);
	has("lcov", "-gh", "FN:6,f\nFN:20,g:20\nFN:30,g:30\nFNDA:3,f\nFNDA:2,g:20\nFNDA:3,g:30\n",
	    "functions of one name in one file are told apart by their lines");
	with_scopes(NULL, 0, NULL, 0);
}

/* The check at its beginning was decided already: control comes in behind it. */
static void test_entered_elsewhere(void)
{
	static struct plan_scope scopes[] = {
		{.name = "f", .parent = NO_SCOPE, .line = 6, .entry = 0x1000},
		{.name = "g", .parent = 0, .line = 20, .entry = 0x1004},
		{.name = "h", .parent = 1, .line = 30, .entry = 0x1004},
	};
	static struct plan_scope_range ranges[] = {{0x1000, 0x1004, 0, 0}, {0x1004, 0x1009, 0, 1}};

	with_scopes(scopes, 3, ranges, 2);
	has("lcov", "-", "FNDA:1,f\nFNDA:1,g\nFNDA:0,h\n",
	    "an inlined copy that is entered elsewhere has these calls");
	has("lcov", "-g", "FNDA:2,f\nFNDA:1,g\nFNDA:1,h\n", "but not in addition to its entry's");
	with_scopes(NULL, 0, NULL, 0);
}

/* What readers of lcov 2 take for errors. */
static void test_strict_readers(void)
{
	static struct plan_scope scopes[] = {
		{.name = "f", .parent = NO_SCOPE, .line = 6, .entry = 0x1000},
		{.name = "g", .parent = 0, .line = 20, .entry = 0x1000},
	};
	static struct plan_scope_range ranges[] = {{0x1000, 0x1009, 0, 0}};

	with_scopes(scopes, 2, ranges, 1);
	code_lines[1].line = 21;
	has("lcov", "-", "FNDA:1,g\n", "a function is called of which no code is left");
	has("lcov", "-", "DA:6,1\nDA:7,1\nDA:20,1\nDA:21,0\nLF:4\nLH:3\n",
	    "it has its calls at the line where it is declared");
	has("lcov", "", "DA:6,0\nDA:7,0\nDA:20,0\nDA:21,0\nLF:4\nLH:0\n",
	    "where it has none if it was not called");
	scopes[1].line = 21;
	has("lcov", "-", "DA:6,1\nDA:7,1\nDA:21,1\nLF:3\nLH:3\n",
	    "nor is a line of it without its calls");
	scopes[1].line = 7;
	has("lcov", "-h", "DA:6,2\nDA:7,2\nDA:21,1\nLF:3\nLH:3\n",
	    "a line with code has the count of that");
	with_scopes(NULL, 0, NULL, 0);
	code_lines[1].line = 8;

	code_sites[CODE_ICALL].kind = BRANCH_JCC;
	code_lines[2].line = 8;
	has("lcov", "-", "BRDA:7,0,0,0\nBRDA:7,0,1,1\nBRDA:8,0,0,0\nBRDA:8,0,1,0\nBRF:4\nBRH:1\n",
	    "branches that were not reached, of a line that ran elsewhere, have 0");
	has("lcov", "", "BRDA:8,0,0,-\nBRDA:8,0,1,-\n", "those of a line that never ran have not");
	code_sites[CODE_ICALL].kind = BRANCH_ICALL;
	code_lines[2].line = 7;
}

/* ---- cobertura, drcov ---- */

static void test_cobertura(void)
{
	has("cobertura", "-gh",
	    "<method name=\"f&lt;&quot;&amp;&gt;\" signature=\"\" line-rate=\"1.0000\" "
	    "branch-rate=\"1.0000\" complexity=\"0\"><lines><line number=\"7\" hits=\"3\"/>",
	    "a method has its calls, and its name is escaped");
	has("cobertura", "-",
	    "<line number=\"7\" hits=\"1\" branch=\"true\" condition-coverage=\"50% (1/2)\">",
	    "a line has its branches");
	has("cobertura", "-", "<line number=\"8\" hits=\"0\" branch=\"false\"/>",
	    "one without has none");
}

static void test_drcov(void)
{
	static const char head[] = "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\n"
				   "Module Table: version 2, count 1\n"
				   "Columns: id, base, end, entry, path\n"
				   "0, 0x1000, 0x100c, 0x0, " PROG "\nBB Table: 2 bbs\n";
	static const uint8_t rows[] = {0, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0};
	struct trace_totals totals = {0};
	struct str text = {0};
	struct output *o;

	o = output__new(output__by_name("drcov"), &code_options, &code_plan, code_write, &text);
	code_call(o, 1, '-');
	output__end(o, &totals);
	output__free(o);
	is(text.len, sizeof(head) - 1 + sizeof(rows), "drcov has the blocks that ran");
	ok(!memcmp(text.data, head, sizeof(head) - 1), "under its head");
	ok(text.len == sizeof(head) - 1 + sizeof(rows) &&
		   !memcmp(text.data + sizeof(head) - 1, rows, sizeof(rows)),
	   "by offset and size");
	str__free(&text);
}

/* ---- totals ---- */

static void test_totals(void)
{
	struct output *o = output__new(output__by_name("lcov"), &code_options, &code_plan,
				       code_write, &(struct str){0});
	struct output_coverage c;
	struct str text = {0};

	code_call(o, 1, '-');
	ok(output__coverage(o, &c), "a format with coverage tells it");
	output_coverage__text(&c, &text);
	is_str(text.data,
	       "functions 100.0% (1 of 1), lines 50.0% (1 of 2), sides of branches 50.0% (1 of 2)",
	       "by lines");
	output__free(o);
	str__clear(&text);
	code_plan.lines.len = 0;
	o = output__new(output__by_name("drcov"), &code_options, &code_plan, code_write,
			&(struct str){0});
	code_call(o, 1, '-');
	output__coverage(o, &c);
	output_coverage__text(&c, &text);
	is_str(text.data,
	       "functions 100.0% (1 of 1), blocks 50.0% (2 of 4), sides of branches 50.0% (1 of 2)",
	       "by blocks");
	output__free(o);
	code_plan.lines.len = ARRAY_SIZE(code_lines);
	o = output__new(output__by_name("json"), &code_options, &code_plan, code_write,
			&(struct str){0});
	ok(!output__coverage(o, &c), "other formats have none");
	output__free(o);
	str__free(&text);
}

int main(void)
{
	code_plan.arch = arch__by_machine(EM_X86_64);
	test_lines();
	test_not_known();
	test_untraced();
	test_no_source();
	test_files();
	test_table_without_line();
	test_inlined();
	test_shared_names();
	test_entered_elsewhere();
	test_strict_readers();
	test_cobertura();
	test_drcov();
	test_totals();
	return tap__done();
}
