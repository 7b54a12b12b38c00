// SPDX-License-Identifier: BSD-2-Clause
/* Everything that is known of an object's code, for a digest. Its debug file shows in the symbols;
 * the frames that only .debug_frame has don't, so an object with one has no identity. */
#include "elf_file.h"

struct put {
	void (*fn)(void *ctx, const void *data, size_t len);
	void *ctx;
};

static void put_number(const struct put *p, uint64_t n)
{
	p->fn(p->ctx, &n, sizeof(n));
}

static void put_text(const struct put *p, const char *text)
{
	p->fn(p->ctx, text ? text : "", text ? strlen(text) + 1 : 0);
}

static void put_symbols(const struct put *p, const struct object *o)
{
	const struct symbol *s;

	put_number(p, o->symbols.len);
	vec__each (s, &o->symbols) {
		const uint64_t numbers[] = {s->vaddr,  s->size,	    s->type,	       s->args,
					    s->global, s->exported, s->default_version};

		p->fn(p->ctx, numbers, sizeof(numbers));
		put_text(p, s->name);
		put_text(p, s->version);
	}
}

static void put_frames(const struct put *p, const struct object *o)
{
	const struct frame *f;

	put_number(p, o->frames.len);
	vec__each (f, &o->frames) {
		const uint64_t numbers[] = {f->vaddr,  f->size,	 f->part,
					    f->signal, f->found, f->unproved};

		p->fn(p->ctx, numbers, sizeof(numbers));
		p->fn(p->ctx, f->pads, f->npads * sizeof(*f->pads));
	}
}

static void put_tables(const struct put *p, const struct object *o)
{
	const struct got_slot *slot;
	const struct noprobe *n;
	const struct code_mode *m;
	const struct segment *s;

	put_number(p, o->slots.len);
	vec__each (slot, &o->slots) {
		put_number(p, slot->vaddr);
		put_text(p, slot->name);
		put_number(p, slot->target);
	}
	put_number(p, o->noprobe.len);
	vec__each (n, &o->noprobe) {
		put_number(p, n->vaddr);
		put_number(p, n->size);
		put_text(p, n->reason);
	}
	put_number(p, o->modes.len);
	vec__each (m, &o->modes) {
		put_number(p, m->vaddr);
		put_number(p, (uint64_t)m->rank << 8 | m->mode);
	}
	put_number(p, o->segments.len);
	vec__each (s, &o->segments) {
		const uint64_t numbers[] = {s->vaddr, s->size, s->offset, s->exec, s->write};

		p->fn(p->ctx, numbers, sizeof(numbers));
	}
	p->fn(p->ctx, o->finals.data, o->finals.len * sizeof(*o->finals.data));
}

static bool has_debug_frame(const struct object *o, const struct elf_file *f)
{
	return elf__section(f, ".debug_frame") || elf__section(f, ".zdebug_frame") ||
	       !o->frames.len;
}

bool object__identity(const struct object *o, void (*fn)(void *ctx, const void *data, size_t len),
		      void *ctx)
{
	const struct elf_file *f = elf__of(o);
	const struct put p = {fn, ctx};
	const uint64_t numbers[] = {o->machine, o->pie,	  o->go,      o->mixed,	     o->stripped,
				    o->go_g,	o->relro, o->go_goid, o->relro_size, o->main};

	if (!f || o->states.len || has_debug_frame(o, f))
		return false;
	fn(ctx, numbers, sizeof(numbers));
	fn(ctx, f->image, f->image_len);
	fn(ctx, f->sections, f->nsections * sizeof(*f->sections));
	fn(ctx, f->section_names, f->section_names_len);
	put_symbols(&p, o);
	put_frames(&p, o);
	put_tables(&p, o);
	return true;
}
