// SPDX-License-Identifier: BSD-2-Clause
/* The JSON writer's functions that are not inline. */
#include "util/json.h"

/* Returns true for the escape of a bidirectional control. All other controls are below 0x100. */
static bool is_bidirectional(const char *escape)
{
	return escape[1] == 'u' && strncmp(escape, "\\u00", 4);
}

void json__script_string(struct str *s, const char *text)
{
	struct str json = {0};

	str__json(&json, text);
	for (const char *p = json.data; *p; p++) {
		if (*p == '<') {
			str__puts(s, "\\u003c");
			continue;
		}
		str__putc(s, *p);
		if (*p == '\\')
			str__putc(s, is_bidirectional(p) ? '\\' : *++p);
	}
	str__free(&json);
}

void json__real(struct json *j, double n, int decimals)
{
	json__begin_value(j);
	str__printf(j->out, "%.*f", decimals, n);
}

void json__float(struct json *j, uint64_t bits, unsigned size)
{
	struct str digits = {0};

	str__float(&digits, bits, size);
	if (strpbrk(digits.data, "ni"))
		json__string(j, digits.data);
	else
		json__put(j, digits.data, digits.len);
	str__free(&digits);
}

void json__thousandths(struct json *j, uint64_t n)
{
	unsigned rest = n % 1000;

	json__unsigned(j, n / 1000);
	str__putc(j->out, '.');
	str__putc(j->out, '0' + rest / 100);
	str__putc(j->out, '0' + rest / 10 % 10);
	str__putc(j->out, '0' + rest % 10);
}
