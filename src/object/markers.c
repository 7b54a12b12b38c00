// SPDX-License-Identifier: BSD-2-Clause
/*
 * The markers of include/bbtrace.h: notes as sys/sdt.h of SystemTap writes them. Their description
 * (sourceware.org, UserSpaceProbeImplementation): the addresses of the instruction, of
 * .stapsdt.base when it was linked, and of a semaphore; then provider, name and arguments, each
 * with its NUL. A tool that moves the object's addresses leaves notes as they are: .stapsdt.base
 * tells by how much.
 */
#include <stdlib.h>
#include <unistd.h>
#include "arch/arch.h"
#include "elf_file.h"

#define NT_STAPSDT 3
#define ALIGNED(n) (((uint64_t)(n) + 3) & ~3ull)

static const char *const kinds[] = {
	[MARKER_START] = "start", [MARKER_STOP] = "stop", [MARKER_MARK] = "mark"};

/* The string at *p; NULL: it doesn't end before end. */
static const char *next_string(const uint8_t **p, const uint8_t *end)
{
	const uint8_t *nul = memchr(*p, 0, end - *p);
	const char *s = (const char *)*p;

	if (nul)
		*p = nul + 1;
	return nul ? s : NULL;
}

static void add_marker(const struct object *o, const uint8_t *desc, uint64_t len, uint64_t base,
		       marker_vec *out)
{
	const uint8_t *p = desc + 3 * sizeof(uint64_t), *end = desc + len;
	const char *provider, *name, *args;
	uint64_t at[3];

	if (len < sizeof(at))
		return;
	memcpy(at, desc, sizeof(at));
	provider = next_string(&p, end);
	name = provider ? next_string(&p, end) : NULL;
	args = name ? next_string(&p, end) : NULL;
	if (!args || strcmp(provider, "bbtrace"))
		return;
	at[0] += base ? base - at[1] : 0;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(name, kinds[i]) && object__is_code(o, at[0]))
			vec__push(out, (struct marker){.vaddr = at[0], .kind = i, .args = args});
}

void object__markers(const struct object *o, marker_vec *out)
{
	struct elf_file *f = elf__of(o);
	const Elf64_Shdr *notes = f ? elf__section(f, ".note.stapsdt") : NULL,
			 *base = f ? elf__section(f, ".stapsdt.base") : NULL;
	uint64_t left, name, desc;
	const uint8_t *p;
	Elf64_Nhdr n;

	if (!notes || !(p = elf__bytes(f, notes, &left)))
		return;
	while (left >= sizeof(n)) {
		memcpy(&n, p, sizeof(n));
		p += sizeof(n), left -= sizeof(n);
		name = ALIGNED(n.n_namesz), desc = ALIGNED(n.n_descsz);
		if (name > left || n.n_descsz > left - name)
			return;
		if (n.n_type == NT_STAPSDT && n.n_namesz == 8 && !memcmp(p, "stapsdt", 8))
			add_marker(o, p + name, n.n_descsz, base ? base->sh_addr : 0, out);
		if (desc > left - name)
			return;
		p += name + desc, left -= name + desc;
	}
}

/* ---- operands: a register with or without %, a number with or without $, by dialect and machine
 * ----
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

/* ---- a quick look ---- */

#define SECTIONS_MOST 256
#define NOTES_MOST    (256u << 10)

static bool read_at(int fd, void *buf, size_t len, uint64_t at)
{
	return pread(fd, buf, len, at) == (ssize_t)len;
}

/* Do these bytes have the provider's name, with its NUL, or also that of marks? */
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
	Elf64_Shdr sections[SECTIONS_MOST];
	Elf64_Ehdr h;
	size_t n;

	if (!read_at(fd, &h, sizeof(h), 0) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_shentsize != sizeof(*sections))
		return false;
	n = min_of((size_t)h.e_shnum, (size_t)SECTIONS_MOST);
	if (!n || !read_at(fd, sections, n * sizeof(*sections), h.e_shoff))
		return false;
	for (size_t i = 0; i < n; i++)
		if (has_provider(fd, &sections[i], marks))
			return true;
	return false;
}
