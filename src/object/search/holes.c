// SPDX-License-Identifier: BSD-2-Clause
/* Code that no symbol and no FDE covers, and how much of it is not padding. */
#include <stdlib.h>
#include "search_private.h"

#define ZEROS 4 /* this many are not instructions, but fill space */

static bool is_zero(const uint8_t *bytes, uint64_t len)
{
	for (uint64_t i = 0; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

bool holes__is_padding(const struct object *o, uint64_t addr, uint64_t end, unsigned *len)
{
	const struct arch *arch = arch__by_machine(o->machine);
	uint64_t left = end - addr;
	struct insn insn;
	size_t avail;
	const uint8_t *bytes = object__bytes(o, addr, &avail);

	left = min_of(left, (uint64_t)avail);
	if (!bytes || !left)
		return false;
	*len = 1;
	if (!*bytes)
		return is_zero(bytes, min_of(left, (uint64_t)ZEROS));
	if (arch->decode(bytes, left, addr, false, &insn) || !insn.padding)
		return false;
	*len = insn.len;
	return true;
}

/* Appends [start, end) without padding at both ends. */
static void add_hole(const struct object *o, uint64_t start, uint64_t end, hole_vec *out)
{
	uint64_t last;
	size_t avail;
	unsigned len;

	/* a section may be larger than the file */
	if (!object__bytes(o, start, &avail))
		return;
	end = min_of(end, start + avail);
	while (start < end && holes__is_padding(o, start, end, &len))
		start += len;
	if (start >= end)
		return;
	/* zeros and breakpoints at the end */
	for (last = end; last > start && holes__is_padding(o, last - 1, end, &len) && len == 1;)
		last--;
	vec__push(out, (struct hole){start, last});
}

struct coverage {
	const struct object *o;
	size_t symbol, frame;
};

/* Returns the end of what covers addr, and sets *next to the next start after it; addr itself if
 * nothing does. */
static uint64_t covered_until(struct coverage *c, uint64_t addr, uint64_t *next)
{
	const struct object *o = c->o;
	uint64_t end = addr;

	for (; c->symbol < o->symbols.len && o->symbols.data[c->symbol].vaddr <= addr; c->symbol++)
		;
	for (; c->frame < o->frames.len && o->frames.data[c->frame].vaddr <= addr; c->frame++)
		;
	if (c->symbol && c->symbol <= o->reach.len)
		end = max_of(end, o->reach.data[c->symbol - 1]);
	if (c->frame)
		end = max_of(end, o->frames.data[c->frame - 1].vaddr +
					  o->frames.data[c->frame - 1].size);
	*next = UINT64_MAX;
	if (c->symbol < o->symbols.len)
		*next = o->symbols.data[c->symbol].vaddr;
	if (c->frame < o->frames.len)
		*next = min_of(*next, o->frames.data[c->frame].vaddr);
	return end;
}

static void add_section(const struct object *o, uint64_t start, uint64_t end, hole_vec *out)
{
	struct coverage c = {.o = o};
	uint64_t next;

	while (start < end) {
		uint64_t until = covered_until(&c, start, &next);

		if (until > start) {
			start = until;
			continue;
		}
		add_hole(o, start, min_of(end, next), out);
		start = min_of(end, next);
	}
}

void holes__find(const struct object *o, hole_vec *out)
{
	const struct elf_file *f = elf__of(o);
	const struct address_range *r;
	const struct segment *s;

	vec__each (r, &f->code)
		add_section(o, r->start, r->end, out);
	if (f->code.len)
		return;
	vec__each (s, &o->segments)
		if (s->exec)
			add_section(o, s->vaddr, s->vaddr + s->size, out);
}

const struct hole *holes__at(const hole_vec *holes, uint64_t addr)
{
	size_t i = bisect(holes->len, holes->data[i_].end <= addr);

	return i < holes->len && holes->data[i].start <= addr ? &holes->data[i] : NULL;
}

/* ---- what is left ---- */

static uint64_t without_padding(const struct object *o, const struct hole *h)
{
	uint64_t n = 0, at = h->start;
	unsigned len;

	while (at < h->end) {
		if (holes__is_padding(o, at, h->end, &len)) {
			at += len;
			continue;
		}
		n++;
		at++;
	}
	return n;
}

#define TRIFLE	     16	 /* bytes: most functions start at a multiple of it */
#define TRIFLE_SHARE 100 /* of a section that is this many times larger */

/* Returns true for what is no more than space between functions: a prefix before an entry, rests of
 * padding. */
static bool is_trifle(uint64_t bytes, uint64_t size)
{
	return !bytes || (bytes < TRIFLE && bytes * TRIFLE_SHARE < size);
}

static void count(const struct object *o, const char *name, uint64_t start, uint64_t end,
		  unknown_code_vec *out)
{
	hole_vec holes = {0};
	const struct hole *h;
	uint64_t bytes = 0;

	add_section(o, start, end, &holes);
	vec__each (h, &holes)
		bytes += without_padding(o, h);
	if (!is_trifle(bytes, end - start))
		vec__push(out, (struct unknown_code){name, bytes, end - start});
	vec__free(&holes);
}

/* The linker's, whose header is in no function. */
static bool is_plt(const char *section)
{
	return !strncmp(section, ".plt", 4) || !strcmp(section, ".iplt");
}

void object__unknown_code(const struct object *o, unknown_code_vec *out)
{
	const struct elf_file *f = elf__of(o);
	const struct segment *segment;
	const Elf64_Shdr *s;

	if (!f || object__is_kernel(o) || !arch__by_machine(o->machine))
		return;
	for (s = f->sections; s < f->sections + f->nsections; s++)
		if (s->sh_flags & SHF_EXECINSTR && s->sh_flags & SHF_ALLOC && s->sh_size &&
		    s->sh_name < f->section_names_len && !is_plt(f->section_names + s->sh_name))
			count(o, f->section_names + s->sh_name, s->sh_addr, s->sh_addr + s->sh_size,
			      out);
	if (f->code.len)
		return;
	vec__each (segment, &o->segments)
		if (segment->exec)
			count(o, NULL, segment->vaddr, segment->vaddr + segment->size, out);
}
