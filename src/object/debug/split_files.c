// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds and opens the files of split units: where the compiler wrote them, else beside the program;
 * a package beside the program. Their names are from an untrusted answer.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "split.h"

#define FILES_MOST    4096u
#define SECTIONS_MOST 8192u
#define COPIED_MOST   (1ull << 30) /* bytes of files that have both parts */

static void add(struct debug_files *f, char *path, int fd, uint64_t bytes)
{
	f->split = xrealloc(f->split, f->nsplit + 1, sizeof(*f->split));
	f->split[f->nsplit++] = (struct sandbox_file){path, fd};
	f->bytes += bytes;
}

/* ---- one file ---- */

static bool copy_bytes(int from, int to, uint64_t at, uint64_t to_at, uint64_t size)
{
	autofree char *buffer = xmalloc(1u << 20);

	while (size) {
		size_t n = min_of(size, (uint64_t)1 << 20);

		if (!elf__read(from, buffer, n, at) || pwrite(to, buffer, n, to_at) != (ssize_t)n)
			return false;
		at += n;
		to_at += n;
		size -= n;
	}
	return true;
}

static const char *name_of(const struct elf_file *f, size_t section)
{
	uint32_t name = f->sections[section].sh_name;

	return name < f->section_names_len ? f->section_names + name : "";
}

static bool is_split_section(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && !strcmp(name + len - 4, ".dwo");
}

/* What a file has in sections of split units. */
struct parts {
	VEC(uint32_t) sections; /* those sections */
	VEC(uint32_t) first;	/* by place in sections: the first section of the same name */
	bool mixed;
};

/*
 * Sets mixed if libdw would read the wrong part of it: an object file of -gsplit-dwarf=single has
 * the skeleton, too; gcc puts each type unit into a section of its own.
 */
static void find_parts(const struct elf_file *f, struct parts *p)
{
	struct map64 names = {0};

	for (size_t i = 1; i < f->nsections; i++) {
		const char *name = name_of(f, i);
		uint64_t *known;

		p->mixed |= !strcmp(name, ".debug_info");
		if (!is_split_section(name) || p->sections.len >= SECTIONS_MOST)
			continue;
		known = map64__put(&names, map64__hash(name, strlen(name)));
		p->mixed |= *known != 0;
		*known = *known ? *known : i;
		vec__push(&p->sections, i);
		vec__push(&p->first, *known);
	}
	map64__free(&names);
}

static void parts__free(struct parts *p)
{
	vec__free(&p->sections);
	vec__free(&p->first);
}

/* A copy of a file, and its section headers. */
struct copy {
	const struct elf_file *of;
	int fd;
	uint64_t end;
};

static bool write_at(struct copy *c, const void *data, size_t size, uint64_t at)
{
	return pwrite(c->fd, data, size, at) == (ssize_t)size;
}

static uint64_t header_at(const struct copy *c, size_t section)
{
	return c->of->header.e_shoff + section * c->of->class->section;
}

/* elf(5): sh_name is the first member of a header of either class. */
static bool drop_name(struct copy *c, size_t section)
{
	const uint32_t none = 0;

	return write_at(c, &none, sizeof(none), header_at(c, section));
}

static bool set_place(struct copy *c, size_t section, uint64_t offset, uint64_t size)
{
	size_t word = c->of->class->word;
	uint64_t at = header_at(c, section) + (word == 8 ? offsetof(Elf64_Shdr, sh_offset)
							 : offsetof(Elf32_Shdr, sh_offset));

	return write_at(c, &offset, word, at) && write_at(c, &size, word, at + word);
}

/* Appends a section to the end of the file. Returns false if that isn't possible. */
static bool append(struct copy *c, uint32_t section)
{
	const Elf64_Shdr *s = &c->of->sections[section];

	if (s->sh_type == SHT_NOBITS || s->sh_flags & SHF_COMPRESSED ||
	    !bytes__within(s->sh_offset, s->sh_size, c->of->size) || c->end > 2 * c->of->size ||
	    !copy_bytes(c->of->fd, c->fd, s->sh_offset, c->end, s->sh_size))
		return false;
	c->end += s->sh_size;
	return true;
}

/* Joins the sections of the same name, from place on, at the end of the file: units are complete by
 * themselves. */
static bool join_sections(struct copy *c, const struct parts *p, size_t place)
{
	uint32_t first = p->sections.data[place];
	uint64_t start = c->end;
	size_t n = 0;

	for (size_t i = place; i < p->sections.len; i++)
		n += p->first.data[i] == first;
	if (n == 1)
		return true;
	for (size_t i = place; i < p->sections.len; i++) {
		uint32_t section = p->sections.data[i];

		if (p->first.data[i] != first)
			continue;
		if (!append(c, section) || (section != first && !drop_name(c, section)))
			return false;
	}
	return set_place(c, first, start, c->end - start);
}

