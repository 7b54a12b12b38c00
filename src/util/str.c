// SPDX-License-Identifier: BSD-2-Clause
/* Growable strings, and escaping of untrusted text for JSON, XML, UTF-8 and terminals. */
#include <stdlib.h>
#include "util.h"

void str__reserve(struct str *s, size_t more)
{
	if (s->len + more + 1 > s->cap)
		s->data = vec__grow(s->data, &s->cap, s->len + more + 1, 1);
}

void str__printf(struct str *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	str__reserve(s, n);
	va_start(ap, fmt);
	vsnprintf(s->data + s->len, n + 1, fmt, ap);
	va_end(ap);
	s->len += n;
}

void str__float(struct str *s, uint64_t bits, unsigned size)
{
	uint32_t low = bits;
	double wide;
	float narrow;

	memcpy(&wide, &bits, sizeof(wide));
	memcpy(&narrow, &low, sizeof(narrow));
	if (size == sizeof(narrow))
		str__printf(s, "%.9g", (double)narrow);
	else
		str__printf(s, "%.17g", wide);
}

void str__hex(struct str *s, uint64_t v)
{
	size_t digits = (64 - __builtin_clzll(v | 1) + 3) / 4;
	char *to = str__extend(s, 2 + digits);

	memcpy(to, "0x", 2);
	for (char *p = to + 2 + digits; p > to + 2; v >>= 4)
		*--p = "0123456789abcdef"[v & 15];
}

/* Converts two digits per division: the chain of divisions takes the time. */
void str__dec(struct str *s, uint64_t v)
{
	char digits[20], *p = digits + sizeof(digits);

	for (; v >= 10; v /= 100) {
		unsigned pair = v % 100;

		*--p = '0' + pair % 10;
		*--p = '0' + pair / 10;
	}
	if (v || p == digits + sizeof(digits))
		*--p = '0' + v;
	str__put(s, p, digits + sizeof(digits) - p);
}

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* The length of the valid UTF-8 sequence at p (RFC 3629, table of section 4); 0 if it is not valid.
 */
