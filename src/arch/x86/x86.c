// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64, and what i386 shares with it: decodes one instruction with Zydis and evaluates
 * conditions. Prefix 66 on a near branch is ignored, as by Intel processors in 64-bit mode; on AMD
 * processors such a branch truncates rip to 16 bits and faults. In 32-bit mode all do.
 */
#include <elf.h>
#include <errno.h>
#include "arch/x86/x86.h"

const char *const x86_reg_names[X86_FLAGS + 1] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
	"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip", "flags",
};
const uint8_t x86_endbr64[X86_ENDBR_SIZE] = {0xf3, 0x0f, 0x1e, 0xfa};

static const uint8_t args[] = {X86_RDI, X86_RSI, X86_RDX, X86_RCX, X86_R8, X86_R9};

static const uint8_t go_args[] = {X86_RAX, X86_RBX, X86_RCX, X86_RDI, X86_RSI,
				  X86_R8,  X86_R9,  X86_R10, X86_R11};

static const uint8_t syscall_args[] = {X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9};

/* System V ABI, figure 3.36. */
static const uint8_t dwarf_regs[] = {X86_RAX, X86_RDX, X86_RCX, X86_RBX, X86_RSI, X86_RDI,
				     X86_RBP, X86_RSP, X86_R8,	X86_R9,	 X86_R10, X86_R11,
				     X86_R12, X86_R13, X86_R14, X86_R15, X86_RIP};

static const char *const jcc_names[16] = {
	"jo", "jno", "jb", "jae", "je", "jne", "jbe", "ja",
	"js", "jns", "jp", "jnp", "jl", "jge", "jle", "jg",
};
static const char *const loop_names[] = {"loopne", "loope", "loop", "jrcxz"};

/* Control flow by opcode. reg: ModRM.reg where the opcode is a group, else ANY. */
#define ANY 0xff
struct row {
	uint8_t map, opcode, last, reg;
	uint8_t flow, kind;
	const char *mnemonic;
};
static const struct row rows[] = {
	{ZYDIS_OPCODE_MAP_DEFAULT, 0x70, 0x7f, ANY, FLOW_BRANCH, BRANCH_JCC, NULL},
	{ZYDIS_OPCODE_MAP_0F, 0x80, 0x8f, ANY, FLOW_BRANCH, BRANCH_JCC, NULL},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xe0, 0xe3, ANY, FLOW_BRANCH, BRANCH_LOOP, NULL},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xe8, 0xe8, ANY, FLOW_BRANCH, BRANCH_CALL, "call"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xe9, 0xe9, ANY, FLOW_BRANCH, BRANCH_JMP, "jmp"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xeb, 0xeb, ANY, FLOW_BRANCH, BRANCH_JMP, "jmp"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xc2, 0xc3, ANY, FLOW_BRANCH, BRANCH_RET, "ret"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xff, 0xff, 2, FLOW_BRANCH, BRANCH_ICALL, "call"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xff, 0xff, 4, FLOW_BRANCH, BRANCH_IJMP, "jmp"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xff, 0xff, 3, FLOW_UNSUPPORTED, BRANCH_NONE, "lcall"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xff, 0xff, 5, FLOW_UNSUPPORTED, BRANCH_NONE, "ljmp"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0x9a, 0x9a, ANY, FLOW_UNSUPPORTED, BRANCH_NONE, "lcall"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xea, 0xea, ANY, FLOW_UNSUPPORTED, BRANCH_NONE, "ljmp"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xca, 0xcb, ANY, FLOW_UNSUPPORTED, BRANCH_NONE, "lret"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xcf, 0xcf, ANY, FLOW_UNSUPPORTED, BRANCH_NONE, "iret"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xc7, 0xc7, 7, FLOW_UNSUPPORTED, BRANCH_NONE, "xbegin"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xc6, 0xc6, 7, FLOW_UNSUPPORTED, BRANCH_NONE, "xabort"},
	{ZYDIS_OPCODE_MAP_DEFAULT, 0xf4, 0xf4, ANY, FLOW_STOP, BRANCH_NONE, NULL},
	{ZYDIS_OPCODE_MAP_0F, 0x0b, 0x0b, ANY, FLOW_STOP, BRANCH_NONE, NULL},
	{ZYDIS_OPCODE_MAP_0F, 0xb9, 0xb9, ANY, FLOW_STOP, BRANCH_NONE, NULL},
	{ZYDIS_OPCODE_MAP_0F, 0xff, 0xff, ANY, FLOW_STOP, BRANCH_NONE, NULL},
	{ZYDIS_OPCODE_MAP_0F, 0x07, 0x07, ANY, FLOW_UNSUPPORTED, BRANCH_NONE, "sysret"},
	{ZYDIS_OPCODE_MAP_0F, 0x34, 0x34, ANY, FLOW_UNSUPPORTED, BRANCH_NONE, "sysenter"},
	{ZYDIS_OPCODE_MAP_0F, 0x35, 0x35, ANY, FLOW_UNSUPPORTED, BRANCH_NONE, "sysexit"},
	{ZYDIS_OPCODE_MAP_0F, 0xaa, 0xaa, ANY, FLOW_UNSUPPORTED, BRANCH_NONE, "rsm"},
};

