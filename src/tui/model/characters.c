// SPDX-License-Identifier: BSD-2-Clause
#include "characters.h"

#define UNKNOWN_CHARACTER L'?'

/* ---- characters ---- */

/* Decodes a character of UTF-8, and moves *text past it; of what is none, one byte. */
wchar_t character__next(const char **text)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	const uint8_t *p = (const uint8_t *)*text;
	unsigned more = *p < 0xc0 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
	uint32_t c = more ? *p & (0x3f >> more) : *p;

	++*text;
	if (*p >= 0x80 && (!more || *p >= 0xf8))
		return UNKNOWN_CHARACTER;
	for (unsigned i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return UNKNOWN_CHARACTER;
		c = c << 6 | (p[i] & 0x3f);
	}
	*text += more;
	return c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? UNKNOWN_CHARACTER
									      : (wchar_t)c;
}

/* Characters that change the direction of text, which could show it in another order. */
static bool turns(wchar_t c)
{
	return c == 0x61c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

/* Sets the columns of a character, which may be replaced; 0: it is left out. */
unsigned character__columns(wchar_t *c)
{
	int n = *c >= 0x20 && *c < 0x7f ? 1 : wcwidth(*c);

	if (n > 0 && !turns(*c))
		return (unsigned)n;
	if (!n && *c >= 0x300 && !turns(*c)) /* a mark on the character before */
		return 0;
	*c = UNKNOWN_CHARACTER;
	return 1;
}

/* ---- colours ---- */

static unsigned look_of(const char *number, size_t len)
{
	static const struct {
		const char *number;
		unsigned look;
	} looks[] = {
		{"2", LOOK_DIM},     {"1", LOOK_BOLD},
		{"32", LOOK_GREEN},  {"36", LOOK_CYAN},
		{"33", LOOK_YELLOW}, {"1;31", LOOK_RED | LOOK_BOLD},
		{"7", LOOK_REVERSE}, {"1;36", LOOK_CYAN | LOOK_BOLD},
	};

	for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
		if (strlen(looks[i].number) == len && !memcmp(looks[i].number, number, len))
			return looks[i].look;
	return LOOK_PLAIN;
}

/* Moves *text past an escape sequence for a colour, and sets *look. Returns false if there is
 * none. */
bool colour__take(const char **text, unsigned *look)
{
	size_t len;

	if ((*text)[0] != '\033' || (*text)[1] != '[')
		return false;
	len = strspn(*text + 2, "0123456789;");
	if ((*text)[2 + len] != 'm')
		return false;
	*look = look_of(*text + 2, len);
	*text += len + 3;
	return true;
}

unsigned text__width(const char *text)
{
	unsigned width = 0, look;

	while (*text) {
		wchar_t c;

		if (colour__take(&text, &look))
			continue;
		c = character__next(&text);
		width += character__columns(&c);
	}
	return width;
}

void text__plain(const char *text, struct str *out)
{
	unsigned look;

	while (*text)
		if (!colour__take(&text, &look))
			str__putc(out, *text++);
}

void text__pad(struct str *s, size_t start, unsigned width)
{
	unsigned have = s->data ? text__width(s->data + start) : 0;

	for (; have < width; have++)
		str__putc(s, ' ');
}

void text__put_name(struct str *s, const char *text, unsigned width)
{
	autofree struct str shown = {0};
	const char *p;
	unsigned used = 0;

	str__shown(&shown, text);
	if (!shown.len || text__width(shown.data) <= width) {
		str__put(s, shown.data ? shown.data : "", shown.len);
		return;
	}
	for (p = shown.data; *p;) {
		const char *start = p;
		wchar_t c = character__next(&p);
		unsigned columns = character__columns(&c);

		if (used + columns + 1 > width)
			break;
		used += columns;
		str__put(s, start, p - start);
	}
	if (width)
		str__putc(s, '>');
}
