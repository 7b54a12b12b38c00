// SPDX-License-Identifier: BSD-2-Clause
/* Tail calls through memory and registers: out of the program through GOT slots (with -fno-plt) or
 * PLT entries; into its own functions through a pointer, a table, a struct member. */
#include "prog.h"

struct shape {
	int (*area)(const struct shape *, int);
	int side;
};

NOINLINE static int square(const struct shape *s, int n)
{
	return touch(s->side) * s->side + n;
}

NOINLINE static int line(const struct shape *s, int n)
{
	return n > 4 ? touch(n) : s->side;
}

NOINLINE int by_member(const struct shape *s, int n)
{
	return s->area(s, n + 1);
}

NOINLINE int by_register(const struct shape *s, int (*area)(const struct shape *, int), int n)
{
	return area(s, touch(n));
}

NOINLINE size_t by_slot(const char *text, int n)
{
	return strlen(text + (touch(n) & 1));
}

NOINLINE char *by_slot_or_not(const char *text, int n)
{
	if (n < 2)
		return NULL;
	return strchr(text, 'a' + n);
}

NOINLINE void *room(size_t n)
{
	return malloc(n + 8);
}

NOINLINE void leave(void *p)
{
	if (p)
		free(p);
}

int main(void)
{
	const struct shape shapes[] = {{square, 3}, {line, 5}, {square, 7}};
	size_t sum = 0;

	for (int i = 0; i < 9; i++) {
		void *p = room(i);

		sum = sum * 3 + by_member(&shapes[i % 3], i);
		sum += by_slot("abcdefgh" + i % 5, i) + !by_slot_or_not("abcdef", i) +
		       by_register(shapes, i % 2 ? line : square, i);
		leave(i % 3 ? p : NULL);
		if (i % 3 == 0)
			leave(p);
	}
	printf("%zu\n", sum);
	return 0;
}
