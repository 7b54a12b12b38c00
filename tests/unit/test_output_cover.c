// SPDX-License-Identifier: BSD-2-Clause
/* How coverage formats name sources, the table of coverage, and its sum as a sentence. */
#include "code_trace_fixture.h"

static const char *const *present; /* what exists, ended by NULL */

static bool exists(void *ctx, const char *path)
{
	for (size_t i = 0; present[i]; i++)
		if (!strcmp(present[i], path))
			return true;
	return false;
}

/* The source is at path by the debug information; the name has to be in what the format renders. */
static void named(const char *path, const char *format, const char *want, const char *what)
{
	char *files[] = {(char *)path}, *text;

	code_plan.line_files.data = files;
	code_plan.line_files.len = 1;
	text = code_render(format, "-");
	ok(strstr(text, want) != NULL, "%s", what);
	if (!strstr(text, want))
		printf("# no '%s' in %s\n", want, text);
	free(text);
	code_plan.line_files.data = code_files;
}

static void test_repository(void)
{
	static const char *const here[] = {"/p/.git", "/p/src/a.c", "/p/lib/b.c", NULL};
	static const char *const sub[] = {"/p/.git", "/p/sub/.hg", "/p/sub/a.c", NULL};

	code_options.exists = exists;
	code_options.folder = "/p/build";
	present = here;
	named("/p/src/a.c", "cobertura", "<source>/p</source>", "the repository is the root");
	named("/p/src/a.c", "cobertura", "filename=\"src/a.c\"", "files are relative to it");
	named("/p/src/a.c", "cobertura", "<package name=\"src\"", "so are packages");
	named("/p/src/a.c", "lcov", "SF:/p/src/a.c\n", "lcov has the path");
	named("/p/build/../src/./a.c", "lcov", "SF:/p/src/a.c\n", "without dots");
	named("src/a.c", "lcov", "SF:/p/src/a.c\n", "a relative path is found below the root");
	named("./src/a.c", "cobertura", "filename=\"src/a.c\"", "in cobertura, too");
	named("../lib/b.c", "lcov", "SF:/p/lib/b.c\n", "or below the current folder");
	named("/elsewhere/x/lib/b.c", "lcov", "SF:/p/lib/b.c\n",
	      "so is the end of one that isn't there");
	named("/elsewhere/x/a.c", "lcov", "SF:/elsewhere/x/a.c\n",
	      "a name alone is too little for that");
	named("gone.c", "lcov", "SF:gone.c\n", "what isn't found stays");
	present = sub;
	named("/p/sub/a.c", "cobertura", "<source>/p/sub</source>", "the nearest one above a file");
}

static void test_no_repository(void)
{
	static const char *const files[] = {"/p/src/a.c", NULL};

	present = files;
	code_options.folder = "/p";
	named("/p/src/a.c", "cobertura", "<source>/p</source>",
	      "without a repository: the current folder");
	code_options.folder = "/elsewhere";
	named("/p/src/a.c", "cobertura", "<source>/p/src</source>", "or that of all sources");
	named("/p/src/a.c", "cobertura", "<package name=\".\"", "whose files have no folder");
	code_options.folder = NULL;
	named("/a.c", "cobertura", "<source>/</source>", "or /");
	named("/a.c", "cobertura", "filename=\"a.c\"", "to which files are relative, too");
	code_options.exists = NULL;
}

static void test_prefixes(void)
{
	static const char *const maps[] = {"/a=/x", "/a/b=/y", "rel=/r"};

	code_options.prefixes = maps;
	code_options.nprefixes = 3;
	named("/a/f.c", "lcov", "SF:/x/f.c\n", "a prefix is replaced");
	named("/a/b/f.c", "lcov", "SF:/y/f.c\n", "by the last that fits");
	named("rel/f.c", "lcov", "SF:/r/f.c\n", "also of a relative path");
	named("/b/f.c", "lcov", "SF:/b/f.c\n", "others stay");
	code_options.nprefixes = 0;
}

static void test_table(void)
{
	named("/src/a.c", "coverage",
	      "            1/2    50.0%            1/1              1/2  a.c\n",
	      "the table has lines, functions, branches of each file");
	code_plan.lines.len = 0;
	named("/src/a.c", "coverage", "2/4    50.0%            1/1              1/2  " PROG,
	      "of an object without lines blocks");
	named("/src/a.c", "coverage", "(no source lines: blocks)", "and says so");
	code_plan.lines.len = ARRAY_SIZE(code_lines);
}

static void says(const struct output_coverage *c, const char *want, const char *what)
{
	struct str text = {0};

	output_coverage__sentence(c, &text);
	is_str(text.data, want, "%s", what);
	str__free(&text);
}

static void test_sentence(void)
{
	struct output_coverage c = {.functions = {95, 80, 0},
				    .lines = {1204, 812, 0},
				    .sides = {700, 300, 0},
				    .files = 12};

	says(&c,
	     "covered 812 of 1,204 lines (67.4%), 80 of 95 functions, 300 of 700 branches in 12 "
	     "files",
	     "the sum as a sentence");
	c.lines.unknown = 1000000;
	c.functions.unknown = 5;
	c.files = 1;
	says(&c,
	     "covered 812 of 1,001,204 lines (0.0%; 1,000,000 not known), 80 of 100 functions (5 "
	     "not known), 300 of 700 branches in 1 file",
	     "what is not known counts as not executed");
	c = (struct output_coverage){.functions = {2, 1, 0}, .blocks = {8, 4, 0}};
	says(&c, "covered 4 of 8 blocks (50.0%), 1 of 2 functions",
	     "without lines, and without branches");
}

int main(void)
{
	code_plan.arch = arch__by_machine(EM_X86_64);
	test_repository();
	test_no_repository();
	test_prefixes();
	test_table();
	test_sentence();
	return tap__done();
}
