// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads core dumps. The sandbox reads their bytes: first what was mapped (core_notes.c); then the
 * mapped files are opened if their build-ids match (core_files.c), and the stacks are walked by the
 * files' unwinding rules (core_stacks.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core_dump.h"
#include "core_packed.h"
#include "object/debug/debug.h"
#include "object/debug/sandbox.h"

#define SECONDS 60

static const struct root ours;

/* ---- what was mapped ---- */

/* Returns the number of the file, which is mapped in pieces. */
static uint32_t file_of(struct core *c, const char *path, const struct core_mapping *m)
{
	struct core_file *f;

	vec__each (f, &c->files)
		if (!strcmp(f->path, path)) {
			if (!f->build_id_len)
				memcpy(f->build_id, m->build_id, sizeof(f->build_id)),
					f->build_id_len = m->build_id_len;
			return f - c->files.data;
		}
	f = vec__add(&c->files);
	f->path = path;
	memcpy(f->build_id, m->build_id, sizeof(f->build_id));
	f->build_id_len = m->build_id_len;
	return c->files.len - 1;
}

static bool is_good(const struct core *c, const struct core_mapping *m, size_t len)
{
	uint64_t before = c->maps.len ? vec__last(&c->maps)->end : 0;

	return m->start >= before && m->end > m->start && m->path < len &&
	       m->build_id_len <= sizeof(m->build_id);
}

static int take_notes(struct core *c, const char *path, struct str *answer,
		      struct core_notes *notes)
{
	struct str rest = {0};
	struct table t;

	if (answer->len < sizeof(*notes))
		return err__set(ENOEXEC, "%s is no core dump", path);
	memcpy(notes, answer->data, sizeof(*notes));
	rest.data = answer->data + sizeof(*notes);
	rest.len = answer->len - sizeof(*notes);
	if (!table__take(&t, &rest, sizeof(struct core_mapping)))
		return err__set(ENOEXEC, "%s is no core dump", path);
	if (!notes->pid && c->size < notes->whole)
		return err__set(ENOEXEC,
				"%s is cut off within the notes on its process: it has %llu of "
				"%llu bytes",
				path, (unsigned long long)c->size,
				(unsigned long long)notes->whole);
	if (!notes->pid)
		return err__set(ENOEXEC, "%s doesn't name its process", path);
	c->pid = notes->pid;
	c->tid = notes->tid;
	c->signal = notes->signal;
	c->code = notes->code;
	c->has_info = notes->has_info;
	c->stopped = notes->stopped;
	c->has_addr = notes->has_addr;
	c->addr = notes->addr;
	c->entry = notes->entry;
	c->whole = notes->whole;
	c->cut = c->size < c->whole;
	snprintf(c->comm, sizeof(c->comm), "%.*s", (int)sizeof(c->comm) - 1, notes->comm);
	snprintf(c->command, sizeof(c->command), "%.*s", (int)sizeof(c->command) - 1,
		 notes->command);
	for (size_t n = strlen(c->command); n && c->command[n - 1] == ' '; n--)
		c->command[n - 1] = 0; /* The kernel writes one after each argument. */
	str__put(&c->strings, t.strings, t.len);
	for (size_t i = 0; i < t.n; i++) {
		struct core_mapping m;

		memcpy(&m, t.records + i * sizeof(m), sizeof(m));
		if (!is_good(c, &m, t.len))
			continue;
		vec__push(&c->maps, (struct core_map){m.start, m.end, m.offset,
						      file_of(c, c->strings.data + m.path, &m)});
	}
	return 0;
}

const struct core_map *core__map_at(const struct core *c, uint64_t addr)
{
	size_t low = 0, high = c->maps.len;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct core_map *m = &c->maps.data[middle];

		if (addr < m->start)
			high = middle;
		else if (addr >= m->end)
			low = middle + 1;
		else
			return m;
	}
	return NULL;
}

const struct core_file *core__find(const struct core *c, uint64_t addr, uint64_t *vaddr)
{
	const struct core_map *m = core__map_at(c, addr);
	const struct core_file *f = m ? &c->files.data[m->file] : NULL;

	if (!f)
		return NULL;
	*vaddr = addr - m->start + m->offset;
	if (f->object && !object__offset_to_vaddr(f->object, *vaddr, vaddr))
		return NULL;
	return f;
}

/* ---- stacks ---- */

static int take_stacks(struct core *c, const struct str *answer)
{
	size_t frames;
	uint64_t n;

	if (answer->len < sizeof(n))
		return err__set(EIO, "the stacks can't be read");
	memcpy(&n, answer->data, sizeof(n));
	if (n > CORE_THREADS || n * sizeof(struct core_thread) > answer->len - sizeof(n))
		return err__set(EIO, "the stacks can't be read");
	frames = (answer->len - sizeof(n) - n * sizeof(struct core_thread)) /
		 sizeof(struct core_frame);
	for (size_t i = 0; i < n; i++) {
		struct core_thread t;

		memcpy(&t, answer->data + sizeof(n) + i * sizeof(t), sizeof(t));
		if (t.first <= frames && t.n <= frames - t.first &&
		    (unsigned)t.end < CORE_STACK_ENDS)
			vec__push(&c->threads, t);
	}
	for (size_t i = 0; i < frames; i++) {
		struct core_frame f;

		memcpy(&f, answer->data + answer->len - (frames - i) * sizeof(f), sizeof(f));
		f.calls = f.calls != 0;
		f.assumed = f.assumed != 0;
		vec__push(&c->frames, f);
	}
	return 0;
}

