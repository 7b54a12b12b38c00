// SPDX-License-Identifier: BSD-2-Clause
/* Points files: "# objname=PATH" lines, each followed by "0xADDR+0xLEN" lines. Other # lines are
 * comments. Errors give the line number, not its text: the user may not be allowed to read the
 * file. */
#include <errno.h>
#include <stdlib.h>
#include "resolve/forms.h"
#include "util/given.h"

#define FILE_LIMIT (256u << 20)

struct at_line {
	const char *file;
	unsigned line;
};

static bool hex(const char **p, uint64_t *out)
{
	const char *start = *p;
	char *end;

	if (start[0] != '0' || (start[1] != 'x' && start[1] != 'X') ||
	    !strchr("0123456789abcdefABCDEF", start[2]) || !start[2])
		return false;
	errno = 0;
	*out = strtoull(start, &end, 16);
	*p = end;
	return !errno;
}

static int add_point(const struct at_line *at, const char *text, points_vec *out)
{
	struct range r = {0};
	const char *p = text;

	if (!hex(&p, &r.vaddr) || *p++ != '+' || !hex(&p, &r.size) || *p)
		return err__set(EINVAL, "%s, line %u is not 0xADDR+0xLEN", at->file, at->line);
	if (!r.size || r.vaddr > UINT64_MAX - r.size)
		return err__set(EINVAL,
				"%s, line %u: the length must be from 0x1 up, and not beyond the "
				"last address",
				at->file, at->line);
	if (!out->len)
		return err__set(EINVAL,
				"%s, line %u: an address before the first line "
				"\"# objname=PATH\"",
				at->file, at->line);
	vec__push(&vec__last(out)->ranges, r);
	return 0;
}

static int add_object(const struct at_line *at, const char *path, points_vec *out)
{
	struct points_object *o;

	if (!*path)
		return err__set(EINVAL, "%s, line %u: no path after objname=", at->file, at->line);
	o = vec__add(out);
	o->path = xstrdup(path);
	return 0;
}

static int read_line(const struct at_line *at, char *text, points_vec *out)
{
	size_t len;

	text += strspn(text, " \t");
	len = strlen(text);
	while (len && strchr(" \t\r", text[len - 1]))
		text[--len] = 0;
	if (!len)
		return 0;
	if (*text != '#')
		return add_point(at, text, out);
	text += 1 + strspn(text + 1, " \t");
	if (strncmp(text, "objname=", 8))
		return 0;
	return add_object(at, text + 8, out);
}

int points__read(const char *path, points_vec *out)
{
	struct at_line at = {.file = path};
	autofree char *text = NULL;
	char *line, *next;
	size_t len;
	int err = file__read_given(path, FILE_LIMIT, &text, &len);

	if (err)
		return err;
	if (memchr(text, 0, len))
		return err__set(EINVAL, "%s is not a points file: it contains NUL bytes", path);
	for (line = text; line && !err; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		at.line++;
		err = read_line(&at, line, out);
	}
	if (err)
		points__free(out);
	return err;
}

void points__free(points_vec *v)
{
	struct points_object *o;
	struct range *r;

	vec__each (o, v) {
		free(o->path);
		vec__each (r, &o->ranges)
			free(r->name);
		vec__free(&o->ranges);
	}
	vec__free(v);
}
