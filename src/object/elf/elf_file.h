/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf_file: an ELF file as bytes: the validated headers, the private copy of the bytes, and the
 * pools of an object's strings. It is the object's priv. Front header of src/object/elf, private to
 * src/object; it uses only the declarations of object.h. First: elf__of(), elf__section(),
 * elf__bytes().
 */
#ifndef BBTRACE_OBJECT_ELF_ELF_FILE_H
#define BBTRACE_OBJECT_ELF_ELF_FILE_H

#include <elf.h>
#include "cursor.h"
#include "object/object.h"

struct address_range {
	uint64_t start, end;
};

/* A relative relocation: a word that the loader sets (relatives.c). */
struct relative {
	uint64_t vaddr, value; /* its address and its value, both link-time */
};

/* The sizes of the structures of a file's class, in bytes (elf_class.c). */
struct elf_class {
	uint8_t ident; /* ELFCLASS64 or ELFCLASS32 */
	uint8_t word;  /* of an address: 8 or 4 */
	uint8_t header, segment, section, symbol, dynamic, rel, rela;
};

struct elf_file {
	int fd;
	const struct elf_class *class; /* never NULL */
	uint64_t size;		       /* of the file */
	uint8_t *image; /* its first image_len bytes, read once: they cover all segments; then a NUL
			 */
	uint64_t image_len;
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	size_t nsegments;
	Elf64_Shdr *sections; /* [0] is the null section */
	size_t nsections;
	const char *section_names;
	uint64_t section_names_len;
	VEC(void *) pool; /* freed with the object */
	uint64_t budget;  /* bytes left to read or copy: elf__afford() */
	/* The executable sections, ascending; empty without section headers. */
	VEC(struct address_range) code;
	/* by symbol: the number of a local symbol's STT_FILE; 0 if not known */
	VEC(uint32_t) units;
	VEC(struct relative) relatives; /* ascending; relatives__read() fills them in */
	bool relatives_missing;		/* not all could be read */
	struct go_table *go;		/* Go programs: the table, NULL if unreadable; in pool */
};

/* Returns the class that e_ident[EI_CLASS] names. */
const struct elf_class *elf__class(uint8_t ident);
/* Converts the header at p, of as many bytes as the class has, to that of a file of 64 bits. */
void elf__take_header(const struct elf_class *c, const void *p, Elf64_Ehdr *out);
Elf64_Phdr elf__take_segment(const struct elf_class *c, const void *p);
Elf64_Shdr elf__take_section(const struct elf_class *c, const void *p);
Elf64_Sym elf__take_symbol(const struct elf_class *c, const void *p);
Elf64_Dyn elf__take_dynamic(const struct elf_class *c, const void *p);
uint64_t elf__take_word(const struct elf_class *c, const void *p);
/* addends: of type RELA; else REL, whose addend is in the place that is relocated */
Elf64_Rela elf__take_relocation(const struct elf_class *c, const void *p, bool addends);

/* Returns the elf_file of an object; NULL if it is not an ELF object. */
struct elf_file *elf__of(const struct object *o);
/* Keeps p until the object is freed; returns it. */
void *elf__keep(struct elf_file *f, void *p);
/*
 * Tables of a hostile file may refer to the same bytes many times. To be called before what a table
 * refers to is read or copied. Returns false if the budget, a multiple of the file's size, is used
 * up.
 */
bool elf__afford(struct elf_file *f, uint64_t bytes);

/* Sections. NULL: there is none, or its bytes are not in the file. */
const Elf64_Shdr *elf__section(const struct elf_file *f, const char *name);
const Elf64_Shdr *elf__section_of_type(const struct elf_file *f, uint32_t type);
const uint8_t *elf__bytes(struct elf_file *f, const Elf64_Shdr *s, uint64_t *len);
/* Returns the bytes of a string table; the last one is always NUL. */
const char *elf__strings(struct elf_file *f, uint32_t section, uint64_t *len);
/* Returns the executable section that holds vaddr; NULL if none does. */
const struct address_range *elf__code_at(const struct elf_file *f, uint64_t vaddr);
/* Reads the section headers of a file whose header was read. Returns false if they are damaged or
 * cut off. */
bool elf__read_sections(struct elf_file *f);
/* Makes an elf_file of a descriptor, which it owns; elf_file__free() closes it. */
struct elf_file *elf_file__new(int fd, uint64_t size);
void elf_file__free(void *f);
/* Reads exactly len bytes at offset. Returns false if the file is shorter. */
bool elf__read(int fd, void *buf, uint64_t len, uint64_t offset);
/* Returns n entries of a table in the file, of size bytes each, malloc()ed; NULL if they are not in
 * the file. */
uint8_t *elf__read_entries(const struct elf_file *f, uint64_t at, uint64_t n, size_t size);

/* Finds the build-id of a file that is read (build_id.c). */
void build_id__find(struct object *o, struct elf_file *f);
/* Returns true if [offset, offset + len) is within the first size bytes. */
static inline bool bytes__within(uint64_t offset, uint64_t len, uint64_t size)
{
	return offset <= size && len <= size - offset;
}

/* Sets id to the build-id in the notes at p. Returns its length; 0 if there is none
 * (build_id.c). */
size_t build_id__in(const uint8_t *p, uint64_t len, uint64_t align, uint8_t id[20]);

#endif
