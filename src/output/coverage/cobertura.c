// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cobertura format (coverage-04.dtd of Cobertura), which many services and editors read. A
 * package is a folder of sources, a class a file, a method a function. Servers match source +
 * filename with the files of a repository, so filenames are relative to its root.
 */
#include <stdlib.h>
#include "coverage.h"
#include "output/base/fields.h"
#include "output/base/paint.h"
#include "source_paths.h"

struct cobertura {
	struct output *o;
	struct coverage c;
	struct source_paths paths;
	struct str *s;
};

static void put_rate(struct str *s, const char *name, const struct coverage_ratio *r)
{
	unsigned parts = r->all ? (unsigned __int128)r->ran * 10000 / r->all : 10000;

	str__printf(s, " %s=\"%u.%04u\"", name, parts / 10000, parts % 10000);
}

static void put_text(struct str *s, const char *name, const char *text)
{
	struct str shown = {0};

	str__shown(&shown, text);
	str__printf(s, " %s=\"", name);
	str__xml(s, shown.data);
	put(s, "\"");
	str__free(&shown);
}

static void put_rates(struct str *s, const struct coverage_ratio *lines,
		      const struct coverage_ratio *sides)
{
	put_rate(s, "line-rate", lines);
	put_rate(s, "branch-rate", sides);
	put(s, " complexity=\"0\"");
}

static void add(struct coverage_ratio *to, struct coverage_ratio r)
{
	to->all += r.all;
	to->ran += r.ran;
}

/* ---- lines ---- */

/* Skips sides that are not of this line; those of the line are [*first, end). */
static size_t sides_of(const struct coverage *c, const struct coverage_rows *r, uint32_t line,
		       size_t *first)
{
	size_t end;

	while (*first < r->end && c->by_side.data[*first].line < line)
		++*first;
	for (end = *first; end < r->end && c->by_side.data[end].line == line;)
		end++;
	return end;
}

/* Each branch of the line. */
static void put_conditions(struct cobertura *b, size_t i, size_t end)
{
	const struct coverage_side *sides = b->c.by_side.data;

	put(b->s, "            <conditions>\n");
	while (i < end) {
		struct coverage_rows of = {i, i};
		struct coverage_ratio r;

		while (of.end < end && sides[of.end].branch == sides[i].branch)
			of.end++;
		r = coverage__sides(&b->c, &of);
		if (r.all)
			str__printf(b->s,
				    "              <condition number=\"%u\" type=\"%s\" "
				    "coverage=\"%llu%%\"/>\n",
				    sides[i].branch, sides[i].table ? "switch" : "jump",
				    (unsigned long long)(r.ran * 100 / r.all));
		i = of.end;
	}
	put(b->s, "            </conditions>\n          </line>\n");
}

static void put_line(struct cobertura *b, const struct coverage_line *line,
		     const struct coverage_rows *sides)
{
	struct coverage_ratio r = coverage__sides(&b->c, sides);

	str__printf(b->s, "          <line number=\"%u\" hits=\"%llu\" branch=\"%s\"", line->line,
		    (unsigned long long)line->count, r.all ? "true" : "false");
	if (!r.all) {
		put(b->s, "/>\n");
		return;
	}
	str__printf(b->s, " condition-coverage=\"%llu%% (%llu/%llu)\">\n",
		    (unsigned long long)(r.ran * 100 / r.all), (unsigned long long)r.ran,
		    (unsigned long long)r.all);
	put_conditions(b, sides->first, sides->end);
}

static void put_lines(struct cobertura *b, const struct coverage_file *f)
{
	struct coverage_rows sides = f->sides;

	put(b->s, "        <lines>\n");
	for (size_t i = f->lines.first; i < f->lines.end; i++) {
		const struct coverage_line *line = &b->c.by_line.data[i];

		if (line->count == RUNS_UNKNOWN)
			continue;
		sides.end = f->sides.end;
		sides.end = sides_of(&b->c, &sides, line->line, &sides.first);
		put_line(b, line, &sides);
	}
	put(b->s, "        </lines>\n");
}

/* ---- files ---- */

static void put_methods(struct cobertura *b, const struct coverage_file *f)
{
	put(b->s, "        <methods>\n");
	for (size_t i = f->functions.first; i < f->functions.end; i++) {
		const struct coverage_function *m = &b->c.by_function.data[i];
		struct coverage_ratio ran = {1, m->calls > 0, 0};

		if (m->calls == RUNS_UNKNOWN)
			continue;
		put(b->s, "          <method");
		put_text(b->s, "name", m->name);
		put(b->s, " signature=\"\"");
		put_rates(b->s, &ran, &ran);
		str__printf(b->s, "><lines><line number=\"%u\" hits=\"%llu\"/></lines></method>\n",
			    m->line, (unsigned long long)m->calls);
	}
	put(b->s, "        </methods>\n");
}