static bool make_copy(struct copy *c, const struct parts *p)
{
	const struct elf_file *f = c->of;

	if (!copy_bytes(f->fd, c->fd, 0, 0, f->size))
		return false;
	for (size_t i = 1; i < f->nsections; i++)
		if (!is_split_section(name_of(f, i)) && !drop_name(c, i))
			return false;
	for (size_t i = 0; i < p->sections.len; i++)
		if (p->first.data[i] == p->sections.data[i] && !join_sections(c, p, i))
			return false;
	return true;
}

/* Returns a copy that has only split units, in one section of each name. */
static int copy_split(const struct elf_file *f, const struct parts *p)
{
	struct copy c = {.of = f, .fd = memfd_create("dwo", MFD_CLOEXEC), .end = f->size};

	if (c.fd >= 0 && make_copy(&c, p))
		return c.fd;
	if (c.fd >= 0)
		close(c.fd);
	return -1;
}

/* Takes a file's descriptor, if it has such a section; frees f. Returns -1 if not. */
static int take(struct elf_file *f, const char *section, uint64_t *copied)
{
	struct parts p = {0};
	int fd = -1;

	find_parts(f, &p);
	if (!elf__section(f, section)) {
		;
	} else if (!p.mixed) {
		fd = f->fd;
		f->fd = -1;
	} else if (*copied + f->size <= COPIED_MOST) {
		fd = copy_split(f, &p);
		*copied += f->size;
	}
	parts__free(&p);
	elf_file__free(f);
	return fd;
}

/* ---- units ---- */

struct search {
	const struct object *o;
	char *folder; /* the program's, in its root; NULL if not known */
	uint64_t copied;
};

static int try_path(struct search *s, const char *section, uint64_t *bytes, char *path)
{
	struct elf_file *f = *path == '/' ? debug_file__open(&s->o->root, path) : NULL;

	free(path);
	if (!f)
		return -1;
	*bytes = f->size;
	return take(f, section, &s->copied);
}

static int find_file(struct search *s, const char *folder, const char *name, uint64_t *bytes)
{
	static const char section[] = ".debug_info.dwo";
	const char *last = strrchr(name, '/');
	int fd;

	if (*name == '/')
		fd = try_path(s, section, bytes, xstrdup(name));
	else if (*folder == '/' || !s->folder)
		fd = try_path(s, section, bytes, xasprintf("%s/%s", folder, name));
	else
		fd = try_path(s, section, bytes, xasprintf("%s/%s/%s", s->folder, folder, name));
	if (fd < 0 && s->folder && *name != '/')
		fd = try_path(s, section, bytes, xasprintf("%s/%s", s->folder, name));
	if (fd < 0 && s->folder)
		fd = try_path(s, section, bytes,
			      xasprintf("%s/%s", s->folder, last ? last + 1 : name));
	return fd;
}

/* Returns the path by which libdw opens the file (libdw_find_split_unit.c, __libdw_filepath()). */
static char *asked_path(const char *folder, const char *name)
{
	if (*name == '/')
		return xstrdup(name);
	if (*folder == '/')
		return xasprintf("%s/%s", folder, name);
	return *folder ? xasprintf(SANDBOX_FOLDER "/%s/%s", folder, name)
		       : xasprintf(SANDBOX_FOLDER "/%s", name);
}

/* A package is beside the program, and has its name. */
static void open_package(struct search *s, const char *path, struct debug_files *f)
{
	uint64_t bytes;
	int fd = try_path(s, ".debug_cu_index", &bytes, xasprintf("%s.dwp", path));

	if (fd >= 0)
		add(f, xstrdup(SANDBOX_PATH ".dwp"), fd, bytes);
}

const char *split_unit__text(const struct table *units, uint32_t offset)
{
	return offset < units->len ? units->strings + offset : NULL;
}

void split_files__open(const struct object *o, const struct table *units, struct debug_files *f)
{
	struct search s = {.o = o, .folder = root__path_inside(&o->root, elf__of(o)->fd)};
	char *slash = s.folder ? strrchr(s.folder, '/') : NULL;

	if (slash) {
		open_package(&s, s.folder, f);
		*slash = 0;
	}
	for (size_t i = 0; i < units->n && i < FILES_MOST; i++) {
		struct split_unit row;
		const char *folder, *name;
		uint64_t bytes;
		int fd;

		memcpy(&row, units->records + i * sizeof(row), sizeof(row));
		folder = split_unit__text(units, row.folder);
		name = split_unit__text(units, row.name);
		fd = folder && name ? find_file(&s, folder, name, &bytes) : -1;
		if (fd >= 0)
			add(f, asked_path(folder, name), fd, bytes);
	}
	free(s.folder);
}

void split_files__close(struct debug_files *f)
{
	for (size_t i = 0; i < f->nsplit; i++) {
		if (f->split[i].fd >= 0)
			close(f->split[i].fd);
		free(f->split[i].path);
	}
	free(f->split);
	f->split = NULL;
	f->nsplit = 0;
}
