// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64, i386: whether the kernel refuses a uprobe on an instruction, emulates the instruction, or
 * single-steps it out of line. The rules of arch/x86/kernel/uprobes.c.
 */
#include "x86.h"

static bool is_bad(const ZydisDecodedInstruction *z)
{
	return x86__byte(z->opcode) & (x86__is32(z) ? X86_REFUSED_32 : X86_REFUSED);
}

/* insn_masking_exception(): mov to %ss, by opcode byte and ModRM.reg. Pop is refused as others are.
 */
static bool masks_exceptions(const ZydisDecodedInstruction *z)
{
	return z->opcode == 0x8e && (z->attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
	       z->raw.modrm.reg == 2;
}

/* enum x86_byte of all prefixes. */
static uint32_t prefixes_of(const ZydisDecodedInstruction *z)
{
	uint32_t all = 0;

	for (unsigned i = 0; i < z->raw.prefix_count; i++)
		all |= x86__byte(z->raw.prefixes[i].value);
	return all;
}

static bool is_rip_relative(const ZydisDecodedInstruction *z)
{
	return !x86__is32(z) && (z->attributes & ZYDIS_ATTRIB_HAS_MODRM) && !z->raw.modrm.mod &&
	       z->raw.modrm.rm == 5;
}

/*
 * With prefix f2 or f3, the kernel's table (arch/x86/lib/x86-opcode-map.txt) has no ModRM byte for
 * some of movnt, cmov and set. So the kernel doesn't adjust a RIP-relative operand, and the copy
 * would access memory relative to its own address.
 */
static bool hides_its_operand(const ZydisDecodedInstruction *z, uint32_t prefixes)
{
	return prefixes & X86_PREFIX_REPEATS && is_rip_relative(z) &&
	       z->opcode_map == ZYDIS_OPCODE_MAP_0F &&
	       (z->opcode == 0x2b || z->opcode >> 4 == 4 || z->opcode >> 4 == 9);
}

/*
 * Instructions that behave differently when a copy is single-stepped out of line, and that the
 * kernel neither fixes up nor refuses. All were observed: tests/e2e/t_forms.sh. With data16 AMD
 * processors truncate the instruction pointer, or the return address, to 16 bits; Intel processors
 * ignore the prefix.
 */
static bool wrong_when_stepped(const struct x86_raw *raw, const struct insn *i, uint32_t prefixes)
{
	bool truncates = i->kind == BRANCH_LOOP || i->kind == BRANCH_ICALL;

	return raw->form.has & X86_STEPPED || (prefixes & X86_PREFIX_DATA16 && truncates) ||
	       hides_its_operand(&raw->z, prefixes);
}

/* x86_nops[]: branch_setup_xol_ops() emulates these, and opcode 90 with any prefix. */
static bool known_nop(const uint8_t *b, size_t len)
{
	static const char *const nops[] = {
		"\x90",
		"\x66\x90",
		"\x0f\x1f\x00",
		"\x0f\x1f\x40\x00",
		"\x0f\x1f\x44\x00\x00",
		"\x66\x0f\x1f\x44\x00\x00",
		"\x0f\x1f\x80\x00\x00\x00\x00",
		"\x0f\x1f\x84\x00\x00\x00\x00\x00",
	};

	return len && len <= ARRAY_SIZE(nops) && !memcmp(b, nops[len - 1], len);
}

/* push_setup_xol_ops(): 50 … 57, without prefix or with 41 */
static bool plain_push(const ZydisDecodedInstruction *z, const uint8_t *b, size_t len)
{
	if (len == 2 && b[0] == 0x41 && !x86__is32(z))
		b++, len--;
	return len == 1 && *b >= 0x50 && *b <= 0x57;
}

/* lea 0(%reg), %reg, with a displacement */
static bool adds_nothing(const ZydisDecodedInstruction *z)
{
	bool sib = z->raw.modrm.rm == 4;
	unsigned base = sib ? z->raw.sib.base : z->raw.modrm.rm;

	if (sib && (z->raw.sib.index != 4 || z->raw.rex.X))
		return false;
	return z->raw.modrm.mod && !z->raw.disp.value && base == z->raw.modrm.reg;
}

static bool keeps_register(const ZydisDecodedInstruction *z)
{
	if (!z->raw.rex.W || z->raw.rex.R != z->raw.rex.B)
		return false;
	if (z->opcode == 0x89)
		return z->raw.modrm.mod == 3 && z->raw.modrm.rm == z->raw.modrm.reg;
	return z->opcode == 0x8d && adds_nothing(z);
}

/*
 * Nops that only some kernels emulate. Newer ones (insn_is_nop(); observed on 7.2, not on 6.18)
 * take any 0f 1f /0, and mov and lea of a 64-bit register to itself, but not pause. Older ones take
 * the nops that they write themselves, and any 90, whatever its prefixes.
 */
static bool nop_of_some(const ZydisDecodedInstruction *z)
{
	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return false;
	if (z->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return z->opcode == 0x1f && z->raw.modrm.reg == 0;
	return z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       (z->opcode == 0x90 || keeps_register(z));
}

/*
 * A uprobe's instruction is analysed once, in the mode of the process that is the first to map the
 * file, whatever for (prepare_uprobe()): a debugger's mapping decides, too. So a 32-bit instruction
 * carries a probe only if the kernel would do the same with it in 64-bit mode. There inc and dec
 * are prefixes; an absolute address is relative to the instruction pointer, and the copy that is
 * stepped is rewritten, with which the program crashes (observed on 6.18); prefix 67 leaves 32
 * bits; and a 5-byte nop may be turned into a call.
 */
static bool differs_in_64(const struct x86_raw *raw)
{
	const ZydisDecodedInstruction *z = &raw->z;
	bool plain = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
		     z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;

	if (plain && x86__byte(z->opcode) & (X86_REX | X86_REFUSED))
		return true;
	if (raw->form.op == X86_NOP && z->length == 5)
		return true;
	return z->address_width == 16 || ((z->attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
					  !z->raw.modrm.mod && z->raw.modrm.rm == 5);
}

/*
 * branch_setup_xol_ops() and arch_uprobe_analyze_insn() test the opcode byte without its map. They
 * emulate a VEX or EVEX instruction that is mistaken as the branch or nop of that opcode, or fix it
 * up as the return, call or popf, and the program misbehaves (observed with vpbroadcastb r32, EVEX
 * 7a, on 6.18). The byte of a VEX or EVEX instruction is also looked up in good_insns_64; all 0f
 * opcodes are accepted.
 */
static enum probe_refusal refusal_of(const struct x86_raw *raw, const struct insn *i, bool relative)
{
	const ZydisDecodedInstruction *z = &raw->z;
	bool vex = z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
		   z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	bool legacy = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
	bool plain = legacy && z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
	uint32_t prefixes = prefixes_of(z);

	if (i->flow == FLOW_UNSUPPORTED)
		return PROBE_UNSUPPORTED;
	if (!legacy && !vex) /* XOP and others: unknown to the kernel's decoder */
		return PROBE_VECTOR;
	if (prefixes & X86_PREFIX_REFUSED || (relative && prefixes & X86_PREFIX_DATA16) ||
	    ((plain || vex) && (is_bad(z) || masks_exceptions(z))))
		return PROBE_PREFIX;
	/* with REX.B, opcode 90 is xchg %r8,%rax, which the kernel would emulate as a nop */
	if (plain && z->opcode == 0x90 && z->raw.rex.B)
		return PROBE_PREFIX;
	if (vex && x86__byte(z->opcode) & X86_MISTAKEN)
		return PROBE_VECTOR;
	if (x86__is32(z) && differs_in_64(raw))
		return PROBE_WIDTH;
	return wrong_when_stepped(raw, i, prefixes) ? PROBE_STEPPED : PROBE_OK;
}

void x86__uprobe(const uint8_t *bytes, const struct x86_raw *raw, struct insn *out)
{
	const ZydisDecodedInstruction *z = &raw->z;
	bool relative =
		out->kind == BRANCH_JCC || out->kind == BRANCH_JMP || out->kind == BRANCH_CALL;
	bool plain = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
		     z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
	bool nop = raw->form.op == X86_NOP && known_nop(bytes, out->len);

	out->user_refusal = refusal_of(raw, out, relative);
	out->patchable = nop && out->len == 5;
	out->repeats = z->attributes & X86_REPEATS;
	if (out->user_refusal == PROBE_OK)
		out->emulated = relative || nop || plain_push(z, bytes, out->len) ||
				(plain && z->opcode == 0x90 && out->flow == FLOW_NEXT);
	out->varies = out->user_refusal == PROBE_OK && !nop && nop_of_some(z);
}

/*
 * Whether the kernel refuses an instruction depends on prefixes, opcode and ModRM byte alone
 * (arch_uprobe_analyze_insn()). So the offset of a relative branch is left out.
 */
uint64_t x86__uprobe_form(const uint8_t *bytes, size_t len, const struct insn *insn)
{
	bool relative = insn->kind == BRANCH_JCC || insn->kind == BRANCH_LOOP ||
			insn->kind == BRANCH_JMP || insn->kind == BRANCH_CALL;
	size_t used = relative && insn->len > 1 ? insn->len - (insn->len <= 3 ? 1 : 4) : insn->len;
	uint64_t form = insn->len;

	for (size_t i = 0; i < used && i < len && i < 7; i++)
		form = form << 8 | bytes[i];
	return form;
}
