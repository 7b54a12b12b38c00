// SPDX-License-Identifier: BSD-2-Clause
/*
 * The names of code that a process generates, by the file that it writes for perf:
 * /tmp/perf-PID.map in its own root, a line "START SIZE NAME" for each function, in hexadecimal
 * (linux/tools/perf/Documentation/jit-interface.txt). The file grows while the process runs. It is
 * untrusted: only a regular file of the process's user, or root, that is no link is read, and of
 * that so much.
 */
#include <ctype.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "process/process.h"

#define BYTES_MAX (64u << 20) /* of a file */
#define NAME_MAX_ 512	      /* of a function; longer ones are cut */
#define FULL	  -2

struct lookup {
	size_t function; /* 1 + its index; 0: none */
	size_t seen;
};

/* One file. Its functions are in the order of the lines: a later one replaces those that it
 * overlaps. */
struct perf_map {
	int fd; /* -1: there is none to read; FULL: all that is read of it was read */
	uint64_t read;
	char *rest;  /* a line that isn't complete yet */
	bool passes; /* that line is too long: it is passed over */
	VEC(struct generated) functions;
	/* by address: what was found, among how many functions. Later ones are looked at when it is
	 * asked for again. */
	struct map64 found_at; /* -> 1 + index into found */
	VEC(struct lookup) found;
};

struct perf_maps {
	struct map64 by_pid; /* -> struct perf_map * */
};

struct perf_maps *perf_maps__new(void)
{
	return xcalloc(1, sizeof(struct perf_maps));
}

static void free_map(struct perf_map *m)
{
	struct generated *g;

	vec__each (g, &m->functions)
		free(g->name);
	vec__free(&m->functions);
	vec__free(&m->found);
	map64__free(&m->found_at);
	if (m->fd >= 0)
		close(m->fd);
	free(m->rest);
	free(m);
}

void perf_maps__free(struct perf_maps *p)
{
	uint64_t value;

	if (!p)
		return;
	for (size_t i = 0; i < p->by_pid.cap; i++)
		if (map64__slot(&p->by_pid, i, &value))
			free_map((struct perf_map *)(uintptr_t)value);
	map64__free(&p->by_pid);
	free(p);
}

void perf_maps__forget(struct perf_maps *p, uint32_t pid)
{
	uint64_t *slot = map64__get(&p->by_pid, pid);

	if (slot)
		free_map((struct perf_map *)(uintptr_t)*slot);
	map64__del(&p->by_pid, pid);
}

/* ---- opening ---- */

/* The last one of NSpid, in the process's own namespace. */
static uint32_t own_pid(uint32_t pid)
{
	autofree char *all = thread__status(pid, "NSpid");
	const char *last = all ? strrchr(all, '\t') : NULL;
	uint32_t own = all ? strtoul(last ? last + 1 : all, NULL, 10) : 0;

	return own ? own : pid;
}

static bool is_owned(const struct stat *st, uint32_t pid)
{
	return (!st->st_uid || st->st_uid == thread__status_number(pid, "Uid")) &&
	       !(st->st_mode & S_IWOTH);
}

static int open_map(uint32_t pid)
{
	autofree char *path = xasprintf("/tmp/perf-%u.map", own_pid(pid)), *real = NULL;
	struct root root;
	struct stat st;
	int fd;

	if (root__open(&root, pid))
		return err__clear(), -1;
	fd = root__open_file(&root, path, OBJECT_LIMIT, &st);
	if (fd >= 0)
		real = root__path_inside(&root, fd);
	root__close(&root);
	if (fd >= 0 && real && !strcmp(real, path) && is_owned(&st, pid))
		return fd;
	if (fd >= 0)
		close(fd);
	err__clear();
	return -1;
}

/* ---- reading ---- */

static bool is_text(const char *name)
{
	for (; *name; name++)
		if (iscntrl((unsigned char)*name))
			return false;
	return true;
}

static void take_line(struct perf_map *m, char *line)
{
	char *at, *end;
	uint64_t start = strtoull(line, &at, 16), size;

	if (at == line || *at != ' ')
		return;
	size = strtoull(at + 1, &end, 16);
	if (end == at + 1 || *end != ' ' || !end[1] || !size || size > UINT64_MAX - start ||
	    !is_text(end + 1))
		return;
	if (strlen(end + 1) > NAME_MAX_)
		end[1 + NAME_MAX_] = 0;
	vec__push(&m->functions, (struct generated){start, size, xstrdup(end + 1)});
}

/* Takes the lines of text, whose last one may go on later. */
static void take_text(struct perf_map *m, const char *text)
{
	char *all = xasprintf("%s%s", m->rest ? m->rest : "", text), *line = all, *end;

	free(m->rest);
	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		if (!m->passes)
			take_line(m, line);
		m->passes = false;
	}
	m->passes |= strlen(line) >= 2 * NAME_MAX_;
	m->rest = m->passes ? NULL : xstrdup(line);
	free(all);
}

static void read_on(struct perf_map *m, uint32_t pid)
{
	autofree char *chunk = NULL;
	struct stat st;
	uint64_t size;
	ssize_t n;

	if (m->fd < 0 || fstat(m->fd, &st) || (uint64_t)st.st_size <= m->read)
		return;
	size = min_of((uint64_t)st.st_size, (uint64_t)BYTES_MAX) - m->read;
	if (!size) {
		note("process %u: its file of generated code's names is larger than %u MiB: what is "
		     "behind that has no names",
		     pid, BYTES_MAX >> 20);
		close(m->fd);
		m->fd = FULL;
		return;
	}
	chunk = xmalloc(size + 1);
	n = pread(m->fd, chunk, size, m->read);
	if (n <= 0)
		return;
	m->read += n;
	chunk[n] = 0;
	take_text(m, chunk);
}

static struct perf_map *map_of(struct perf_maps *p, uint32_t pid)
{
	uint64_t *slot = map64__put(&p->by_pid, pid);
	struct perf_map *m = (struct perf_map *)(uintptr_t)*slot;

	if (m && m->fd != -1)
		return m;
	/* the process may have begun to write it */
	if (!m) {
		m = xcalloc(1, sizeof(*m));
		*slot = (uintptr_t)m;
	}
	m->fd = open_map(pid);
	return m;
}

const struct generated *perf_maps__find(struct perf_maps *p, uint32_t pid, uint64_t addr)
{
	struct perf_map *m = map_of(p, pid);
	struct lookup *f;
	uint64_t *slot;

	read_on(m, pid);
	slot = map64__put(&m->found_at, addr);
	if (!*slot) {
		vec__push(&m->found, (struct lookup){0});
		*slot = m->found.len;
	}
	f = &m->found.data[*slot - 1];
	for (size_t i = m->functions.len; i-- > f->seen;) {
		const struct generated *g = &m->functions.data[i];

		if (addr - g->start >= g->size)
			continue;
		f->function = i + 1;
		break;
	}
	f->seen = m->functions.len;
	return f->function ? &m->functions.data[f->function - 1] : NULL;
}
