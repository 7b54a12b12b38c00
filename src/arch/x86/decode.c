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

static uint8_t kind_of(const struct x86_raw *raw)
{
	if (raw->z.raw.imm[0].is_relative)
		return raw->form.branch;
	switch (raw->form.branch) {
	case BRANCH_CALL:
		return BRANCH_ICALL;
	case BRANCH_JMP:
		return BRANCH_IJMP;
	default:
		return raw->form.branch;
	}
}

/* Returns true if its target, its counter or the address of its target has 16 bits in 32-bit
 * mode. */
static bool is_narrow(const ZydisDecodedInstruction *z, uint8_t kind)
{
	if (!x86__is32(z))
		return false;
	return z->operand_width == 16 ||
	       (z->address_width == 16 &&
		(kind == BRANCH_LOOP || kind == BRANCH_IJMP || kind == BRANCH_ICALL));
}

/* Returns true for the kinds of struct insn. */
static bool is_near(const struct x86_raw *raw)
{
	return raw->form.flow == FLOW_BRANCH && raw->z.meta.branch_type != ZYDIS_BRANCH_TYPE_FAR;
}

/* Returns the name of a branch that isn't conditional. */
static const char *name_of(const struct x86_raw *raw)
{
	/* by the kind of the near branch */
	static const char *const far_names[BRANCH_KINDS] = {
		[BRANCH_CALL] = "lcall", [BRANCH_JMP] = "ljmp", [BRANCH_RET] = "lret"};

	if (raw->form.op == X86_INTERRUPT_RETURN)
		return "iret";
	if (raw->z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return far_names[raw->form.branch];
	return ZydisMnemonicGetString(raw->z.mnemonic);
}

static uint8_t flow_of(const struct x86_raw *raw, bool kernel)
{
	const struct x86_form *f = &raw->form;

	if (raw->z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return FLOW_NEXT;
	/* hlt waits for an interrupt, and WARN() is a ud2 or ud1 that resumes */
	if (f->flow == FLOW_STOP && kernel)
		return FLOW_NEXT;
	if (f->flow != FLOW_BRANCH)
		return f->flow;
	/* xend is in the class of conditional branches, too */
	if (raw->z.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE)
		return FLOW_NEXT;
	if (!is_near(raw) || is_narrow(&raw->z, kind_of(raw)))
		return FLOW_UNSUPPORTED;
	return FLOW_BRANCH;
}

static void set_condition(const ZydisDecodedInstruction *z, struct insn *out)
{
	out->reads[0] = X86_FLAGS;
	if (out->kind == BRANCH_JCC) {
		out->cond = z->opcode & 15;
		out->mnemonic = jcc_names[out->cond];
		return;
	}
	out->reads[1] = X86_RCX;
	out->cond = X86_LOOPNE | (z->opcode & 3);
	out->mnemonic = loop_names[z->opcode & 3];
	if (z->address_width == 32) {
		out->mnemonic = out->cond == X86_JRCXZ ? "jecxz" : out->mnemonic;
		out->cond |= X86_LOOP_ADDR32;
	}
}

static void set_branch(const ZydisDecodedInstruction *z, struct insn *out)
{
	if (z->raw.imm[0].is_relative)
		out->target = out->addr + z->length + z->raw.imm[0].value.s;
	if (x86__is32(z))
		out->target = (uint32_t)out->target;
	out->reads[0] = out->reads[1] = REG_NONE;
	switch (out->kind) {
	case BRANCH_JCC:
	case BRANCH_LOOP:
		set_condition(z, out);
		break;
	case BRANCH_IJMP:
	case BRANCH_ICALL:
		x86__modrm(z, &out->operand);
		out->operand.size = x86__width(z) / 8;
		break;
	case BRANCH_RET:
		out->operand.disp = z->raw.imm[0].size ? z->raw.imm[0].value.u : 0;
		break;
	default:
		break;
	}
}

static void set_flow(const struct x86_raw *raw, bool kernel, struct insn *out)
{
	bool conditional = raw->form.branch == BRANCH_JCC || raw->form.branch == BRANCH_LOOP;

	out->flow = flow_of(raw, kernel);
	if (out->flow != FLOW_BRANCH && out->flow != FLOW_UNSUPPORTED)
		return;
	if (!conditional)
		out->mnemonic = name_of(raw);
	if (out->flow == FLOW_BRANCH)
		out->kind = kind_of(raw);
	if (out->flow == FLOW_BRANCH || !is_near(raw))
		set_branch(&raw->z, out);
	if (raw->form.op == X86_ABORT)
		out->target = out->addr + raw->z.length;
}

static bool changes_flags(const ZydisDecodedInstruction *z)
{
	const ZydisAccessedFlags *f = z->cpu_flags;

	return f && f->modified | f->set_0 | f->set_1 | f->undefined;
}

/* Vector instructions without memory: they may have a general register as destination, see writes.
 */
static bool keeps_state(const struct x86_raw *raw)
{
	const ZydisDecodedInstruction *z = &raw->z;

	if (raw->form.has & X86_KEEPS_STATE)
		return true;
	return (z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
		z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) &&
	       z->attributes & ZYDIS_ATTRIB_HAS_MODRM && z->raw.modrm.mod == 3 &&
	       !(raw->form.has & X86_STORES_ELSEWHERE) && !changes_flags(z);
}

/* Changes nothing but the flags. */
static bool only_compares(uint8_t sets)
{
	return sets == X86_SET_COMPARE || sets == X86_SET_TEST || sets == X86_SET_BIT;
}

/* A lock waits until it alone has the memory: SDM volume 3, 9.1.2.1. */
static bool is_slow(const struct x86_raw *raw)
{
	const ZydisDecodedInstruction *z = &raw->z;

	if (raw->form.has & X86_SLOW || z->attributes & (ZYDIS_ATTRIB_HAS_LOCK | X86_REPEATS))
		return true;
	return raw->form.has & X86_LOCKS && z->attributes & ZYDIS_ATTRIB_HAS_MODRM &&
	       z->raw.modrm.mod != 3;
}

/* A jump or call through an extended register, which no probe can record: control returns from a
 * call. */
static void drop_target(struct insn *out)
{
	bool call = out->kind == BRANCH_ICALL;

	if (!call && out->kind != BRANCH_IJMP)
		return;
	out->flow = FLOW_UNSUPPORTED;
	out->kind = BRANCH_NONE;
	out->operand = (struct operand){0};
	out->target = call ? out->addr + out->len : 0;
}

static void set_jmpabs(uint64_t target, struct insn *out)
{
	out->flow = FLOW_BRANCH;
	out->kind = BRANCH_JMP;
	out->mnemonic = "jmpabs";
	out->target = target;
	out->reads[0] = out->reads[1] = REG_NONE;
}

/* Only its length, and where control and the stack pointer go. */
static int decode_apx(const uint8_t *bytes, size_t len, uint64_t addr, bool kernel,
		      struct insn *out)
{
	struct x86_apx apx;

	if (x86__apx(bytes, len, &apx))
		return -EILSEQ;
	memset(out, 0, sizeof(*out));
	out->addr = addr;
	out->len = apx.len;
	out->flow = FLOW_NEXT;
	out->slow = true;
	out->user_refusal = out->kernel_refusal = PROBE_PREFIX;
	if (apx.jumps) {
		set_jmpabs(apx.target, out);
	} else if (!apx.older) {
		out->sp_effect = apx.sp_effect;
		out->sp_value = apx.sp_value;
	} else {
		apx.raw.z.length = apx.len;
		set_flow(&apx.raw, kernel, out);
		out->enters_kernel = apx.raw.form.has & X86_ENTERS_KERNEL;
		out->repeats = apx.raw.z.attributes & X86_REPEATS;
		if (apx.extended)
			drop_target(out);
		if (out->flow == FLOW_NEXT)
			x86__sp(&apx.raw, out);
	}
	return 0;
}

int x86__decode(enum x86_mode mode, const uint8_t *bytes, size_t len, uint64_t addr, bool kernel,
		struct insn *out)
{
	struct x86_raw raw;

	if (x86__raw(mode, bytes, len, &raw))
		return mode == X86_64 ? decode_apx(bytes, len, addr, kernel, out) : -EILSEQ;
	memset(out, 0, sizeof(*out));
	out->addr = addr;
	out->len = raw.z.length;
	set_flow(&raw, kernel, out);
	out->padding = bytes[0] == 0xcc || raw.form.op == X86_NOP;
	out->keeps_state = out->flow == FLOW_NEXT && keeps_state(&raw);
	out->only_compares = only_compares(raw.form.sets);
	x86__plain(&raw, out);
	out->slow = is_slow(&raw);
	out->enters_kernel = raw.form.has & X86_ENTERS_KERNEL;
	x86__uprobe(bytes, &raw, out);
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

bool x86__is_prefix(uint8_t byte)
{
	return x86__byte(byte) & X86_PREFIX;
}
