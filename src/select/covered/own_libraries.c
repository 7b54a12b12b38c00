// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include "object/tables/tables.h"
#include "own_libraries.h"

#define CODE_MOST (2u << 20) /* bytes: planning them takes about a second */

struct own {
	struct targets *n;
	pid_t pid;
	size_t first;		 /* index into n->objects: the program */
	const struct object *of; /* whose libraries are looked for */
	const char *soname;	 /* the one that is looked for */
	uint64_t code;		 /* of those that were added */
};

/* The loader finds these for every program. */
static bool is_system_folder(const char *folder)
{
	static const char *const names[] = {"/lib",	  "/lib64",	"/lib32", "/usr/lib",
					    "/usr/lib64", "/usr/lib32", NULL};
	const char *machine = strrchr(folder, '/');

	for (const char *const *s = names; *s; s++) {
		size_t len = strlen(*s);

		if (strncmp(folder, *s, len))
			continue;
		/* Debian's have one for each architecture, as x86_64-linux-gnu */
		if (!folder[len] || (machine == folder + len && strstr(machine, "-linux-gnu")))
			return true;
	}
	return false;
}

static uint64_t code_of(const struct object *o)
{
	const struct segment *s;
	uint64_t n = 0;

	vec__each (s, &o->segments)
		n += s->exec ? s->size : 0;
	return n;
}

static void add_functions(struct own *w, struct object *o)
{
	CLEANUP(spec__free) struct spec all = {0};

	if (w->code + code_of(o) > CODE_MOST) {
		note_verbose("%s belongs to the program, and is too large to be traced at once",
			     o->path);
		return;
	}
	w->code += code_of(o);
	if (!spec__parse("*", false, &all))
		object__resolve(o, &all, &w->n->functions);
	err__clear();
}

/* Looks for the library in a folder. Returns 1 if it is there. */
static int look_in(void *ctx, const char *folder)
{
	struct own *w = ctx;
	autofree char *path = xasprintf("%s/%s", folder, w->soname), *real = NULL;
	size_t before = w->n->objects.len;
	struct object *o;

	if (*folder != '/' || access(path, R_OK))
		return 0;
	real = realpath(folder, NULL);
	if (!real || is_system_folder(real))
		return 1;
	if (!targets__open(w->n, path, w->pid, &o) && w->n->objects.len > before)
		add_functions(w, o);
	err__clear();
	return 1;
}

static int look_for(void *ctx, const char *soname)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	autofree char *folders = xstrdup(path ? path : "");
	struct own *w = ctx;
	char *save = NULL;

	w->soname = soname;
	for (char *f = strtok_r(folders, ":;", &save); f; f = strtok_r(NULL, ":;", &save))
		if (look_in(w, f))
			return 0;
	object__run_paths(w->of, look_in, w);
	return 0;
}

void own_libraries__add(struct targets *n, pid_t pid)
{
	struct own w = {.n = n, .pid = pid};

	while (w.first < n->objects.len && object__is_kernel(n->objects.data[w.first]))
		w.first++;
	for (size_t i = w.first; i < n->objects.len; i++) {
		w.of = n->objects.data[i];
		object__needed(w.of, look_for, &w);
	}
}
