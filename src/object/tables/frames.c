// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads .eh_frame: which ranges of code are a function or a cold part, and where the unwinder may
 * enter them (.gcc_except_table). Layout: LSB Core, Exception Frames; DWARF 5, 6.4; GCC's
 * unwind-pe.h and except.cc. 32-bit ARM has .ARM.exidx instead.
 */
#include <stdlib.h>
#include <dwarf.h>
#include "arch/arch.h"
#include "object/elf/elf_file.h"
#include "readers.h"

/* The rule for the CFA. */
struct row {
	uint64_t reg, offset;
	bool expression;
};

struct cie {
	bool usable, signal;
	uint8_t pc_encoding, lsda_encoding;
	int64_t data_align;
	struct row initial; /* after its own instructions */
};

struct reader {
	struct object *o;
	struct elf_file *f;
	VEC(struct cie) cies;
	struct map64 by_offset; /* offset of a CIE -> index into cies + 1 */
	VEC(uint64_t) pads;
	uint64_t budget; /* call sites left to read: hostile tables may share their bytes */
};

/* ---- CIE and the first row of its FDEs ---- */

static void read_augmentation(struct cursor *c, const char *letters, struct cie *cie)
{
	uint8_t encoding;

	for (; *letters && !c->bad; letters++) {
		switch (*letters) {
		case 'L':
			cie->lsda_encoding = cursor__uint(c, 1);
			break;
		case 'P':
			encoding = cursor__uint(c, 1);
			cursor__format(c, encoding);
			break;
		case 'R':
			cie->pc_encoding = cursor__uint(c, 1);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B': /* arm64: signed with the B key */
		case 'G': /* arm64: MTE-tagged frame */
			break;
		default:
			c->bad = true;
		}
	}
}

/* Executes one call-frame instruction of the first row. Returns false if the row is complete, or
 * the instruction is unknown. */
static bool run_cfi(struct cursor *c, const struct cie *cie, struct row *row)
{
	uint8_t op = cursor__uint(c, 1);

	if (c->bad || (op & 0xc0) == DW_CFA_advance_loc)
		return false;
	if ((op & 0xc0) == DW_CFA_offset)
		return cursor__leb(c, false), true;
	if ((op & 0xc0) == DW_CFA_restore)
		return true;
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_remember_state:
	case DW_CFA_GNU_window_save:
		return true;
	case DW_CFA_def_cfa:
		row->reg = cursor__leb(c, false);
		row->offset = cursor__leb(c, false);
		row->expression = false;
		return true;
	case DW_CFA_def_cfa_sf:
		row->reg = cursor__leb(c, false);
		row->offset = cursor__leb(c, true) * cie->data_align;
		row->expression = false;
		return true;
	case DW_CFA_def_cfa_register:
		row->reg = cursor__leb(c, false);
		return true;
	case DW_CFA_def_cfa_offset:
		row->offset = cursor__leb(c, false);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		row->offset = cursor__leb(c, true) * cie->data_align;
		return true;
	case DW_CFA_def_cfa_expression:
		row->expression = true;
		return false;
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_restore_extended:
	case DW_CFA_GNU_args_size:
		return cursor__leb(c, false), true;
	case DW_CFA_register:
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_GNU_negative_offset_extended:
		return cursor__leb(c, false), cursor__leb(c, false), true;
	case DW_CFA_expression:
	case DW_CFA_val_expression: {
		uint64_t len;

		cursor__leb(c, false);
		len = cursor__leb(c, false);
		c->bad |= len > (uint64_t)(c->end - c->p);
		c->p += c->bad ? 0 : len;
		return !c->bad;
	}
	}
	return false; /* DW_CFA_set_loc and advance_loc1, 2, 4 among them */
}

static void run_program(struct cursor *c, const struct cie *cie, struct row *row)
{
	while (c->p < c->end && run_cfi(c, cie, row))
		;
}

/* c has the bytes after its id, to its end. */
static struct cie cie_in(struct cursor c)
{
	struct cie cie = {.lsda_encoding = ENC_OMIT};
	const char *letters;
	const uint8_t *after;
	uint64_t version, len;

