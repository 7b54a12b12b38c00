// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files that a core dump's process had mapped: opened beneath the root that the user named, or
 * in our own, and used if they are of the build that was running. The kernel's own object (vDSO) is
 * read from the dump.
 */
#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core_dump.h"
#include "object/elf/elf_file.h"

#define VDSO	  "[vdso]"
#define VDSO_MOST (1u << 20)

static enum core_fit fit_of(const struct core_file *f, const struct object *o)
{
	if (!f->build_id_len || !o->build_id_len)
		return CORE_UNKNOWN;
	return f->build_id_len == o->build_id_len &&
			       !memcmp(f->build_id, o->build_id, o->build_id_len)
		       ? CORE_SAME
		       : CORE_OTHER;
}

/* ---- by the paths in the dump ---- */

/* Takes the file at f's path in this root, unless it is of another build. Returns false if there is
 * none. */
static bool try_root(struct core_file *f, const struct root *root)
{
	struct object *o;

	if (object__open_in(root, f->path, &o)) {
		f->why = f->why ? f->why : xstrdup(err__text());
		return false;
	}
	f->fit = fit_of(f, o);
	if (f->fit == CORE_SAME)
		f->object = o;
	else
		object__free(o);
	return true;
}

/* Another machine's file may be here as well, and its build-id shows that it is the same. */
static void open_file(struct core_file *f, const struct root *named)
{
	static const struct root ours;
	enum core_fit fit;

	f->fit = CORE_MISSING;
	if (named->pid && try_root(f, named) && f->object)
		return;
	fit = f->fit;
	if (!try_root(f, &ours) || f->object || !named->pid)
		return;
	f->fit = fit;
}

/* ---- the program that the user named ---- */

/* Sets the load bias, by the file's first mapping. */
bool core__bias(const struct core *c, uint32_t file, uint64_t *bias)
{
	const struct core_map *m;
	uint64_t vaddr;

	vec__each (m, &c->maps)
		if (m->file == file &&
		    object__offset_to_vaddr(c->files.data[file].object, m->offset, &vaddr)) {
			*bias = m->start - vaddr;
			return true;
		}
	return false;
}

/* Returns true if the program would have started where the process did. */
static bool starts_there(const struct core *c, uint32_t file, const struct object *o)
{
	struct core_file *f = &c->files.data[file];
	struct object *before = f->object;
	uint64_t bias;
	bool good;

	f->object = (struct object *)o;
	good = core__bias(c, file, &bias) && c->entry - bias == elf__of(o)->header.e_entry;
	f->object = before;
	return good;
}

/* Without a build-id in the dump, that the user named it and that it starts where the process did
 * is what is known. */
static int take_program(struct core *c, uint32_t file, const char *path, struct object *o)
{
	struct core_file *f = &c->files.data[file];
	enum core_fit fit = fit_of(f, o);

	if (fit == CORE_OTHER)
		return err__set(
			ENOEXEC,
			"%s is another build than the program of the dump, %s: name the one "
			"that was running",
			path, f->path);
	if (!starts_there(c, file, o))
		return err__set(
			ENOEXEC,
			"%s is not the program of the dump, %s: it starts at another address", path,
			f->path);
	object__free(f->object);
	f->object = o;
	f->fit = fit;
	f->named = true;
	return 0;
}

static int open_program(struct core *c, const char *path)
{
	const struct core_map *m = core__map_at(c, c->entry);
	struct object *o;
	int err;

	if (!m)
		return err__set(ENOEXEC,
				"the dump doesn't show which of its files is the program, so %s "
				"can't be used",
				path);
	err = object__open(path, &o);
	if (err)
		return err;
	err = take_program(c, m->file, path, o);
	if (err)
		object__free(o);
	return err;
}

/* ---- the whole ---- */

/* The kernel's own object is only in the dump. */
static void add_vdso(struct core *c, int fd, const struct core_notes *n)
{
	struct found found = {.path = xstrdup(VDSO)};
	uint8_t *bytes = NULL;
	struct object *o;
	size_t at;

	if (!n->vdso_len || n->vdso_len > VDSO_MOST || core__map_at(c, n->vdso))
		goto none;
	bytes = xmalloc(n->vdso_len);
	found.fd = memfd_create("vdso", MFD_CLOEXEC);
	if (found.fd < 0)
		goto none;
	if (!elf__read(fd, bytes, n->vdso_len, n->vdso_at) ||
	    write(found.fd, bytes, n->vdso_len) != (ssize_t)n->vdso_len) {
		close(found.fd);
		goto none;
	}
	free(bytes);
	if (object__read(&found, &o))
		return;
	for (at = 0; at < c->maps.len && c->maps.data[at].start < n->vdso; at++)
		;
	vec__add(&c->maps);
	memmove(&c->maps.data[at + 1], &c->maps.data[at],
		(c->maps.len - 1 - at) * sizeof(*c->maps.data));
	c->maps.data[at] =
		(struct core_map){n->vdso, n->vdso + n->vdso_len, 0, (uint32_t)c->files.len};
	vec__push(&c->files, (struct core_file){.path = VDSO, .fit = CORE_SAME, .object = o});
	return;
none:
	free(bytes);
	free(found.path);
}

/* A file that is mapped now is opened itself: its path may be gone, or lead to another one. */
static bool open_mapped(struct core *c, uint32_t file, uint32_t pid)
{
	static const struct root ours;
	struct core_file *f = &c->files.data[file];
	const struct core_map *m;
	char path[64];

	vec__each (m, &c->maps) {
		struct object *o;

		if (m->file != file)
			continue;
		snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, pid,
			 m->start, m->end);
		if (object__open_in(&ours, path, &o))
			return false;
		f->object = o;
		f->fit = CORE_SAME;
		return true;
	}
	return false;
}

static void open_by_paths(struct core *c, uint32_t pid, const struct root *named)
{
	struct core_file *f;

	vec__each (f, &c->files)
		if (pid && open_mapped(c, f - c->files.data, pid))
			continue;
		else if (f->build_id_len) /* others may be data */
			open_file(f, named);
		else
			f->fit = CORE_UNKNOWN;
}

int core_files__open(struct core *c, int fd, const struct core_notes *n,
		     const struct core_from *from)
{
	CLEANUP(root__close) struct root named = {0};
	int err = from->sysroot ? root__open_folder(&named, from->sysroot) : 0;

	if (from->pid)
		err = root__open(&named, from->pid);
	if (err)
		return err;
	open_by_paths(c, from->pid, &named);
	err = from->program ? open_program(c, from->program) : 0;
	if (!err)
		add_vdso(c, fd, n);
	return err;
}
