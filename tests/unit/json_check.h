/* SPDX-License-Identifier: BSD-2-Clause */
/* A strict JSON checker (RFC 8259, strings in valid UTF-8), which also collects the names of the
 * outermost object's members. */
#ifndef JSON_CHECK_H
#define JSON_CHECK_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool json_check__value(const char **p, int depth);

static bool json_check__skip(const char **p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*p, word, n))
		return false;
	*p += n;
	return true;
}

static bool json_check__hex4(const char **p)
{
	for (int i = 0; i < 4; i++, (*p)++)
		if (!isxdigit((unsigned char)**p))
			return false;
	return true;
}

/* One well-formed UTF-8 sequence of more than one byte: Unicode 15, table 3-7. */
static bool json_check__utf8(const char **p)
{
	static const struct {
		unsigned char from, to, low, high;
		int more;
	} rows[] = {
		{0xc2, 0xdf, 0x80, 0xbf, 1}, {0xe0, 0xe0, 0xa0, 0xbf, 2},
		{0xe1, 0xec, 0x80, 0xbf, 2}, {0xed, 0xed, 0x80, 0x9f, 2},
		{0xee, 0xef, 0x80, 0xbf, 2}, {0xf0, 0xf0, 0x90, 0xbf, 3},
		{0xf1, 0xf3, 0x80, 0xbf, 3}, {0xf4, 0xf4, 0x80, 0x8f, 3},
	};
	const unsigned char *s = (const unsigned char *)*p;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (*s < rows[i].from || *s > rows[i].to)
			continue;
		if (s[1] < rows[i].low || s[1] > rows[i].high)
			return false;
		for (int k = 2; k <= rows[i].more; k++)
			if (s[k] < 0x80 || s[k] > 0xbf)
				return false;
		*p += 1 + rows[i].more;
		return true;
	}
	return false;
}

static bool json_check__string(const char **p)
{
	if (*(*p)++ != '"')
		return false;
	while (**p != '"') {
		unsigned char c = **p;

		if (c < 0x20)
			return false;
		if (c >= 0x80) {
			if (!json_check__utf8(p))
				return false;
			continue;
		}
		(*p)++;
		if (c != '\\')
			continue;
		c = *(*p)++;
		if (c == 'u' ? !json_check__hex4(p) : !c || !strchr("\"\\/bfnrt", c))
			return false;
	}
	(*p)++;
	return true;
}

static bool json_check__digits(const char **p)
{
	const char *from = *p;

	while (isdigit((unsigned char)**p))
		(*p)++;
	return *p > from;
}

/* Without an exponent: bbtrace writes none. */
static bool json_check__number(const char **p)
{
	(void)json_check__skip(p, "-");
	if (**p == '0' && isdigit((unsigned char)(*p)[1]))
		return false;
	return json_check__digits(p) && (!json_check__skip(p, ".") || json_check__digits(p));
}

/* The members or elements of an object or array, up to and with the closing bracket. */
static bool json_check__list(const char **p, bool object, int depth)
{
	const char *end = object ? "}" : "]";

	(*p)++;
	if (json_check__skip(p, end))
		return true;
	do {
		if (object && (!json_check__string(p) || !json_check__skip(p, ":")))
			return false;
		if (!json_check__value(p, depth + 1))
			return false;
	} while (json_check__skip(p, ","));
	return json_check__skip(p, end);
}

static bool json_check__value(const char **p, int depth)
{
	if (depth > 8)
		return false;
	switch (**p) {
	case '{':
	case '[':
		return json_check__list(p, **p == '{', depth);
	case '"':
		return json_check__string(p);
	case 't':
		return json_check__skip(p, "true");
	case 'f':
		return json_check__skip(p, "false");
	case 'n':
		return json_check__skip(p, "null");
	default:
		return json_check__number(p);
	}
}

/* Is text lines of one JSON object each, without white space between tokens, each ended by \n? */
static inline bool json_check__lines_ok(const char *text)
{
	while (*text) {
		if (*text != '{' || !json_check__value(&text, 0) || *text++ != '\n')
			return false;
	}
	return true;
}

#endif
