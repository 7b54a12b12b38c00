// SPDX-License-Identifier: BSD-2-Clause
/* The JSON writer: commas, nesting, escapes, numbers. */
#include "tap.h"
#include "json_check.h"
#include "util/json.h"

/* Checks and drops what was written. */
static void shows(struct json *j, const char *want, const char *what)
{
	const char *p = j->out->data;

	is_str(j->out->data, want, "%s", what);
	ok(json_check__value(&p, 0) && !*p, "%s, in strict JSON", what);
	str__free(j->out);
	j->comma = false;
}

static void test_nothing_in_it(void)
{
	struct str s = {0};
	struct json j = {.out = &s};

	json__open_object(&j);
	json__close_object(&j);
	shows(&j, "{}", "an empty object is written");
	json__open_array(&j);
	json__close_array(&j);
	shows(&j, "[]", "an empty array is written");
	json__string(&j, "");
	shows(&j, "\"\"", "an empty string is written");
}

static void test_members(void)
{
	struct str s = {0};
	struct json j = {.out = &s};

	json__open_object(&j);
	json__member(&j, unsigned, "unsigned", UINT64_MAX);
	json__member(&j, hex, "hex", 0x1f);
	json__member(&j, bool, "yes", true);
	json__member(&j, bool, "no", false);
	json__member(&j, string, "string", "text");
	json__member(&j, string, "none", NULL);
	json__key(&j, "null");
	json__null(&j);
	json__close_object(&j);
	shows(&j,
	      "{\"unsigned\":18446744073709551615,\"hex\":\"0x1f\",\"yes\":true,\"no\":false,"
	      "\"string\":\"text\",\"none\":null,\"null\":null}",
	      "a member of each type is written");
}

static void test_elements(void)
{
	struct str s = {0};
	struct json j = {.out = &s};

	json__open_array(&j);
	json__unsigned(&j, 0);
	json__hex(&j, 0);
	json__bool(&j, true);
	json__string(&j, "x");
	json__null(&j);
	json__real(&j, -1.25, 1);
	json__thousandths(&j, 1);
	json__close_array(&j);
	shows(&j, "[0,\"0x0\",true,\"x\",null,-1.2,0.001]", "an element of each type is written");
}

static void test_nesting(void)
{
	struct str s = {0};
	struct json j = {.out = &s};

	json__open_object(&j);
	json__key(&j, "a");
	json__open_array(&j);
	for (int i = 0; i < 2; i++) {
		json__open_object(&j);
		json__key(&j, "empty");
		json__open_array(&j);
		json__close_array(&j);
		json__member(&j, unsigned, "n", i);
		json__close_object(&j);
	}
	json__open_array(&j);
	json__open_array(&j);
	json__close_array(&j);
	json__unsigned(&j, 1);
	json__close_array(&j);
	json__close_array(&j);
	json__key(&j, "b");
	json__open_object(&j);
	json__close_object(&j);
	json__member(&j, bool, "c", true);
	json__close_object(&j);
	shows(&j,
	      "{\"a\":[{\"empty\":[],\"n\":0},{\"empty\":[],\"n\":1},[[],1]],\"b\":{},\"c\":true}",
	      "objects in arrays in objects are written");
}

static void test_lines(void)
{
	struct str s = {0};
	struct json j = {.out = &s};

	json__open_array(&j);
	for (int i = 0; i < 2; i++) {
		json__begin_line(&j);
		json__open_array(&j);
		json__unsigned(&j, i);
		json__close_array(&j);
	}
	str__putc(&s, '\n');
	json__close_array(&j);
	is_str(s.data, "[\n[0],\n[1]\n]",
	       "an element on a line of its own has its comma on the line before");
	str__free(&s);
}

/* The buffer of an output is emptied between values. */
static void test_flush(void)
{
	struct str s = {0};
	struct json j = {.out = &s};

	json__open_array(&j);
	json__unsigned(&j, 1);
	str__clear(&s);
	json__unsigned(&j, 2);
	json__close_array(&j);
	is_str(s.data, ",2]", "a comma is written though the string was emptied");
	str__free(&s);
}

static const struct {
	const char *text, *want, *in_script;
} strings[] = {
	{"</script>", "\"</script>\"", "\"\\u003c/script>\""},
	{"say \"a\\b\"", "\"say \\\"a\\\\b\\\"\"", "\"say \\\"a\\\\b\\\"\""},
	{"\1\n\177", "\"\\u0001\\u000a\\u007f\"", "\"\\u0001\\u000a\\u007f\""},
	{"\302\233m", "\"\\u009bm\"", "\"\\u009bm\""}, /* C1 */
	{"\342\200\256niam", "\"\\u202eniam\"", "\"\\\\u202eniam\""},
	{"na\303\257ve", "\"na\303\257ve\"", "\"na\303\257ve\""},
	{"\377x\303", "\"\357\277\275x\357\277\275\"", "\"\357\277\275x\357\277\275\""},
};

static void test_strings(void)
{
	struct str s = {0};
	struct json j = {.out = &s};

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		j.in_script = false;
		json__string(&j, strings[i].text);
		shows(&j, strings[i].want, "a string is escaped");
		j.in_script = true;
		json__string(&j, strings[i].text);
		shows(&j, strings[i].in_script, "a string is escaped for a <script>");
	}
}

static void test_names(void)
{
	struct str s = {0};
	struct json j = {.out = &s};

	json__open_object(&j);
	json__name(&j, "a\"b");
	json__unsigned(&j, 1);
	json__name(&j, "\377");
	json__unsigned(&j, 2);
	json__close_object(&j);
	shows(&j, "{\"a\\\"b\":1,\"\357\277\275\":2}", "keys are escaped");
}

static void test_decimals(void)
{
	static const struct {
		uint64_t n;
		const char *want;
	} rows[] = {
		{0, "0.000"},
		{999, "0.999"},
		{1000, "1.000"},
		{1020304, "1020.304"},
		{UINT64_MAX, "18446744073709551.615"},
	};
	struct str s = {0};
	struct json j = {.out = &s};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json__thousandths(&j, rows[i].n);
		shows(&j, rows[i].want, "a number of thousandths is written as a decimal");
	}
	json__real(&j, 2.0 / 3, 2);
	shows(&j, "0.67", "a real number is written with two decimals");
}

/* A value needs room for its comma, too. */
static void test_growth(void)
{
	struct str s = {0};
	struct json j = {.out = &s};
	size_t n = 0;

	json__open_array(&j);
	for (int i = 0; i < 5000; i++)
		json__put(&j, "777777", i % 7 ? i % 7 : 1);
	json__close_array(&j);
	for (const char *p = s.data; *p; p++)
		n += *p == ',';
	is(n, 4999, "a string grows by values and commas");
	is(strlen(s.data), s.len, "a string ends with a NUL");
	str__free(&s);
}

int main(void)
{
	test_nothing_in_it();
	test_members();
	test_elements();
	test_nesting();
	test_lines();
	test_flush();
	test_strings();
	test_names();
	test_decimals();
	test_growth();
	return tap__done();
}
