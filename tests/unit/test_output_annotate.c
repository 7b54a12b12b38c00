// SPDX-License-Identifier: BSD-2-Clause
/* The annotate format compared with its expected output. */
#include "code_trace_fixture.h"

#define MISSING "# Missing: 3 branches that could not be probed\n"
#define IDLE	"\n# 1 function did not run.\n"

static void test_listing(void)
{
	autofree char *got = code_render("annotate", "-ghg");

	is_str(got,
	       "# Missing: 3 branches that could not be probed\n"
	       "f<\"&> in /usr/bin/pr\"og, 0x1000: 4 calls, 11 branches, 4/4 blocks, 2/2 sides of branches\n"
	       "       runs      taken  not taken  offset   instruction\n"
	       "                                   a.c:7  if (x)  \\x1b<y>\n"
	       "          4                        +0x0     test edi, edi\n"
	       "                     1          3  +0x2     je f<\"&>+0x8\n"
	       "          3          3             +0x4     call rax                                      a.c:8\n"
	       "                     2                        -> go [x.so]\n"
	       "                     1                        -> hop [x.so]\n"
	       "          3                        +0x6     dec edi\n"
	       "                                   a.c:7  if (x)  \\x1b<y>\n"
	       "          4          4             +0x8     ret\n"
	       "                     4                        -> main\n"
	       "                                   +0x9     (3 bytes that control flow doesn't reach)\n"
	       "\n"
	       "# 1 function did not run.\n"
	       "# Coverage: functions 100.0% (1 of 1), lines 100.0% (2 of 2), "
	       "sides of branches 100.0% (2 of 2).\n",
	       "annotate shows code with its counts, and control characters escaped");
}

static void test_cold(void)
{
	autofree char *got = code_render("annotate", "-");

	is_str(got,
	       "# Missing: 3 branches that could not be probed\n"
	       "f<\"&> in /usr/bin/pr\"og, 0x1000: 1 calls, 2 branches, 2/4 blocks, 1/2 sides of branches\n"
	       "       runs      taken  not taken  offset   instruction\n"
	       "                                   a.c:7  if (x)  \\x1b<y>\n"
	       "          1                        +0x0     test edi, edi\n"
	       "                     1          0  +0x2     je f<\"&>+0x8  # always taken\n"
	       "          0          0             +0x4     call rax                                      a.c:8\n"
	       "          0                        +0x6     dec edi\n"
	       "                                   a.c:7  if (x)  \\x1b<y>\n"
	       "          1          1             +0x8     ret\n"
	       "                     1                        -> main\n"
	       "                                   +0x9     (3 bytes that control flow doesn't reach)\n"
	       "\n"
	       "# 1 function did not run.\n"
	       "# Coverage: functions 100.0% (1 of 1), lines 50.0% (1 of 2), "
	       "sides of branches 50.0% (1 of 2).\n",
	       "an instruction that didn't run has a 0");
}

static void test_colour(void)
{
	autofree char *got = NULL;

	code_options.color = true;
	got = code_render("annotate", "-");
	code_options.color = false;
	ok(strstr(got, "\033[2mdec edi\033[0m\n"), "an instruction that didn't run is dim");
	ok(strstr(got, "\033[31m          1\033[0m") || strstr(got, "\033[1;31m          1\033[0m"),
	   "the highest count is red");
}

static void test_no_branches(void)
{
	autofree char *got = NULL;

	code_options.events = PLAN_ENTRY;
	got = code_render("annotate", "-");
	code_options.events = 0;
	is_str(got,
	       "# No branches were recorded (-e): how often each ran is not known.\n"
	       "# Missing: 3 branches that could not be probed\n"
	       "f<\"&> in /usr/bin/pr\"og, 0x1000: 1 calls, 2 branches\n"
	       "       runs      taken  not taken  offset   instruction\n"
	       "                                   a.c:7  if (x)  \\x1b<y>\n"
	       "          ?                        +0x0     test edi, edi\n"
	       "                                   +0x2     je f<\"&>+0x8\n"
	       "          ?                        +0x4     call rax                                      a.c:8\n"
	       "          ?                        +0x6     dec edi\n"
	       "                                   a.c:7  if (x)  \\x1b<y>\n"
	       "          ?                        +0x8     ret\n"
	       "                     1                        -> main\n"
	       "                                   +0x9     (3 bytes that control flow doesn't reach)\n"
	       "\n"
	       "# 1 function did not run.\n",
	       "without recorded branches an instruction's runs are unknown");
}

/* The lines of the function's code without its source, as annotate shows them. */
static void is_code(const char *calls, const char *wanted, const char *name)
{
	autofree char *got = code_render("annotate", calls);
	struct str code = {0};

	for (char *line = strtok(got, "\n"); line; line = strtok(NULL, "\n")) {
		if (strstr(line, "+0x") && !strstr(line, "reach"))
			str__printf(&code, "%.53s\n", line);
	}
	str__put(&code, "", 0);
	is_str(code.data, wanted, name);
	str__free(&code);
}

/* A call that hasn't returned, since the program crashed, or is still in it. */
static void test_open(void)
{
	is_code("-c",
		"          2                        +0x0     test edi,\n"
		"                     1          1  +0x2     je f<\"&>+\n"
		"          1          0             +0x4     call rax \n"
		"          0                        +0x6     dec edi\n"
		"          1          1             +0x8     ret\n",
		"a block that was entered ran, even if the program crashed before its branch");
	is_code("e",
		"          1                        +0x0     test edi,\n"
		"                     0          0  +0x2     je f<\"&>+\n"
		"          0          0             +0x4     call rax \n"
		"          0                        +0x6     dec edi\n"
		"          0          0             +0x8     ret\n",
		"a function that was called ran, even if the program crashed before its first branch");
	is_code("x",
		"          1                        +0x0     test edi,\n"
		"                     0          1  +0x2     je f<\"&>+\n"
		"          1          1             +0x4     call rax \n"
		"          ?                        +0x6     dec edi\n"
		"          ?          0             +0x8     ret\n",
		"whether the code behind a call ran is unknown while the function hasn't returned");
}

static void test_never(void)
{
	autofree char *got = code_render("annotate", "");

	is_str(got,
	       MISSING "# 2 functions did not run.\n"
		       "# Coverage: functions 0.0% (0 of 1), lines 0.0% (0 of 2), "
		       "sides of branches 0.0% (0 of 2).\n",
	       "annotate shows no function that didn't run");
}

int main(void)
{
	test_listing();
	test_cold();
	test_colour();
	test_no_branches();
	test_open();
	test_never();
	return tap__done();
}