/* By map and opcode: the number of its first row, + 1; 0: none. */
static uint8_t row_of[2][256];
static ZydisDecoder decoders[2]; /* by enum x86_mode */
static bool is_prepared;

static void prepare(void)
{
	for (size_t i = ARRAY_SIZE(rows); i-- > 0;)
		for (unsigned op = rows[i].opcode; op <= rows[i].last; op++)
			row_of[rows[i].map == ZYDIS_OPCODE_MAP_0F][op] = i + 1;
	ZydisDecoderInit(&decoders[X86_64], ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderInit(&decoders[X86_32], ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
	is_prepared = true;
}

int x86__raw(enum x86_mode mode, const uint8_t *bytes, size_t len, struct x86_raw *raw)
{
	if (!is_prepared)
		prepare();
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoders[mode], &raw->context, bytes, len,
							&raw->z)))
		return -EILSEQ;
	return 0;
}

unsigned x86__operands(const struct x86_raw *raw, ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT])
{
	const ZydisDecoder *decoder = &decoders[x86__is32(&raw->z) ? X86_32 : X86_64];
	unsigned n = raw->z.operand_count;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(decoder, &raw->context, &raw->z, ops, n)))
		return 0;
	return n;
}

uint8_t x86__gpr(ZydisRegister reg)
{
	ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (wide < ZYDIS_REGISTER_RAX || wide > ZYDIS_REGISTER_R15)
		return REG_NONE;
	return wide - ZYDIS_REGISTER_RAX;
}

static uint8_t segment_of(const ZydisDecodedInstruction *z)
{
	if (z->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS)
		return SEG_FS;
	return z->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS ? SEG_GS : SEG_NONE;
}

/* ModRM and SIB: Intel SDM volume 2, 2.1.5 and tables 2-2, 2-3; REX: 2.2.1.2. */
bool x86__modrm(const ZydisDecodedInstruction *z, struct operand *out)
{
	uint8_t mod = z->raw.modrm.mod, rm = z->raw.modrm.rm;
	uint8_t b = z->raw.rex.B << 3;

	*out = (struct operand){.kind = OPERAND_MEM, .base = rm | b, .index = REG_NONE, .scale = 1};
	if (mod == 3) {
		out->kind = OPERAND_REG;
		return false;
	}
	out->seg = segment_of(z);
	out->addr32 = z->address_width < x86__width(z);
	out->disp = z->raw.disp.value;
	if (rm == 4) {
		uint8_t index = z->raw.sib.index | z->raw.rex.X << 3;

		out->base = z->raw.sib.base | b;
		if (index != 4) {
			out->index = index;
			out->scale = 1 << z->raw.sib.scale;
		}
		if (mod == 0 && z->raw.sib.base == 5)
			out->base = REG_NONE;
	} else if (mod == 0 && rm == 5) {
		out->base = x86__is32(z) ? REG_NONE : REG_IP;
	}
	return true;
}

static const struct row *find_row(const ZydisDecodedInstruction *z)
{
	const struct row *r, *end = rows + ARRAY_SIZE(rows);
	uint8_t i;

	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || z->opcode_map > ZYDIS_OPCODE_MAP_0F)
		return NULL;
	i = row_of[z->opcode_map == ZYDIS_OPCODE_MAP_0F][z->opcode];
	if (!i)
		return NULL;
	for (r = &rows[i - 1];
	     r < end && r->map == z->opcode_map && r->opcode <= z->opcode && z->opcode <= r->last;
	     r++)
		if (r->reg == ANY || r->reg == z->raw.modrm.reg)
			return r;
	return NULL;
}

/* Whether control continues after a FLOW_STOP in kernel mode: hlt waits for an interrupt, and
 * WARN() is a ud2 or ud1 that resumes. */
