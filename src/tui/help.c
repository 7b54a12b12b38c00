// SPDX-License-Identifier: BSD-2-Clause
/* The keys, as a list that can be searched as any other. */
#include "screens.h"

static const char common[] =
	"j, k, arrows  one row down, up; also ^N, ^P, ^E, ^Y\n"
	"Space, b      one page down, up; also PgDn, PgUp, ^F, ^B\n"
	"d, u          half a page down, up; also ^D, ^U (u not in a path)\n"
	"g, G          the first, the last row; also Home, End\n"
	"<, >          scroll to the left, to the right\n"
	":N            go to row N\n"
	"/             search: an extended regular expression; capitals count if it has some\n"
	"n, N          the next, the previous match\n"
	"&, f          show only rows that match; nothing after it shows all\n"
	"s, S          sort by the next, the previous column (in a path, s is the source)\n"
	"r             sort the other way round\n"
	"Left, Esc, q  back; q ends in the first screen\n"
	"Q, ^C         end\n"
	"^Z            suspend; fg goes on\n"
	"^L            draw again\n"
	"h, ?, F1      this help\n";

struct help {
	struct screen screen;
	VEC(char *) lines;
};

static void add(struct help *h, const char *text)
{
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		vec__push(&h->lines, xstrndup(text, strcspn(text, "\n")));
}

static size_t help__count(const struct screen *s)
{
	return ((const struct help *)s)->lines.len;
}

static void help__title(const struct screen *s, struct str *out)
{
	str__puts(out, "Keys");
}

static void help__row(struct screen *s, size_t row, unsigned width, struct str *out)
{
	str__puts(out, ((struct help *)s)->lines.data[row]);
}

static void help__free(struct screen *s)
{
	char **line;

	vec__each (line, &((struct help *)s)->lines)
		free(*line);
	vec__free(&((struct help *)s)->lines);
}

static const struct screen_ops ops = {
	.keys = "",
	.count = help__count,
	.title = help__title,
	.row = help__row,
	.free = help__free,
};

struct screen *help__open(struct model *m, const struct screen_ops *from)
{
	struct help *h = screen__new(&ops, m, sizeof(*h));

	if (from->keys && *from->keys) {
		add(h, "This screen:");
		add(h, from->keys);
		add(h, "\033[2m--\033[0m");
	}
	add(h, common);
	return &h->screen;
}
