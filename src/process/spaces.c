// SPDX-License-Identifier: BSD-2-Clause
/* Address spaces: each process's mappings. mapped_file.c has the files. */
#include <stdlib.h>
#include "mapped_file.h"

struct mapping {
	uint64_t start, end, offset;
	struct mapped_file *file; /* NULL: anonymous */
};

struct space {
	uint32_t pid, parent;	  /* parent 0: unknown */
	VEC(struct mapping) maps; /* newest last */
};

struct spaces {
	struct map64 by_pid; /* pid -> struct space * */
	struct mapped_files files;
};

struct spaces *spaces__new(void)
{
	return xcalloc(1, sizeof(struct spaces));
}

struct spaces *spaces__recorded(void)
{
	struct spaces *s = spaces__new();

	s->files.recorded = true;
	return s;
}

void spaces__know(struct spaces *s, uint64_t dev, uint64_t ino, const char *path,
		  const struct object *o)
{
	vec__push(&s->files.known, (struct known_file){dev, ino, xstrdup(path), o});
}

void spaces__use(struct spaces *s, const struct object *o)
{
	vec__push(&s->files.used, (struct used_object){.object = o});
}

static struct space *space_of(struct spaces *s, uint32_t pid)
{
	uint64_t *slot = map64__put(&s->by_pid, pid);

	if (!*slot) {
		*slot = (uintptr_t)xcalloc(1, sizeof(struct space));
		((struct space *)(uintptr_t)*slot)->pid = pid;
	}
	return (struct space *)(uintptr_t)*slot;
}

/* ---- mappings ---- */

static bool names_a_file(const char *path)
{
	/* perf_event_open(2) calls anonymous memory //anon; [vdso] and the like have a name, but no
	 * file */
	return (path[0] == '/' && path[1] != '/') || path[0] == '[';
}

static void drop_mapping(struct spaces *s, const struct mapping *m)
{
	if (m->file)
		mapped_files__drop(&s->files, m->file);
}

static void drop_all(struct spaces *s, struct space *space)
{
	const struct mapping *m;

	vec__each (m, &space->maps)
		drop_mapping(s, m);
	space->maps.len = 0;
}

void spaces__map(struct spaces *s, uint32_t pid, const struct map *m)
{
	struct space *space = space_of(s, pid);
	struct mapping new = {m->start, m->end, m->offset, NULL};
	const struct mapping *old;
	size_t kept = 0;

	if (m->path && names_a_file(m->path))
		new.file = mapped_files__get(&s->files, pid, space->parent, m);
	/* drops mappings that the new one covers entirely; lookups find the new one before those
	 * that it covers partly */
	for (size_t i = 0; i < space->maps.len; i++) {
		old = &space->maps.data[i];
		if (old->start < new.start || old->end > new.end)
			space->maps.data[kept++] = *old;
		else
			drop_mapping(s, old);
	}
	space->maps.len = kept;
	vec__push(&space->maps, new);
}

/* Returns true if each address has the same meaning with both. */
static bool is_same(const struct mapping *old, const struct map *new)
{
	bool file = new->path &&names_a_file(new->path);

	if (!old->file || !file)
		return !old->file && !file;
	return old->start - old->offset == new->start - new->offset &&
	       ((old->file->dev == new->dev && old->file->ino == new->ino) ||
		!strcmp(old->file->path, new->path));
}

void spaces__replaced(const struct spaces *s, uint32_t pid, const struct map *m,
		      void (*fn)(void *ctx, uint64_t start, uint64_t end), void *ctx)
{
	const uint64_t *slot = map64__get(&s->by_pid, pid);
	const struct space *space = slot ? (struct space *)(uintptr_t)*slot : NULL;
	const struct mapping *old;

	if (!space)
		return;
	vec__each (old, &space->maps)
		if (old->start < m->end && m->start < old->end && !is_same(old, m))
			fn(ctx, max_of(old->start, m->start), min_of(old->end, m->end));
}

void spaces__read(struct spaces *s, uint32_t pid)
{
	map_vec maps = {0};
	struct map *m;

	if (maps__read(pid, &maps))
		return;
	vec__each (m, &maps)
		if (m->exec)
			spaces__map(s, pid, m);
	maps__free(&maps);
}

void spaces__fork(struct spaces *s, uint32_t pid, uint32_t parent)
{
	const struct mapping *m;
	struct space *from, *to;
	uint64_t *slot;

	if (pid == parent || (!map64__get(&s->by_pid, parent) && !map64__get(&s->by_pid, pid)))
		return;
	to = space_of(s, pid);
	drop_all(s, to);
	to->parent = parent;
	slot = map64__get(&s->by_pid, parent);
	if (!slot)
		return;
	from = (struct space *)(uintptr_t)*slot;
	vec__each (m, &from->maps) {
		vec__push(&to->maps, *m);
		if (m->file)
			m->file->mappings++;
	}
}

void spaces__exec(struct spaces *s, uint32_t pid)
{
	drop_all(s, space_of(s, pid));
}

