// SPDX-License-Identifier: BSD-2-Clause
/*
 * 32-bit ARM, little-endian: decodes one instruction of A32 or T32 (Thumb-2); calling conventions,
 * PLT entries, ELF constants. Only to be listed: Linux's uprobes know no T32 code
 * (arch/arm/probes/uprobes/core.c), and a breakpoint in it kills the program.
 */
#include <elf.h>
#include <errno.h>
#include "arch/arm/arm.h"
#include "arch/capstone.h"

static const char *const reg_names[] = {
	"r0", "r1",  "r2",  "r3",  "r4", "r5", "r6", "r7",    "r8",
	"r9", "r10", "r11", "r12", "sp", "lr", "pc", "flags",
};

/* C: AAPCS32, 6.4; system calls: the EABI's. */
static const uint8_t args[] = {0, 1, 2, 3, 4, 5, 6};

/* What an instruction is, by mask and value without the condition: enum property. */
enum property { PADS = 1, COMPARES = 2, SLOW = 4, ENTERS = 8 };
static const struct match a32[] = {
	{0xffffffff, 0xe320f000, PADS}, /* nop */
	{0xffffffff, 0xe1a00000, PADS}, /* mov r0, r0 */
	{0xffffffff, 0x00000000, PADS},		 {0x0ff0f000, 0x03500000, COMPARES},
	{0x0ff0f010, 0x01500000, COMPARES},	 {0x0ff0f000, 0x03100000, COMPARES},
	{0x0ff0f010, 0x01100000, COMPARES},	 {0x0f000000, 0x0f000000, SLOW | ENTERS}, /* svc */
	{0x0fd000f0, 0x01400070, SLOW | ENTERS}, /* hvc, smc */
	{0x0fffff00, 0x0320f000, SLOW},		 /* yield, wfe, wfi */
	{0x0f8000f0, 0x01800090, SLOW},		 /* ldrex, strex */
	{0x0fb000f0, 0x01000090, SLOW},		 /* swp */
	{0xfff00000, 0xf5700000, SLOW},		 /* barriers */
};
static const struct match t16[] = {
	{0xffff, 0xbf00, PADS},	    {0xffff, 0x46c0, PADS},	     {0xffff, 0x0000, PADS},
	{0xf800, 0x2800, COMPARES}, {0xffc0, 0x4280, COMPARES},	     {0xff00, 0x4500, COMPARES},
	{0xffc0, 0x4200, COMPARES}, {0xff00, 0xdf00, SLOW | ENTERS}, {0xff8f, 0xbf00, SLOW},
};
static const struct match t32[] = {
	{0xffffffff, 0xf3af8000, PADS},		 {0xfbf08f00, 0xf1b00f00, COMPARES},
	{0xfff08f00, 0xebb00f00, COMPARES},	 {0xfbf08f00, 0xf0100f00, COMPARES},
	{0xffe0f000, 0xf7e08000, SLOW | ENTERS}, {0xffffff00, 0xf3af8000, SLOW},
	{0xfff0ff00, 0xf3b08f00, SLOW},		 {0xffe00000, 0xe8400000, SLOW},
	{0xffe00f00, 0xe8c00f00, SLOW},
};

static unsigned properties(const struct arm_word *w)
{
	const struct match *m = !w->thumb     ? match__find(a32, ARRAY_SIZE(a32), w->word)
				: w->len == 2 ? match__find(t16, ARRAY_SIZE(t16), w->word)
					      : match__find(t32, ARRAY_SIZE(t32), w->word);

	return m && !(m->form & (COMPARES | PADS) && w->it) ? m->form : 0;
}

static bool is_it(const struct arm_word *w)
{
	return w->thumb && w->len == 2 && w->word >> 8 == 0xbf && w->word & 15;
}

/* ITAdvance() of A2.5.2. */
static uint8_t state_after(const struct arm_word *w)
{
	if (is_it(w))
		return w->word;
	return w->it & 7 ? (w->it & 0xe0) | (w->it << 1 & 0x1f) : 0;
}

/* Encodings that no compiler uses for code, but that its constants may have. */
static bool is_undefined(const struct arm_word *w)
{
	return w->thumb && w->len == 2 && w->word >> 8 == 0x47 && w->word & 7; /* bx, blx */
}

static int decode(const uint8_t *bytes, size_t len, uint64_t addr, bool kernel, struct insn *out)
{
	const struct match *row;
	struct arm_word w;
	unsigned is;

	if (!arm__word(bytes, len, addr, &w))
		return -EILSEQ;
	*out = (struct insn){.addr = w.addr, .len = w.len, .next_state = state_after(&w)};
	row = w.thumb ? t32__branch_row(&w) : a32__branch_row(w.word);
	if (is_undefined(&w) || (row && !arm__branch(&w, row, kernel, out)))
		return -EILSEQ;
	is = properties(&w);
	out->padding = out->keeps_state = is & PADS;
	out->only_compares = is & COMPARES;
	out->slow = is & SLOW;
	out->enters_kernel = is & ENTERS || (row && row->flow == FLOW_STOP);
	if (!row)
		arm__sp(&w, out);
	return 0;
}

