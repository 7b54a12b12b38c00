// SPDX-License-Identifier: BSD-2-Clause
/* A parser of quoted fields: a quote that is escaped at the very end of its buffer is one too far.
 */
#include "flaky.h"

#define FIELD 16
static char field[FIELD + 1];

static size_t parse(const char *s, size_t *used)
{
	size_t n = 0;

	memset(field, '.', sizeof(field));
	while (*s && *s != ',') {
		if (*s == '"') {
			s++;
			(*used)++;
			continue;
		}
		if (*s == '\\') {
			s++;
			(*used)++;
			if (n == FIELD - 1) /* PLANTED */
				field[n++ + 1] = *s;
			else
				field[n++] = *s;
		} else if (n < FIELD) {
			field[n++] = *s;
		}
		s += !!*s;
		(*used)++;
		if (n >= FIELD)
			break;
	}
	return n;
}

static void make(char *line)
{
	size_t n = 4 + roll(18);

	for (size_t i = 0; i < n; i++) {
		uint32_t r = roll(24);

		if (r == 0 && i + 1 < n)
			*line++ = '\\';
		else if (r == 1)
			*line++ = '"';
		*line++ = 'a' + r;
	}
	*line = 0;
}

int main(int argc, char **argv)
{
	unsigned bad = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 20 + roll(20); i < n; i++) {
		char line[64];
		size_t used = 0, len;

		make(line);
		if (roll(4) == 0)
			weather();
		len = parse(line, &used);
		for (size_t k = 0; k < len; k++)
			if (field[k] == '.')
				bad++;
	}
	return bad ? 1 : 0;
}
