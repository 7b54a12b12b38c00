// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind: finds the row of .eh_frame for an instruction: does the frame pointer lead to the caller
 * there? Layout: DWARF 5, 6.4; LSB Core, Exception Frames. The bytes are untrusted: anything
 * unknown means no row.
 */
#include <dwarf.h>
#include "arch/arch.h"
#include "frames.h"

#define REMEMBERED_MAX 8

enum rule_kind { RULE_SAME, RULE_UNDEFINED, RULE_AT_CFA, RULE_OTHER };
struct rule {
	uint8_t kind;
	int64_t offset; /* AT_CFA */
};

struct registers {
	uint64_t cfa_reg, cfa_offset;
	bool expression;
	struct rule fp, ret;
};

struct machine {
	const struct arch_dwarf *layout;
	const struct cie *cie;
	uint64_t at, vaddr; /* start of the row; the requested instruction */
	struct registers now, initial, remembered[REMEMBERED_MAX];
	unsigned nremembered;
	bool bad;
};

static void set_rule(struct machine *m, uint64_t reg, enum rule_kind kind, int64_t offset)
{
	struct rule rule = {.kind = kind, .offset = offset};

	if (reg == m->layout->fp)
		m->now.fp = rule;
	if (reg == m->layout->return_reg)
		m->now.ret = rule;
}

static void restore(struct machine *m, uint64_t reg)
{
	if (reg == m->layout->fp)
		m->now.fp = m->initial.fp;
	if (reg == m->layout->return_reg)
		m->now.ret = m->initial.ret;
}

static void remember(struct machine *m)
{
	if (m->nremembered == REMEMBERED_MAX)
		m->bad = true;
	else
		m->remembered[m->nremembered++] = m->now;
}

static void recall(struct machine *m)
{
	if (!m->nremembered)
		m->bad = true;
	else
		m->now = m->remembered[--m->nremembered];
}

static void skip_block(struct machine *m, struct cursor *c)
{
	uint64_t len = cursor__leb(c, false);

	if (c->bad || len > (uint64_t)(c->end - c->p))
		m->bad = true;
	else
		c->p += len;
}

static void define_cfa(struct machine *m, struct cursor *c, bool has_reg, bool is_factored)
{
	if (has_reg)
		m->now.cfa_reg = cursor__leb(c, false);
	m->now.cfa_offset = cursor__leb(c, is_factored) * (is_factored ? m->cie->data_align : 1);
	m->now.expression &= !has_reg;
}

static void offset_rule(struct machine *m, struct cursor *c, bool is_signed)
{
	uint64_t reg = cursor__leb(c, false);

	set_rule(m, reg, RULE_AT_CFA, cursor__leb(c, is_signed) * m->cie->data_align);
}

static void other_rule(struct machine *m, struct cursor *c)
{
	set_rule(m, cursor__leb(c, false), RULE_OTHER, 0);
	cursor__leb(c, false);
}

static void advance(struct machine *m, uint64_t by)
{
	m->at += by * m->cie->code_align;
}

static void run_extended(struct machine *m, struct cursor *c, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_GNU_window_save:
		return;
	case DW_CFA_advance_loc1:
		return advance(m, cursor__uint(c, 1));
	case DW_CFA_advance_loc2:
		return advance(m, cursor__uint(c, 2));
	case DW_CFA_advance_loc4:
		return advance(m, cursor__uint(c, 4));
	case DW_CFA_def_cfa:
		return define_cfa(m, c, true, false);
	case DW_CFA_def_cfa_sf:
		return define_cfa(m, c, true, true);
	case DW_CFA_def_cfa_offset:
		return define_cfa(m, c, false, false);
	case DW_CFA_def_cfa_offset_sf:
		return define_cfa(m, c, false, true);
	case DW_CFA_def_cfa_register:
		m->now.cfa_reg = cursor__leb(c, false);
		return;
	case DW_CFA_def_cfa_expression:
		m->now.expression = true;
		return skip_block(m, c);
	case DW_CFA_undefined:
		return set_rule(m, cursor__leb(c, false), RULE_UNDEFINED, 0);
	case DW_CFA_same_value:
		return set_rule(m, cursor__leb(c, false), RULE_SAME, 0);
	case DW_CFA_restore_extended:
		return restore(m, cursor__leb(c, false));
	case DW_CFA_offset_extended:
		return offset_rule(m, c, false);
	case DW_CFA_offset_extended_sf:
		return offset_rule(m, c, true);
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		return other_rule(m, c);
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		set_rule(m, cursor__leb(c, false), RULE_OTHER, 0);
		return skip_block(m, c);
	case DW_CFA_remember_state:
		return remember(m);
	case DW_CFA_restore_state:
		return recall(m);
	case DW_CFA_GNU_args_size:
		cursor__leb(c, false);
		return;
	}
	m->bad = true;
}