static bool resumes_in_kernel(const ZydisDecodedInstruction *z)
{
	return z->opcode_map == ZYDIS_OPCODE_MAP_0F ? true : z->opcode == 0xf4;
}

/* Its target, its counter or the address of its target has 16 bits in 32-bit mode. */
static bool is_narrow(const ZydisDecodedInstruction *z, uint8_t kind)
{
	if (!x86__is32(z))
		return false;
	return z->operand_width == 16 ||
	       (z->address_width == 16 &&
		(kind == BRANCH_LOOP || kind == BRANCH_IJMP || kind == BRANCH_ICALL));
}

static void set_branch(const ZydisDecodedInstruction *z, const struct row *r, struct insn *out)
{
	out->kind = r->kind;
	out->mnemonic = r->mnemonic;
	if (z->raw.imm[0].is_relative)
		out->target = out->addr + z->length + z->raw.imm[0].value.s;
	if (x86__is32(z))
		out->target = (uint32_t)out->target;
	out->reads[0] = out->reads[1] = REG_NONE;
	if (r->kind == BRANCH_JCC) {
		out->reads[0] = X86_FLAGS;
		out->cond = z->opcode & 15;
		out->mnemonic = jcc_names[out->cond];
	} else if (r->kind == BRANCH_LOOP) {
		out->reads[0] = X86_FLAGS;
		out->reads[1] = X86_RCX;
		out->cond = X86_LOOPNE | (z->opcode & 3);
		out->mnemonic = loop_names[z->opcode & 3];
		if (z->address_width == 32) {
			out->mnemonic = out->cond == X86_JRCXZ ? "jecxz" : out->mnemonic;
			out->cond |= X86_LOOP_ADDR32;
		}
	} else if (r->kind == BRANCH_IJMP || r->kind == BRANCH_ICALL) {
		x86__modrm(z, &out->operand);
		out->operand.size = x86__width(z) / 8;
	} else if (r->kind == BRANCH_RET && z->raw.imm[0].size) {
		out->operand.disp = z->raw.imm[0].value.u;
	}
}

static void set_flow(const ZydisDecodedInstruction *z, bool kernel, struct insn *out)
{
	const struct row *r = find_row(z);

	if (!r) {
		if (z->mnemonic == ZYDIS_MNEMONIC_UIRET) {
			out->flow = FLOW_UNSUPPORTED;
			out->mnemonic = "uiret";
		}
		return;
	}
	if ((z->opcode == 0xc6 || z->opcode == 0xc7) && z->raw.modrm.mod != 3)
		return;
	out->flow = r->flow;
	if (r->flow == FLOW_STOP && kernel && resumes_in_kernel(z))
		out->flow = FLOW_NEXT;
	if (r->flow == FLOW_BRANCH && is_narrow(z, r->kind)) {
		out->flow = FLOW_UNSUPPORTED;
		out->mnemonic = r->mnemonic;
		return;
	}
	if (r->flow == FLOW_BRANCH || r->flow == FLOW_UNSUPPORTED)
		set_branch(z, r, out);
	if (r->flow == FLOW_UNSUPPORTED && z->opcode == 0xc6)
		out->target = out->addr + z->length;
}

/* Vector instructions that set the flags: vptest, vucomis, vcomis, kortest, ktest. */
static bool vector_sets_flags(uint8_t opcode)
{
	return opcode == 0x17 || opcode == 0x2e || opcode == 0x2f || opcode == 0x0e ||
	       opcode == 0x0f || opcode == 0x98 || opcode == 0x99;
}

/* Leaves flags, memory and general registers unchanged, except for vector instructions with a
 * general register as destination: see writes. */
static bool keeps_state(const ZydisDecodedInstruction *z)
{
	if (z->mnemonic == ZYDIS_MNEMONIC_ENDBR64 || z->mnemonic == ZYDIS_MNEMONIC_ENDBR32 ||
	    z->mnemonic == ZYDIS_MNEMONIC_NOP)
		return true;
	return (z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
		z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) &&
	       z->attributes & ZYDIS_ATTRIB_HAS_MODRM && z->raw.modrm.mod == 3 &&
	       !vector_sets_flags(z->opcode);
}

/* Changes nothing but the flags. */
static bool only_compares(const ZydisDecodedInstruction *z)
{
	return z->mnemonic == ZYDIS_MNEMONIC_TEST || z->mnemonic == ZYDIS_MNEMONIC_CMP ||
	       z->mnemonic == ZYDIS_MNEMONIC_BT;
}

int x86__decode(enum x86_mode mode, const uint8_t *bytes, size_t len, uint64_t addr, bool kernel,
		struct insn *out)
{
	struct x86_raw raw;

