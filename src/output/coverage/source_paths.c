// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "source_paths.h"

/* ---- pieces of paths ---- */

/* Returns the rest of a path below the folder, without a slash at its start; NULL if it is not
 * below. */
static const char *below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (strncmp(path, folder, len) || path[len] != '/')
		return NULL;
	return path + len + 1;
}

/* Removes the last component. Returns false if there is none left. */
static bool go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return false;
	*slash = 0;
	return *path;
}

/* ---- --prefix-map ---- */

/* As compilers do for -ffile-prefix-map: the last of the maps that fits is used. */
static char *mapped(const struct output_options *o, const char *path)
{
	for (size_t i = o->nprefixes; i-- > 0;) {
		const char *pair = o->prefixes[i], *equals = strchr(pair, '=');
		size_t len = equals - pair;

		if (!strncmp(path, pair, len))
			return xasprintf("%s%s", equals + 1, path + len);
	}
	return xstrdup(path);
}

/* ---- where files are ---- */

static bool exists(const struct source_paths *p, const char *path)
{
	return p->options->exists && p->options->exists(p->options->source_ctx, path);
}

static bool is_repository(const struct source_paths *p, const char *folder)
{
	static const char *const marks[] = {".git", ".hg"};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		autofree char *mark = xasprintf("%s/%s", folder, marks[i]);

		if (exists(p, mark))
			return true;
	}
	return false;
}

/* Returns the nearest folder above the path that is a repository; NULL if there is none. */
static char *repository_of(const struct source_paths *p, const char *path)
{
	char *folder = xstrdup(path);

	while (go_up(folder))
		if (is_repository(p, folder))
			return folder;
	free(folder);
	return NULL;
}

static char *repository_here(const struct source_paths *p)
{
	autofree char *within = p->options->folder ? xasprintf("%s/.", p->options->folder) : NULL;

	return within ? repository_of(p, within) : NULL;
}

/*
 * A build with -ffile-prefix-map names files that are elsewhere, or relative to a folder that only
 * it knows. They are looked for below the repository, or the current folder: the longest end of the
 * path that exists there is the file. One component alone is not enough, unless it is all of it.
 */
static char *found_below(const struct source_paths *p, const char *folder, const char *path)
{
	bool whole = *path != '/';

	for (path += !whole; path && (whole || strchr(path, '/')); whole = false) {
		autofree char *here = xasprintf("%s/%s", folder, path);

		if (exists(p, here)) {
			path__normalise(here);
			return xstrdup(here);
		}
		path = strchr(path, '/');
		path = path ? path + 1 : NULL;
	}
	return NULL;
}

static char *found_for(const struct source_paths *p, const char *root, const char *path)
{
	autofree char *file = mapped(p->options, path);
	char *found;

	path__normalise(file);
	if (*file == '/' && (exists(p, file) || !root))
		return xstrdup(file);
	found = root ? found_below(p, root, file) : NULL;
	if (!found && p->options->folder && *file != '/')
		found = found_below(p, p->options->folder, file);
	return found ? found : xstrdup(file);
}

/* ---- the root ---- */

struct candidate {
	char *folder;
	size_t files;
};
typedef VEC(struct candidate) candidate_vec;

static void vote(candidate_vec *all, const char *folder)
{
	struct candidate *c;

	vec__each (c, all)
		if (!strcmp(c->folder, folder)) {
			c->files++;
			return;
		}
	vec__push(all, (struct candidate){xstrdup(folder), 1});
}

static size_t folder_len(const char *path)
{
	return path__base_name(path) - path;
}

static bool same_folder(const char *a, const char *b)
{
	size_t len = folder_len(a);

	return len == folder_len(b) && !memcmp(a, b, len);
}

/* Returns the repository that most files are in; NULL if none is in one. Files of one folder, which
 * mostly follow each other, are in the same. */
static char *repository_of_most(const struct source_paths *p)
{
	candidate_vec all = {0};
	struct candidate *c, *most = NULL;
	autofree char *found = NULL;
	const char *last = "";
	char *const *path, *out;

	vec__each (path, &p->paths) {
		if (!*path || **path != '/')
			continue;
		if (!same_folder(*path, last)) {
			free(found);
			found = repository_of(p, *path);
		}
		last = *path;
		if (found)
			vote(&all, found);
	}
	vec__each (c, &all)
		if (!most || c->files > most->files)
			most = c;
	out = most ? xstrdup(most->folder) : NULL;
	vec__each (c, &all)
		free(c->folder);
	vec__free(&all);
	return out;
}

static bool any_below(const struct source_paths *p, const char *folder)
{
	char *const *path;

	vec__each (path, &p->paths)
		if (*path && below(*path, folder))
			return true;
	return false;
}

/* Returns the folder that holds all files; "" if only / does. */
static char *common_folder(const struct source_paths *p)
{
	char *folder = NULL, *const * path;

	vec__each (path, &p->paths) {
		if (!*path || **path != '/')
			continue;
		if (!folder) {
			folder = xstrdup(*path);
			go_up(folder);
		}
		while (*folder && !below(*path, folder))
			go_up(folder);
	}
	return folder ? folder : xstrdup("");
}

/* Without a repository it is the current folder, if any source is below it: others are headers of
 * the system. */
static char *find_root(const struct source_paths *p)
{
	const char *here = p->options->folder;
	char *root = repository_of_most(p);

	if (root)
		return root;
	return here && any_below(p, here) ? xstrdup(here) : common_folder(p);
}

void source_paths__init(struct source_paths *p, const struct coverage *c)
{
	struct coverage_file f = {0};
	autofree char *here = NULL;

	*p = (struct source_paths){.options = c->options};
	here = repository_here(p);
	for (size_t i = 0; i < c->plan->line_files.len; i++)
		vec__push(&p->paths, NULL);
	while (coverage__next_file(c, &f))
		p->paths.data[f.file] = found_for(p, here ? here : c->options->folder,
						  c->plan->line_files.data[f.file]);
	p->root = find_root(p);
}

void source_paths__free(struct source_paths *p)
{
	char **path;

	vec__each (path, &p->paths)
		free(*path);
	vec__free(&p->paths);
	free(p->root);
}

const char *source_paths__path(const struct source_paths *p, uint32_t file)
{
	return p->paths.data[file] ? p->paths.data[file] : "";
}

const char *source_paths__shown(const struct source_paths *p, uint32_t file)
{
	const char *path = source_paths__path(p, file), *rest = below(path, p->root);

	return rest ? rest : path;
}

const char *source_paths__of_object(const struct source_paths *p, const char *path)
{
	const char *rest = p->options->folder ? below(path, p->options->folder) : NULL;

	return rest ? rest : path;
}
