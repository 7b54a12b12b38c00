// SPDX-License-Identifier: BSD-2-Clause
/* util: the map compared with a plain array, escaped text, numbers, vectors, the error message. */
#include <errno.h>
#include <unistd.h>
#include "tap.h"
#include "util/util.h"

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

#define KEYS 512

/* 200,000 random puts and deletions over few keys, so that clusters form and break up. */
static void test_map_agrees_with_array(void)
{
	uint64_t value[KEYS], *v;
	bool there[KEYS] = {0};
	struct map64 m = {0};
	size_t len = 0, bad = 0;

	for (int i = 0; i < 200000; i++) {
		uint64_t r = random_next(), k = r % KEYS, key = k << 32 | k;

		if (r >> 63) {
			bad += map64__del(&m, key) != there[k];
			len -= there[k];
			there[k] = false;
		} else {
			len += !there[k];
			there[k] = true;
			value[k] = *map64__put(&m, key) = r;
		}
		k = (r >> 20) % KEYS;
		v = map64__get(&m, k << 32 | k);
		bad += !!v != there[k] || (v && *v != value[k]);
		bad += m.len != len;
	}
	is(bad, 0, "map64 agrees with an array over random puts and deletions");
	map64__free(&m);
	ok(!map64__get(&m, 1) && !map64__del(&m, 1), "an empty map has nothing to get or delete");
}

/* If all keys collided, this test would take minutes. */
static void test_map_spreads_keys(void)
{
	static const char *const names[] = {"pid << 32 | pid", "pages", "high bits", "counting"};

	for (unsigned kind = 0; kind < ARRAY_SIZE(names); kind++) {
		struct map64 m = {0};
		size_t missing = 0;

		for (int pass = 0; pass < 2; pass++)
			for (uint64_t i = 1; i <= 200000; i++) {
				uint64_t key[] = {i << 32 | i, i << 12, i << 44, i};

				if (!pass)
					*map64__put(&m, key[kind]) = i;
				else
					missing += *map64__get(&m, key[kind]) != i;
			}
		is(missing, 0, "200,000 keys of kind %s are found", names[kind]);
		map64__free(&m);
	}
}

static void test_map_takes_any_key(void)
{
	struct map64 m = {0};

	ok(*map64__put(&m, 0) == 0 && *map64__put(&m, UINT64_MAX) == 0, "a new key's value is 0");
	*map64__put(&m, 0) = 5;
	*map64__put(&m, UINT64_MAX) = 6;
	ok(*map64__get(&m, 0) == 5 && *map64__get(&m, UINT64_MAX) == 6,
	   "0 and ~0 are keys of a map");
	map64__free(&m);
}

static const struct {
	const char *text, *json, *shown;
} texts[] = {
	{"", "\"\"", ""},
	{"malloc", "\"malloc\"", "malloc"},
	{"a\"b\\c", "\"a\\\"b\\\\c\"", "a\"b\\c"},
	{"a\nb\tc", "\"a\\u000ab\\u0009c\"", "a\\x0ab\\x09c"},
	{"\033[31mred", "\"\\u001b[31mred\"", "\\x1b[31mred"},
	{"\177", "\"\\u007f\"", "\\x7f"},
	{"\302\233m", "\"\\u009bm\"", "\\xc2\\x9bm"}, /* CSI as one C1 character */
	{"\302\240", "\"\302\240\"", "\302\240"},
	/* 61C, 200E, 202A, 202E, 2066, 2069: bidirectional controls */
	{"a\330\234b", "\"a\\u061cb\"", "a\\xd8\\x9cb"},
	{"\342\200\216\342\200\252", "\"\\u200e\\u202a\"", "\\xe2\\x80\\x8e\\xe2\\x80\\xaa"},
	{"\342\200\256niam", "\"\\u202eniam\"", "\\xe2\\x80\\xaeniam"},
	{"\342\201\246\342\201\251", "\"\\u2066\\u2069\"", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9"},
	/* 200D, 2010, 202F, 2065, 206A, 61B: next to bidirectional controls, but none */
	{"\342\200\215\342\200\220\342\200\257\342\201\245\342\201\252\330\233",
	 "\"\342\200\215\342\200\220\342\200\257\342\201\245\342\201\252\330\233\"",
	 "\342\200\215\342\200\220\342\200\257\342\201\245\342\201\252\330\233"},
	{"na\303\257ve", "\"na\303\257ve\"", "na\303\257ve"},
	{"\360\237\220\233", "\"\360\237\220\233\"", "\360\237\220\233"},
	{"\377x", "\"\357\277\275x\"", "\\xffx"},
	{"x\303", "\"x\357\277\275\"", "x\\xc3"},		    /* cut short */
	{"\300\257", "\"\357\277\275\357\277\275\"", "\\xc0\\xaf"}, /* overlong */
	{"\355\240\200", "\"\357\277\275\357\277\275\357\277\275\"", "\\xed\\xa0\\x80"}, /* D800 */
	{"\364\220\200\200", "\"\357\277\275\357\277\275\357\277\275\357\277\275\"",
	 "\\xf4\\x90\\x80\\x80"}, /* beyond 10FFFF */
};

static void test_foreign_text(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct str json = {0}, shown = {0};

		str__json(&json, texts[i].text);
		is_str(json.data, texts[i].json, "foreign text %zu is escaped as JSON", i);
		str__shown(&shown, texts[i].text);
		is_str(shown.data ? shown.data : "", texts[i].shown,
		       "foreign text %zu is escaped for a terminal", i);
		str__free(&json);
		str__free(&shown);
	}
}