	if (x86__raw(mode, bytes, len, &raw))
		return -EILSEQ;
	memset(out, 0, sizeof(*out));
	out->addr = addr;
	out->len = raw.z.length;
	set_flow(&raw.z, kernel, out);
	out->padding = bytes[0] == 0xcc || raw.z.mnemonic == ZYDIS_MNEMONIC_NOP;
	out->keeps_state = out->flow == FLOW_NEXT && keeps_state(&raw.z);
	out->only_compares = only_compares(&raw.z);
	x86__plain(&raw.z, out);
	out->slow = x86__is_slow(&raw.z);
	out->enters_kernel = x86__enters_kernel(&raw.z);
	x86__uprobe(bytes, &raw.z, out);
	if (out->flow == FLOW_NEXT)
		x86__sp(&raw, out);
	return 0;
}

/* jmp, jcc, loop and call, without prefixes: those don't change the place. */
bool x86__leads_to(const uint8_t *p, size_t len, uint64_t addr, uint64_t *target)
{
	bool is_short = len >= 2 && (p[0] == 0xeb || p[0] >> 4 == 7 || p[0] >> 2 == 0xe0 >> 2);
	size_t at = len >= 2 && p[0] == 0x0f && p[1] >> 4 == 8 ? 2 : 1;
	int32_t distance;

	if (is_short) {
		*target = addr + 2 + (int8_t)p[1];
		return true;
	}
	if (len < at + 4 || (at == 1 && p[0] >> 1 != 0xe8 >> 1))
		return false;
	memcpy(&distance, p + at, sizeof(distance));
	*target = addr + at + 4 + distance;
	return true;
}

enum { CF = 1, PF = 4, ZF = 0x40, SF = 0x80, OF = 0x800 };

/* Intel SDM volume 1, appendix B: the low bit of a condition code inverts the condition. */
static bool holds(uint8_t cc, uint16_t flags)
{
	bool less = !(flags & SF) != !(flags & OF);
	bool truth[8] = {
		flags & OF, flags & CF, flags & ZF, flags & (CF | ZF),
		flags & SF, flags & PF, less,	    less || flags & ZF,
	};

	return truth[cc >> 1 & 7] != (cc & 1);
}

bool x86__taken(uint8_t kind, uint16_t cond, const uint64_t reads[2])
{
	uint64_t flags = reads[0], counter = reads[1];

	if (kind != BRANCH_LOOP)
		return holds(cond, flags);
	if (cond & X86_LOOP_ADDR32)
		counter = (uint32_t)counter;
	switch (X86_LOOPNE | (cond & 3)) {
	case X86_JRCXZ:
		return counter == 0;
	case X86_LOOPE:
		return counter != 1 && flags & ZF;
	case X86_LOOPNE:
		return counter != 1 && !(flags & ZF);
	default:
		return counter != 1;
	}
}

/* Signed conditions give no bound on an unsigned value. */
bool x86__bound(uint16_t cond, bool is_taken, bool swapped, uint64_t n, uint64_t *max)
{
	if (swapped)
		return false; /* detail only reads comparisons of x with a constant */
	switch (is_taken ? cond : cond ^ 1) {
	case 2: /* b */
		*max = n - 1;
		return n > 0;
	case 4: /* e */
	case 6: /* be */
		*max = n;
		return true;
	default:
		return false;
	}
}

/* SDM volume 2, 2.1.1: lock, repne, rep, segments, operand and address size */
bool x86__is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0xf0:
	case 0xf2:
	case 0xf3:
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64 ... 0x67:
		return true;
	default:
		return false;
	}
}

/* Uprobes: one trap for emulated instructions, two for stepped ones: 2 to 4 times as long. A
 * hypervisor takes the trap of a single step itself, so there it is 10 to 40 times. Kprobes:
 * Documentation/trace/kprobes.rst has 0.43 us for a breakpoint and 0.06 us for a jump; kprobes on
 * branches are never optimised to jumps. */
#define KPROBES                                                                                    \
	{                                                                                          \
		"kprobe_event", true,                                                              \
		{                                                                                  \
			[COST_BREAKPOINT] = 430, [COST_JUMP] = 60, [COST_FTRACE] = 60              \
		}                                                                                  \
	}
