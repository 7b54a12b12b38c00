// SPDX-License-Identifier: BSD-2-Clause
/* Colours, blanks and durations, as every format that is text writes them. */
#include "paint.h"

#define SECOND 1000000000ull

void paint(struct output *o, enum colour colour)
{
	static const char *const codes[] = {
		[PLAIN] = "\033[0m",  [DIM] = "\033[2m",   [BRIGHT] = "\033[1m",
		[GREEN] = "\033[32m", [CYAN] = "\033[36m", [YELLOW] = "\033[33m",
		[RED] = "\033[1;31m",
	};

	if (o->options.color)
		str__puts(&o->buffer, codes[colour]);
}

void put_spaces(struct str *s, unsigned n)
{
	static const char spaces[] = "                                ";

	for (; n > sizeof(spaces) - 1; n -= sizeof(spaces) - 1)
		put(s, spaces);
	str__put(s, spaces, n);
}

void put_right(struct str *s, const char *text, unsigned width)
{
	size_t len = strlen(text);

	put_spaces(s, width > len ? width - len : 0);
	str__puts(s, text);
}

static const struct {
	const char *name;
	uint64_t unit, limit;
} units[] = {{"us", 1000, 1000000}, {"ms", 1000000, SECOND}, {"s", SECOND, 60 * SECOND}};

void put_duration(struct str *s, uint64_t ns)
{
	uint64_t minutes = ns / (60 * SECOND);

	if (ns < 1000) {
		str__dec(s, ns);
		put(s, "ns");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (ns < units[i].limit) {
			str__dec(s, ns / units[i].unit);
			str__putc(s, '.');
			str__dec(s, ns % units[i].unit * 10 / units[i].unit);
			str__puts(s, units[i].name);
			return;
		}
	if (minutes < 60)
		str__printf(s, "%um%02us", (unsigned)minutes, (unsigned)(ns / SECOND % 60));
	else
		str__printf(s, "%lluh%02um", (unsigned long long)minutes / 60,
			    (unsigned)(minutes % 60));
}
