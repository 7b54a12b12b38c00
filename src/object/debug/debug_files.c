// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds and opens the separate debug files of an object: by build-id in this machine's debug
 * directory and in the object's root, by .gnu_debuglink in that root, and by the .gnu_debugaltlink
 * of the file found (GDB manual, "Debugging Information in Separate Files"; dwz(1)). The network is
 * used only if it was asked for (debuginfod.c).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "debug.h"
#include "debuginfod.h"
#include "split.h"

#define FOLDER	  "/usr/lib/debug"
#define CRC_LIMIT (1ull << 30) /* larger files are recent enough to have build-ids */

static const struct root ours;

struct build_id {
	uint8_t bytes[20];
	size_t len; /* 0 if there is none */
};

/* An open file: its sections and its location. */
struct place {
	struct elf_file *f;
	const struct root *root;
};

static void leave(struct place *p)
{
	if (p->f)
		elf_file__free(p->f);
	p->f = NULL;
}

/* Debug files may be of any type and machine; their segments need not be there. */
static bool read_sections(struct elf_file *f)
{
	uint8_t start[sizeof(Elf64_Ehdr)] = "";

	if (!elf__read(f->fd, start, sizeof(Elf32_Ehdr), 0) || memcmp(start, ELFMAG, SELFMAG) ||
	    start[EI_DATA] != ELFDATA2LSB)
		return false;
	f->class = elf__class(start[EI_CLASS]);
	if (f->class->ident != start[EI_CLASS] || !elf__read(f->fd, start, f->class->header, 0))
		return false;
	elf__take_header(f->class, start, &f->header);
	return elf__read_sections(f);
}

struct elf_file *debug_file__read(int fd)
{
	struct stat st;
	struct elf_file *f;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st)) {
		close(fd);
		return NULL;
	}
	f = elf_file__new(fd, st.st_size);
	if (read_sections(f))
		return f;
	elf_file__free(f);
	return NULL;
}

struct elf_file *debug_file__open(const struct root *root, const char *path)
{
	struct stat st;
	/* The file's name is from the object, whose author may not choose what bbtrace's
	 * capabilities open. */
	with_own_rights;

	return debug_file__read(root__open_file(root, path, OBJECT_LIMIT, &st));
}

static bool enter(struct place *p, const struct root *root, const char *path)
{
	*p = (struct place){debug_file__open(root, path), root};
	return p->f;
}

static bool has_dwarf(const struct elf_file *f)
{
	return elf__section(f, ".debug_info") || elf__section(f, ".zdebug_info");
}

/* Skeletons of split units, and some others, have addresses there. */
static bool may_be_split(const struct elf_file *f)
{
	return elf__section(f, ".debug_addr") || elf__section(f, ".zdebug_addr");
}

/* ---- whether a file belongs to this build ---- */

static struct build_id id_of(struct elf_file *f)
{
	struct build_id id = {.len = 0};
	const Elf64_Shdr *s;
	const uint8_t *bytes;
	uint64_t len;

	for (s = f->sections; s < f->sections + f->nsections && !id.len; s++) {
		bytes = s->sh_type == SHT_NOTE ? elf__bytes(f, s, &len) : NULL;
		if (bytes)
			id.len = build_id__in(bytes, len, s->sh_addralign == 8 ? 8 : 4, id.bytes);
	}
	return id;
}

static bool has_id(struct elf_file *f, const struct build_id *want)
{
	struct build_id id = id_of(f);

	return id.len && id.len == want->len && !memcmp(id.bytes, want->bytes, id.len);
}

static bool is_id(const struct object *o, const uint8_t *id, size_t len)
{
	return len && len == o->build_id_len && !memcmp(id, o->build_id, len);
}

bool object__same_build(const struct object *a, const struct object *b)
{
	return is_id(a, b->build_id, b->build_id_len);
}

bool object__is_build(const struct object *o, int fd)
{
	struct elf_file *f = debug_file__read(fcntl(fd, F_DUPFD_CLOEXEC, 3));
	struct build_id id = f ? id_of(f) : (struct build_id){.len = 0};

	if (f)
		elf_file__free(f);
	return is_id(o, id.bytes, id.len);
}

static bool has_crc(const struct elf_file *f, uint32_t want)
{
	autofree uint8_t *buffer = xmalloc(1u << 20);
	uLong crc = crc32(0, NULL, 0);
	uint64_t at;

	if (f->size > CRC_LIMIT)
		return false;
	for (at = 0; at < f->size; at += 1u << 20) {
		size_t n = min_of(f->size - at, 1u << 20);

		if (!elf__read(f->fd, buffer, n, at))
			return false;
		crc = crc32(crc, buffer, n);
	}
	return crc == want;
}

