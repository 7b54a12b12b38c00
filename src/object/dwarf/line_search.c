// SPDX-License-Identifier: BSD-2-Clause
/* What every search of FILE:LINE does: it finds out whether a path is the requested file, the code
 * of the line, and the lines nearby. */
#include <stdlib.h>
#include "lines.h"

/* asked is normalised */
static bool is_file(const char *path, const char *asked)
{
	autofree char *own = path ? xstrdup(path) : NULL;
	size_t len, want = strlen(asked);

	if (!own)
		return false;
	path__normalise(own);
	len = strlen(own);
	return len >= want && !strcmp(own + len - want, asked) &&
	       (len == want || asked[0] == '/' || own[len - want - 1] == '/');
}

bool lines__is_file(const struct line_search *s, const char *path)
{
	return is_file(path, s->file);
}

bool path__is_file(const char *path, const char *asked)
{
	autofree char *file = xstrdup(asked);

	path__normalise(file);
	return is_file(path, file);
}

void lines__add_row(struct line_search *s, uint64_t start, uint64_t end)
{
	/* A function that the linker dropped still has rows, at address 0. */
	if (!object__is_code(s->o, start) || !object__is_code(s->o, end - 1))
		return;
	if (s->rows.len && vec__last(&s->rows)->end == start)
		vec__last(&s->rows)->end = end;
	else
		vec__push(&s->rows, (struct address_range){start, end});
}

void lines__note_near(struct line_search *s, int line)
{
	if (line > 0 && line < s->line)
		s->below = max_of(s->below, line);
	if (line > s->line && (!s->above || line < s->above))
		s->above = line;
}

static int by_start(const void *a, const void *b)
{
	const struct address_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* Units may list the same code twice; rows of one line may touch. */
void lines__put_rows(struct line_search *s)
{
	struct address_range *r, *last = NULL;

	vec__sort(&s->rows, by_start);
	vec__each (r, &s->rows) {
		if (last && r->start <= last->end)
			last->end = max_of(last->end, r->end);
		else
			*(last = last ? last + 1 : s->rows.data) = *r;
	}
	s->rows.len = last ? last + 1 - s->rows.data : 0;
	vec__each (r, &s->rows)
		answer__put(s->answer, ANSWER_RANGE, r->start, r->end);
	vec__free(&s->rows);
}