	version = cursor__uint(&c, 1);
	letters = (const char *)c.p;
	while (cursor__uint(&c, 1))
		;
	if (c.bad || (version != 1 && version != 3) || (*letters && *letters != 'z'))
		return cie;
	cursor__leb(&c, false); /* code alignment */
	cie.data_align = cursor__leb(&c, true);
	if (version == 1) /* the register of the return address */
		cursor__uint(&c, 1);
	else
		cursor__leb(&c, false);
	len = *letters ? cursor__leb(&c, false) : 0;
	if (c.bad || len > (uint64_t)(c.end - c.p))
		return cie;
	after = c.p + len;
	if (*letters)
		read_augmentation(&c, letters + 1, &cie);
	cie.usable = !c.bad;
	c = (struct cursor){.start = after, .p = after, .end = c.end, .word = c.word};
	run_program(&c, &cie, &cie.initial);
	return cie;
}

static bool is_part(const struct object *o, const struct cie *cie, struct cursor program)
{
	const struct arch *arch = arch__by_machine(o->machine);
	struct row row = cie->initial;

	run_program(&program, cie, &row);
	return arch && (row.expression || row.reg != arch->dwarf.entry_reg ||
			row.offset != arch->dwarf.entry_offset);
}

/* ---- landing pads ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void add_pads(struct reader *r, struct cursor *c, uint8_t encoding, uint64_t base)
{
	uint64_t pad;

	while (c->p < c->end && r->budget) {
		r->budget--;
		cursor__format(c, encoding);
		cursor__format(c, encoding);
		pad = cursor__format(c, encoding);
		cursor__leb(c, false); /* action */
		if (c->bad)
			return;
		if (pad && object__is_code(r->o, base + pad))
			vec__push(&r->pads, base + pad);
	}
}

/* Adds the frame's pads: r->pads[from...]; sorted, each once. */
static size_t read_lsda(struct reader *r, uint64_t lsda, uint64_t function)
{
	size_t avail, from = r->pads.len, i, n;
	uint64_t base = function, len;
	struct cursor c = {.vaddr = lsda, .word = r->f->class->word};
	uint8_t encoding;

	c.start = c.p = object__bytes(r->o, lsda, &avail);
	if (!c.p)
		return 0;
	c.end = c.p + avail;
	encoding = cursor__uint(&c, 1);
	if (encoding != ENC_OMIT)
		base = cursor__pointer(&c, encoding, function);
	encoding = cursor__uint(&c, 1);
	if (encoding != ENC_OMIT)
		cursor__leb(&c, false); /* end of the type table */
	encoding = cursor__uint(&c, 1);
	len = cursor__leb(&c, false);
	if (c.bad || base == NO_ADDRESS || len > (uint64_t)(c.end - c.p))
		return 0;
	c.end = c.p + len;
	add_pads(r, &c, encoding, base);
	if (r->pads.len == from)
		return 0;
	qsort(r->pads.data + from, r->pads.len - from, sizeof(uint64_t), by_value);
	for (i = n = from; i < r->pads.len; i++)
		if (n == from || r->pads.data[n - 1] != r->pads.data[i])
			r->pads.data[n++] = r->pads.data[i];
	r->pads.len = n;
	return n - from;
}

/* ---- FDEs ---- */

static const struct cie *cie_at(struct reader *r, const struct cursor *section, uint64_t offset)
{
	struct cursor c = {.start = section->start,
			   .p = section->start,
			   .end = section->end,
			   .word = section->word};
	uint64_t *index = map64__put(&r->by_offset, offset), len;

	if (*index)
		return &r->cies.data[*index - 1];
	*index = r->cies.len + 1;
	vec__push(&r->cies, (struct cie){.lsda_encoding = ENC_OMIT});
	c.p += offset;
	len = cursor__uint(&c, 4);
	if (len == UINT32_MAX)
		len = cursor__uint(&c, 8);
	/* FDEs may nest. */
	if (c.bad || len > (uint64_t)(c.end - c.p) || !elf__afford(r->f, len))
		return vec__last(&r->cies);
	c.end = c.p + len;
	if (cursor__uint(&c, 4) == 0 && !c.bad)
		*vec__last(&r->cies) = cie_in(c);
	return vec__last(&r->cies);
}

