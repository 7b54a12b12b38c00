// SPDX-License-Identifier: BSD-2-Clause
/* PLT stubs: each jumps through a slot of the GOT, and the relocation of that slot has the
 * function's name. Stubs become symbols "puts@plt". */
#include <stdlib.h>
#include "arch/arch.h"
#include "object/elf/elf_file.h"
#include "readers.h"

struct stubs {
	const struct arch *arch;
	struct object *o;
	struct elf_file *f;
	uint64_t got;	    /* its address; 0 if there is none */
	struct map64 slots; /* address of the slot -> index into names + 1 */
	VEC(const char *) names;
	VEC(struct symbol) found;
};

static const char *const sections[] = {".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt"};

/* The symbol table that the relocations of a section refer to. */
struct table {
	const uint8_t *symbols;
	const char *names; /* NULL if there are none */
	uint64_t len, names_len;
};

/* Returns NULL if there are too many for a file of this size. */
static const char *stub_name(struct stubs *p, const char *function)
{
	if (!elf__afford(p->f, strlen(function) + sizeof("@plt")))
		return NULL;
	return elf__keep(p->f, xasprintf("%s@plt", function));
}

/* Returns the name for an IRELATIVE slot: the resolver's own if it has one, else objdump's
 * notation. */
static const char *irelative_name(struct stubs *p, uint64_t resolver)
{
	size_t i = object__symbols_from(p->o, resolver);
	char text[48];

	snprintf(text, sizeof(text), "*ABS*+0x%llx", (unsigned long long)resolver);
	return stub_name(p, i < p->o->symbols.len ? p->o->symbols.data[i].name : text);
}

static const char *slot_name(struct stubs *p, const Elf64_Rela *r, const struct table *t)
{
	const struct elf_class *class = p->f->class;
	uint64_t i = ELF64_R_SYM(r->r_info);
	Elf64_Sym sym;

	if (ELF64_R_TYPE(r->r_info) == p->arch->relocations.irelative)
		return irelative_name(p, object__code_vaddr(p->o, r->r_addend));
	if (!i || !t->names || i >= t->len / class->symbol)
		return NULL;
	sym = elf__take_symbol(class, t->symbols + i * class->symbol);
	if (sym.st_name >= t->names_len || !t->names[sym.st_name])
		return NULL;
	return stub_name(p, t->names + sym.st_name);
}

static struct table find_table(struct elf_file *f, uint32_t section)
{
	const Elf64_Shdr *s = section && section < f->nsections ? &f->sections[section] : NULL;
	struct table t = {0};

	if (!s || s->sh_type != SHT_DYNSYM)
		return t;
	t.symbols = elf__bytes(f, s, &t.len);
	t.names = t.symbols ? elf__strings(f, s->sh_link, &t.names_len) : NULL;
	return t;
}

/* Reads a slot for a function of the object itself, which is not looked up by name. */
static void read_relative(struct stubs *p, const Elf64_Rela *r, const Elf64_Shdr *got)
{
	if (got && r->r_offset - got->sh_addr < got->sh_size &&
	    object__is_code(p->o, (uint64_t)r->r_addend))
		vec__push(&p->o->slots, (struct got_slot){r->r_offset, NULL,
							  object__code_vaddr(p->o, r->r_addend)});
}

/* A relocation without an addend has it in the place that is relocated. */
static Elf64_Rela relocation_at(struct stubs *p, const uint8_t *bytes, bool addends)
{
	Elf64_Rela r = elf__take_relocation(p->f->class, bytes, addends);
	size_t avail = 0;
	const uint8_t *place = addends ? NULL : object__bytes(p->o, r.r_offset, &avail);

	if (place && avail >= p->f->class->word)
		r.r_addend = elf__take_word(p->f->class, place);
	return r;
}

static bool fills_slot(const struct arch_relocations *types, uint32_t type)
{
	return type == types->jump_slot || type == types->glob_dat || type == types->irelative;
}

