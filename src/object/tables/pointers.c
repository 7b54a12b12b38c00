// SPDX-License-Identifier: BSD-2-Clause
/* The words of an object that hold addresses of its own, and may point to code. */
#include <stdlib.h>
#include "arch/arch.h"
#include "object/elf/elf_file.h"
#include "readers.h"
#include "tables.h"

static void see_entry(void *ctx, const Elf64_Dyn *d)
{
	bool *text_relocated = ctx;

	*text_relocated |=
		d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL);
}

bool object__has_rseq(const struct object *o)
{
	const struct elf_file *f = elf__of(o);

	return f && elf__section(f, "__rseq_cs");
}

bool object__text_relocated(const struct object *o)
{
	const struct elf_file *f = elf__of(o);
	bool out = false;

	if (f)
		dynamic__each(o, f, see_entry, &out);
	return out;
}

void object__pointers(const struct object *o, void (*fn)(void *ctx, uint64_t value), void *ctx)
{
	struct elf_file *f = elf__of(o);
	const struct elf_class *class = f ? f->class : elf__class(ELFCLASS64);
	const uint64_t word = class->word;
	const struct relative *r;
	const struct segment *s;

	if (f && o->pie)
		relatives__read(o, f);
	if (f && o->pie)
		vec__each (r, &f->relatives)
			fn(ctx, r->value);
	if (o->pie && !(f && f->relatives_missing))
		return;
	vec__each (s, &o->segments)
		for (uint64_t at = -s->vaddr & (word - 1);
		     !s->exec && s->bytes && at + word <= s->size; at += word)
			fn(ctx, elf__take_word(class, s->bytes + at));
}
