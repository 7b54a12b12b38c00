/* SPDX-License-Identifier: BSD-2-Clause */
/* units VALUE: converts a size such as 10, 4k or 2M to bytes. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The factor of a unit; 0: no such unit. */
long factor(int unit)
{
	switch (tolower(unit)) {
	case 0:
		return 1;
	case 'k':
		return 1024;
	case 'm':
		return 1024 * 1024;
	}
	return 0;
}

int parse_size(const char *text, long *bytes)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || (*end && end[1]))
		return -EINVAL;
	if (value < 0)
		return -ERANGE;
	if (!factor(*end))
		return -EINVAL;
	if (__builtin_mul_overflow(value, factor(*end), bytes))
		return -ERANGE;
	return 0;
}

int main(int argc, char **argv)
{
	long bytes;

	if (argc < 2 || parse_size(argv[1], &bytes))
		return 1;
	printf("%ld\n", bytes);
	return 0;
}