static void read_fde(struct reader *r, struct cursor c, const struct cie *cie)
{
	uint64_t vaddr = cursor__pointer(&c, cie->pc_encoding, 0), lsda = 0, len;
	uint64_t size = cursor__format(&c, cie->pc_encoding & 0x0f);
	struct frame frame = {.vaddr = vaddr, .size = size};
	struct cursor augmentation = c;

	len = cursor__leb(&c, false);
	if (c.bad || len > (uint64_t)(c.end - c.p) || !size || vaddr > UINT64_MAX - size ||
	    !object__is_code(r->o, vaddr))
		return;
	cursor__leb(&augmentation, false);
	c.p += len;
	augmentation.end = c.p;
	if (cie->lsda_encoding != ENC_OMIT)
		lsda = cursor__pointer(&augmentation, cie->lsda_encoding, vaddr);
	frame.signal = cie->signal;
	frame.part = !cie->signal && is_part(r->o, cie, c);
	if (lsda && lsda != NO_ADDRESS && !augmentation.bad) {
		/* an index for now: the array of pads may still be reallocated */
		frame.pads = (const uint64_t *)(uintptr_t)r->pads.len;
		frame.npads = read_lsda(r, lsda, vaddr);
	}
	vec__push(&r->o->frames, frame);
}

static void read_entries(struct reader *r, struct cursor section)
{
	struct cursor c = section, entry;
	const struct cie *cie;
	uint64_t len, id, at;

	while (c.p < c.end && !c.bad) {
		len = cursor__uint(&c, 4);
		if (len == UINT32_MAX)
			len = cursor__uint(&c, 8);
		if (c.bad || len > (uint64_t)(c.end - c.p))
			return;
		if (!len)
			continue; /* a terminator; the linker may have put more after it */
		entry = c;
		entry.end = c.p + len;
		c.p += len;
		at = entry.p - section.start;
		id = cursor__uint(&entry, 4);
		if (entry.bad || !id || id > at)
			continue;
		cie = cie_at(r, &section, at - id);
		if (cie->usable)
			read_fde(r, entry, cie);
	}
}

/* Finds the section or, without section headers, what .eh_frame_hdr points to, up to the end of its
 * segment. */
static bool find_section(struct reader *r, struct elf_file *f, struct cursor *out)
{
	const Elf64_Shdr *s = elf__section(f, ".eh_frame");
	const Elf64_Phdr *p;
	struct cursor c = {.word = f->class->word};
	uint64_t len;
	size_t avail;
	uint8_t encoding;

	out->word = f->class->word;
	out->start = elf__bytes(f, s, &len);
	if (out->start) {
		out->vaddr = s->sh_addr;
		out->end = out->start + len;
		return true;
	}
	for (p = f->segments; p < f->segments + f->nsegments && p->p_type != PT_GNU_EH_FRAME; p++)
		;
	if (p == f->segments + f->nsegments)
		return false;
	c.vaddr = p->p_vaddr;
	c.start = c.p = object__bytes(r->o, p->p_vaddr, &avail);
	if (!c.p)
		return false;
	c.end = c.p + avail;
	cursor__uint(&c, 1); /* version */
	encoding = cursor__uint(&c, 1);
	cursor__uint(&c, 2); /* encodings of the search table, which isn't needed */
	out->vaddr = cursor__pointer(&c, encoding, 0);
	out->start = c.bad ? NULL : object__bytes(r->o, out->vaddr, &avail);
	if (out->start)
		out->end = out->start + avail;
	return out->start;
}

/* ---- .ARM.exidx ---- */

#define EXIDX_ENTRY	 8
#define EXIDX_CANTUNWIND 1
#define EXIDX_INLINE	 (1u << 31)

