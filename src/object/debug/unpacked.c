// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies of files whose debug sections are compressed, so that each is decompressed once and not by
 * each query, as libdw does. A copy has the bytes of the file, and after them each section that was
 * compressed; the headers of these point there (System V ABI, "Section Compression"). It is a file
 * in memory, which the sandbox fills in through a mapping.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#include "debug.h"
#include "sandbox.h"

#define LARGEST	    (128u << 20) /* of a file: larger ones are left to libdw */
#define LARGEST_ALL (512u << 20)
#define SECONDS	    8

#define PAGE 4096ull

#ifndef MADV_POPULATE_WRITE /* from Linux 5.14 on */
#define MADV_POPULATE_WRITE 23
#endif
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

struct packed {
	const Elf64_Shdr *section;
	Elf64_Chdr header;
	uint64_t at; /* where it is in the copy, decompressed */
};

struct copy {
	struct elf_file *f;
	VEC(struct packed) packed;
	uint64_t size;
	uint8_t *bytes; /* mapped */
};

/* ---- in the sandbox ---- */

static bool decompress(const struct packed *p, const uint8_t *from, uint64_t len, uint8_t *to)
{
	uLongf got = p->header.ch_size;

#ifdef HAVE_ZSTD
	if (p->header.ch_type == ELFCOMPRESS_ZSTD)
		return ZSTD_decompress(to, p->header.ch_size, from, len) == p->header.ch_size;
#endif
	return uncompress(to, &got, from, len) == Z_OK && got == p->header.ch_size;
}

static uint64_t header_size(const struct elf_class *class)
{
	return class->ident == ELFCLASS64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
}

static void decompress_all(void *ctx, struct str *answer)
{
	const struct copy *c = ctx;
	const struct packed *p;
	uint64_t start = c->packed.data[0].at & -PAGE;

	/* one call instead of a fault for each page */
	madvise(c->bytes + start, c->size - start, MADV_POPULATE_WRITE);
	vec__each (p, &c->packed) {
		uint64_t skip = header_size(c->f->class), len = p->section->sh_size - skip;
		uint8_t *from = xmalloc(len + 1);

		if (!elf__read(c->f->fd, from, len, p->section->sh_offset + skip) ||
		    !decompress(p, from, len, c->bytes + p->at))
			sandbox__give_up();
		free(from);
	}
}

/* ---- in bbtrace's own process ---- */

/* Returns false if the section isn't one of debug information that is compressed. */
static bool is_packed(const struct elf_file *f, const Elf64_Shdr *s)
{
	return s->sh_flags & SHF_COMPRESSED && !(s->sh_flags & SHF_ALLOC) &&
	       s->sh_type != SHT_NOBITS && bytes__within(s->sh_offset, s->sh_size, f->size) &&
	       s->sh_size > header_size(f->class);
}

static bool read_header(const struct elf_file *f, const Elf64_Shdr *s, Elf64_Chdr *out)
{
	Elf32_Chdr narrow;

	if (f->class->ident == ELFCLASS64)
		return elf__read(f->fd, out, sizeof(*out), s->sh_offset);
	if (!elf__read(f->fd, &narrow, sizeof(narrow), s->sh_offset))
		return false;
	*out = (Elf64_Chdr){narrow.ch_type, 0, narrow.ch_size, narrow.ch_addralign};
	return true;
}

static bool is_known(uint32_t compression)
{
#ifdef HAVE_ZSTD
	if (compression == ELFCOMPRESS_ZSTD)
		return true;
#endif
	return compression == ELFCOMPRESS_ZLIB;
}

/* Where each section goes. Returns false if one can't be decompressed here, or there is none. */
static bool lay_out(struct copy *c)
{
	const struct elf_file *f = c->f;

	c->size = f->size;
	for (size_t i = 0; i < f->nsections; i++) {
		struct packed p = {&f->sections[i], .at = (c->size + 15) & ~15ull};

		if (!is_packed(f, p.section))
			continue;
		if (!read_header(f, p.section, &p.header) || !is_known(p.header.ch_type) ||
		    p.header.ch_size > LARGEST || p.at + p.header.ch_size > LARGEST)
			return false;
		vec__push(&c->packed, p);
		c->size = p.at + p.header.ch_size;
	}
	return c->packed.len;
}