/* "itte ne": a letter for each further instruction, whether its condition is the first one's. */
static void format_it(const struct arm_word *w, char *out, size_t size)
{
	unsigned mask = w->word & 15, first = w->word >> 4 & 15, n = 3 - __builtin_ctz(mask);
	char letters[4] = "";

	for (unsigned i = 0; i < n; i++)
		letters[i] = (mask >> (3 - i) & 1) == (first & 1) ? 't' : 'e';
	snprintf(out, size, "it%s %s", letters, first == ARM_AL ? "al" : arm__condition(first));
}

/* In an IT block: formats it after an IT instruction of its own, since Capstone remembers the last
 * one that it saw. */
static bool format_conditional(const struct arm_word *w, const uint8_t *bytes, char *out,
			       size_t size)
{
	uint16_t it = 0xbf08 | w->cond << 4;
	uint8_t both[sizeof(it) + sizeof(w->word)];

	memcpy(both, &it, sizeof(it));
	memcpy(both + sizeof(it), bytes, w->len);
	return capstone__format_after(CAPSTONE_THUMB, 1, both, sizeof(it) + w->len,
				      w->addr - sizeof(it), out, size);
}

static bool format(const uint8_t *bytes, size_t len, uint64_t addr, char *out, size_t size)
{
	struct arm_word w;
	struct insn insn;

	if (!len || decode(bytes, len, addr, false, &insn) || !arm__word(bytes, len, addr, &w))
		return false;
	if (insn.flow == FLOW_BRANCH && arm__format_branch(&w, &insn, out, size))
		return true;
	if (is_it(&w))
		format_it(&w, out, size);
	else if (!(w.it ? format_conditional(&w, bytes, out, size)
			: capstone__format(w.thumb ? CAPSTONE_THUMB : EM_ARM, bytes, w.len, w.addr,
					   out, size)))
		snprintf(out, size, w.len == 2 ? ".inst.n 0x%04x" : ".inst 0x%08x", w.word);
	return true;
}

/* "ELF for the Arm Architecture", 5.5.5: mapping symbols. */
static int mode_of_symbol(const char *name)
{
	if (name[0] != '$' || !name[1] || (name[2] && name[2] != '.'))
		return -1;
	switch (name[1]) {
	case 'a':
		return 0;
	case 't':
		return ARM_THUMB;
	case 'd':
		return MODE_DATA;
	default:
		return -1;
	}
}

static const struct arch_modes modes = {.mask = ARM_THUMB, .of_symbol = mode_of_symbol};

/* A PLT entry of A32 code: add ip, pc, #a; add ip, ip, #b …; ldr pc, [ip, #c]! */
static bool a32_stub(const uint8_t *bytes, size_t len, uint64_t addr, struct plt_stub *out)
{
	uint32_t word, slot = addr + 8;

	for (uint64_t at = 0; at + sizeof(word) <= len && at < 4 * sizeof(word);
	     at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		if ((word & 0xfffff000) == (at ? 0xe28cc000 : 0xe28fc000)) {
			slot += a32__immediate(word);
			continue;
		}
		if (!at || (word & 0xfffff000) != 0xe5bcf000)
			return false;
		out->slot = slot + (word & 0xfff);
		out->size = at + sizeof(word);
		return true;
	}
	return false;
}

/* T32 code enters it by bx pc and a filler in front. */
static bool plt_stub(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t entry_size,
		     struct plt_stub *out)
{
	static const uint8_t bx_pc[] = {0x78, 0x47};

	out->lead = len > 4 && !memcmp(bytes, bx_pc, sizeof(bx_pc)) ? 4 : 0;
	out->lead_mode = ARM_THUMB;
	if (!a32_stub(bytes + out->lead, len - out->lead, addr + out->lead, out))
		return false;
	out->size += out->lead;
	return true;
}

const struct arch arch_arm = {
	.name = "arm",
	.machine = EM_ARM,
	.word = 4,
	.longest = 4,
	.alignment = 2,
	.modes = &modes,
	.decode = decode,
	.format = format,
	.detail = arm__detail,
	.bound = arm__bound,
	.nregs = ARRAY_SIZE(reg_names),
	.reg_names = reg_names,
	.sp_reg = ARM_SP,
	.ip_reg = ARM_PC,
	.flags_reg = ARM_FLAGS,
	.link_reg = ARM_LR,
	.conventions =
		{
			[CONVENTION_C] = {args, 4, ARM_R0},
			[CONVENTION_SYSCALL] = {args, 7, ARM_R0},
		},
	.clobbered = ARM_CALLER_SAVED,
	.dwarf = {.entry_reg = ARM_SP, .fp = ARM_R11, .return_reg = ARM_LR},
	.relocations = {R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, R_ARM_RELATIVE, R_ARM_IRELATIVE},
	/* FLAG_ARM_LIBHF | FLAG_ELF_LIBC6 */
	.loader = {"arm-linux-gnueabihf", 0x0903, NULL},
	.plt_stub = plt_stub,
	.plt_alignment = 4,
	.untraceable = "the kernel's uprobes know no Thumb and would kill the program",
};
