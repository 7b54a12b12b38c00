// SPDX-License-Identifier: BSD-2-Clause
/*
 * The markers of include/bbtrace.h: notes as sys/sdt.h of SystemTap writes them. Their description
 * (sourceware.org, UserSpaceProbeImplementation): the addresses of the instruction, of
 * .stapsdt.base when it was linked, and of a semaphore; then provider, name and arguments, each
 * with its NUL. A tool that moves the object's addresses leaves notes as they are: .stapsdt.base
 * tells by how much.
 */
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
