// SPDX-License-Identifier: BSD-2-Clause
/*
 * Resolves FILE:LINE by debug information (DWARF, through libdw): the whole function if one starts
 * at that line, else the code of the line, wherever it was inlined. Go programs without debug
 * information have their own table.
 */
#include <stdlib.h>
#include "object/debug/debug.h"
#include "lines.h"

/* ---- rows of the line table ---- */

static void add_row(struct line_search *s, Dwarf_Line *row, Dwarf_Line *next)
{
	Dwarf_Addr start, end;

	if (!dwarf_lineaddr(row, &start) && !dwarf_lineaddr(next, &end) && end > start)
		lines__add_row(s, start + s->bias, end + s->bias);
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

	path__normalise(normal);
	err = debug__ask(o, search, &s, &answer);
	if (!err && answer__has_no_dwarf(&answer) && elf__of(o)->go)
		golang__search_line(&s, &answer);
	if (err)
		return err__prefix(err, "%s: the debug information of %s can't be used", text,
				   o->path);
	return answer__take(o, text, file, &answer, v);
}