static void read_relocations(struct stubs *p, const Elf64_Shdr *s)
{
	const struct arch_relocations *types = &p->arch->relocations;
	const Elf64_Shdr *got = elf__section(p->f, ".got");
	const bool addends = s->sh_type == SHT_RELA;
	const size_t size = addends ? p->f->class->rela : p->f->class->rel;
	struct table table = find_table(p->f, s->sh_link);
	uint64_t len, i, *index;
	const uint8_t *bytes = elf__bytes(p->f, s, &len);
	const char *name;
	uint32_t type;
	Elf64_Rela r;

	for (i = 0; bytes && i < len / size && elf__afford(p->f, size); i++) {
		r = relocation_at(p, bytes + i * size, addends);
		type = ELF64_R_TYPE(r.r_info);
		if (type && type == types->relative)
			read_relative(p, &r, got);
		name = type && fills_slot(types, type) ? slot_name(p, &r, &table) : NULL;
		if (!name)
			continue;
		index = map64__put(&p->slots, r.r_offset);
		if (!*index)
			vec__push(&p->o->slots, (struct got_slot){r.r_offset, name, 0});
		vec__push(&p->names, name);
		*index = p->names.len;
	}
}

static void add_stub(struct stubs *p, uint64_t vaddr, uint64_t size, uint64_t index)
{
	if (size)
		vec__push(&p->found, (struct symbol){.vaddr = vaddr,
						     .size = size,
						     .name = p->names.data[index - 1],
						     .shown = p->names.data[index - 1],
						     .type = SYMBOL_PLT,
						     .global = false});
}

/* Code of another mode enters the stub by code before it, at another address. */
static void mark_modes(struct stubs *p, uint64_t vaddr, const struct plt_stub *stub)
{
	if (stub->lead)
		modes__mark(p->o, vaddr, stub->lead_mode, MODE_BY_PLT);
	if (p->arch->modes)
		modes__mark(p->o, vaddr + stub->lead, p->arch->modes->initial, MODE_BY_PLT);
}

static void read_stubs(struct stubs *p, const Elf64_Shdr *s)
{
	uint64_t len, at, *index;
	const uint8_t *bytes = elf__bytes(p->f, s, &len);
	struct plt_stub stub;

	for (at = 0; bytes && at < len; at += stub.size) {
		uint64_t vaddr = s->sh_addr + at;

		stub.size = p->arch->plt_alignment;
		stub.by_got = false;
		stub.lead = 0;
		if (!p->arch->plt_stub(bytes + at, len - at, vaddr, s->sh_entsize, &stub))
			continue;
		mark_modes(p, vaddr, &stub);
		if (stub.by_got)
			stub.slot = arch__address(p->arch, p->got + stub.slot);
		index = map64__get(&p->slots, stub.slot);
		if (!index || !object__is_code(p->o, vaddr))
			continue;
		add_stub(p, vaddr, stub.lead, *index);
		add_stub(p, vaddr + stub.lead, stub.size - stub.lead, *index);
	}
}

static int by_vaddr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static int by_slot(const void *a, const void *b)
{
	const struct got_slot *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Merges two sorted lists; symbols from the file precede stubs at the same address. */
static void merge(struct stubs *p)
{
	size_t i = p->o->symbols.len, j = p->found.len, n = i + j;
	struct symbol *out;

	vec__sort(&p->found, by_vaddr);
	vec__reserve(&p->o->symbols, n);
	vec__reserve(&p->f->units, n);
	p->o->symbols.len = p->f->units.len = n;
	out = p->o->symbols.data;
	while (j && n--) {
		if (i && out[i - 1].vaddr > p->found.data[j - 1].vaddr) {
			out[n] = out[--i];
			p->f->units.data[n] = p->f->units.data[i];
		} else {
			out[n] = p->found.data[--j];
			p->f->units.data[n] = 0;
		}
	}
}

/* GNU ld has .got.plt or, without that, .got. */
static uint64_t find_got(const struct elf_file *f)
{
	const Elf64_Shdr *s = elf__section(f, ".got.plt");

	s = s ? s : elf__section(f, ".got");
	return s ? s->sh_addr : 0;
}

void plt__read(struct object *o, struct elf_file *f)
{
	struct stubs p = {.arch = arch__by_machine(o->machine), .o = o, .f = f, .got = find_got(f)};
	const Elf64_Shdr *s;
	size_t i;

	if (!p.arch || !p.arch->plt_stub)
		return;
	for (s = f->sections; s < f->sections + f->nsections; s++)
		if ((s->sh_type == SHT_RELA || s->sh_type == SHT_REL) && s->sh_flags & SHF_ALLOC)
			read_relocations(&p, s);
	vec__sort(&o->slots, by_slot);
	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		s = elf__section(f, sections[i]);
		if (s && p.slots.len)
			read_stubs(&p, s);
	}
	if (p.found.len)
		merge(&p);
	map64__free(&p.slots);
	vec__free(&p.names);
	vec__free(&p.found);
}
