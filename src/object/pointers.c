// SPDX-License-Identifier: BSD-2-Clause
/* The words of an object that hold addresses of its own: where code may be pointed to. */
#include <stdlib.h>
#include "arch/arch.h"
#include "elf_file.h"

struct dynamic {
	uint64_t rela, relasz;
	bool relr;	     /* has packed relative relocations, whose addends are in place */
	bool text_relocated; /* some relocations change code */
};

static void see_entry(struct dynamic *out, const Elf64_Dyn *d)
{
	switch (d->d_tag) {
	case DT_RELA:
		out->rela = d->d_un.d_ptr;
		break;
	case DT_RELASZ:
		out->relasz = d->d_un.d_val;
		break;
	case 36: /* DT_RELR */
		out->relr = true;
		break;
	case DT_TEXTREL:
		out->text_relocated = true;
		break;
	case DT_FLAGS:
		out->text_relocated |= !!(d->d_un.d_val & DF_TEXTREL);
		break;
	default:
		break;
	}
}

static void read_dynamic(const struct object *o, struct dynamic *out)
{
	const struct elf_file *f = elf__of(o);
	const uint8_t *bytes = NULL;
	size_t avail = 0;
	Elf64_Dyn d;

	*out = (struct dynamic){0};
	for (size_t i = 0; f && i < f->nsegments; i++)
		if (f->segments[i].p_type == PT_DYNAMIC) {
			bytes = object__bytes(o, f->segments[i].p_vaddr, &avail);
			avail = min_of(avail, f->segments[i].p_filesz);
		}
	for (; bytes && avail >= sizeof(d); bytes += sizeof(d), avail -= sizeof(d)) {
		memcpy(&d, bytes, sizeof(d));
		if (d.d_tag == DT_NULL)
			return;
		see_entry(out, &d);
	}
}

bool object__has_rseq(const struct object *o)
{
	const struct elf_file *f = elf__of(o);

	return f && elf__section(f, "__rseq_cs");
}

bool object__text_relocated(const struct object *o)
{
	struct dynamic d;

	read_dynamic(o, &d);
	return d.text_relocated;
}

static void relocated_pointers(const struct object *o, const struct dynamic *d,
			       void (*fn)(void *ctx, uint64_t value), void *ctx)
{
	const struct arch *arch = arch__by_machine(o->machine);
	size_t avail;
	const uint8_t *bytes = object__bytes(o, d->rela, &avail);
	uint64_t len = bytes ? min_of(d->relasz, (uint64_t)avail) : 0;
	Elf64_Rela r;

	if (!arch || !arch->relocations.relative)
		return;
	for (; len >= sizeof(r); bytes += sizeof(r), len -= sizeof(r)) {
		memcpy(&r, bytes, sizeof(r));
		if (ELF64_R_TYPE(r.r_info) == arch->relocations.relative)
			fn(ctx, r.r_addend);
	}
}

void object__pointers(const struct object *o, void (*fn)(void *ctx, uint64_t value), void *ctx)
{
	const struct segment *s;
	struct dynamic d;
	uint64_t word;

	read_dynamic(o, &d);
	if (o->pie)
		relocated_pointers(o, &d, fn, ctx);
	if (o->pie && !d.relr)
		return;
	vec__each (s, &o->segments)
		for (uint64_t at = -s->vaddr & 7; !s->exec && s->bytes && at + 8 <= s->size;
		     at += 8) {
			memcpy(&word, s->bytes + at, sizeof(word));
			fn(ctx, word);
		}
}
