// SPDX-License-Identifier: BSD-2-Clause
/*
 * Switches whose index is a byte from a table of bytes, as in scanners: the bounds check may be on
 * the byte in memory, the bound may be smaller than the table's largest byte, and the next jump
 * table follows directly.
 */
#include "prog.h"

struct token {
	int length;
	unsigned char class;
};

/* More classes than scan() has cases: as many as the tables behind its own have entries. */
static const unsigned char class_of[256] = {
	['\t'] = 1, ['\n'] = 2, [' '] = 1, ['!'] = 3,  ['"'] = 4,  ['#'] = 5,  ['%'] = 6,
	['&'] = 7,  ['('] = 8,	[')'] = 9, ['*'] = 10, ['+'] = 11, [','] = 12, ['-'] = 14,
	['.'] = 13, ['/'] = 20, ['0'] = 3, ['1'] = 25, ['2'] = 26, ['<'] = 4,  ['='] = 5,
	['>'] = 6,  ['?'] = 7,	['['] = 8, [']'] = 9,  ['^'] = 10, ['a'] = 11, ['{'] = 1,
};

NOINLINE int scan(const unsigned char **at)
{
	switch (class_of[*(*at)++]) {
	case 0:
		return touch(0) - 1;
	case 1:
		return touch(1) * 3;
	case 2:
		return touch(2) ^ 77;
	case 3:
		return touch(3) + 1000;
	case 4:
		while (**at && **at != '"')
			++*at;
		return touch(4);
	case 5:
		return touch(5) * 5;
	case 6:
		return touch(6) - 60;
	case 7:
		return touch(7) | 0x700;
	case 8:
	case 9:
		return touch(8) & 0xff;
	case 10:
		return touch(10) << 1;
	case 11:
		return touch(11) - 11;
	}
	return 99;
}

/* The same for what is in another's memory. */
NOINLINE int weigh(struct token *t)
{
	switch (t->class) {
	case 0:
		return touch(12);
	case 1:
		return touch(13) * 2;
	case 2:
		return touch(14) + 3;
	case 3:
		return t->length = 4;
	case 4:
		return t->length * 10;
	case 5:
		return t->length << 1;
	case 6:
		return touch(1) | t->length;
	case 7:
		return t->length >> 1;
	case 8:
		return touch(2) + t->length;
	}
	return -1;
}

/* The compiler is told that there are no others: nothing checks. */
NOINLINE int known(unsigned n)
{
	switch (n & 7) {
	case 0:
		return touch(10);
	case 1:
		return touch(21) * 3;
	case 2:
		return touch(2) - 8;
	case 3:
		return touch(3) ^ 99;
	case 4:
		return touch(4) * 7;
	case 5:
		return touch(5) + 55;
	}
	__builtin_unreachable();
}

int main(void)
{
	static const unsigned char text[] = "(1+2)*12,-.\"quoted text\"/<>=!#%&\n\t a{b|c}~d^e[?]";
	const unsigned char *at = text;
	unsigned sum = 0;

	while (*at)
		sum = sum * 31 + scan(&at);
	for (unsigned i = 0; i < 6; i++)
		sum = sum * 31 + known(i);
	for (unsigned i = 0; i < 14; i++)
		sum = sum * 31 + weigh(&(struct token){i, i});
	printf("%u\n", sum);
	return 0;
}
