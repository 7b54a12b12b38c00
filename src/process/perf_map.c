// SPDX-License-Identifier: BSD-2-Clause
/*
 * The names of code that a process generates, by the file that it writes for perf:
 * /tmp/perf-PID.map in its own root, a line "START SIZE NAME" for each function, in hexadecimal
 * (linux/tools/perf/Documentation/jit-interface.txt). The file grows while the process runs. It is
 * untrusted: only a regular file of the process's user, or root, that is no link is read, and only
 * a limited part of it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "process/process.h"

#define BYTES_MAX (64u << 20) /* of a file */
#define CHUNK	  (1u << 20)
#define NAME_MAX_ 512 /* of a function; longer ones are cut */
#define FULL	  -2
/* The limit of all files together, since a program may write any number of lines. */
#define LINES_MOST (1u << 19)
#define NAMES_MOST (64u << 20)

struct line {
	uint64_t start, size;
	uint32_t name; /* in names */
};

/* From here on, up to the next one, this line is valid; 0 for none, else 1 + its index. */
struct piece {
	uint64_t start;
	uint32_t line;
};

/* Whose file it is, and where. */
struct owner {
	bool known;
	struct root root;
	uint32_t pid; /* in the process's own namespace */
	uint64_t uid;
};

/* One file. A later line replaces those that it overlaps. */
struct perf_map {
	int fd; /* -1: there is none to read; FULL: all that is read of it was read */
	struct owner owner;
	uint64_t begun; /* CLOCK_REALTIME, ns, when the process had memory for code; 0: not known */
	uint64_t read;
	char *rest;  /* a line that isn't complete yet */
	bool passes; /* that line is too long, and skipped */
	VEC(struct line) lines;
	struct str names; /* each with its NUL */
	/* By address: the pieces of the first lines. The others are searched one by one, until that
	 * has taken longer than to build the pieces again. */
	VEC(struct piece) pieces;
	size_t indexed;
	uint64_t looked_at;
	struct generated found;
};

struct perf_maps {
	struct map64 by_pid; /* -> struct perf_map * */
	uint64_t lines, names;
};

struct perf_maps *perf_maps__new(void)
{
	return xcalloc(1, sizeof(struct perf_maps));
}

static void free_map(struct perf_map *m)
{
	vec__free(&m->lines);
	vec__free(&m->pieces);
	str__free(&m->names);
	if (m->fd >= 0)
		close(m->fd);
	root__close(&m->owner.root);
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

	struct perf_map *m = slot ? (struct perf_map *)(uintptr_t)*slot : NULL;

	if (!m)
		return;
	p->lines -= m->lines.len;
	p->names -= m->names.len;
	free_map(m);
	map64__del(&p->by_pid, pid);
}

/* ---- opening ---- */

static bool find_owner(uint32_t pid, struct owner *out)
{
	struct root root;

	if (root__open(&root, pid))
		return err__clear(), false;
	root__close(&out->root);
	*out = (struct owner){true, root, thread__own_number(pid),
			      thread__status_number(pid, "Uid")};
	return true;
}

static int open_of(const struct owner *o, struct stat *st)
{
	autofree char *path = xasprintf("/tmp/perf-%u.map", o->pid), *real = NULL;
	int fd = root__open_file(&o->root, path, OBJECT_LIMIT, st);

	if (fd >= 0)
		real = root__path_inside(&o->root, fd);
	if (fd >= 0 && real && !strcmp(real, path) && (!st->st_uid || st->st_uid == o->uid) &&
	    !(st->st_mode & S_IWOTH))
		return fd;
	if (fd >= 0)
		close(fd);
	err__clear();
	return -1;
}

/* A process that was never seen alive most likely had our root and namespace. The file has to be
 * younger than the process's code, since another process may have had its PID. */
#define CLOCK_STEP_NS 20000000ull
static int open_afterwards(const struct perf_map *m, uint32_t pid)
{
	const struct owner ours = {.pid = pid, .uid = getuid()};
	struct stat st;
	int fd = m->begun ? open_of(&ours, &st) : -1;

	if (fd < 0 ||
	    (uint64_t)st.st_mtim.tv_sec * 1000000000u + st.st_mtim.tv_nsec + CLOCK_STEP_NS >=
		    m->begun)
		return fd;
	close(fd);
	return -1;
}