/* Reads a word of 31 bits that is relative to its place. */
static uint64_t relative_at(struct cursor *c)
{
	uint64_t at = c->vaddr + (c->p - c->start);
	uint32_t word = cursor__uint(c, 4);

	return (uint32_t)(at + (uint64_t)((int64_t)((uint64_t)word << 33) >> 33));
}

/* Returns the LSDA of a table entry, after its unwinding instructions; 0 if there is none. Only an
 * entry with a language's own personality routine has one. */
static uint64_t lsda_of(struct reader *r, uint64_t entry)
{
	size_t avail;
	const uint8_t *bytes = object__bytes(r->o, entry, &avail);
	struct cursor c = {.start = bytes, .p = bytes, .end = bytes + avail, .vaddr = entry};

	if (!bytes || cursor__uint(&c, 4) & EXIDX_INLINE)
		return 0;
	return entry + 8 + 4 * (cursor__uint(&c, 4) >> 24);
}

/*
 * Exception Handling ABI for the Arm Architecture, section 6: entries of two words, the start of a
 * function and how to unwind it, ascending. An entry is valid up to the next one, whatever is in
 * between.
 */
static void read_exidx(struct reader *r, struct cursor c)
{
	uint64_t start = 0, lsda = 0;
	bool any = false;

	while (c.end - c.p >= EXIDX_ENTRY) {
		uint64_t next = relative_at(&c), entry = relative_at(&c);
		struct cursor word = {.p = c.p - 4, .end = c.p};
		uint32_t how = cursor__uint(&word, 4);
		struct frame frame = {.vaddr = start, .size = next - start};

		if (any && next > start && object__is_code(r->o, start)) {
			frame.pads = (const uint64_t *)(uintptr_t)r->pads.len;
			frame.npads = lsda ? read_lsda(r, lsda, start) : 0;
			vec__push(&r->o->frames, frame);
		}
		any = how != EXIDX_CANTUNWIND;
		start = next;
		lsda = any && !(how & EXIDX_INLINE) ? lsda_of(r, entry) : 0;
	}
}

static bool find_exidx(struct reader *r, struct elf_file *f, struct cursor *out)
{
	const Elf64_Phdr *p = f->segments, *end = f->segments + f->nsegments;
	size_t avail;

	while (p < end && p->p_type != PT_ARM_EXIDX)
		p++;
	if (p == end || r->o->machine != EM_ARM)
		return false;
	*out = (struct cursor){.vaddr = p->p_vaddr, .word = f->class->word};
	out->start = out->p = object__bytes(r->o, p->p_vaddr, &avail);
	out->end = out->start + min_of((uint64_t)avail, p->p_memsz);
	return out->start;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

/* Sorts the frames; one that overlaps the next is cut there. */
static void sort_frames(struct object *o)
{
	size_t i, n = 0;
	struct frame *v = o->frames.data;

	vec__sort(&o->frames, by_vaddr);
	for (i = 0; i < o->frames.len; i++) {
		if (i + 1 < o->frames.len && v[i].vaddr == v[i + 1].vaddr)
			continue; /* the longest comes last */
		if (i + 1 < o->frames.len && v[i].size > v[i + 1].vaddr - v[i].vaddr)
			v[i].size = v[i + 1].vaddr - v[i].vaddr;
		v[n++] = v[i];
	}
	o->frames.len = n;
}

void frames__read(struct object *o, struct elf_file *f)
{
	struct reader r = {.o = o, .f = f, .budget = f->image_len};
	struct cursor section = {0};
	struct frame *frame;

	if (find_section(&r, f, &section)) {
		section.p = section.start;
		read_entries(&r, section);
	}
	if (find_exidx(&r, f, &section))
		read_exidx(&r, section);
	if (r.pads.len)
		elf__keep(f, r.pads.data);
	vec__each (frame, &o->frames)
		frame->pads = frame->npads ? r.pads.data + (uintptr_t)frame->pads : NULL;
	sort_frames(o);
	vec__free(&r.cies);
	map64__free(&r.by_offset);
}
