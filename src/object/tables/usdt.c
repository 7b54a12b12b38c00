// SPDX-License-Identifier: BSD-2-Clause
/*
 * Static probes of a program, in the notes of .note.stapsdt (systemtap, "User Space Probe
 * Implementation"; sys/sdt.h): pc, the address of .stapsdt.base when it was linked, and that of the
 * semaphore, words of the file's class; then provider, name and arguments, each with a NUL.
 */
#include <errno.h>
#include "object/elf/elf_file.h"
#include "tables.h"

#define NOTE_TYPE 3
#define OWNER	  "stapsdt"
#define ADDRESSES 3

static const char *text_in(const uint8_t **at, const uint8_t *end)
{
	const char *text = (const char *)*at;
	const uint8_t *nul = memchr(*at, 0, end - *at);

	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

/* base: the present address of .stapsdt.base; 0 if not known */
static void take_note(const struct elf_class *class, const uint8_t *p, size_t len, uint64_t base,
		      usdt_vec *out)
{
	const uint8_t *end = p + len;
	struct usdt_probe u = {0};
	uint64_t a[ADDRESSES];

	if (len < (size_t)ADDRESSES * class->word)
		return;
	for (size_t i = 0; i < ADDRESSES; i++, p += class->word)
		a[i] = elf__take_word(class, p);
	u.provider = text_in(&p, end);
	u.name = u.provider ? text_in(&p, end) : NULL;
	u.arguments = u.name ? text_in(&p, end) : NULL;
	if (!u.arguments)
		return;
	/* prelink(8) moves the code, and the base with it. */
	u.vaddr = base && a[1] ? a[0] + (base - a[1]) : a[0];
	u.semaphore = a[2] && base && a[1] ? a[2] + (base - a[1]) : a[2];
	vec__push(out, u);
}

static void take_notes(const struct elf_class *class, const uint8_t *p, uint64_t len, uint64_t base,
		       usdt_vec *out)
{
	uint64_t name, desc;
	Elf64_Nhdr n;

	while (len >= sizeof(n)) {
		memcpy(&n, p, sizeof(n));
		p += sizeof(n), len -= sizeof(n);
		name = ((uint64_t)n.n_namesz + 3) & ~3ull;
		desc = ((uint64_t)n.n_descsz + 3) & ~3ull;
		if (name > len || n.n_descsz > len - name)
			return;
		if (n.n_type == NOTE_TYPE && n.n_namesz == sizeof(OWNER) &&
		    !memcmp(p, OWNER, sizeof(OWNER)))
			take_note(class, p + name, n.n_descsz, base, out);
		if (desc > len - name)
			return;
		p += name + desc, len -= name + desc;
	}
}

void object__usdt(const struct object *o, usdt_vec *out)
{
	struct elf_file *f = elf__of(o);
	const Elf64_Shdr *notes = f ? elf__section(f, ".note.stapsdt") : NULL;
	const Elf64_Shdr *base = notes ? elf__section(f, ".stapsdt.base") : NULL;
	const uint8_t *bytes;
	uint64_t len;

	bytes = notes ? elf__bytes(f, notes, &len) : NULL;
	if (bytes)
		take_notes(f->class, bytes, len, base ? base->sh_addr : 0, out);
}
