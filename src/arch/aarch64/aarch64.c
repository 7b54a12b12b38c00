// SPDX-License-Identifier: BSD-2-Clause
/*
 * AArch64, little-endian: decodes one instruction; calling conventions, PLT entries, ELF constants.
 */
#include <elf.h>
#include <errno.h>
#include "arch/aarch64/aarch64.h"
#include "arch/capstone.h"

static const char *const reg_names[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",	"x10", "x11",
	"x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",	"x22", "x23",
	"x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",	"pc",  "flags",
};

/* C: AAPCS64, 6.8.2, the first eight; system calls: the first six; Go: abi-internal.md */
static const uint8_t args[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* Arithmetic whose destination is the zero register, and conditional comparisons. */
static const struct match comparisons[] = {
	{0x3f80001f, 0x3100001f},			    /* cmp, cmn with an immediate */
	{0x3f00001f, 0x2b00001f},			    /* with a register */
	{0x7f80001f, 0x7200001f},			    /* tst */
	{0x7f20001f, 0x6a00001f}, {0x1fe00000, 0x1a400000}, /* ccmp, ccmn */
};

/* DWARF for the Arm 64-bit Architecture, 4.1: sp is 31. */
static const uint8_t dwarf_regs[] = {0,	 1,  2,	 3,  4,	 5,  6,	 7,	 8,	 9,	10,
				     11, 12, 13, 14, 15, 16, 17, 18,	 19,	 20,	21,
				     22, 23, 24, 25, 26, 27, 28, A64_FP, A64_LR, A64_SP};

/* What may wait, enter the kernel, or repeat (form SLOW), and exceptions encoded among it. The
 * first row that matches counts. */
enum { SLOW, QUICK };
static const struct match speeds[] = {
	{0xffffffff, A64_NOP, QUICK},	 {0xffffffff, 0xd50320ff, QUICK}, /* xpaclri */
	{0xffffff1f, 0xd503201f, SLOW},	 /* yield, wfe, wfi, sev, sevl */
	{0xffffff1f, 0xd503221f, SLOW},	 /* esb, psb csync, tsb csync, csdb */
	{0xfffff01f, 0xd503201f, QUICK}, /* other hints: bti, pacia, autia */
	{0xffffffe0, 0xd53bd040, QUICK}, /* mrs of tpidr_el0 */
	{0xfe000000, 0xd4000000, SLOW},	 /* exceptions, system registers, barriers */
	{0x3f000000, 0x08000000, SLOW},	 /* exclusive, compare and swap, acquire, release */
	{0x3b200c00, 0x38200000, SLOW},	 /* atomic */
	{0x3b200c00, 0x19000400, SLOW},	 /* copies and sets memory (FEAT_MOPS) */
};

/* Load/store exclusive, C4.1.94; the compare-and-swap pair has the same bits but the topmost one.
 * The unprivileged ones: FEAT_LSUI. */
static const struct match exclusives[] = {
	{0x3fe00000, 0x08400000, EXCLUSIVE_LOAD},  {0xbfe00000, 0x88600000, EXCLUSIVE_LOAD},
	{0x3fe00000, 0x08000000, EXCLUSIVE_STORE}, {0xbfe00000, 0x88200000, EXCLUSIVE_STORE},
	{0xbfe00000, 0x89400000, EXCLUSIVE_LOAD},  {0xbfe00000, 0x89000000, EXCLUSIVE_STORE},
	{0xfffff0ff, 0xd503305f, EXCLUSIVE_CLEAR},
};

static uint8_t exclusive_of(uint32_t word)
{
	const struct match *row = match__find(exclusives, ARRAY_SIZE(exclusives), word);

	return row ? row->form : EXCLUSIVE_NONE;
}

static bool is_slow(uint32_t word)
{
	const struct match *row = match__find(speeds, ARRAY_SIZE(speeds), word);

	return row && row->form == SLOW;
}

/* C4.1: the reserved group, except udf (a row) and SME (bit 31), and two groups without
 * instructions. */
static bool is_unallocated(uint32_t word)
{
	unsigned group = match__field(word, 25, 4);

	return group == 1 || group == 3 || (group == 0 && !(word >> 31));
}

static int decode(const uint8_t *bytes, size_t len, uint64_t addr, bool kernel, struct insn *out)
{
	const struct match *row;
	uint32_t word;

	if (!aarch64__word(bytes, len, addr, &word))
		return -EILSEQ;
	*out = (struct insn){.addr = addr, .len = sizeof(word)};
	row = aarch64__branch_row(word);
	if (row ? !aarch64__branch(word, row, kernel, out) : is_unallocated(word))
		return -EILSEQ;
	out->padding = word == A64_NOP || word == 0;
	out->keeps_state = word == A64_NOP || (word & A64_IS_BTI) == A64_BTI;
	out->only_compares = match__find(comparisons, ARRAY_SIZE(comparisons), word);
	out->slow = is_slow(word);
	out->exclusive = exclusive_of(word);
	out->enters_kernel = word >> 24 == 0xd4; /* svc, hvc, smc, brk, hlt */
	aarch64__uprobe(word, row, out);
	if (!row)
		aarch64__sp(word, out);
	return 0;
}

static bool format(const uint8_t *bytes, size_t len, uint64_t addr, char *out, size_t size)
{
	const struct match *row;
	struct insn insn;
	uint32_t word;

	if (!len || decode(bytes, len, addr, false, &insn) ||
	    !aarch64__word(bytes, len, addr, &word))
		return false;
	row = aarch64__branch_row(word);
	if (row)
		aarch64__format_branch(word, row, addr, out, size);
	else if (!capstone__format(EM_AARCH64, bytes, len, addr, out, size))
		snprintf(out, size, ".inst 0x%08x", word);
	return true;
}

/*
 * A PLT entry: [bti c] adrp x16; ldr x17, [x16, #n]; add x16, x16, #n; [autia1716] br x17. "ELF for
 * the Arm 64-bit Architecture", appendix "PLT"; GNU ld's -z pac-plt.
 */
static bool plt_stub(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t entry_size,
		     struct plt_stub *out)
{
	enum { BTI, ADRP, LDR, ADD, AUTIA, BR, WORDS };
	static const struct match stub[WORDS] = {
		{A64_IS_BTI, A64_BTI},	  {0x9f00001f, 0x90000010}, {0xffc003ff, 0xf9400211},
		{0xff8003ff, 0x91000210}, {0xffffffff, 0xd503219f}, {0xffffffff, 0xd61f0220},
	};
	struct insn_detail page = {0};
	uint64_t at = 0, offset = 0;
	uint32_t word;

	for (unsigned i = 0; i < WORDS; i++) {
		if (at >= len || !aarch64__word(bytes + at, len - at, addr + at, &word))
			return false;
		if ((word & stub[i].mask) != stub[i].value) {
			if (i != BTI && i != AUTIA)
				return false;
			continue;
		}
		if (i == ADRP && !aarch64__detail(bytes + at, len - at, addr + at, &page))
			return false;
		offset = i == LDR ? match__field(word, 10, 12) << 3 : offset;
		at += sizeof(word);
	}
	out->slot = page.imm + offset;
	out->size = entry_size ? entry_size : at;
	return true;
}

/* Go keeps the goroutine in x28: ldr x16, [x28, #16]. */
static bool go_checks_stack(const uint8_t *bytes, size_t len)
{
	uint32_t word;

	return aarch64__word(bytes, len, 0, &word) && word == 0xf9400b90;
}

/* Sets where these bytes lead as a direct branch. */
static bool leads_to(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *target)
{
	const struct match *row;
	struct insn insn;
	uint32_t word;

	if (!aarch64__word(bytes, len, addr, &word))
		return false;
	row = aarch64__branch_row(word);
	if (!row || decode(bytes, len, addr, false, &insn) || !insn.target)
		return false;
	*target = insn.target;
	return true;
}

/* Uprobes: one trap for what the kernel simulates, two for what it steps. Kprobes: as on other
 * processors, one breakpoint. */
static const struct cost_row costs[] = {
	{"uprobe_multi", false, {[COST_EMULATED] = 600, [COST_STEPPED] = 1800}},
	{"uprobe_event", false, {[COST_EMULATED] = 600, [COST_STEPPED] = 1800}},
	{"kprobe_event", true, {[COST_BREAKPOINT] = 430, [COST_JUMP] = 430, [COST_FTRACE] = 430}},
	{0},
};

const struct arch arch_aarch64 = {
	.name = "arm64",
	.machine = EM_AARCH64,
	.word = 8,
	.longest = 4,
	.alignment = 4,
	.decode = decode,
	.format = format,
	.detail = aarch64__detail,
	/* arch/arm64/kernel/hw_breakpoint.c: before Linux 6.6 the access is never made */
	.unwatched = "on arm64 a watchpoint stops in front of the access, where what becomes of "
		     "the memory isn't known",
	.leads_to = leads_to,
	.each_address = aarch64__each_address,
	.taken = aarch64__taken,
	.bound = aarch64__bound,
	.flags_effect = aarch64__flags_effect,
	.proves = aarch64__proves,
	.is_unsigned = aarch64__is_unsigned,
	.test = aarch64__test,
	.test_flags = aarch64__test_flags,
	.nregs = ARRAY_SIZE(reg_names),
	.reg_names = reg_names,
	.sp_reg = A64_SP,
	.ip_reg = A64_PC,
	.flags_reg = A64_FLAGS,
	.link_reg = A64_LR,
	.conventions =
		{
			[CONVENTION_C] = {args, 8, A64_X0},
			[CONVENTION_GO] = {args, 16, A64_X0},
			[CONVENTION_SYSCALL] = {args, 6, A64_X0},
		},
	/* AAPCS64, 6.8.2 */
	.passing = {.known = true,
		    .by_reference = true,
		    .float_structs = true,
		    .even_pairs = true,
		    .closes = true,
		    .floats = 8},
	.clobbered = A64_CALLER_SAVED,
	/* fp_at stays 0: the frame record has no fixed offset from the CFA. Addresses of programs
	 * have 48 bits, but for what is mapped above on request:
	 * Documentation/arch/arm64/memory.rst
	 */
	.dwarf = {.regs = dwarf_regs,
		  .nregs = ARRAY_SIZE(dwarf_regs),
		  .entry_reg = 31,
		  .fp = 29,
		  .return_reg = 30,
		  .links = true,
		  .go_records = true,
		  .address_bits = 48},
	.relocations = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_RELATIVE,
			R_AARCH64_IRELATIVE},
	/* FLAG_AARCH64_LIB64 | FLAG_ELF_LIBC6 */
	.loader = {"aarch64-linux-gnu", 0x0a03, NULL},
	.plt_stub = plt_stub,
	.plt_alignment = 8,
	.usdt_operand = aarch64__usdt_operand,
	.go_checks_stack = go_checks_stack,
	.go_grows_stack = go_checks_stack,
	.breakpoint_name = "brk",
	/* BRK64_OPCODE_UPROBES of arch/arm64/include/asm/debug-monitors.h */
	.uprobe_breakpoint = {{0xa0, 0x00, 0x20, 0xd4}, 4},
	.uprobe_form = aarch64__uprobe_form,
	.costs = costs,
	.kernel = &aarch64_kernel,
};