/* The process may change its root and its user. */
static int open_map(struct perf_map *m, uint32_t pid)
{
	struct stat st;

	find_owner(pid, &m->owner);
	return m->owner.known ? open_of(&m->owner, &st) : open_afterwards(m, pid);
}

/* ---- reading ---- */

static bool is_text(const char *name)
{
	for (; *name; name++)
		if (iscntrl((unsigned char)*name))
			return false;
	return true;
}

static void take_line(struct perf_maps *p, struct perf_map *m, char *text)
{
	struct line line = {.name = m->names.len};
	char *at, *end;

	line.start = strtoull(text, &at, 16);
	if (at == text || *at != ' ')
		return;
	line.size = strtoull(at + 1, &end, 16);
	if (end == at + 1 || *end != ' ' || !end[1] || !line.size ||
	    line.size > UINT64_MAX - line.start || !is_text(end + 1))
		return;
	if (strlen(end + 1) > NAME_MAX_)
		end[1 + NAME_MAX_] = 0;
	str__put(&m->names, end + 1, strlen(end + 1) + 1);
	vec__push(&m->lines, line);
	p->lines++;
	p->names += m->names.len - line.name;
}

/* Takes the lines of text, whose last one may continue later. */
static void take_text(struct perf_maps *p, struct perf_map *m, const char *text)
{
	char *all = xasprintf("%s%s", m->rest ? m->rest : "", text), *line = all, *end;

	free(m->rest);
	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		if (!m->passes)
			take_line(p, m, line);
		m->passes = false;
	}
	m->passes |= strlen(line) >= 2 * NAME_MAX_;
	m->rest = m->passes ? NULL : xstrdup(line);
	free(all);
}

static void stop_reading(struct perf_map *m, uint32_t pid, const char *why)
{
	note("process %u: %s: generated code whose name comes later has none", pid, why);
	close(m->fd);
	m->fd = FULL;
}

/* Returns false if there is nothing more. */
static bool read_chunk(struct perf_maps *p, struct perf_map *m, char *chunk, uint64_t end)
{
	ssize_t n = pread(m->fd, chunk, min_of(end - m->read, (uint64_t)CHUNK), m->read);

	if (n <= 0)
		return false;
	m->read += n;
	chunk[n] = 0;
	take_text(p, m, chunk);
	return true;
}

static void read_on(struct perf_maps *p, struct perf_map *m, uint32_t pid)
{
	autofree char *chunk = NULL;
	struct stat st;
	uint64_t end;

	if (m->fd < 0 || fstat(m->fd, &st) || (uint64_t)st.st_size <= m->read)
		return;
	end = min_of((uint64_t)st.st_size, (uint64_t)BYTES_MAX);
	chunk = xmalloc(CHUNK + 1);
	while (m->read < end && p->lines < LINES_MOST && p->names < NAMES_MOST)
		if (!read_chunk(p, m, chunk, end))
			return;
	if (p->lines >= LINES_MOST || p->names >= NAMES_MOST)
		stop_reading(
			m, pid,
			"its file and those of others have names of half a million functions, or 64 MiB of them");
	else if ((uint64_t)st.st_size > BYTES_MAX)
		stop_reading(m, pid, "its file of generated code's names is larger than 64 MiB");
}

/* ---- by address ---- */

struct edge {
	uint64_t at;
	uint32_t line;
	bool ends;
};