/* Runs to the row that covers the requested instruction. */
static bool run(struct machine *m, struct cursor c)
{
	while (c.p < c.end && m->at <= m->vaddr && !m->bad && !c.bad) {
		uint8_t op = cursor__uint(&c, 1), low = op & 0x3f;

		if ((op & 0xc0) == DW_CFA_advance_loc)
			advance(m, low);
		else if ((op & 0xc0) == DW_CFA_offset)
			set_rule(m, low, RULE_AT_CFA, cursor__leb(&c, false) * m->cie->data_align);
		else if ((op & 0xc0) == DW_CFA_restore)
			restore(m, low);
		else
			run_extended(m, &c, op);
	}
	return !m->bad && !c.bad;
}

/* An entry of the section; behind is the offset after its length. Ends at the section's end at the
 * latest. */
static struct cursor entry_at(const struct cursor *section, uint64_t behind)
{
	struct cursor c = *section;
	uint64_t len;

	c.bad = behind < 4 || behind > (uint64_t)(c.end - c.start);
	if (c.bad)
		return c;
	c.p = c.start + behind - 4;
	len = cursor__uint(&c, 4);
	c.bad = len > (uint64_t)(c.end - c.p); /* 64-bit lengths among them */
	c.end = c.bad ? c.p : c.p + len;
	return c;
}

/* The CIE of a frame, and the instructions of its FDE. */
static bool read_entry(const struct elf_file *f, const struct frame *frame, struct cie *cie,
		       struct cursor *program)
{
	struct cursor fde = entry_at(&f->eh_frame, frame->fde), c;
	uint64_t id = cursor__uint(&fde, 4), len;

	if (fde.bad || id > frame->fde)
		return false;
	c = entry_at(&f->eh_frame, frame->fde - id + 4);
	if (cursor__uint(&c, 4) || c.bad)
		return false;
	*cie = cie__read(c);
	if (!cie->usable)
		return false;
	cursor__pointer(&fde, cie->pc_encoding, 0);
	cursor__format(&fde, cie->pc_encoding & 0x0f);
	len = cursor__leb(&fde, false);
	if (fde.bad || len > (uint64_t)(fde.end - fde.p))
		return false;
	fde.p += len;
	*program = fde;
	return true;
}

static enum frame_link link_of(const struct machine *m)
{
	const struct arch_dwarf *l = m->layout;
	const struct registers *r = &m->now;

	if (r->ret.kind == RULE_UNDEFINED)
		return FRAME_OUTERMOST;
	return !r->expression && r->cfa_reg == l->fp && r->cfa_offset == l->cfa &&
			       r->fp.kind == RULE_AT_CFA && r->fp.offset == l->fp_at &&
			       r->ret.kind == RULE_AT_CFA && r->ret.offset == l->return_at
		       ? FRAME_POINTER
		       : FRAME_NO_POINTER;
}

enum frame_link object__frame_link(const struct object *o, uint64_t vaddr)
{
	const struct frame *frame = object__frame_at(o, vaddr);
	const struct elf_file *f = elf__of(o);
	struct cie cie;
	const struct arch *arch = arch__by_machine(o->machine);
	struct machine m = {.layout = arch ? &arch->dwarf : NULL, .cie = &cie, .vaddr = vaddr};
	struct cursor program;

	if (!f || !f->eh_frame.start || !frame || !arch || !arch->dwarf.fp_at ||
	    !read_entry(f, frame, &cie, &program) || cie.return_reg != m.layout->return_reg)
		return FRAME_UNKNOWN;
	m.at = 0;
	if (!run(&m, cie.program))
		return FRAME_UNKNOWN;
	m.initial = m.now;
	m.at = frame->vaddr;
	return run(&m, program) ? link_of(&m) : FRAME_UNKNOWN;
}
