// SPDX-License-Identifier: BSD-2-Clause
/*
 * prologue: the frame pointer of Go functions, which have no .eh_frame. A function with a frame
 * keeps the frame pointer from its prologue to its ret (go/src/cmd/compile/abi-internal.md). The
 * prologue's jump leads to the function's end: the call that grows the stack, before the frame is
 * set up.
 */
#include <string.h>
#include "code/code.h"

#define PROLOGUE_MAX 256

/* From set up to until, the frame pointer is valid. */
struct prologue {
	uint64_t set, until;
};

static bool read_prologue(const struct arch *arch, const struct object *o, uint64_t start,
			  struct prologue *p)
{
	uint64_t addr = start;
	struct insn insn;
	int64_t sp = 0; /* relative to its value at the entry */
	size_t avail;
	const uint8_t *bytes;

	p->until = UINT64_MAX;
	for (; addr - start < PROLOGUE_MAX; addr += insn.len) {
		bytes = object__bytes(o, addr, &avail);
		if (!bytes || arch->decode(bytes, avail, addr, false, &insn))
			return false;
		if (insn.kind == BRANCH_JCC && insn.target > addr)
			p->until = min_of(p->until, insn.target);
		else if (insn.flow != FLOW_NEXT)
			return false;
		p->set = addr + insn.len;
		if (insn.sp_effect == SP_FP_FROM_SP && arch->dwarf.go_records)
			return true;
		if (insn.sp_effect == SP_FP_FROM_SP)
			/* the place that it points to, from the CFA */
			return sp + insn.sp_value == arch->dwarf.fp_at + arch->call_pushes;
		if (insn.sp_effect == SP_ADD)
			sp += insn.sp_value;
		else if (insn.sp_effect != SP_SAME &&
			 !(arch->dwarf.go_records && insn.sp_effect == SP_LOST)) /* large frames */
			return false;
	}
	return false;
}

/* Returns true if it is the function that a goroutine's first function returns to. */
static bool is_outermost(const struct object *o, uint64_t vaddr)
{
	const struct symbol *s = object__symbol_at(o, vaddr);

	return s && (!strcmp(s->name, "runtime.goexit") || !strcmp(s->name, "runtime.goexit.abi0"));
}

enum frame_link prologue__frame_link(const struct object *o, uint64_t vaddr)
{
	const struct arch *arch = arch__by_machine(o->machine);
	const struct symbol *s = o->go ? object__symbol_at(o, vaddr) : NULL;
	struct prologue p;

	if (s && is_outermost(o, vaddr))
		return FRAME_OUTERMOST;
	if (!s || !arch || !(arch->dwarf.fp_at || arch->dwarf.go_records))
		return FRAME_UNKNOWN;
	return read_prologue(arch, o, s->vaddr, &p) && vaddr >= p.set && vaddr < p.until
		       ? FRAME_POINTER
		       : FRAME_NO_POINTER;
}
