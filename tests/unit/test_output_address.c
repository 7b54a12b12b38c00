// SPDX-License-Identifier: BSD-2-Clause
/* Which numbers are hidden as kernel addresses, and which are not. */
#include "output_fixture.h"

#define HIDDEN "(hidden)"

static const struct {
	const char *text, *want;
} rows[] = {
	{"", ""},
	{"0x0", "0x0"},
	{"0xffffffff81000000", HIDDEN},
	{"0xFFFFFFFF81000000", HIDDEN},
	{"a=0xffff888100000000, b=0x10", "a=(hidden), b=0x10"},
	{"\"0xffffc90000000000\"", "\"(hidden)\""},
	{"0xffffffff81000000-0xffffffff81000001", "(hidden)-(hidden)"},
	{"0xffffffffff7fffff 0xffffffffff800000", "(hidden) 0xffffffffff800000"},
	{"0xff00000000000000 0xfeffffffffffffff", "(hidden) 0xfeffffffffffffff"},
	{"0xfffffffffffffff7", "0xfffffffffffffff7"}, /* -EBADF */
	{"0x00007fffffffffff", "0x00007fffffffffff"},
	{"0xffffffff8100000", "0xffffffff8100000"},	/* 15 digits */
	{"0xffffffff810000000", "0xffffffff810000000"}, /* 17 */
	{"0xffffffff8100000g", "0xffffffff8100000g"},
	{"00xffffffff81000000", "0" HIDDEN},
	{"0x0xffffffff81000000", "0x" HIDDEN},
	{"0x", "0x"},
};

static void test_texts(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str s = {0};

		str__puts(&s, rows[i].text);
		address__hide(&s, false);
		is_str(s.data ? s.data : "", rows[i].want,
		       "of '%s' the kernel addresses are hidden", rows[i].text);
		str__free(&s);
	}
}

static void test_columns(void)
{
	struct str s = {0};

	str__puts(&s, "0xffffffff81000000  f\n0x10  g");
	address__hide(&s, true);
	is_str(s.data, "          (hidden)  f\n0x10  g",
	       "in columns a hidden address keeps its width");
	str__free(&s);
}

int main(void)
{
	test_texts();
	test_columns();
	return tap__done();
}
