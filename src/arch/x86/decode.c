// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64, i386: fills in struct insn. Prefix 66 on a near branch is ignored, as by Intel processors
 * in 64-bit mode; on AMD processors such a branch truncates rip to 16 bits and faults. In 32-bit
 * mode all do.
 */
#include <errno.h>
#include "x86.h"

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
static bool is_indexed;

static void index_rows(void)
{
	for (size_t i = ARRAY_SIZE(rows); i-- > 0;)
		for (unsigned op = rows[i].opcode; op <= rows[i].last; op++)
			row_of[rows[i].map == ZYDIS_OPCODE_MAP_0F][op] = i + 1;
	is_indexed = true;
}

static const struct row *find_row(const ZydisDecodedInstruction *z)
{
	const struct row *r, *end = rows + ARRAY_SIZE(rows);
	uint8_t i;

	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || z->opcode_map > ZYDIS_OPCODE_MAP_0F)
		return NULL;
	if (!is_indexed)
		index_rows();
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