static bool is_return_address(const struct core *c, uint64_t addr)
{
	uint64_t vaddr;
	const struct core_file *f = core__find(c, addr - 1, &vaddr);

	return f && f->object && object__follows_call(f->object, vaddr + 1);
}

/* Ends stacks where a frame was assumed and no call is before it. */
static void check_stacks(struct core *c)
{
	struct core_thread *t;

	vec__each (t, &c->threads)
		for (size_t i = 0; i < t->n; i++) {
			const struct core_frame *f = &c->frames.data[t->first + i];

			if (!f->assumed || is_return_address(c, f->pc))
				continue;
			t->n = i;
			t->end = CORE_STACK_NO_RULES;
		}
}

static int walk_stacks(struct core *c, int fd)
{
	VEC(struct core_module) modules = {0};
	struct core_stacks stacks = {.fd = fd};
	struct sandbox s = {
		.fn = core_stacks__read, .ctx = &stacks, .mapped = c->size, .seconds = SECONDS};
	autofree struct str answer = {0};
	VEC(int) fds = {0};
	uint64_t bias;
	int err;

	vec__push(&fds, fd);
	for (uint32_t i = 0; i < c->files.len; i++) {
		struct debug_files f;

		if (!c->files.data[i].object || !core__bias(c, i, &bias))
			continue;
		debug_files__find(c->files.data[i].object, &f);
		debug_files__unpack(c->files.data[i].object, &f);
		vec__push(&modules, (struct core_module){f.own, f.debug, bias});
		vec__push(&fds, f.own);
		vec__push(&fds, f.debug);
		s.mapped += f.bytes;
		f.own = f.debug = -1;
		debug_files__close(&f);
	}
	stacks.modules = modules.data;
	stacks.n = modules.len;
	s.fds = fds.data;
	s.nfds = fds.len;
	err = sandbox__run(&s, &answer);
	for (size_t i = 1; i < fds.len; i++)
		util__close(&fds.data[i]);
	vec__free(&modules);
	vec__free(&fds);
	if (!err)
		err = take_stacks(c, &answer);
	check_stacks(c);
	return err;
}

/* ---- the whole ---- */

static int open_dump(struct core *c, const char *path)
{
	struct stat st;
	int fd;
	with_own_rights;

	fd = root__open_file(&ours, path, INT64_MAX, &st);
	if (fd < 0)
		return fd;
	c->size = st.st_size;
	c->mtime = (uint64_t)st.st_mtim.tv_sec * 1000000000u + st.st_mtim.tv_nsec;
	return fd;
}

/* Replaces *fd by what it has unpacked, if it is compressed. */
static int unpack(struct core *c, const char *path, int *fd)
{
	enum core_packing packing = core_packed__by(*fd);
	struct stat st;
	int plain;

	if (packing == CORE_PLAIN)
		return 0;
	plain = core_packed__unpack(path, *fd, packing, &c->packed_cut);
	if (plain < 0)
		return plain;
	close(*fd);
	*fd = plain;
	if (fstat(plain, &st))
		return err__set(errno, "can't read %s: %s", path, strerror(errno));
	c->size = st.st_size;
	return 0;
}

static int read_dump(struct core *c, const char *path, int fd, const struct core_from *from)
{
	struct sandbox s = {.fn = core_notes__read,
			    .ctx = &fd,
			    .fds = &fd,
			    .nfds = 1,
			    .mapped = c->size,
			    .seconds = SECONDS};
	autofree struct str answer = {0};
	struct core_notes notes;
	int err = sandbox__run(&s, &answer);

	if (!err)
		err = take_notes(c, path, &answer, &notes);
	else
		err__prefix(err, "%s", path);
	if (err && c->packed_cut)
		err = err__set(
			ENOEXEC,
			"%s is cut off: the %llu bytes that it has unpacked are no core dump", path,
			(unsigned long long)c->size);
	if (err)
		return err;
	err = core_files__open(c, fd, &notes, from);
	if (err)
		return err;
	if (walk_stacks(c, fd))
		note("%s: its stacks can't be read: %s", path, err__text());
	return 0;
}

int core__open(const char *path, const struct core_from *from, struct core **out)
{
	struct core *c = xcalloc(1, sizeof(*c));
	autoclose int fd = open_dump(c, path);
	int err = fd < 0 ? fd : unpack(c, path, &fd);

	if (!err)
		err = read_dump(c, path, fd, from);
	if (err)
		core__free(c);
	else
		*out = c;
	return err;
}

int core__read(int fd, const char *name, const struct core_from *from, struct core **out)
{
	struct core *c = xcalloc(1, sizeof(*c));
	struct stat st;
	int err = fstat(fd, &st) ? err__set(errno, "can't read %s: %s", name, strerror(errno)) : 0;

	c->size = err ? 0 : st.st_size;
	if (!err)
		err = read_dump(c, name, fd, from);
	if (err)
		core__free(c);
	else
		*out = c;
	return err;
}

void core__free(struct core *c)
{
	struct core_file *f;

	if (!c)
		return;
	vec__each (f, &c->files) {
		object__free(f->object);
		free(f->why);
	}
	vec__free(&c->maps);
	vec__free(&c->files);
	vec__free(&c->threads);
	vec__free(&c->frames);
	str__free(&c->strings);
	free(c);
}