/* The section headers are those of the file, which were read: they are within it. */
static void point_to(const struct copy *c, const struct packed *p)
{
	const struct elf_file *f = c->f;
	uint8_t *at = c->bytes + f->header.e_shoff + (p->section - f->sections) * f->class->section;
	Elf64_Shdr wide;
	Elf32_Shdr narrow;

	if (f->class->ident == ELFCLASS64) {
		memcpy(&wide, at, sizeof(wide));
		wide.sh_flags &= ~(uint64_t)SHF_COMPRESSED;
		wide.sh_offset = p->at;
		wide.sh_size = p->header.ch_size;
		wide.sh_addralign = p->header.ch_addralign;
		memcpy(at, &wide, sizeof(wide));
		return;
	}
	memcpy(&narrow, at, sizeof(narrow));
	narrow.sh_flags &= ~(uint32_t)SHF_COMPRESSED;
	narrow.sh_offset = (uint32_t)p->at;
	narrow.sh_size = (uint32_t)p->header.ch_size;
	narrow.sh_addralign = (uint32_t)p->header.ch_addralign;
	memcpy(at, &narrow, sizeof(narrow));
}

/* All of the file but what is compressed. */
static bool copy_rest(const struct copy *c)
{
	const struct elf_file *f = c->f;
	const struct packed *p;
	uint64_t at = 0;

	vec__each (p, &c->packed) {
		if (p->section->sh_offset < at) /* not in the order of the file */
			continue;
		if (!elf__read(f->fd, c->bytes + at, p->section->sh_offset - at, at))
			return false;
		at = p->section->sh_offset + p->section->sh_size;
	}
	return elf__read(f->fd, c->bytes + at, f->size - at, at);
}

static bool fill(struct copy *c)
{
	struct sandbox s = {.fn = decompress_all,
			    .ctx = c,
			    .fds = &c->f->fd,
			    .nfds = 1,
			    .mapped = c->size,
			    .seconds = SECONDS};
	struct str answer = {0};
	const struct packed *p;
	bool good = copy_rest(c) && !sandbox__run(&s, &answer);

	str__free(&answer);
	if (!good)
		return false;
	vec__each (p, &c->packed)
		point_to(c, p);
	return true;
}

/* Returns its descriptor, or -1. */
static int make(struct copy *c)
{
	int fd = fd__in_memory("debug information");
	bool filled = false;

	if (fd < 0)
		return -1;
	if (!ftruncate(fd, (off_t)c->size)) {
		c->bytes = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (c->bytes != MAP_FAILED) {
			filled = fill(c);
			munmap(c->bytes, c->size);
		}
	}
	if (filled)
		return fd;
	close(fd);
	return -1;
}

static const struct unpacked_file *find(const struct object *o, const struct stat *st)
{
	const struct unpacked_file *u;

	vec__each (u, &o->unpacked)
		if (u->dev == st->st_dev && u->ino == st->st_ino)
			return u;
	return NULL;
}

static const struct unpacked_file *add(const struct object *o, int fd, const struct stat *st)
{
	static uint64_t all;
	struct object *own = (struct object *)o;
	struct unpacked_file u = {st->st_dev, st->st_ino, -1, 0};
	struct copy c = {.f = debug_file__read(fcntl(fd, F_DUPFD_CLOEXEC, 3))};

	if (c.f && lay_out(&c) && all + c.size <= LARGEST_ALL)
		u.fd = make(&c);
	u.size = c.size;
	all += u.fd >= 0 ? c.size : 0;
	vec__free(&c.packed);
	if (c.f)
		elf_file__free(c.f);
	vec__push(&own->unpacked, u);
	return &own->unpacked.data[own->unpacked.len - 1];
}

/* If there is none, and none can be made, libdw has to do with the file. */
static void take_copy(const struct object *o, int *fd, uint64_t *bytes)
{
	const struct unpacked_file *u;
	struct stat st;
	int copy;

	if (*fd < 0 || fstat(*fd, &st))
		return;
	u = find(o, &st);
	if (!u)
		u = add(o, *fd, &st);
	copy = u->fd < 0 ? -1 : fcntl(u->fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return;
	close(*fd);
	*fd = copy;
	*bytes += u->size - st.st_size;
}

void debug_files__unpack(const struct object *o, struct debug_files *files)
{
	take_copy(o, &files->own, &files->bytes);
	take_copy(o, &files->debug, &files->bytes);
	take_copy(o, &files->alt, &files->bytes);
}
