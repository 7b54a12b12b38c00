/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf_file: what the ELF reader's files share, and nobody else includes: the validated headers, the
 * private copy of the bytes, the pools that hold what an object's strings point to. It is the
 * object's priv.
 */
#ifndef BBTRACE_OBJECT_ELF_FILE_H
#define BBTRACE_OBJECT_ELF_FILE_H

#include <elf.h>
#include "object/cursor.h"
#include "object/object.h"

struct address_range {
	uint64_t start, end;
};

/* A word that the loader sets (relatives.c). */
struct relative {
	uint64_t vaddr, value; /* its place, and the address that it will hold; link-time both */
};

struct elf_file {
	int fd;
	uint64_t size;	/* of the file */
	uint8_t *image; /* its first image_len bytes, read once: all that its segments map, and a
			   NUL */
	uint64_t image_len;
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	size_t nsegments;
	Elf64_Shdr *sections; /* [0] is the null section */
	size_t nsections;
	const char *section_names;
	uint64_t section_names_len;
	VEC(void *) pool; /* freed with the object */
	uint64_t budget;  /* bytes that may still be looked at or copied: elf__afford() */
	VEC(struct address_range)
	code;		     /* executable sections, ascending; none: no section headers */
	VEC(uint64_t) reach; /* by symbol: the highest end of it and all before it */
	VEC(uint32_t) units; /* by symbol: which STT_FILE a local one belongs to, 0: unknown */
	VEC(struct relative) relatives; /* ascending; relatives__read() fills them in */
	struct go_table *go;		/* of a program of Go, unless it can't be read; in pool */
	struct cursor eh_frame;		/* its .eh_frame; start NULL: none */
	bool no_debug;			/* its debug information was tried, and can't be read */
};

/* The reader's data of an object that object__open() made; NULL for any other. */
struct elf_file *elf__of(const struct object *o);
/* Keeps p until the object is freed; returns it. */
void *elf__keep(struct elf_file *f, void *p);
/*
 * Headers of a hostile file may point to the same bytes again and again, names be parts of each
 * other. Who reads or copies what a table points to asks first; false: the file has had some ten
 * times its size.
 */
bool elf__afford(struct elf_file *f, uint64_t bytes);

/* Sections. NULL: none, or its bytes are not in the file. */
const Elf64_Shdr *elf__section(const struct elf_file *f, const char *name);
const Elf64_Shdr *elf__section_of_type(const struct elf_file *f, uint32_t type);
const uint8_t *elf__bytes(struct elf_file *f, const Elf64_Shdr *s, uint64_t *len);
/* The bytes of a string table: the last is always NUL. */
const char *elf__strings(struct elf_file *f, uint32_t section, uint64_t *len);
/* The executable section that holds vaddr; NULL: none. */
const struct address_range *elf__code_at(const struct elf_file *f, uint64_t vaddr);
/* Of a file with a header that was read: its section headers; false: damaged or cut off. */
bool elf__read_sections(struct elf_file *f);
/* An elf_file of nothing but the descriptor, which is taken over; elf_file__free() closes it. */
struct elf_file *elf_file__new(int fd, uint64_t size);
void elf_file__free(void *f);
/* Reads exactly len bytes at offset; false: the file is shorter. */
bool elf__read(int fd, void *buf, uint64_t len, uint64_t offset);

void relatives__read(const struct object *o, struct elf_file *f);
/* The eight bytes at vaddr, as they are once the object is loaded at its link-time address. False:
 * not within a segment. */
bool elf__word(const struct object *o, const struct elf_file *f, uint64_t vaddr, uint64_t *word);

/* Does [offset, offset + len) lie within the first size bytes? */
static inline bool bytes__within(uint64_t offset, uint64_t len, uint64_t size)
{
	return offset <= size && len <= size - offset;
}

/* The parts that object__open() calls in this order (build_id.c, golang.c, frames.c, symbols.c,
 * plt.c, symbols.c). */
void build_id__find(struct object *o, struct elf_file *f);
void golang__find(struct object *o, struct elf_file *f);
void frames__read(struct object *o, struct elf_file *f);
void symbols__read(struct object *o, struct elf_file *f);
void plt__read(struct object *o, struct elf_file *f);
void symbols__finish(struct object *o, struct elf_file *f);

/* A build-id in the notes at p, into id: its length; 0: none there (build_id.c). */
size_t build_id__in(const uint8_t *p, uint64_t len, uint64_t align, uint8_t id[20]);

/* lookup.c: where the next symbol (or frame) behind vaddr starts; UINT64_MAX: none does. */
uint64_t object__next_start(const struct object *o, uint64_t vaddr, bool frames);

#endif