static int by_address(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* The lines that cover a place, of which the last one is valid; those that have ended are removed
 * when they are on top. */
struct covering {
	VEC(uint32_t) heap;
	uint8_t *ended;
};

static void add_line(struct covering *c, uint32_t line)
{
	size_t i = c->heap.len;

	vec__push(&c->heap, line);
	for (; i && c->heap.data[(i - 1) / 2] < line; i = (i - 1) / 2)
		c->heap.data[i] = c->heap.data[(i - 1) / 2];
	c->heap.data[i] = line;
}

static void drop_top(struct covering *c)
{
	uint32_t *heap = c->heap.data, line = heap[--c->heap.len];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < c->heap.len; i = child) {
		child += child + 1 < c->heap.len && heap[child + 1] > heap[child];
		if (heap[child] <= line)
			break;
		heap[i] = heap[child];
	}
	heap[i] = line;
}

/* Returns 1 + its index; 0 if there is none. */
static uint32_t top(struct covering *c)
{
	while (c->heap.len && c->ended[c->heap.data[0]])
		drop_top(c);
	return c->heap.len ? c->heap.data[0] + 1 : 0;
}

static void put_piece(struct perf_map *m, uint64_t start, uint32_t line)
{
	if ((m->pieces.len ? vec__last(&m->pieces)->line : 0) != line)
		vec__push(&m->pieces, (struct piece){start, line});
}

static void make_index(struct perf_map *m)
{
	size_t n = 2 * m->lines.len;
	autofree struct edge *edges = xcalloc(n, sizeof(*edges));
	autofree uint8_t *ended = xcalloc(m->lines.len, 1);
	struct covering c = {.ended = ended};

	for (size_t i = 0; i < m->lines.len; i++) {
		const struct line *l = &m->lines.data[i];

		edges[2 * i] = (struct edge){l->start, i, false};
		edges[2 * i + 1] = (struct edge){l->start + l->size, i, true};
	}
	qsort(edges, n, sizeof(*edges), by_address);
	m->pieces.len = 0;
	for (size_t i = 0; i < n; i++) {
		if (edges[i].ends)
			ended[edges[i].line] = 1;
		else
			add_line(&c, edges[i].line);
		if (i + 1 == n || edges[i + 1].at != edges[i].at)
			put_piece(m, edges[i].at, top(&c));
	}
	vec__free(&c.heap);
	m->indexed = m->lines.len;
	m->looked_at = 0;
}

/* Returns 1 + the index of the line; 0 if there is none. */
static uint32_t find_piece(const struct perf_map *m, uint64_t addr)
{
	size_t low = 0, high = m->pieces.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->pieces.data[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? m->pieces.data[low - 1].line : 0;
}

static uint32_t find_line(struct perf_map *m, uint64_t addr)
{
	if (m->looked_at > 32 * (uint64_t)m->lines.len)
		make_index(m);
	for (size_t i = m->lines.len; i-- > m->indexed; m->looked_at++)
		if (addr - m->lines.data[i].start < m->lines.data[i].size)
			return i + 1;
	return find_piece(m, addr);
}

static struct perf_map *get(struct perf_maps *p, uint32_t pid)
{
	uint64_t *slot = map64__put(&p->by_pid, pid);

	if (!*slot) {
		struct perf_map *m = xcalloc(1, sizeof(*m));

		m->fd = -1;
		*slot = (uintptr_t)m;
	}
	return (struct perf_map *)(uintptr_t)*slot;
}

static struct perf_map *map_of(struct perf_maps *p, uint32_t pid)
{
	struct perf_map *m = get(p, pid);

	/* the process may have begun to write it */
	if (m->fd == -1)
		m->fd = open_map(m, pid);
	return m;
}

void perf_maps__begin(struct perf_maps *p, uint32_t pid, uint64_t time)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	struct perf_map *m = get(p, pid);

	if (!m->begun)
		m->begun = now_ns(CLOCK_REALTIME) - (now - min_of(time, now));
	if (!m->owner.known)
		find_owner(pid, &m->owner);
}

const struct generated *perf_maps__find(struct perf_maps *p, uint32_t pid, uint64_t addr)
{
	struct perf_map *m = map_of(p, pid);
	const struct line *line;
	uint32_t found;

	read_on(p, m, pid);
	found = find_line(m, addr);
	if (!found)
		return NULL;
	line = &m->lines.data[found - 1];
	m->found = (struct generated){line->start, line->size, m->names.data + line->name};
	return &m->found;
}
