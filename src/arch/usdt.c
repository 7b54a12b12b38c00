// SPDX-License-Identifier: BSD-2-Clause
/* The arguments of a static probe (sys/sdt.h): SIZE@OPERAND, separated by blanks; a negative size:
 * the argument is signed. */
#include <ctype.h>
#include <stdlib.h>
#include "arch/arch.h"

/* Returns what follows "-4@"; NULL if it is none. A letter after the size: it is not an integer. */
static const char *take_size(const char *text, struct usdt_argument *out, bool *integer)
{
	char *end;
	long size = strtol(text, &end, 10);

	if (end == text)
		return NULL;
	*integer = *end == '@';
	while (isalpha((unsigned char)*end))
		end++;
	if (*end != '@')
		return NULL;
	out->is_signed = size < 0;
	out->size = size < 0 ? -size : size;
	return end + 1;
}

/* An operand may have blanks in it. */
static const char *next_argument(const char *text)
{
	struct usdt_argument any;
	bool integer;

	while ((text = strchr(text, ' '))) {
		text += strspn(text, " ");
		if (take_size(text, &any, &integer))
			return text;
	}
	return NULL;
}

static bool is_size(uint8_t n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

unsigned usdt__arguments(const struct arch *arch, const char *text,
			 struct usdt_argument out[USDT_ARGUMENTS])
{
	unsigned n = 0;

	text += strspn(text, " ");
	for (; text && *text && n < USDT_ARGUMENTS; text = next_argument(text)) {
		struct usdt_argument a = {.base = REG_NONE, .index = REG_NONE};
		bool integer;
		const char *operand = take_size(text, &a, &integer);

		if (!operand)
			break;
		if (!integer || !is_size(a.size) || !arch->usdt_operand ||
		    !arch->usdt_operand(&operand, &a) || (*operand && *operand != ' ') ||
		    (a.kind == USDT_REGISTER && a.size > arch->word))
			a.kind = USDT_UNKNOWN;
		out[n++] = a;
	}
	return n;
}
