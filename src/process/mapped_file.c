// SPDX-License-Identifier: BSD-2-Clause
/* The files that processes have mapped: finds, opens, reads and closes them. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "mapped_file.h"

/* ---- opening ---- */

static const struct root ours;

/* Another file may be there by now. On overlay file systems the mapped inode has another number
 * than the file. */
static bool leads_to(const char *link, const struct map *m)
{
	char path[4096];
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	autofree char *now = NULL;

	if (n <= 0)
		return false;
	path[n] = 0;
	now = path__undeleted(path);
	return !strcmp(now, m->path);
}

static int open_mapping(uint32_t pid, const struct map *m, struct stat *st)
{
	char link[128];
	int fd;

	snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	fd = root__open_file(&ours, link, OBJECT_LIMIT, st);
	if (fd < 0 || st->st_ino == m->ino || leads_to(link, m))
		return fd;
	close(fd);
	return -1;
}

/* Opens its path in the mount namespace of pid (0: ours), if that is still the same inode. */
static int open_by_path(uint32_t pid, const struct map *m, struct stat *st)
{
	struct root r;
	int fd;

	if (root__open(&r, pid))
		return -1;
	fd = root__open_file(&r, m->path, OBJECT_LIMIT, st);
	root__close(&r);
	if (fd < 0 || st->st_ino == m->ino)
		return fd;
	close(fd);
	return -1;
}

/* Opens the mapped file itself, else its path. For a process that has ended already, the parent's
 * view is used: most likely it was the same. */
static void open_mapped(struct mapped_files *s, struct mapped_file *f, uint32_t pid,
			uint32_t parent, const struct map *m)
{
	struct used_object *used;
	struct stat st;

	f->fd = open_mapping(pid, m, &st);
	if (f->fd < 0)
		f->fd = open_by_path(pid, m, &st);
	if (f->fd < 0 && parent)
		f->fd = open_by_path(parent, m, &st);
	if (f->fd < 0)
		f->fd = open_by_path(0, m, &st);
	s->incomplete |= f->fd < 0;
	vec__each (used, &s->used)
		if (f->fd >= 0 && used->object->dev == st.st_dev &&
		    used->object->ino == st.st_ino) {
			f->object = used->object;
			used->mapped = true;
		}
}

/* ---- the table of files ---- */

static uint64_t hash_of(uint64_t dev, uint64_t ino, const char *path)
{
	const uint64_t key[] = {dev, ino, map64__hash(path, strlen(path))};

	return map64__hash(key, sizeof(key));
}

static struct mapped_file *find(const struct mapped_files *s, const struct map *m)
{
	const uint64_t *slot = map64__get(&s->by_hash, hash_of(m->dev, m->ino, m->path));
	struct mapped_file *f = slot ? (struct mapped_file *)(uintptr_t)*slot : NULL;

	for (; f; f = f->next)
		if (f->dev == m->dev && f->ino == m->ino && !strcmp(f->path, m->path))
			return f;
	return NULL;
}

static void add(struct mapped_files *s, struct mapped_file *f)
{
	uint64_t *slot = map64__put(&s->by_hash, hash_of(f->dev, f->ino, f->path));

	f->next = (struct mapped_file *)(uintptr_t)*slot;
	*slot = (uintptr_t)f;
	vec__push(&s->all, f);
}

static void forget(struct mapped_files *s, const struct mapped_file *f)
{
	uint64_t hash = hash_of(f->dev, f->ino, f->path), *slot = map64__get(&s->by_hash, hash);
	struct mapped_file *before = (struct mapped_file *)(uintptr_t)*slot;

	if (before == f)
		*slot = (uintptr_t)f->next;
	for (; before != f && before->next != f; before = before->next)
		;
	if (before != f)
		before->next = f->next;
	if (!*slot)
		map64__del(&s->by_hash, hash);
}

struct mapped_file *mapped_files__get(struct mapped_files *s, uint32_t pid, uint32_t parent,
				      const struct map *m)
{
	struct mapped_file *f = find(s, m);

	if (!f) {
		f = xcalloc(1, sizeof(*f));
		f->dev = m->dev;
		f->ino = m->ino;
		f->path = xstrdup(m->path);
		f->pid = pid;
		f->fd = -1;
		add(s, f);
	} else if (!f->mappings && !f->shown) {
		s->nidle--;
	}
	f->mappings++;
	if (f->fd < 0 && !f->object && !f->tried && m->path[0] == '/' && !s->recorded)
		open_mapped(s, f, pid, parent, m);
	return f;
}

static void free_file(struct mapped_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	object__free(f->own);
	free(f->path);
	free(f);
}

/* Idle files stay open for a while: programs that run repeatedly are not opened each time. */
#define MAX_IDLE 64

static void free_oldest_idle(struct mapped_files *s)
{
	size_t oldest = s->all.len;

	for (size_t i = 0; i < s->all.len; i++) {
		const struct mapped_file *f = s->all.data[i];

		if (!f->mappings && !f->shown &&
		    (oldest == s->all.len || f->idle < s->all.data[oldest]->idle))
			oldest = i;
	}
	if (oldest == s->all.len)
		return;
	s->incomplete = true;
	forget(s, s->all.data[oldest]);
	free_file(s->all.data[oldest]);
	s->all.data[oldest] = s->all.data[--s->all.len];
	s->nidle--;
}

void mapped_files__drop(struct mapped_files *s, struct mapped_file *f)
{
	if (--f->mappings || f->shown)
		return;
	f->idle = ++s->clock;
	if (++s->nidle > MAX_IDLE)
		free_oldest_idle(s);
}

/* ---- contents ---- */

/* The recorded object of a file, if it became known since the last lookup. */
static const struct object *known_object(const struct mapped_files *s, struct mapped_file *f)
{
	for (; !f->object && f->looked < s->known.len; f->looked++) {
		const struct known_file *k = &s->known.data[f->looked];

		if (k->dev == f->dev && k->ino == f->ino && !strcmp(k->path, f->path))
			f->object = k->object;
	}
	return f->object;
}

static void read_vdso(struct mapped_file *f)
{
	f->tried = true;
	if (!vdso__read(&f->own))
		f->object = f->own;
	else
		err__clear();
}

/* Separate debug files are found by the file's own path, not by the one that its process sees. */
static void read_object(struct mapped_file *f)
{
	struct found found = {.fd = f->fd};

	f->tried = true;
	f->fd = -1;
	found.path = root__shown_path(&ours, found.fd);
	found.path = found.path ? found.path : xstrdup(f->path);
	if (!object__read(&found, &f->own))
		f->object = f->own;
}

const struct object *mapped_file__object(struct mapped_files *s, struct mapped_file *f)
{
	f->shown = true; /* it has a mapping, so it isn't idle */
	if (s->recorded)
		return known_object(s, f);
	if (!f->object && !f->tried && f->fd >= 0)
		read_object(f);
	else if (!f->object && !f->tried && vdso__is_path(f->path))
		read_vdso(f);
	return f->object;
}

void mapped_files__free(struct mapped_files *s)
{
	struct mapped_file **f;

	vec__each (f, &s->all)
		free_file(*f);
	vec__free(&s->all);
	map64__free(&s->by_hash);
	for (size_t i = 0; i < s->known.len; i++)
		free(s->known.data[i].path);
	vec__free(&s->known);
	vec__free(&s->used);
}
