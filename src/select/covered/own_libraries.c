// SPDX-License-Identifier: BSD-2-Clause
#include "object/tables/tables.h"
#include "own_libraries.h"

#define CODE_MOST (2u << 20) /* bytes: planning them takes about a second */

struct own {
	struct targets *n;
	const struct object *of; /* whose libraries are looked for */
	uint64_t code;		 /* bytes of those that were added */
};

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
}

/* A library that can't be read, or has no function, is left out: the program may run without. */
static int add_own(void *ctx, const char *soname)
{
	struct own *w = ctx;
	size_t before = w->n->objects.len;
	struct found found;
	struct object *o;
	bool own;

	if (!object__find_needed(w->of, soname, &found, &own) && own &&
	    !targets__open(w->n, found.path, 0, &o) && w->n->objects.len > before)
		add_functions(w, o);
	found__close(&found);
	err__clear();
	return 0;
}

void own_libraries__add(struct targets *n)
{
	struct own w = {.n = n};

	for (size_t i = 0; i < n->objects.len; i++) {
		w.of = n->objects.data[i];
		object__needed(w.of, add_own, &w);
	}
}