void spaces__forget(struct spaces *s)
{
	uint64_t space;

	for (size_t i = 0; i < s->by_pid.cap; i++)
		if (map64__slot(&s->by_pid, i, &space))
			drop_all(s, (struct space *)(uintptr_t)space);
}

void spaces__exit(struct spaces *s, uint32_t pid)
{
	uint64_t *slot = map64__get(&s->by_pid, pid);
	struct space *space;

	if (!slot)
		return;
	space = (struct space *)(uintptr_t)*slot;
	drop_all(s, space);
	vec__free(&space->maps);
	free(space);
	map64__del(&s->by_pid, pid);
}

void spaces__each(const struct spaces *s, uint32_t pid, void (*fn)(void *ctx, const struct map *m),
		  void *ctx)
{
	const uint64_t *slot = map64__get(&s->by_pid, pid);
	const struct space *space = slot ? (struct space *)(uintptr_t)*slot : NULL;
	const struct mapping *p;

	if (!space)
		return;
	vec__each (p, &space->maps) {
		struct map m = {
			.start = p->start, .end = p->end, .offset = p->offset, .exec = true};

		if (p->file) {
			m.dev = p->file->dev;
			m.ino = p->file->ino;
			m.path = p->file->path;
		}
		fn(ctx, &m);
	}
}

void spaces__each_process(const struct spaces *s, void (*fn)(void *ctx, uint32_t pid), void *ctx)
{
	VEC(uint32_t) pids = {0};
	struct space *space;
	uint64_t value;
	uint32_t *pid;

	/* fn may add processes */
	for (size_t i = 0; i < s->by_pid.cap; i++)
		if (map64__slot(&s->by_pid, i, &value)) {
			space = (struct space *)(uintptr_t)value;
			vec__push(&pids, space->pid);
		}
	vec__each (pid, &pids)
		fn(ctx, *pid);
	vec__free(&pids);
}

void spaces__find(struct spaces *s, uint32_t pid, uint64_t addr, struct mapped_place *out)
{
	uint64_t *slot = map64__get(&s->by_pid, pid), offset;
	struct space *space;

	*out = (struct mapped_place){0};
	if (!slot)
		return;
	space = (struct space *)(uintptr_t)*slot;
	for (size_t i = space->maps.len; i-- > 0;) {
		const struct mapping *m = &space->maps.data[i];

		if (addr < m->start || addr >= m->end)
			continue;
		out->mapped = true;
		if (!m->file)
			return;
		offset = addr - m->start + m->offset;
		out->dev = m->file->dev;
		out->ino = m->file->ino;
		out->object = mapped_file__object(&s->files, m->file);
		if (out->object && vdso__is_path(m->file->path) &&
		    !vdso__is_native(out->object, m->start, m->end))
			out->object = NULL;
		/* a borrowed object has one name, whatever path it was mapped by */
		out->path = out->object && out->object != m->file->own ? out->object->path
								       : m->file->path;
		if (!out->object || !object__offset_to_vaddr(out->object, offset, &out->vaddr)) {
			out->object = NULL;
			out->vaddr = offset;
		}
		return;
	}
}

/* ---- the objects in use ---- */

bool spaces__mapped(const struct spaces *s, const struct object *o)
{
	const struct used_object *used;

	vec__each (used, &s->files.used)
		if (used->object == o)
			return used->mapped;
	return false;
}

bool spaces__incomplete(const struct spaces *s)
{
	return s->files.incomplete;
}

static bool is_same_build(const struct mapped_file *f, const struct object *o)
{
	if (f->object)
		return object__same_build(f->object, o);
	return f->fd >= 0 && object__is_build(o, f->fd);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void spaces__similar(const struct spaces *s, const struct object *o,
		     void (*fn)(void *ctx, uint32_t pid, const char *path, bool same_build),
		     void *ctx)
{
	struct mapped_file *const *f;

	vec__each (f, &s->files.all) {
		bool same_build = (*f)->object != o && is_same_build(*f, o);

		if (same_build ||
		    ((*f)->object != o && !strcmp(base_of((*f)->path), base_of(o->path))))
			fn(ctx, (*f)->pid, (*f)->path, same_build);
	}
}

void spaces__each_object(struct spaces *s, void (*fn)(void *ctx, const struct object *o), void *ctx)
{
	struct mapped_file *const *f;

	vec__each (f, &s->files.all) {
		const struct object *o = mapped_file__object(&s->files, *f);

		if (o)
			fn(ctx, o);
	}
}

void spaces__free(struct spaces *s)
{
	uint64_t value;

	if (!s)
		return;
	for (size_t i = 0; i < s->by_pid.cap; i++)
		if (map64__slot(&s->by_pid, i, &value)) {
			vec__free(&((struct space *)(uintptr_t)value)->maps);
			free((struct space *)(uintptr_t)value);
		}
	map64__free(&s->by_pid);
	mapped_files__free(&s->files);
	free(s);
}
