// SPDX-License-Identifier: BSD-2-Clause
/* Go programs: the table of functions, the place of a thread's current g (thread-local memory), and
 * that of the goid in g (runtime2.go, struct g). */
#include <stdlib.h>
#include "arch/arch.h"
#include "gopclntab.h"

/* src/cmd/link/internal/ld/data.go, buildinfo(): from Go 1.18 on, the version follows after 32
 * bytes, preceded by its length. */
#define VERSION_AT	  32
#define VERSION_IS_INLINE 2

/* Offsets of g.goid. For versions that are not listed, goroutines are identified by the address of
 * g. */
static const struct {
	unsigned from, to; /* 1.x */
	uint32_t goid;
} layouts[] = {
	{18, 22, 152},
	{23, 24, 160},
};

static uint32_t goid_offset(const uint8_t *info, uint64_t len)
{
	char text[16] = "";
	unsigned minor;

	if (len < VERSION_AT + 1 || !(info[15] & VERSION_IS_INLINE) ||
	    info[VERSION_AT] > len - VERSION_AT - 1)
		return 0;
	memcpy(text, info + VERSION_AT + 1, min_of((size_t)info[VERSION_AT], sizeof(text) - 1));
	if (sscanf(text, "go1.%u", &minor) != 1)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (minor >= layouts[i].from && minor <= layouts[i].to)
			return layouts[i].goid;
	return 0;
}

/* A program linked with C has a TLS segment with g in it. */
static int64_t symbol_value(struct elf_file *f, const char *name)
{
	const Elf64_Shdr *table = elf__section_of_type(f, SHT_SYMTAB);
	uint64_t len = 0, nstrings = 0;
	const uint8_t *bytes = table ? elf__bytes(f, table, &len) : NULL;
	const char *strings = bytes ? elf__strings(f, table->sh_link, &nstrings) : NULL;
	const size_t size = f->class->symbol;
	Elf64_Sym s;

	for (uint64_t at = 0; strings && at + size <= len; at += size) {
		s = elf__take_symbol(f->class, bytes + at);
		if (ELF64_ST_TYPE(s.st_info) == STT_TLS && s.st_name < nstrings &&
		    !strcmp(strings + s.st_name, name))
			return s.st_value;
	}
	return -1;
}

/* Returns the offset from the thread pointer, which points to the end of the program's TLS segment
 * (ELF Handling For Thread-Local Storage, variant II). */
static int64_t g_offset(struct elf_file *f)
{
	const Elf64_Phdr *p;
	uint64_t align;
	int64_t at;

	for (p = f->segments; p < f->segments + f->nsegments; p++) {
		if (p->p_type != PT_TLS || p->p_memsz <= sizeof(uint64_t))
			continue;
		align = max_of(p->p_align, (Elf64_Xword)1);
		at = symbol_value(f, "runtime.tlsg");
		if (at < 0 || p->p_memsz > 1u << 24 || align > 1u << 16 ||
		    (uint64_t)at >= p->p_memsz)
			return 0;
		return at - (int64_t)((p->p_memsz + align - 1) / align * align);
	}
	return -8;
}

/* Without section headers it is found by its aligned magic number (src/debug/buildinfo). */
static const uint8_t *search_build_info(const struct object *o, uint64_t *len)
{
	static const char magic[] = "\xff Go buildinf:";
	const struct segment *s;
	uint64_t at;

	vec__each (s, &o->segments)
		for (at = -s->vaddr % 16; !s->exec && at + VERSION_AT < s->size; at += 16)
			if (!memcmp(s->bytes + at, magic, sizeof(magic) - 1)) {
				*len = s->size - at;
				return s->bytes + at;
			}
	return NULL;
}

/* A library's TLS offset is only known when it is loaded. */
static bool is_library(const struct elf_file *f)
{
	for (const Elf64_Phdr *p = f->segments; p < f->segments + f->nsegments; p++)
		if (p->p_type == PT_INTERP)
			return false;
	return f->header.e_type == ET_DYN && !elf__section(f, ".note.go.buildid");
}

void golang__find(struct object *o, struct elf_file *f)
{
	const struct arch *arch = arch__by_machine(f->header.e_machine);
	const Elf64_Shdr *section = elf__section(f, ".go.buildinfo");
	const uint8_t *info = NULL;
	uint64_t len = 0;

	if (!arch || !arch->go_checks_stack || (!section && f->nsections))
		return;
	info = section ? elf__bytes(f, section, &len) : search_build_info(o, &len);
	if (!section && !info)
		return;
	o->go = true;
	f->go = go_table__find(o, f);
	o->go_g = is_library(f) ? 0 : g_offset(f);
	o->go_goid = info ? goid_offset(info, len) : 0;
}