static int put_class(struct cobertura *b, const struct coverage_file *f)
{
	struct coverage_ratio lines = coverage__lines(&b->c, &f->lines),
			      sides = coverage__sides(&b->c, &f->sides);
	const char *path = source_paths__shown(&b->paths, f->file);

	put(b->s, "      <class");
	put_text(b->s, "name", path__base_name(path));
	put_text(b->s, "filename", path);
	put_rates(b->s, &lines, &sides);
	put(b->s, ">\n");
	put_methods(b, f);
	put_lines(b, f);
	put(b->s, "      </class>\n");
	return aggregate__flush_full(b->o);
}

/* ---- folders ---- */

/* Returns the length with the slash at its end. */
static size_t folder_len(const struct cobertura *b, const struct coverage_file *f)
{
	const char *path = source_paths__shown(&b->paths, f->file);

	return path__base_name(path) - path;
}

static bool same_folder(const struct cobertura *b, const struct coverage_file *f,
			const struct coverage_file *g)
{
	size_t len = folder_len(b, f);

	return len == folder_len(b, g) && !memcmp(source_paths__shown(&b->paths, f->file),
						  source_paths__shown(&b->paths, g->file), len);
}

/* All files of the folder of *f, which becomes the first one of the next. */
static int put_package(struct cobertura *b, struct coverage_file *f, bool *more)
{
	size_t len = folder_len(b, f);
	autofree char *name =
		len ? strndup(source_paths__shown(&b->paths, f->file), len - (len > 1))
		    : xstrdup(".");
	struct coverage_ratio lines = {0}, sides = {0};
	struct coverage_file first = *f, g = *f;
	int err = 0;

	do {
		add(&lines, coverage__lines(&b->c, &g.lines));
		add(&sides, coverage__sides(&b->c, &g.sides));
	} while (coverage__next_file(&b->c, &g) && same_folder(b, &first, &g));
	put(b->s, "    <package");
	put_text(b->s, "name", name);
	put_rates(b->s, &lines, &sides);
	put(b->s, "><classes>\n");
	do
		err = put_class(b, f);
	while (!err && (*more = coverage__next_file(&b->c, f)) && same_folder(b, &first, f));
	put(b->s, "    </classes></package>\n");
	return err;
}

static void put_source(struct str *s, const char *root)
{
	CLEANUP(str__free) struct str shown = {0};

	str__shown(&shown, root);
	str__xml(s, shown.data);
}

static void put_head(struct cobertura *b)
{
	const struct coverage_ratio *lines = &b->c.total.lines, *sides = &b->c.total.sides;
	const struct output_options *o = &b->o->options;

	put(b->s, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		  "<!DOCTYPE coverage SYSTEM "
		  "\"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n"
		  "<coverage");
	put_rates(b->s, lines, sides);
	str__printf(b->s,
		    " lines-covered=\"%llu\" lines-valid=\"%llu\" branches-covered=\"%llu\" "
		    "branches-valid=\"%llu\" version=\"bbtrace " BBTRACE_VERSION
		    "\" timestamp=\"%llu\">\n",
		    (unsigned long long)lines->ran, (unsigned long long)lines->all,
		    (unsigned long long)sides->ran, (unsigned long long)sides->all,
		    (unsigned long long)((o->start_time + o->realtime_offset) / 1000000));
	put(b->s, "  <sources><source>");
	put_source(b->s, *b->paths.root ? b->paths.root : "/");
	put(b->s, "</source></sources>\n  <packages>\n");
}

static int cobertura__end(struct output *o, const struct trace_totals *t)
{
	struct cobertura b = {.o = o, .s = &o->buffer};
	struct coverage_file f = {0};
	bool more;
	int err = 0;

	stats__end(o->state);
	coverage__init(&b.c, o->state, &o->options);
	source_paths__init(&b.paths, &b.c);
	put_head(&b);
	for (more = coverage__next_file(&b.c, &f); more && !err;)
		err = put_package(&b, &f, &more);
	put(b.s, "  </packages>\n</coverage>\n");
	source_paths__free(&b.paths);
	coverage__free(&b.c);
	return err;
}

const struct output_format output_cobertura = {
	.name = "cobertura",
	.wants = {.events = OUTPUT_EDGES, .lines = true, .scopes = true},
	.suffixes = ".xml",
	.help = "coverage as XML, for services and editors",
	.size = sizeof(struct stats),
	.covers = COVERS_ONLY,
	.counting = &output_cobertura,
	AGGREGATES,
	ADDS_UP,
	.count = aggregate__count,
	.end = cobertura__end,
};
