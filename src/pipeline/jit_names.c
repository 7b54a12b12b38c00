// SPDX-License-Identifier: BSD-2-Clause
/*
 * jit_names: names of code that processes generate. A function in anonymous memory becomes a
 * mapping of its own with its name as path: so trace files have it, and code that takes its place
 * is another mapping.
 */
#include "jit_names.h"

#define PREFIX "[jit] "
/* Most names of a process at one time: each mapping slows down each lookup. */
#define NAMES_MOST (1u << 15)

const char *jit_names__name(const char *path)
{
	return strncmp(path, PREFIX, strlen(PREFIX)) ? NULL : path + strlen(PREFIX);
}

static bool is_mapped(const struct mapped_place *place, const struct generated *g, uint64_t addr)
{
	const char *name = place->path ? jit_names__name(place->path) : NULL;

	return name && !strcmp(name, g->name) && place->vaddr == addr - g->start;
}

struct overlap {
	const struct generated *g;
	bool found;
	size_t names;
};

static void look_for_overlap(void *ctx, const struct map *m)
{
	struct overlap *o = ctx;

	o->found |= m->path && *m->path == '/' && m->start < o->g->start + o->g->size &&
		    m->end > o->g->start;
	o->names += m->path && jit_names__name(m->path);
}

static void note_flood(uint32_t pid)
{
	static bool noted;

	if (!noted)
		note("process %u has more than %u functions of generated code at a time: further "
		     "ones have no names",
		     pid, NAMES_MOST);
	noted = true;
}

/* True for anonymous memory: whatever names a process writes, code of files keeps its own. */
static bool may_name(const struct spaces *spaces, uint32_t pid, const struct generated *g)
{
	struct overlap o = {.g = g};

	spaces__each(spaces, pid, look_for_overlap, &o);
	if (o.names >= NAMES_MOST)
		note_flood(pid);
	return !o.found && o.names < NAMES_MOST;
}

static int map_frame(struct perf_maps *maps, struct spaces *spaces, const struct event *e,
		     uint64_t addr, int (*fn)(void *ctx, const struct sideband_event *e), void *ctx)
{
	autofree char *path = NULL;
	const struct generated *g;
	struct mapped_place place;

	spaces__find(spaces, e->pid, addr, &place);
	if (place.path && !jit_names__name(place.path))
		return 0;
	g = perf_maps__find(maps, e->pid, addr);
	if (!g || is_mapped(&place, g, addr) || !may_name(spaces, e->pid, g))
		return 0;
	path = xasprintf(PREFIX "%s", g->name);
	return fn(ctx, &(struct sideband_event){.type = SIDEBAND_MAP,
						.time = e->time,
						.pid = e->pid,
						.tid = e->tid,
						.start = g->start,
						.len = g->size,
						.text = path});
}

int jit_names__map(struct perf_maps *maps, struct spaces *spaces, const struct event *e,
		   int (*fn)(void *ctx, const struct sideband_event *e), void *ctx)
{
	const struct event_named *n = e->named;
	int err = 0;

	for (unsigned i = 0; !err && e->type == EVENT_ENTRY && i < e->entry->nstack; i++)
		err = map_frame(maps, spaces, e, entry__frame_code(e->entry, i), fn, ctx);
	for (unsigned i = 0; !err && e->type == EVENT_NAMED && i < n->nuser; i++)
		err = map_frame(maps, spaces, e, named__frame_code(n, i), fn, ctx);
	return err;
}