const struct cost_row x86_costs[] = {
	{"uprobe_multi", false, {[COST_EMULATED] = 600, [COST_STEPPED] = 1800}},
	{"uprobe_event", false, {[COST_EMULATED] = 600, [COST_STEPPED] = 1800}},
	KPROBES,
	{0},
};
const struct cost_row x86_virtual_costs[] = {
	{"uprobe_multi", false, {[COST_EMULATED] = 600, [COST_STEPPED] = 12000}},
	{"uprobe_event", false, {[COST_EMULATED] = 600, [COST_STEPPED] = 12000}},
	KPROBES,
	{0},
};

/* ---- the functions of struct arch ---- */

static int decode(const uint8_t *bytes, size_t len, uint64_t addr, bool kernel, struct insn *out)
{
	return x86__decode(X86_64, bytes, len, addr, kernel, out);
}

static bool format(const uint8_t *bytes, size_t len, uint64_t addr, char *out, size_t size)
{
	return x86__format(X86_64, bytes, len, addr, out, size);
}

static bool detail(const uint8_t *bytes, size_t len, uint64_t addr, struct insn_detail *out)
{
	return x86__detail(X86_64, bytes, len, addr, out);
}

static int accesses(const uint8_t *bytes, size_t len, uint64_t addr,
		    const struct access_state *behind, struct access out[ACCESS_MOST])
{
	return x86__accesses(X86_64, bytes, len, addr, behind, out);
}

static bool test(const uint8_t *bytes, size_t len, uint64_t addr, struct test *out)
{
	return x86__test(X86_64, bytes, len, addr, out);
}

static enum flags_effect flags_effect(const uint8_t *bytes, size_t len, uint8_t kind, uint16_t cond)
{
	return x86__flags_effect(X86_64, bytes, len, kind, cond);
}

const struct arch arch_x86_64 = {
	.name = "x86-64",
	.machine = EM_X86_64,
	.word = 8,
	.ordered = true,
	.longest = 15, /* SDM 2, 2.3.11 */
	.alignment = 1,
	.decode = decode,
	.format = format,
	.detail = detail,
	.accesses = accesses,
	.is_prefix = x86__is_prefix,
	.leads_to = x86__leads_to,
	.taken = x86__taken,
	.bound = x86__bound,
	.flags_effect = flags_effect,
	.proves = x86__proves,
	.is_unsigned = x86__is_unsigned,
	.test = test,
	.test_flags = x86__test_flags,
	.nregs = ARRAY_SIZE(x86_reg_names),
	.reg_names = x86_reg_names,
	.sp_reg = X86_RSP,
	.ip_reg = X86_RIP,
	.flags_reg = X86_FLAGS,
	.link_reg = REG_NONE,
	.flags_mask = 0x8d5, /* CF PF AF ZF SF OF: SDM 1, 3.4.3.1 */
	.conventions =
		{
			[CONVENTION_C] = {args, ARRAY_SIZE(args), X86_RAX},
			[CONVENTION_GO] = {go_args, ARRAY_SIZE(go_args), X86_RAX},
			[CONVENTION_SYSCALL] = {syscall_args, ARRAY_SIZE(syscall_args), X86_RAX},
		},
	/* System V ABI, 3.2.3 */
	.passing = {.known = true, .result_argument = true, .floats = 8},
	.clobbered = X86_CALLER_SAVED,
	.call_pushes = 8,
	/* System V ABI, figures 3.36 and 3.3 */
	.dwarf = {.regs = dwarf_regs,
		  .nregs = ARRAY_SIZE(dwarf_regs),
		  .entry_reg = 7,
		  .entry_offset = 8,
		  .fp = 6,
		  .return_reg = 16,
		  .fp_at = -16,
		  .return_at = -8,
		  .cfa = 16},
	.relocations = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_RELATIVE,
			R_X86_64_IRELATIVE},
	/* FLAG_X8664_LIB64 | FLAG_ELF_LIBC6 */
	.loader = {"x86_64-linux-gnu", 0x0303, x86__hwcaps},
	.usdt_operand = x86__usdt_operand,
	.plt_stub = x86__plt_stub,
	.plt_alignment = 8,
	.go_checks_stack = x86__go_checks_stack,
	.go_grows_stack = x86__go_grows_stack,
	.breakpoint_name = "int3",
	.uprobe_breakpoint = {{0xcc}, 1},
	.uprobe_form = x86__uprobe_form,
	.execution = x86__execution,
	.costs = x86_costs,
	.virtual_costs = x86_virtual_costs,
	.this_machine = x86__machine,
	.ticks = x86__ticks,
#ifdef __x86_64__
	.samples = x86_samples,
	.tracee = &x86_tracee,
#endif
	.kernel = &x86_kernel,
	.copier = &x86_copier,
};
