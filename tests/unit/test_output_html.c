// SPDX-License-Identifier: BSD-2-Clause
/* The html format: the data that the page's script gets, and that no name of the program breaks out
 * of it. tests/formats tests the page in a browser. */
#include "code_trace_fixture.h"

static void has(const char *page, const char *part, const char *what)
{
	if (!ok(strstr(page, part), "%s", what))
		printf("# no: %s\n", part);
}

/* The text of the script element with this id. The caller frees. */
static char *element(const char *page, const char *id)
{
	autofree char *open = xasprintf("<script type=\"application/json\" id=\"%s\">", id);
	const char *start = strstr(page, open), *end;

	if (!start)
		return xstrdup("");
	start += strlen(open);
	end = strstr(start, "</script>");
	return xstrndup(start, end - start);
}

static void test_code(void)
{
	autofree char *page = code_render("html", "-ghg"), *code = element(page, "code0");

	is_str(code,
	       "[\n"
	       "[\"s\",\"a.c:7\",\"if (x)  \\u001b\\u003cy>\"],\n"
	       "[\"i\",\"0x1000\",\"+0x0\",\"test edi, edi\",4],\n"
	       "[\"b\",\"0x1002\",\"+0x2\",\"je f\\u003c\\\"&>+0x8\",\"\",1,3,[],\"0x1008\"],\n"
	       "[\"b\",\"0x1004\",\"+0x4\",\"call rax\",3,3,null,[[2,\"go [x.so]\"],[1,\"hop [x.so]\"]],\"\",\"a.c:8\"],\n"
	       "[\"i\",\"0x1006\",\"+0x6\",\"dec edi\",3],\n"
	       "[\"s\",\"a.c:7\",\"if (x)  \\u001b\\u003cy>\"],\n"
	       "[\"b\",\"0x1008\",\"+0x8\",\"ret\",4,4,null,[[4,\"main\"]],\"\"],\n"
	       "[\"g\",\"+0x9\",3]\n"
	       "]",
	       "the page has a function's code with counts and targets");
	code = (free(code), element(page, "code1"));
	is_str(code, "", "the page has no code of a function that didn't run");
}

static void test_data(void)
{
	autofree char *page = code_render("html", "-ghg"), *data = element(page, "data");

	is_str(data,
	       "{\"objects\":[\"/usr/bin/pr\\\"og\"],\"threads\":1,\"span\":3100,\"branches\":true,\"more\":\"\",\"ran\":[1,2],\"totals\":{\"format\":\"bbtrace\",\"functions\":2,\"probes\":0,\"skipped\":3,\"events\":15,\"lost\":0,\"unmatched_returns\":0,\"unseen_tail_returns\":0,\"unknown\":0,\"undecoded\":0,\"code\":0,\"missed_at_most\":0},\"functions\":[\n"
	       "{\"id\":0,\"name\":\"f\\u003c\\\"&>\",\"object\":0,\"entry\":\"0x1000\",\"calls\":4,\"branches\":11,\"conditional\":4,\"taken\":1,\"most\":4,\"blocks\":[4,4],\"sides\":[2,2],\"timed\":4,\"open\":0,\"total\":400,\"self\":400,\"min\":100,\"avg\":100,\"p50\":100,\"p99\":100,\"max\":100,\"hist\":[[6,4]]}\n"
	       "]}",
	       "the page has the figures of functions that ran");
}

static void test_escapes(void)
{
	autofree char *page = NULL;

	code_functions[0].name = "</script><img src=x onerror=alert(1)>&\"";
	page = code_render("html", "-g");
	code_functions[0].name = "f<\"&>";
	ok(!strstr(page, "<img"), "a function's name is no markup");
	has(page, "\"name\":\"\\u003c/script>\\u003cimg src=x onerror=alert(1)>&\\\"\"",
	    "a function's name is escaped in the data");
	has(page, "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&amp;&quot;",
	    "a function's name is escaped in the title");
	free(page);
	code_functions[0].name = "\342\200\256niam\\\"\033";
	page = code_render("html", "-g");
	code_functions[0].name = "f<\"&>";
	has(page, "\"name\":\"\\\\u202eniam\\\\\\\"\\u001b\"",
	    "a bidirectional control in a name is escaped");
	ok(!strstr(page, "\342\200\256"),
	   "a bidirectional control in a name is nowhere in the page");
}

static void test_page(void)
{
	autofree char *page = code_render("html", "-"), *idle = code_render("html", "");

	ok(!strncmp(page, "<!DOCTYPE html>\n", 16) && strstr(page, "</html>\n"),
	   "the page is a whole document");
	ok(!strstr(page, "{{"), "each hole of page.html is filled");
	has(page, "default-src 'none'", "the page may fetch nothing");
	has(page, "<p class=\"missing\">Missing: 3 branches that could not be probed</p>",
	    "the page says what is missing");
	has(page, "<svg", "the page has a flame graph");
	has(page, "<title>bbtrace: f&lt;&quot;&amp;&gt; in pr&quot;og</title>",
	    "the page's title names the function that ran");
	has(idle, "<title>bbtrace: nothing ran</title>", "the page's title says that nothing ran");
	ok(!strstr(idle, "<svg"), "a page without calls has no flame graph");
}

static void test_about(void)
{
	autofree char *page = NULL;

	code_options.about = (struct output_about){.command = "bbtrace user '</dd><b>' -- ./x",
						   .system = "Linux 6.1 & x86_64",
						   .version = "1.2"};
	code_options.about.cpus = 2;
	code_options.realtime_offset = 1763649746000000000;
	code_options.utc_offset = -5400;
	page = code_render("html", "-");
	has(page,
	    "<dl class=\"about\">\n"
	    "<div><dt>Command</dt><dd><code>bbtrace user &#39;&lt;/dd&gt;&lt;b&gt;&#39; -- ./x</code></dd></div>\n"
	    "<div><dt>Machine</dt><dd>Linux 6.1 &amp; x86_64, 2 CPUs</dd></div>\n"
	    "<div><dt>Recorded</dt><dd>2025-11-20 13:12:26 -0130 by bbtrace 1.2</dd></div>\n"
	    "<div><dt>Trace</dt><dd>2 functions, 0 probes (3 skipped), 15 events, 0 lost, 0 unmatched returns</dd></div>\n"
	    "</dl>\n",
	    "the page says what it is of without its script");
	code_options.about = (struct output_about){.cpus = 1, .system = "Linux", .parts = 1};
	free(page);
	page = code_render("html", "-");
	has(page, "<dl class=\"about\">\n<div><dt>Machine</dt><dd>Linux, 1 CPU</dd></div>\n",
	    "the page leaves out what is not known of the run");
	has(page, " -0130; 1 earlier part of this trace is not in this page</dd>",
	    "the page says that it lacks earlier parts of the trace");
	code_options.about = (struct output_about){.others = 2};
	free(page);
	page = code_render("html", "-");
	has(page, " -0130; and 2 more traces</dd>", "the page says that it is of several traces");
	code_options.about = (struct output_about){0};
	code_options.realtime_offset = code_options.utc_offset = 0;
}

static void test_no_branches(void)
{
	autofree char *page = NULL, *code = NULL;

	code_options.events = PLAN_ENTRY;
	page = code_render("html", "-");
	code = element(page, "code0");
	code_options.events = 0;
	has(page, "\"branches\":false", "the page says that no branches were recorded");
	has(code, "\"test edi, edi\",null]",
	    "without recorded branches an instruction's runs are unknown");
}

int main(void)
{
	test_code();
	test_data();
	test_escapes();
	test_page();
	test_about();
	test_no_branches();
	return tap__done();
}
