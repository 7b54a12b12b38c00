// SPDX-License-Identifier: BSD-2-Clause
#include "screens.h"

#define BETWEEN 2 /* columns */

unsigned cells__omit(const struct table_column *c, size_t n, unsigned width, unsigned rest)
{
	unsigned all = rest, omit = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		all += c[i].width + BETWEEN;
		most = max_of(most, c[i].drop_order);
	}
	while (all > width && omit < most) {
		omit++;
		for (size_t i = 0; i < n; i++)
			all -= c[i].drop_order == omit ? c[i].width + BETWEEN : 0;
	}
	return omit;
}

bool cells__shows(const struct table_column *c, unsigned omit)
{
	return !c->drop_order || c->drop_order > omit;
}

void cells__put(struct str *out, const struct table_column *c, const char *text)
{
	unsigned width = text__width(text);

	for (; width < c->width; width++)
		str__putc(out, ' ');
	str__puts(out, text);
	str__puts(out, "  ");
}

/* The column that a table is sorted by is emphasised, and a < is in front of it. */
void cells__put_head(struct str *out, const struct table_column *c, bool sorted)
{
	autofree struct str head = {0};

	str__printf(&head, "%s%s%s%s", sorted ? "\033[1;36m" : "",
		    sorted && strlen(c->head) < c->width ? "<" : "", c->head,
		    sorted ? "\033[0m" : "");
	cells__put(out, c, head.data);
}

void put_difference(struct str *out, int64_t n)
{
	if (n)
		str__printf(out, "%+lld", (long long)n);
	else
		str__putc(out, '=');
}

void put_time_difference(struct str *out, int64_t ns)
{
	str__putc(out, ns < 0 ? '-' : '+');
	put_duration(out, ns < 0 ? -(uint64_t)ns : (uint64_t)ns);
}
