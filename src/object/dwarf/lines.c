// SPDX-License-Identifier: BSD-2-Clause
/*
 * Resolves FILE:LINE by debug information (DWARF, through libdw): the whole function if one starts
 * at that line, else the code of the line, wherever it was inlined. Go programs without debug
 * information have their own table.
 */
#include <stdlib.h>
#include "object/debug/debug.h"
#include "lines.h"

/* a/./b/../c -> a/c, in place: debug information has paths as the build used them. */
static void normalise(char *path)
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

/* asked: normalised. */
static bool is_file(const char *path, const char *asked)
{
	autofree char *own = path ? xstrdup(path) : NULL;
	size_t len, want = strlen(asked);

	if (!own)
		return false;
	normalise(own);
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

	normalise(file);
	return is_file(path, file);
}

/* ---- rows of the line table ---- */

void lines__add_row(struct line_search *s, uint64_t start, uint64_t end)
{
	/* a function that the linker dropped still has rows, at address 0 */
	if (!object__is_code(s->o, start) || !object__is_code(s->o, end - 1))
		return;
	if (s->rows.len && vec__last(&s->rows)->end == start)
		vec__last(&s->rows)->end = end;
	else
		vec__push(&s->rows, (struct address_range){start, end});
}

static void add_row(struct line_search *s, Dwarf_Line *row, Dwarf_Line *next)
{
	Dwarf_Addr start, end;

	if (!dwarf_lineaddr(row, &start) && !dwarf_lineaddr(next, &end) && end > start)
		lines__add_row(s, start + s->bias, end + s->bias);
}

void lines__note_near(struct line_search *s, int line)
{
	if (line > 0 && line < s->line)
		s->below = max_of(s->below, line);
	if (line > s->line && (!s->above || line < s->above))
		s->above = line;
}

static void find_rows(struct line_search *s, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n, i;
	int line;
	bool ends;

	if (dwarf_getsrclines(unit, &lines, &n))
		return;
	for (i = 0; i + 1 < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);

		if (dwarf_lineendsequence(row, &ends) || ends || dwarf_lineno(row, &line) ||
		    !lines__is_file(s, dwarf_linesrc(row, NULL, NULL)))
			continue;
		if (line == s->line)
			add_row(s, row, dwarf_onesrcline(lines, i + 1));
		else
			lines__note_near(s, line);
	}
}

/* ---- units ---- */

static bool has_file(const struct line_search *s, Dwarf_Die *unit)
{
	Dwarf_Files *files;
	size_t n, i;

	if (dwarf_getsrcfiles(unit, &files, &n))
		return false;
	for (i = 0; i < n; i++)
		if (lines__is_file(s, dwarf_filesrc(files, i, NULL, NULL)))
			return true;
	return false;
}

static void search_units(struct line_search *s, Dwfl_Module *module)
{
	Dwarf_Die *unit = NULL;

	while ((unit = dwfl_module_nextcu(module, unit, &s->bias))) {
		if (!has_file(s, unit))
			continue;
		s->file_known = true;
		find_rows(s, unit);
	}
	/* functions are searched after all rows are known */
	while ((unit = dwfl_module_nextcu(module, unit, &s->bias)))
		if (has_file(s, unit))
			lines__find_functions(s, unit);
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

static void search(void *search, const struct debug_session *session, struct str *answer)
{
	struct line_search *s = search;

	s->answer = answer;
	if (!debug__has_dwarf(session)) {
		answer__put(answer, ANSWER_NO_DWARF, 0, 0);
		return;
	}
	search_units(s, session->module);
	if (s->file_known)
		answer__put(answer, ANSWER_FILE, s->below, s->above);
	if (!s->found)
		lines__put_rows(s);
}

int object__resolve_line(struct object *o, const char *text, const char *file, uint64_t line,
			 function_vec *v)
{
	autofree char *normal = xstrdup(file);
	autofree struct str answer = {0};
	struct line_search s = {.o = o, .file = normal, .line = min_of(line, (uint64_t)INT32_MAX)};
	int err;

	normalise(normal);
	err = debug__ask(o, search, &s, &answer);
	if (!err && answer__has_no_dwarf(&answer) && elf__of(o)->go)
		golang__search_line(&s, &answer);
	if (err)
		return err__prefix(err, "%s: the debug information of %s can't be used", text,
				   o->path);
	return answer__take(o, text, file, &answer, v);
}
