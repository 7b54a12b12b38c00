// SPDX-License-Identifier: BSD-2-Clause
/* What a running process has mapped. */
#include <stdio.h>
#include <sys/stat.h>
#include "process/process.h"

#define MAPS_MAX (256u << 20)

int maps__read(uint32_t pid, map_vec *out)
{
	autofree char *text = NULL;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	err = file__read(path, MAPS_MAX, &text, NULL);
	return err ? err : maps__parse(text, out);
}

/* On overlay file systems and btrfs, the numbers in maps differ from those of the file. */
static bool is_file(uint32_t pid, const struct map *m, const struct object *o)
{
	char link[128];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	if (!stat(link, &st))
		return st.st_dev == o->dev && st.st_ino == o->ino;
	return m->dev == o->dev && m->ino == o->ino;
}

static const struct segment *segment_in(const struct object *o, const struct map *m)
{
	const struct segment *g;

	vec__each (g, &o->segments)
		if (g->exec && g->offset >= m->offset && g->offset - m->offset < m->end - m->start)
			return g;
	return NULL;
}

bool map__is_code(uint32_t pid, const struct map *m, const struct object *o, uint64_t *bias)
{
	const struct segment *g = m->exec && m->ino ? segment_in(o, m) : NULL;

	if (!g || !is_file(pid, m, o))
		return false;
	*bias = m->start + (g->offset - m->offset) - g->vaddr;
	return true;
}
