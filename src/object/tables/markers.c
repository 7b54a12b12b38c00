// SPDX-License-Identifier: BSD-2-Clause
/* The markers of include/bbtrace.h: static probes (usdt.c) whose provider is bbtrace. */
#include <stdlib.h>
#include <unistd.h>
#include "arch/arch.h"
#include "object/elf/elf_file.h"
#include "tables.h"

static const char *const kinds[] = {
	[MARKER_START] = "start", [MARKER_STOP] = "stop", [MARKER_MARK] = "mark"};

void object__markers(const struct object *o, marker_vec *out)
{
	const struct usdt_probe *u;
	usdt_vec probes = {0};

	object__usdt(o, &probes);
	vec__each (u, &probes)
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			if (!strcmp(u->provider, "bbtrace") && !strcmp(u->name, kinds[i]) &&
			    object__is_code(o, u->vaddr))
				vec__push(out, (struct marker){.vaddr = u->vaddr,
							       .kind = i,
							       .args = u->arguments});
	vec__free(&probes);
}

/*
 * Reads an operand: a register with or without %, a number with or without $, depending on dialect
 * and machine. The header allows no memory operand: a bare number is a constant here, and would be
 * an address among the arguments of any other probe (usdt__arguments()).
 */

static bool parse_register(const char *s, size_t len, const struct arch *arch, uint8_t *out)
{
	for (unsigned i = 0; i < arch->nregs; i++)
		if (arch->reg_names[i] && strlen(arch->reg_names[i]) == len &&
		    !strncmp(arch->reg_names[i], s, len)) {
			*out = i;
			return true;
		}
	return false;
}

static bool parse_value(const char *s, size_t len, const struct arch *arch,
			struct marker_operands *out)
{
	char *end;

	if (parse_register(s, len, arch, &out->value))
		return true;
	out->value = MARKER_CONSTANT;
	out->constant = strtoll(s, &end, 0);
	return end == s + len && len;
}

bool marker__operands(const struct marker *m, const struct arch *arch, struct marker_operands *out)
{
	const char *name = m->args, *value;
	size_t len;

	if (strncmp(name, "8@", 2))
		return false;
	name += 2 + (name[2] == '%');
	len = strcspn(name, " ");
	value = name + len;
	if (strncmp(value, " -8@", 4) || !parse_register(name, len, arch, &out->name))
		return false;
	value += 4;
	value += *value == '%' || *value == '$';
	return parse_value(value, strlen(value), arch, out);
}

/* ---- a quick check ---- */

#define SECTIONS_MOST 256
#define NOTES_MOST    (256u << 10)

static bool read_at(int fd, void *buf, size_t len, uint64_t at)
{
	return pread(fd, buf, len, at) == (ssize_t)len;
}

/* Returns true if these bytes have the provider's name, with its NUL, or also that of marks. */
static bool has_provider(int fd, const Elf64_Shdr *s, bool marks)
{
	static const char name[] = "bbtrace\0mark";

	size_t len = min_of(s->sh_size, (uint64_t)NOTES_MOST);
	autofree char *notes = xmalloc(len + 1);

	return s->sh_type == SHT_NOTE && len && read_at(fd, notes, len, s->sh_offset) &&
	       memmem(notes, len, name, marks ? sizeof(name) : sizeof("bbtrace"));
}

bool markers__in_file(int fd, bool marks)
{
	uint8_t sections[SECTIONS_MOST * sizeof(Elf64_Shdr)], start[sizeof(Elf64_Ehdr)] = "";
	const struct elf_class *class;
	Elf64_Shdr section;
	Elf64_Ehdr h;
	size_t n;

	if (!read_at(fd, start, sizeof(Elf32_Ehdr), 0) || memcmp(start, ELFMAG, SELFMAG))
		return false;
	class = elf__class(start[EI_CLASS]);
	if (!read_at(fd, start, class->header, 0))
		return false;
	elf__take_header(class, start, &h);
	n = min_of((size_t)h.e_shnum, (size_t)SECTIONS_MOST);
	if (!n || h.e_shentsize != class->section ||
	    !read_at(fd, sections, n * class->section, h.e_shoff))
		return false;
	for (size_t i = 0; i < n; i++) {
		section = elf__take_section(class, sections + i * class->section);
		if (has_provider(fd, &section, marks))
			return true;
	}
	return false;
}
