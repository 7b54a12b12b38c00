// SPDX-License-Identifier: BSD-2-Clause
/* Parses FUNC of the command line into one of its forms. resolve.c finds what it names. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include "resolve/forms.h"

/* Parses a number with 0x at *p; what follows it decides the form. */
static bool hex(const char **p, uint64_t *out)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	char *end;

	if ((*p)[0] != '0' || ((*p)[1] != 'x' && (*p)[1] != 'X') || !strspn(*p + 2, digits))
		return false;
	errno = 0;
	*out = strtoull(*p, &end, 16);
	*p = end;
	return !errno;
}

static int parse_offset(const char *text, bool kernel, struct spec *s)
{
	const char *p = text, *what = kernel ? "an address" : "a file offset";

	s->kind = SPEC_OFFSET;
	if (!hex(&p, &s->start))
		return err__usage("'%s' is not %s: write it as 0x and hexadecimal digits, "
				  "of 64 bits at most",
				  text, what);
	if (*p == ':' && p[1]) {
		s->name = xstrdup(p + 1);
		return 0;
	}
	if (*p == '+') {
		s->kind = SPEC_RANGE;
		p++;
		if (hex(&p, &s->len) && !*p && s->len && s->start <= UINT64_MAX - s->len)
			return 0;
		return err__usage("'%s' is not a range: write 0xOFF+0xLEN with a length from "
				  "0x1 up",
				  text);
	}
	if (!*p)
		return 0;
	return err__usage("'%s' is not %s: write 0xOFF, 0xOFF:NAME or 0xOFF+0xLEN", text, what);
}

/* FILE:LINE: no part of a C++ name is a number. " inlined" may follow, as output shows it. */
static bool parse_line(const char *text, struct spec *s)
{
	const char *colon = strrchr(text, ':');
	uint64_t line;
	char *end;

	if (!colon || colon == text || colon[-1] == ':' || !isdigit((unsigned char)colon[1]))
		return false;
	errno = 0;
	line = strtoull(colon + 1, &end, 10);
	if (errno || !line || (*end && strcmp(end, " inlined")))
		return false;
	s->start = line;
	s->kind = SPEC_LINE;
	s->name = xstrndup(text, colon - text);
	return true;
}

/* Returns true for a pattern. A C++ name is none: f(char*), v<int*>::operator[] or operator*.
 * Inside (...) and <...>, and after "operator", these characters are part of the name, unless it
 * lacks its end: v<int, *. */
static bool is_glob(const char *p)
{
	bool inside = false;
	int depth = 0;

	for (; *p; p++) {
		if (!strncmp(p, "operator", 8) && p[8] && strchr("*[<>-(", p[8])) {
			p += 8;
			p += strspn(p, "*[]<>=-()") - 1;
			continue;
		}
		if (strchr("(<", *p))
			depth++;
		else if (strchr(")>", *p))
			depth--;
		else if (depth <= 0 && strchr("*?[", *p))
			return true;
		else
			inside |= strchr("*?[", *p) != NULL;
	}
	return inside && depth > 0;
}

/* Returns the length of NAME in NAME+0xOFF, as output shows places; 0: it is none. */
static size_t place_len(const char *text, uint64_t *offset)
{
	const char *plus = strrchr(text, '+'), *p = plus ? plus + 1 : NULL;

	return plus && plus != text && hex(&p, offset) && !*p ? plus - text : 0;
}

static int parse_name(const char *text, bool kernel, struct spec *s)
{
	const char *colon = kernel ? strchr(text, ':') : NULL;
	size_t len = place_len(text, &s->start);

	s->name = len ? xstrndup(text, len) : xstrdup(text);
	/* kernel: module:name; Rust and C++ names may contain :: */
	if (colon && colon[1] != ':' && colon > text) {
		if (!colon[1])
			return err__usage("'%s' names a module and no function: write "
					  "MODULE:FUNC",
					  text);
		s->module = xstrndup(text, colon - text);
		memmove(s->name, s->name + (colon + 1 - text), strlen(s->name) - (colon - text));
	}
	s->kind = is_glob(s->name) ? SPEC_GLOB : SPEC_NAME;
	if (len && s->kind == SPEC_GLOB)
		return err__usage("'%s': a place is in one function: write NAME+0xOFF", text);
	/* f+0x0 is where f is entered: f itself */
	if (len && s->start)
		s->kind = SPEC_PLACE;
	return 0;
}

static int parse(const char *text, bool kernel, struct spec *s)
{
	if (!*text)
		return err__usage("an empty function name: name a function, 0xOFF or FILE:LINE");
	if (*text == '@') {
		if (!text[1])
			return err__usage("'@' without a file: write @POINTS, the path of a "
					  "points file");
		s->kind = SPEC_POINTS;
		s->name = xstrdup(text + 1);
		return 0;
	}
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return parse_offset(text, kernel, s);
	if (parse_line(text, s))
		return 0;
	return parse_name(text, kernel, s);
}

int spec__parse(const char *text, bool kernel, struct spec *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	out->text = xstrdup(text);
	err = parse(text, kernel, out);
	if (err)
		spec__free(out);
	return err;
}

void spec__free(struct spec *s)
{
	free(s->text);
	free(s->name);
	free(s->module);
	memset(s, 0, sizeof(*s));
}
