// SPDX-License-Identifier: BSD-2-Clause
/* Pure lookups in an object's sorted arrays, by binary search. */
#include "arch/arch.h"
#include "object/elf/elf_file.h"
#include "lookup.h"

/* Returns the number of elements with vaddr <= key. struct segment, symbol, frame, got_slot and
 * noprobe all start with vaddr. */
static size_t count_upto(const void *data, size_t len, size_t size, uint64_t key)
{
	size_t low = 0, mid;
	uint64_t vaddr;

	while (low < len) {
		mid = low + (len - low) / 2;
		memcpy(&vaddr, (const char *)data + mid * size, sizeof(vaddr));
		if (vaddr <= key)
			low = mid + 1;
		else
			len = mid;
	}
	return low;
}

#define upto(v, key) count_upto((v)->data, (v)->len, sizeof(*(v)->data), (key))
/* The last element that starts at or below vaddr, if it covers it. */
#define covering(v, addr)                                                                          \
	({                                                                                         \
		size_t n_ = upto((v), (addr));                                                     \
		n_ && (addr) - (v)->data[n_ - 1].vaddr < (v)->data[n_ - 1].size                    \
			? &(v)->data[n_ - 1]                                                       \
			: NULL;                                                                    \
	})

const struct segment *object__segment_at(const struct object *o, uint64_t vaddr)
{
	return covering(&o->segments, vaddr);
}

/* Without section headers the segments decide. */
bool object__is_code(const struct object *o, uint64_t vaddr)
{
	const struct segment *segment = object__segment_at(o, vaddr);
	const struct elf_file *f = elf__of(o);

	if (!segment || !segment->exec)
		return false;
	return !f || !f->code.len || elf__code_at(f, vaddr);
}

const uint8_t *object__bytes(const struct object *o, uint64_t vaddr, size_t *avail)
{
	const struct segment *s = object__segment_at(o, vaddr);

	if (s && !s->bytes)
		s = covering(&o->kept, vaddr);
	*avail = s ? s->size - (vaddr - s->vaddr) : 0;
	return s ? s->bytes + (vaddr - s->vaddr) : NULL;
}

bool object__is_constant(const struct object *o, uint64_t vaddr, uint64_t len)
{
	const struct segment *s = object__segment_at(o, vaddr);

	if (!s || len > s->vaddr + s->size - vaddr)
		return false;
	return !s->write || (vaddr >= o->relro && vaddr - o->relro < o->relro_size &&
			     len <= o->relro_size - (vaddr - o->relro));
}

const struct frame *object__frame_at(const struct object *o, uint64_t vaddr)
{
	return covering(&o->frames, vaddr);
}

const struct noprobe *object__noprobe_at(const struct object *o, uint64_t vaddr)
{
	return covering(&o->noprobe, vaddr);
}

const struct got_slot *object__slot_at(const struct object *o, uint64_t vaddr)
{
	size_t n = upto(&o->slots, vaddr);

	return n && o->slots.data[n - 1].vaddr == vaddr ? &o->slots.data[n - 1] : NULL;
}

size_t object__symbols_from(const struct object *o, uint64_t vaddr)
{
	size_t i = vaddr ? upto(&o->symbols, vaddr - 1) : 0;

	return i < o->symbols.len && o->symbols.data[i].vaddr == vaddr ? i : o->symbols.len;
}

uint64_t object__next_start(const struct object *o, uint64_t vaddr, bool frames)
{
	size_t symbol = upto(&o->symbols, vaddr), frame = upto(&o->frames, vaddr);
	uint64_t next = UINT64_MAX;

	if (symbol < o->symbols.len)
		next = o->symbols.data[symbol].vaddr;
	if (frames && frame < o->frames.len)
		next = min_of(next, o->frames.data[frame].vaddr);
	return next;
}

/* Returns the end of a function without a size at vaddr, from what follows it. */
static uint64_t bounded_end(const struct object *o, uint64_t vaddr, uint64_t end)
{
	size_t next = upto(&o->symbols, vaddr), frame = upto(&o->frames, vaddr);
	const struct frame *f = object__frame_at(o, vaddr);

	if (f && f->vaddr == vaddr)
		return min_of(end, f->vaddr + f->size);
	if (next < o->symbols.len)
		end = min_of(end, o->symbols.data[next].vaddr);
	if (f)
		return min_of(end, f->vaddr + f->size);
	if (frame < o->frames.len)
		end = min_of(end, o->frames.data[frame].vaddr);
	return end;
}

