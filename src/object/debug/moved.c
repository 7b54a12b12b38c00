// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the kernel's code is in its debug file: the kernel and each section of a module run at
 * other addresses after each boot. A section's address is that of its functions in the running
 * kernel's table, if all of them agree. Runs in the sandbox.
 */
#include <stdlib.h>
#include <elfutils/libdwfl.h>
#include "debug.h"

/* A name of the running kernel's table. */
struct known {
	const char *name;
	uint64_t vaddr;
	uint64_t in_file;
	unsigned runs,
		files; /* how many symbols have this name in the running kernel, and in the file */
	uint32_t section;
};
typedef VEC(struct known) known_vec;

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct known *)a)->name, ((const struct known *)b)->name);
}

static void collect(const struct object *o, known_vec *v)
{
	const struct symbol *s;
	size_t n = 0;

	vec__each (s, &o->symbols)
		vec__push(v, (struct known){.name = s->name, .vaddr = s->vaddr, .runs = 1});
	vec__sort(v, by_name);
	for (size_t i = 0; i < v->len; i++)
		if (n && !by_name(&v->data[n - 1], &v->data[i]))
			v->data[n - 1].runs++;
		else
			v->data[n++] = v->data[i];
	v->len = n;
}

static void look_up(known_vec *v, Dwfl_Module *module)
{
	int n = dwfl_module_getsymtab(module);

	for (int i = 1; i < n && v->len; i++) {
		struct known key = {0}, *found;
		GElf_Word section;
		GElf_Addr addr;
		GElf_Sym sym;

		key.name = dwfl_module_getsym_info(module, i, &sym, &addr, &section, NULL, NULL);
		if (!key.name || GELF_ST_TYPE(sym.st_info) != STT_FUNC)
			continue;
		found = bsearch(&key, v->data, v->len, sizeof(*v->data), by_name);
		if (!found)
			continue;
		found->files++;
		found->in_file = addr;
		found->section = section;
	}
}

/* Sets the shift of the section that begins at start in the file. Returns false if its functions
 * don't agree, or if there are none. */
static bool shift_of(const known_vec *v, uint32_t section, uint64_t *shift)
{
	const struct known *k;
	bool found = false;

	vec__each (k, v) {
		if (k->runs != 1 || k->files != 1 || k->section != section)
			continue;
		if (found && k->vaddr - k->in_file != *shift)
			return false;
		*shift = k->vaddr - k->in_file;
		found = true;
	}
	return found;
}

void moved__find(const struct object *o, struct Dwfl_Module *module, moved_vec *out)
{
	known_vec known = {0};
	Elf_Scn *section = NULL;
	GElf_Addr bias;
	Elf *elf;

	collect(o, &known);
	look_up(&known, module);
	elf = dwfl_module_getelf(module, &bias);
	while (elf && (section = elf_nextscn(elf, section))) {
		GElf_Shdr h;
		uint64_t shift;

		if (!gelf_getshdr(section, &h) || !(h.sh_flags & SHF_EXECINSTR) || !h.sh_size ||
		    !shift_of(&known, elf_ndxscn(section), &shift))
			continue;
		vec__push(out,
			  (struct moved){h.sh_addr + bias, h.sh_addr + bias + h.sh_size, shift});
	}
	vec__free(&known);
}

/* ---- queries ---- */

static const struct moved nothing_moved = {0, UINT64_MAX, 0};

const struct moved *debug__moved_to(const struct debug_session *s, uint64_t vaddr)
{
	const struct moved *m;

	if (!s->moved)
		return &nothing_moved;
	vec__each (m, s->moved)
		if (vaddr - m->shift >= m->start && vaddr - m->shift < m->end)
			return m;
	return NULL;
}

const struct moved *debug__moved_from(const struct debug_session *s, uint64_t vaddr)
{
	const struct moved *m;

	if (!s->moved)
		return &nothing_moved;
	vec__each (m, s->moved)
		if (vaddr >= m->start && vaddr < m->end)
			return m;
	return NULL;
}

bool debug__has_code(const struct debug_session *s, uint64_t start, uint64_t end)
{
	const struct object *o = s->object;
	const struct elf_file *f = elf__of(o);
	const struct address_range *code;
	const struct moved *m;

	if (start >= end)
		return false;
	if (s->moved) {
		m = debug__moved_from(s, start);
		return m && end <= m->end;
	}
	/* 0 and 1 are code only if something is there by name. */
	if (start <= 1 && object__symbols_from(o, start) == o->symbols.len)
		return false;
	if (!f || !f->code.len)
		return object__is_code(o, start) && object__is_code(o, end - 1);
	code = elf__code_at(f, start);
	return code && end <= code->end;
}
