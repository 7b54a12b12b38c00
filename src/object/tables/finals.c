// SPDX-License-Identifier: BSD-2-Clause
/* The functions that the loader, or the C library's start code in a static program, calls when the
 * process ends or the object is unloaded (gABI, "Initialization and Termination Functions"). */
#include <stdlib.h>
#include "readers.h"
#include "tables.h"

struct finals {
	struct object *o;
	struct elf_file *f;
	uint64_t fini, array, size;
};

static void add_array(struct finals *t, uint64_t vaddr, uint64_t size)
{
	uint64_t value;

	for (; size >= t->f->class->word && elf__word(t->o, t->f, vaddr, &value);
	     size -= t->f->class->word, vaddr += t->f->class->word)
		vec__push(&t->o->finals, value);
}

static void see_entry(void *ctx, const Elf64_Dyn *d)
{
	struct finals *t = ctx;

	if (d->d_tag == DT_FINI)
		t->fini = d->d_un.d_ptr;
	if (d->d_tag == DT_FINI_ARRAY)
		t->array = d->d_un.d_ptr;
	if (d->d_tag == DT_FINI_ARRAYSZ)
		t->size = d->d_un.d_val;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void finals__read(struct object *o, struct elf_file *f)
{
	struct finals t = {.o = o, .f = f};
	const Elf64_Shdr *section;

	relatives__read(o, f);
	dynamic__each(o, f, see_entry, &t);
	if (!t.fini && (section = elf__section(f, ".fini")))
		t.fini = section->sh_addr;
	if (!t.array && (section = elf__section(f, ".fini_array"))) {
		t.array = section->sh_addr;
		t.size = section->sh_size;
	}
	if (t.fini)
		vec__push(&o->finals, t.fini);
	add_array(&t, t.array, t.size);
	vec__sort(&o->finals, by_value);
}

bool object__is_final(const struct object *o, uint64_t entry)
{
	return o->finals.len &&
	       bsearch(&entry, o->finals.data, o->finals.len, sizeof(*o->finals.data), by_value);
}
