// SPDX-License-Identifier: BSD-2-Clause
/*
 * AArch64: whether the kernel refuses a uprobe on an instruction, simulates the instruction, or
 * single-steps it out of line: arch/arm64/kernel/probes/decode-insn.c, uprobes.c.
 */
#include "arch/aarch64/aarch64.h"

/* Exceptions from the rules of groups: the first row that matches counts. */
enum { REFUSED, SIMULATED, STEPPED, VARIES, MISEXECUTED };
static const struct match rows[] = {
	{0xffffffff, A64_NOP, VARIES}, /* simulated from Linux 6.13 on */
	/* aarch64_insn_is_steppable_hint() */
	{0xffffff3f, A64_BTI, STEPPED},
	{0xffffffff, 0xd50320ff, STEPPED},   /* xpaclri */
	{0xffffffbf, 0xd503211f, STEPPED},   /* pacia1716, pacib1716 */
	{0xffffff9f, 0xd503231f, STEPPED},   /* paciaz, paciasp, pacibz, pacibsp */
	{0xfffff01f, 0xd503201f, REFUSED},   /* other hints */
	{0xff000000, 0xd4000000, REFUSED},   /* svc, brk and other exceptions */
	{0xfff8f01f, 0xd500401f, REFUSED},   /* msr of an immediate */
	{0xfff00000, 0xd5100000, REFUSED},   /* msr */
	{0xffffffe0, 0xd53b4220, REFUSED},   /* mrs of daif */
	{0x1f000000, 0x10000000, SIMULATED}, /* adr, adrp */
	/* ldr of a literal: kernels that don't refuse it load with their own rights */
	{0x3b000000, 0x18000000, REFUSED},
	{0x3f800000, 0x08000000, REFUSED},     /* exclusive, casp */
	{0x3b200c00, 0x19000400, MISEXECUTED}, /* FEAT_MOPS: one of several steps */
};

void aarch64__uprobe(uint32_t word, const struct match *row, struct insn *out)
{
	const struct match *other = row ? NULL : match__find(rows, ARRAY_SIZE(rows), word);

	if (out->flow == FLOW_UNSUPPORTED) {
		out->user_refusal = PROBE_UNSUPPORTED;
	} else if (aarch64__is_misexecuted(word) || (other && other->form == MISEXECUTED)) {
		out->user_refusal = PROBE_STEPPED;
	} else if (row) {
		/* what stops raises a signal, or a trap */
		if (aarch64__is_signed(row) || row->kind == BRANCH_NONE)
			out->user_refusal = PROBE_PREFIX;
		else
			out->emulated = true;
	} else if (other) {
		out->user_refusal = other->form == REFUSED ? PROBE_PREFIX : PROBE_OK;
		out->emulated = other->form == SIMULATED;
		out->varies = other->form == VARIES;
	}
}

/* Loads, stores and arithmetic are accepted by their opcode, branches as well; of all others the
 * kernel may look at each bit. */
uint64_t aarch64__uprobe_form(const uint8_t *bytes, size_t len, const struct insn *insn)
{
	const struct match *row;
	uint32_t word;

	if (!aarch64__word(bytes, len, insn->addr, &word))
		return 0;
	row = aarch64__branch_row(word);
	if (row)
		return word & (row->mask | (word >> 24 == 0x54 ? 16 : 0)); /* bc.cond */
	return (word >> 26 & 7) == 5 ? word : word & 0xffe00c00;
}