/* ---- by build-id ---- */

static bool find_by_id(struct place *p, const struct root *root, const struct build_id *id)
{
	char hex[2 * sizeof(id->bytes) + 1] = "";
	autofree char *path = NULL;

	for (size_t i = 0; i < id->len; i++)
		sprintf(hex + 2 * i, "%02x", id->bytes[i]);
	if (id->len < 2)
		return false;
	path = xasprintf(FOLDER "/.build-id/%.2s/%s.debug", hex, hex + 2);
	if (!enter(p, root, path))
		return false;
	if (has_id(p->f, id))
		return true;
	leave(p);
	return false;
}

/* Searches this machine's own root first, then the one that the object was found in. */
static bool find_anywhere(struct place *p, const struct root *root, const struct build_id *id)
{
	return find_by_id(p, &ours, id) || (root->pid && find_by_id(p, root, id));
}

/* ---- from a server ---- */

static bool fetch(struct place *p, const struct build_id *id, const char *name)
{
	int fd = debuginfod__fetch(id->bytes, id->len, name);
	struct stat st;

	*p = (struct place){NULL, &ours};
	if (fd < 0)
		return false;
	if (fstat(fd, &st) || (uint64_t)st.st_size > OBJECT_LIMIT) {
		close(fd);
		return false;
	}
	p->f = elf_file__new(fd, st.st_size);
	if (read_sections(p->f) && has_id(p->f, id))
		return true;
	note("%s: what a debuginfod server has sent is of another build, or damaged", name);
	debuginfod__reject(id->bytes, id->len);
	leave(p);
	return false;
}

/* ---- .gnu_debuglink ---- */

struct link {
	const char *name;
	uint32_t crc;
	struct build_id id;
};

/* A name, padded to four bytes, and a checksum. As in GDB, the name has no directories. */
static bool read_link(struct elf_file *f, struct link *l)
{
	uint64_t len, at;
	const uint8_t *p = elf__bytes(f, elf__section(f, ".gnu_debuglink"), &len);
	const uint8_t *end = p ? memchr(p, 0, len) : NULL;

	if (!end || end == p || memchr(p, '/', end - p))
		return false;
	at = (end - p + 4) & ~3ull;
	if (!bytes__within(at, sizeof(l->crc), len))
		return false;
	memcpy(&l->crc, p + at, sizeof(l->crc));
	l->name = (const char *)p;
	return true;
}

static bool try_link(struct place *p, const struct root *root, const struct link *l,
		     const char *folder, const char *inner)
{
	autofree char *path = xasprintf("%s%s/%s", folder, inner, l->name);

	if (!enter(p, root, path))
		return false;
	if (l->id.len ? has_id(p->f, &l->id) : has_crc(p->f, l->crc))
		return true;
	leave(p);
	return false;
}

/* Returns the directory of an open file as seen in root; NULL if the name leads to another file
 * there. */
static char *folder_of(const struct root *root, int fd)
{
	char *path = root__path_inside(root, fd), *slash = path ? strrchr(path, '/') : NULL;

	if (slash && (root->pid || root__path_leads_to(path, fd))) {
		*slash = 0;
		return path;
	}
	free(path);
	return NULL;
}

/* Searches the object's directory, .debug in it, and the debug directory of its root. */
static bool find_by_link(struct place *p, const struct object *o, struct elf_file *f,
			 const struct build_id *id)
{
	struct link l = {.id = *id};
	autofree char *folder = read_link(f, &l) ? folder_of(&o->root, f->fd) : NULL;
	autofree char *global = folder ? xasprintf(FOLDER "%s", folder) : NULL;

	return folder && (try_link(p, &o->root, &l, folder, "") ||
			  try_link(p, &o->root, &l, folder, "/.debug") ||
			  try_link(p, &o->root, &l, global, ""));
}

/* ---- .gnu_debugaltlink ---- */

static bool try_alt(struct place *p, const struct place *of, const char *name,
		    const struct build_id *id)
{
	autofree char *folder = *name == '/' ? NULL : folder_of(of->root, of->f->fd);
	autofree char *path = folder ? xasprintf("%s/%s", folder, name) : xstrdup(name);

	if (*path != '/' || !enter(p, of->root, path))
		return false;
	if (has_id(p->f, id))
		return true;
	leave(p);
	return false;
}

/* The section has a name, relative to its own file, and a build-id after the NUL. Sets *lost, to be
 * freed, to the name of a file that isn't found. */
