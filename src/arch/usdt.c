// SPDX-License-Identifier: BSD-2-Clause
/* The arguments of a static probe (sys/sdt.h): SIZE@OPERAND, separated by blanks; a negative size:
 * the argument is signed; a size with an f: it is a floating-point number. */
#include <ctype.h>
#include <stdlib.h>
#include "arch/arch.h"

/* Returns what follows "-4@"; NULL if it is none. Other letters than f are not known. */
static const char *take_size(const char *text, struct usdt_argument *out, bool *known)
{
	char *end;
	long size = strtol(text, &end, 10);

	if (end == text)
		return NULL;
	out->is_float = end[0] == 'f' && end[1] == '@';
	*known = *end == '@' || out->is_float;
	while (isalpha((unsigned char)*end))
		end++;
	if (*end != '@')
		return NULL;
	out->is_signed = size < 0;
	out->size = size < 0 ? -size : size;
	*known &= !out->is_float || out->size == 4 || out->size == 8;
	return end + 1;
}

/* An operand may have blanks in it. */
static const char *next_argument(const char *text)
{
	struct usdt_argument any;
	bool known;

	while ((text = strchr(text, ' '))) {
		text += strspn(text, " ");
		if (take_size(text, &any, &known))
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
		bool known;
		const char *operand = take_size(text, &a, &known);

		if (!operand)
			break;
		if (!known || !is_size(a.size) || !arch->usdt_operand ||
		    !arch->usdt_operand(&operand, &a) || (*operand && *operand != ' ') ||
		    (a.kind == USDT_REGISTER && a.size > arch->word))
			a.kind = USDT_UNKNOWN;
		out[n++] = a;
	}
	return n;
}

const char *usdt__argument_text(const char *text, unsigned i, size_t *len)
{
	const char *next;

	for (text += strspn(text, " "); i && text; i--)
		text = next_argument(text);
	next = text ? next_argument(text) : NULL;
	*len = next ? (size_t)(next - text) : text ? strlen(text) : 0;
	while (*len && text[*len - 1] == ' ')
		--*len;
	return text ? text : "";
}