uint64_t object__extent(const struct object *o, const struct symbol *s)
{
	const struct segment *segment = object__segment_at(o, s->vaddr);
	const struct elf_file *f = elf__of(o);
	const struct address_range *code;
	uint64_t end;

	if (!segment)
		return 0;
	end = segment->vaddr + segment->size;
	if (s->size)
		return min_of(s->size, end - s->vaddr);
	code = f ? elf__code_at(f, s->vaddr) : NULL;
	if (code)
		end = min_of(end, code->end);
	return bounded_end(o, s->vaddr, end) - s->vaddr;
}

static bool preferred(const struct symbol *a, const struct symbol *b)
{
	if (a->global != b->global)
		return a->global;
	if (a->default_version != b->default_version)
		return a->default_version;
	return strcmp(a->name, b->name) < 0;
}

void object__put_build_id(const struct object *o, struct str *s)
{
	for (size_t i = 0; i < o->build_id_len; i++)
		str__printf(s, "%02x", o->build_id[i]);
}

void object__put_build(const struct object *o, struct str *s)
{
	str__puts(s, o->build_id_len ? "build-id " : "no build-id");
	object__put_build_id(o, s);
}

void object__index_symbols(struct object *o)
{
	const struct symbol *s;
	uint64_t reach = 0;

	o->reach.len = 0;
	vec__each (s, &o->symbols) {
		reach = max_of(reach, s->vaddr + object__extent(o, s));
		vec__push(&o->reach, reach);
	}
}

const struct symbol *object__symbol_at(const struct object *o, uint64_t vaddr)
{
	const struct symbol *s, *best = NULL;
	size_t i;

	for (i = upto(&o->symbols, vaddr); i--;) {
		s = &o->symbols.data[i];
		if (best && s->vaddr != best->vaddr)
			break;
		/* No earlier symbol extends to vaddr. */
		if (i < o->reach.len && o->reach.data[i] <= vaddr)
			break;
		if (vaddr - s->vaddr < object__extent(o, s) && (!best || preferred(s, best)))
			best = s;
	}
	return best ? symbol__show(o, best) : NULL;
}

bool object__offset_to_vaddr(const struct object *o, uint64_t offset, uint64_t *vaddr)
{
	const struct segment *s, *found = NULL;

	if (o->kind != OBJECT_ELF) {
		*vaddr = offset;
		return object__segment_at(o, offset);
	}
	/* A page of the file may be mapped twice: this prefers code. */
	vec__each (s, &o->segments)
		if (offset >= s->offset && offset - s->offset < s->size &&
		    (!found || (s->exec && !found->exec)))
			found = s;
	if (found)
		*vaddr = found->vaddr + (offset - found->offset);
	return found;
}

bool object__vaddr_to_offset(const struct object *o, uint64_t vaddr, uint64_t *offset)
{
	const struct segment *s = object__segment_at(o, vaddr);

	if (s)
		*offset = o->kind == OBJECT_ELF ? s->offset + (vaddr - s->vaddr) : vaddr;
	return s;
}

/* Code can't be decoded backward: each length that an instruction can have is tried. */
bool object__follows_call(const struct object *o, uint64_t vaddr)
{
	const struct arch *arch = arch__by_machine(o->machine);
	unsigned unit = arch ? arch->alignment : 1;

	for (unsigned len = unit; arch && len <= arch->longest && len <= vaddr; len += unit) {
		size_t avail;
		const uint8_t *bytes = object__bytes(o, vaddr - len, &avail);
		struct insn i;

		if (bytes && avail >= len && object__is_code(o, vaddr - len) &&
		    !arch->decode(bytes, len, object__code_address(o, vaddr - len), false, &i) &&
		    i.len == len && (i.kind == BRANCH_CALL || i.kind == BRANCH_ICALL))
			return true;
	}
	return false;
}