static void test_date(void)
{
	autofree struct str s = {0};

	str__date(&s, 1763649746999999999, 3600 * 5 + 1800);
	is_str(s.data, "2025-11-20 20:12:26 +0530", "a date is that of its time zone");
	str__clear(&s);
	str__date(&s, 0, -3600);
	is_str(s.data, "1969-12-31 23:00:00 -0100", "a date west of UTC");
}

static void test_tabs(void)
{
	static const struct {
		const char *line, *expanded;
	} rows[] = {
		{"", ""},
		{"x", "x"},
		{"\tx", "        x"},
		{"ab\tx", "ab      x"},
		{"1234567\tx", "1234567 x"},
		{"12345678\tx", "12345678        x"},
		{"\t \tx", "                x"},
		{"\303\251\tx", "\303\251       x"}, /* 2 bytes, 1 column */
		{"\377\tx", "\377       x"},	     /* not UTF-8 */
		{"\360\237\220\233\t", "\360\237\220\233       "},
		{"x\r", "x"},
		{"\tx\r\ry\033\r", "        x\r\ry\033"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str s = {0};

		str__expand_tabs(&s, rows[i].line);
		is_str(s.data, rows[i].expanded, "the tabs of line %zu are expanded", i);
		str__free(&s);
	}
}

#define GONE "\357\277\275" /* U+FFFD */

static void test_markup(void)
{
	static const struct {
		const char *text, *xml, *utf8;
	} rows[] = {
		{"operator<<(A&, \"x\")", "operator&lt;&lt;(A&amp;, &quot;x&quot;)",
		 "operator<<(A&, \"x\")"},
		{"it's ]]>", "it&#39;s ]]&gt;", "it's ]]>"},
		{"a\nb\033c\177", "a" GONE "b" GONE "c" GONE, "a\nb\033c\177"},
		{"na\303\257ve\377", "na\303\257ve" GONE, "na\303\257ve" GONE},
		{"\357\277\276\357\277\277\357\277\274", GONE GONE "\357\277\274",
		 "\357\277\276\357\277\277\357\277\274"}, /* FFFE, FFFF, FFFC */
		{"\302\205", GONE, "\302\205"},
		{"\342\200\256x\342\200\217", GONE "x" GONE, "\342\200\256x\342\200\217"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str xml = {0}, utf8 = {0};

		str__xml(&xml, rows[i].text);
		is_str(xml.data, rows[i].xml, "foreign text %zu is escaped as XML", i);
		str__utf8(&utf8, rows[i].text);
		is_str(utf8.data, rows[i].utf8, "foreign text %zu is made valid UTF-8", i);
		str__free(&xml);
		str__free(&utf8);
	}
}

static void test_numbers_as_text(void)
{
	struct str s = {0};

	str__hex(&s, 0);
	str__putc(&s, ' ');
	str__hex(&s, UINT64_MAX);
	str__putc(&s, ' ');
	str__dec(&s, 0);
	str__putc(&s, ' ');
	str__dec(&s, UINT64_MAX);
	is_str(s.data, "0x0 0xffffffffffffffff 0 18446744073709551615",
	       "the least and greatest numbers are written in hex and decimal");
	str__clear(&s);
	for (uint64_t v = 1; v < 1000000; v *= 10) {
		str__dec(&s, v - 1);
		str__putc(&s, ' ');
		str__dec(&s, v);
		str__putc(&s, ' ');
	}
	is_str(s.data, "0 1 9 10 99 100 999 1000 9999 10000 99999 100000 ",
	       "decimal numbers of one to six digits are written");
	str__clear(&s);
	for (uint64_t v = 1; v < 0x10000; v <<= 4) {
		str__hex(&s, v);
		str__hex(&s, v | (v - 1));
	}
	is_str(s.data, "0x10x10x100x1f0x1000x1ff0x10000x1fff",
	       "hex numbers of one to four digits are written");
	str__clear(&s);
	str__printf(&s, "%s", "");
	is_str(s.data, "", "printing nothing leaves an empty text, not NULL");
	str__free(&s);
}

static const struct {
	const char *text;
	bool suffixes;
	int err;
	uint64_t value;
} numbers[] = {
	{"0", false, 0, 0},
	{"18446744073709551615", false, 0, UINT64_MAX},
	{"18446744073709551616", false, -ERANGE, 0},
	{"0x1f", false, 0, 0x1f},
	{"0x", false, -EINVAL, 0},
	{"010", false, 0, 10},
	{"", false, -EINVAL, 0},
	{"-1", false, -EINVAL, 0},
	{" 1", false, -EINVAL, 0},
	{"1 ", true, -EINVAL, 0},
	{"1 ", false, -EINVAL, 0},
	{"4K", false, -EINVAL, 0},
	{"4K", true, 0, 4096},
	{"4m", true, 0, 4 << 20},
	{"1G", true, 0, 1 << 30},
	{"4KK", true, -EINVAL, 0},
	{"17179869184G", true, -ERANGE, 0},
	{"17179869183G", true, 0, 17179869183ull << 30},
	{"1T", true, -EINVAL, 0},
};

static void test_parse_u64(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint64_t v = 77;
		int err = parse__u64(numbers[i].text, numbers[i].suffixes, &v);

		ok(err == numbers[i].err && v == (err ? 77 : numbers[i].value),
		   "'%s'%s is parsed with result %d", numbers[i].text,
		   numbers[i].suffixes ? " with suffixes" : "", numbers[i].err);
	}
}

static int backwards(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

static void test_vec(void)
{
	VEC(int) v = {0};
	int *p, sum = 0;

	vec__each (p, &v)
		sum++;
	is(sum, 0, "an empty vector has no elements");
	vec__sort(&v, backwards);
	for (int i = 0; i < 1000; i++)
		vec__push(&v, i);
	vec__push(&v, v.data[v.len - 1] + 1);
	*vec__add(&v) += 3;
	is(v.len, 1002, "vec__push and vec__add append");
	vec__sort(&v, backwards);
	ok(v.data[0] == 1000 && v.data[1001] == 0 && v.data[998] == 3,
	   "vec__sort sorts by the comparison");
	vec__free(&v);
	ok(!v.data && !v.len && !v.cap, "vec__free leaves an empty vector");
}

static void test_shell(void)
{
	static const struct {
		const char *text, *word;
	} rows[] = {
		{"./prog", "./prog"},
		{"", "''"},
		{"a b", "'a b'"},
		{"vfs_*", "'vfs_*'"},
		{"it's", "'it'\\''s'"},
		{"a;b", "'a;b'"},
		{"--comm=x,y", "--comm=x,y"},
		{"~", "'~'"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str s = {0};

		str__shell(&s, rows[i].text);
		is_str(s.data, rows[i].word, "a word for the shell: %s", rows[i].word);
		str__free(&s);
	}
}

static void test_err(void)
{
	char big[3000];

	err__clear();
	is_str(err__text(), "", "without error the message is empty");
	is(err__set(ENOENT, "no %s", "malloc"), -ENOENT, "err__set gives -code");
	is(err__prefix(-ENOENT, "libc"), -ENOENT, "err__prefix hands the code on");
	is_str(err__text(), "libc: no malloc", "err__prefix puts text before the message");
	err__set(EIO, "again: %s", err__text());
	is_str(err__text(), "again: libc: no malloc",
	       "err__set may take the message that it replaces");
	is(err__usage("no number: '%s'", "x"), -EINVAL, "err__usage gives -EINVAL");
	ok(err__is_usage(), "err__usage marks its message");
	err__prefix(-EINVAL, "--limit");
	is_str(err__text(), "--limit: no number: 'x'", "wrong usage has a message, too");
	ok(err__is_usage(), "err__prefix keeps the mark");
	err__set(EINVAL, "%s", "cut off");
	ok(!err__is_usage(), "another error removes the mark");
	err__usage("again");
	err__clear();
	ok(!err__is_usage(), "err__clear removes the mark");
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	err__set(EIO, "%s", big);
	err__prefix(-EIO, "%s", big);
	ok(strlen(err__text()) == 1023, "a long message is cut");
}

static void test_file_read(void)
{
	char *text = NULL;
	size_t len = 0;

	is(file__read("/proc/self/stat", 1 << 20, &text, &len), 0, "a /proc file is read");
	ok(text && len > 10 && strlen(text) == len,
	   "a /proc file is read whole and NUL-terminated");
	free(text);
	is(file__read("/dev/null", 0, &text, &len), 0, "an empty file is read");
	is_str(text, "", "an empty file is empty text");
	free(text);
	is(file__read("/dev/zero", 1000, &text, NULL), -EFBIG,
	   "a file larger than the limit is refused");
	is(file__read("/nonexistent", 1000, &text, NULL), -ENOENT, "a missing file is refused");
	ok(strstr(err__text(), "/nonexistent"), "the message about a missing file names it");
	is(file__read("/", 1000, &text, NULL), -EISDIR, "a folder is refused as a file");
}

int main(void)
{
	test_map_agrees_with_array();
	test_map_spreads_keys();
	test_map_takes_any_key();
	test_foreign_text();
	test_date();
	test_tabs();
	test_markup();
	test_numbers_as_text();
	test_parse_u64();
	test_vec();
	test_shell();
	test_err();
	test_file_read();
	return tap__done();
}
