// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/command.h"
#include "covered.h"
#include "object_files.h"

#define NAMED 4 /* most objects to name */

/* ---- one object ---- */

static int add_functions(struct targets *n, struct object *o)
{
	CLEANUP(spec__free) struct spec all = {0};
	int err = spec__parse("*", false, &all);

	all.exported = n->exported;
	return err ? err : object__resolve(o, &all, &n->functions);
}

static int add_named(struct targets *n, const char *name)
{
	struct object *o;
	int err = targets__open(n, name, 0, &o);

	return err ? err : add_functions(n, o);
}

/* Adds a file that only a pattern names: one that has no code, as a file of debug information, or
 * is damaged, is left out. Returns true if it was added. */
static bool add_matching(struct targets *n, const char *path, bool debug_only)
{
	size_t objects = n->objects.len, functions = n->functions.len;
	struct object *o;
	int err = targets__open(n, path, 0, &o);

	if (!err && n->objects.len == objects) /* another name of one that is known */
		return false;
	if (!err && (!debug_only || object__has_line_table(o)))
		err = add_functions(n, o);
	if (err) {
		note_verbose("%s is not covered: %s", path, err__text());
		err__clear();
	}
	return n->functions.len > functions;
}

/* ---- patterns ---- */

static int no_match(const char *pattern)
{
	return err__set(ENOENT,
			"no executable or shared object matches '%s': build first; ** stands for "
			"folders, as in --objects 'build/**'",
			pattern);
}

static int add_pattern(struct targets *n, const char *pattern)
{
	CLEANUP(path_vec__free) path_vec files = {0};
	int err = object_files__find(pattern, NULL, &files);
	size_t before = n->objects.len, added = 0;
	char **path;

	if (err && err != -ENOENT)
		return err;
	vec__each (path, &files)
		added += add_matching(n, *path, false);
	if (!files.len)
		return no_match(pattern);
	if (!added && n->objects.len > before)
		return err__set(ENOENT, "no object that '%s' matches has functions", pattern);
	return 0;
}

/* ---- the program of CMD ---- */

/* Returns the real path of CMD's file if it is an object, NULL otherwise: malloc()ed. */
static char *program_of(const struct request *req, bool *has_lines)
{
	autofree char *path = command__path(req->command[0]);
	struct object *o = NULL;
	struct found found;
	char *program = NULL;

	if (path && !object__find(path, 0, &found) && !object__read(&found, &o)) {
		program = xstrdup(o->path);
		*has_lines = object__has_line_table(o);
		object__free(o);
	}
	err__clear();
	return program;
}

/* True if the path is below the current folder. */
static bool is_here(const char *path)
{
	autofree char *here = realpath(".", NULL);
	size_t len = here ? strlen(here) : 0;

	return here && !strncmp(path, here, len) && (path[len] == '/' || len == 1);
}

static size_t add_all_here(struct targets *n)
{
	CLEANUP(path_vec__free) path_vec files = {0};
	size_t added = 0;
	char **path;

	if (object_files__find("**", NULL, &files))
		err__clear();
	vec__each (path, &files)
		added += add_matching(n, *path, true);
	return added;
}

/* Names the objects below the current folder, since nobody has chosen them. */
static void report_here(const struct targets *n, const char *command)
{
	CLEANUP(str__free) struct str names = {0};
	bool seen = false;
	size_t named = 0, all = 0;

	for (size_t i = 0; i < n->objects.len; i++) {
		const struct object *o = n->objects.data[i];

		seen = false;
		for (size_t f = 0; !seen && f < n->functions.len; f++)
			seen = n->functions.data[f].object == o;
		all += seen;
		if (seen && named++ < NAMED) {
			str__puts(&names, names.len ? ", " : "");
			str__shown(&names, o->path);
		}
	}
	note("%s has no sources here; covered %s what has debug information below this folder: %s%s; "
	     "--objects 'build/**' chooses others",
	     command, all == 1 ? "is" : "are", names.data, all > NAMED ? ", ..." : "");
}

static int add_default(struct targets *n, const struct request *req)
{
	bool has_lines = false;
	autofree char *program = program_of(req, &has_lines);

	if (program && (has_lines || is_here(program)))
		return add_named(n, program);
	n->all_here = add_all_here(n);
	if (n->all_here) {
		report_here(n, req->command[0]);
		return 0;
	}
	if (program) {
		note("%s has no debug information, and nothing below this folder has; "
		     "--objects 'build/**' names what CMD runs",
		     req->command[0]);
		return add_named(n, program);
	}
	return err__set(ENOENT,
			"%s is no program with code to cover, and no object below this folder has "
			"debug information: name what it runs: --objects 'build/**'",
			req->command[0]);
}

int covered__find(struct targets *n, const struct request *req)
{
	int err = 0;

	/* the clock of files' times */
	clock_gettime(CLOCK_REALTIME_COARSE, &n->found_at);
	if (!req->operands.len && !req->what.objects.len)
		return add_default(n, req);
	for (size_t i = 0; !err && i < req->operands.len; i++)
		err = add_named(n, req->operands.data[i]);
	for (size_t i = 0; !err && i < req->what.objects.len; i++)
		err = add_pattern(n, req->what.objects.data[i]);
	return err;
}

/* ---- what is built while CMD runs ---- */

/* True if the file is not one that is covered as it is now: it is another one, or has other
 * contents. */
static bool is_other(const struct targets *n, const char *path)
{
	struct object *const *o;
	struct stat st;

	if (stat(path, &st))
		return false;
	vec__each (o, &n->objects)
		if ((*o)->dev == st.st_dev && (*o)->ino == st.st_ino)
			return st.st_mtim.tv_sec > n->found_at.tv_sec;
	return true;
}

static void find_built(const struct targets *n, const char *pattern, path_vec *built)
{
	CLEANUP(path_vec__free) path_vec files = {0};
	char **path;

	if (object_files__find(pattern, &n->found_at, &files))
		err__clear();
	vec__each (path, &files)
		if (is_other(n, *path))
			vec__push(built, xstrdup(*path));
}

void covered__report_built(const struct targets *n, const struct request *req)
{
	CLEANUP(path_vec__free) path_vec built = {0};
	CLEANUP(str__free) struct str names = {0};

	for (size_t i = 0; i < req->what.objects.len; i++)
		find_built(n, req->what.objects.data[i], &built);
	if (n->all_here)
		find_built(n, "**", &built);
	for (size_t i = 0; i < built.len && i < NAMED; i++) {
		str__puts(&names, names.len ? ", " : "");
		str__shown(&names, built.data[i]);
	}
	if (built.len)
		note("%s%s: built while CMD ran, and not covered: build before", names.data,
		     built.len > NAMED ? ", ..." : "");
}