static int utf8_len(const unsigned char *p)
{
	int n = p[0] < 0x80   ? 1
		: p[0] < 0xc2 ? 0
		: p[0] < 0xe0 ? 2
		: p[0] < 0xf0 ? 3
		: p[0] < 0xf5 ? 4
			      : 0;

	for (int i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

/* Decodes the UTF-8 sequence of n bytes at p. */
static unsigned code_point(const unsigned char *p, int n)
{
	unsigned c = n > 1 ? p[0] & 0x7f >> n : p[0];

	for (int i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

/* Returns true if the sequence of n >= 2 bytes is a terminal control (C1) or a bidirectional
 * control (Bidi_Control in Unicode's PropList.txt), which can make one name look like another. */
static bool is_control(const unsigned char *p, int n)
{
	unsigned c = n > 1 ? code_point(p, n) : 0;

	return (c >= 0x80 && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Printable ASCII but " and \, which JSON takes as they are. */
static const bool is_json_plain[256] = {
	[' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '~'] = true};

static size_t json_plain_len(const unsigned char *p)
{
	size_t n = 0;

	while (is_json_plain[p[n]])
		n++;
	return n;
}

static void put_json_char(struct str *s, const unsigned char *p, int n)
{
	if (*p == '"' || *p == '\\')
		str__printf(s, "\\%c", *p);
	else if (*p < 0x80 || is_control(p, n))
		str__printf(s, "\\u%04x", code_point(p, n));
	else if (n)
		str__put(s, (const char *)p, n);
	else
		str__puts(s, REPLACEMENT);
}

void str__json(struct str *s, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t plain = json_plain_len(p);
	char *to = str__extend(s, plain + 1);

	*to = '"';
	memcpy(to + 1, p, plain);
	for (p += plain; *p; p += plain) {
		int n = utf8_len(p);

		put_json_char(s, p, n);
		p += n ? n : 1;
		plain = json_plain_len(p);
		str__put(s, (const char *)p, plain);
	}
	str__putc(s, '"');
}

/* Appends the longest run of printable ASCII at p; returns its end. */
static const unsigned char *put_plain(struct str *s, const unsigned char *p)
{
	const unsigned char *from = p;

	while (*p >= 0x20 && *p < 0x7f)
		p++;
	str__put(s, (const char *)from, p - from);
	return p;
}

void str__shown(struct str *s, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	int n;

	while (*(p = put_plain(s, p))) {
		n = utf8_len(p);
		if (n > 1 && !is_control(p, n)) {
			str__put(s, (const char *)p, n);
		} else {
			n = n ? n : 1;
			for (int i = 0; i < n; i++)
				str__printf(s, "\\x%02x", p[i]);
		}
		p += n;
	}
}

#define TAB 8

void str__expand_tabs(struct str *s, const char *line)
{
	size_t column = 0;
	int n;

	for (const char *p = line; *p; p += n) {
		n = max_of(utf8_len((const unsigned char *)p), 1);
		if (*p == '\t') {
			str__printf(s, "%*s", (int)(TAB - column % TAB), "");
			column += TAB - column % TAB;
		} else if (p[0] != '\r' || p[1]) {
			str__put(s, p, n);
			column++;
		}
	}
	str__put(s, "", 0);
}

void str__utf8(struct str *s, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		int n = utf8_len(p);

		if (n)
			str__put(s, (const char *)p, n);
		else
			str__puts(s, REPLACEMENT);
		p += n ? n : 1;
	}
}

/* Returns true for a Char of XML 1.0 that is not a discouraged (C1) or bidirectional control.
 * U+FFFE and U+FFFF are not Chars. */
static bool is_xml(const unsigned char *p, int n)
{
	return n && !is_control(p, n) && *p >= 0x20 && *p != 0x7f &&
	       !(n == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe);
}

static const char *xml_entity(unsigned char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void str__xml(struct str *s, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		int n = utf8_len(p);

		if (xml_entity(*p))
			str__puts(s, xml_entity(*p));
		else if (is_xml(p, n))
			str__put(s, (const char *)p, n);
		else
			str__puts(s, REPLACEMENT);
		p += n ? n : 1;
	}
}

void str__shell(struct str *s, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:,@%^";

	if (*text && !text[strspn(text, plain)]) {
		str__puts(s, text);
		return;
	}
	str__putc(s, '\'');
	for (const char *c = text; *c; c++)
		str__put(s, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
	str__putc(s, '\'');
}

void str__clear(struct str *s)
{
	s->len = 0;
	if (s->data)
		s->data[0] = 0;
}

void str__free(struct str *s)
{
	free(s->data);
	*s = (struct str){0};
}

size_t path__undeleted_len(const char *path, size_t len)
{
	static const char deleted[] = " (deleted)";
	const size_t n = sizeof(deleted) - 1;

	return len > n && !memcmp(path + len - n, deleted, n) ? len - n : len;
}

char *path__undeleted(const char *path)
{
	return xstrndup(path, path__undeleted_len(path, strlen(path)));
}

void path__normalise(char *path)
{
	char *in = path, *out = path, *end;
	size_t len;

	for (; *in; in = *end ? end + 1 : end) {
		end = strchrnul(in, '/');
		len = end - in;
		if (len == 1 && *in == '.')
			continue;
		if (len == 0 && in > path)
			continue;
		if (len == 2 && !memcmp(in, "..", 2) && out - path > 1 &&
		    !(out - path >= 3 && !memcmp(out - 3, "../", 3))) {
			out--;
			while (out > path && out[-1] != '/')
				out--;
			continue;
		}
		memmove(out, in, len);
		out += len;
		if (*end)
			*out++ = '/';
	}
	*out = 0;
}

const char *path__base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

unsigned str__distance(const char *a, size_t a_len, const char *b, size_t b_len, unsigned limit)
{
	unsigned row[DISTANCE_MAX_LEN + 1], diagonal, above, best;
	size_t i, j;

	if (a_len > DISTANCE_MAX_LEN || b_len > DISTANCE_MAX_LEN || a_len > b_len + limit ||
	    b_len > a_len + limit)
		return limit + 1;
	for (j = 0; j <= b_len; j++)
		row[j] = j;
	for (i = 1; i <= a_len; i++) {
		diagonal = row[0];
		best = row[0] = i;
		for (j = 1; j <= b_len; j++) {
			above = row[j];
			row[j] = min_of(min_of(above, row[j - 1]) + 1,
					diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
			best = min_of(best, row[j]);
		}
		if (best > limit)
			return limit + 1;
	}
	return row[b_len];
}
