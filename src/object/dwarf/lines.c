// SPDX-License-Identifier: BSD-2-Clause
/*
 * Resolves FILE:LINE by debug information (DWARF, through libdw): the whole function if one starts
 * at that line, else the code of the line, wherever it was inlined. Go programs without debug
 * information have their own table.
 */
#include <stdlib.h>
#include "object/debug/debug.h"
#include "dies.h"
#include "lines.h"

/* ---- rows of the line table ---- */

static void find_rows(struct line_search *s, struct line_tables *t, uint32_t unit)
{
	struct line_unit *u = line_tables__unit(t, unit);
	const struct line_sequence *q;

	vec__each (q, &u->sequences)
		for (size_t i = q->first; i < q->first + q->n; i++) {
			const struct line_place *row = &u->rows.data[i];
			uint64_t end = i + 1 < q->first + q->n ? row[1].vaddr : q->end;

			if (!lines__is_file(s, line_unit__file(u, row)))
				continue;
			if ((int)row->line != s->line)
				lines__note_near(s, row->line);
			else if (end > row->vaddr)
				lines__add_row(s, row->vaddr, end);
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

static void search_units(struct line_search *s, const struct debug_session *session)
{
	struct line_tables t;
	struct line_unit *u;

	line_tables__begin(&t, session);
	vec__each (u, &t.units) {
		if (!has_file(s, &u->die))
			continue;
		s->file_known = true;
		find_rows(s, &t, u - t.units.data);
	}
	/* functions are searched after all rows are known */
	vec__each (u, &t.units) {
		if (!has_file(s, &u->die))
			continue;
		s->bias = u->bias;
		lines__find_functions(s, &u->die);
	}
	line_tables__end(&t);
}

static void search(void *search, const struct debug_session *session, struct str *answer)
{
	struct line_search *s = search;

	s->answer = answer;
	if (!debug__has_dwarf(session)) {
		answer__put(answer, ANSWER_NO_DWARF, 0, 0);
		return;
	}
	search_units(s, session);
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