static bool find_alt(struct place *p, const struct place *of, const struct root *root, char **lost)
{
	uint64_t len;
	const uint8_t *name = elf__bytes(of->f, elf__section(of->f, ".gnu_debugaltlink"), &len);
	const uint8_t *end = name ? memchr(name, 0, len) : NULL;
	struct build_id id = {.len = 0};

	/* Debian strips programs of their debug information, but not of the link's section */
	if (!end || !has_dwarf(of->f))
		return false;
	id.len = min_of(len - (end + 1 - name), sizeof(id.bytes));
	memcpy(id.bytes, end + 1, id.len);
	if (find_anywhere(p, root, &id) || try_alt(p, of, (const char *)name, &id) ||
	    fetch(p, &id, (const char *)name))
		return true;
	free(*lost);
	*lost = xstrdup((const char *)name);
	return false;
}

/* ---- both ---- */

/* Keeps only the descriptor. */
static int keep(struct place *p, uint64_t *bytes)
{
	int fd = p->f ? p->f->fd : -1;

	if (!p->f)
		return -1;
	*bytes += p->f->size;
	p->f->fd = -1;
	leave(p);
	return fd;
}

/* A kernel's debug information is in the same file as its sections and symbols. */
static void take(struct place *p, struct debug_files *out)
{
	struct place alt = {0};

	find_alt(&alt, p, &ours, &out->lost_alt);
	out->dwarf = has_dwarf(p->f);
	out->own = keep(p, &out->bytes);
	out->alt = keep(&alt, &out->bytes);
}

/* The file at path, if it is the object's debug information: has its build-id, and DWARF. */
static bool take_path(const struct object *o, const char *path, struct debug_files *out)
{
	struct build_id id = {.len = o->build_id_len};
	struct place p;

	memcpy(id.bytes, o->build_id, id.len);
	if (!enter(&p, &ours, path))
		return false;
	if (has_id(p.f, &id) && has_dwarf(p.f)) {
		take(&p, out);
		return true;
	}
	leave(&p);
	return false;
}

static void find_on_disk(const struct object *o, struct debug_files *out)
{
	path_vec paths = {0};
	bool found = false;
	char **path;

	kernel_debug__paths(o, &paths);
	vec__each (path, &paths) {
		found = found || take_path(o, *path, out);
		free(*path);
	}
	vec__free(&paths);
}

static void find_kernel(const struct object *o, struct debug_files *out)
{
	struct build_id id = {.len = o->build_id_len};
	struct place p;

	memcpy(id.bytes, o->build_id, id.len);
	*out = (struct debug_files){.own = -1, .debug = -1, .alt = -1};
	if (find_by_id(&p, &ours, &id))
		take(&p, out);
	else
		find_on_disk(o, out);
}

void debug_files__find(const struct object *o, struct debug_files *out)
{
	struct elf_file *f = elf__of(o);
	struct place debug = {0}, alt = {0}, fetched, own = {f, &o->root};
	struct build_id id = {.len = o->build_id_len};

	if (object__is_kernel(o)) {
		find_kernel(o, out);
		return;
	}
	*out = (struct debug_files){.own = fcntl(f->fd, F_DUPFD_CLOEXEC, 3),
				    .bytes = f->size,
				    .dwarf = has_dwarf(f),
				    .may_be_split = may_be_split(f),
				    .symbols = elf__section(f, ".gnu_debugdata")};
	memcpy(id.bytes, o->build_id, id.len);
	if (!find_anywhere(&debug, &o->root, &id))
		find_by_link(&debug, o, f, &id);
	/* A file without DWARF, such as one that only has symbols, is no reason to stop
	 * searching. */
	if (!has_dwarf(f) && !(debug.f && has_dwarf(debug.f)) && fetch(&fetched, &id, o->path)) {
		leave(&debug);
		debug = fetched;
	}
	if (!debug.f || !find_alt(&alt, &debug, &o->root, &out->lost_alt))
		find_alt(&alt, &own, &o->root, &out->lost_alt);
	out->dwarf |= debug.f && has_dwarf(debug.f);
	out->may_be_split |= debug.f && may_be_split(debug.f);
	out->debug = keep(&debug, &out->bytes);
	out->alt = keep(&alt, &out->bytes);
}

void debug_files__close(struct debug_files *f)
{
	int fds[] = {f->own, f->debug, f->alt};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	f->own = f->debug = f->alt = -1;
	split_files__close(f);
	free(f->lost_alt);
	f->lost_alt = NULL;
}
