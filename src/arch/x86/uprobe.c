// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64, i386: whether the kernel refuses a uprobe on an instruction, emulates the instruction, or
 * single-steps it out of line. The rules of arch/x86/kernel/uprobes.c.
 */
#include "x86.h"

/*
 * The opcode bytes that uprobe_init_insn() refuses: the complement of good_insns_64. It also
 * applies the table to the opcode byte of VEX and EVEX instructions, and accepts all 0f opcodes.
 */
static bool bad_opcode(uint8_t op)
{
	switch (op) {
	case 0x06 ... 0x07:
	case 0x0e:
	case 0x16 ... 0x17:
	case 0x1e ... 0x1f:
	case 0x27:
	case 0x2f:
	case 0x37:
	case 0x3f:
	case 0x60 ... 0x62:
	case 0x6c ... 0x6f:
	case 0x82:
	case 0x9a:
	case 0xcc ... 0xcf:
	case 0xd4 ... 0xd6:
	case 0xe4 ... 0xe7:
	case 0xea:
	case 0xec ... 0xef:
	case 0xf1:
	case 0xf4:
	case 0xfa ... 0xfb:
		return true;
	default:
		return false;
	}
}

/* The same for 32-bit programs: the complement of good_insns_32 (is_64bit_mm() decides). */
static bool bad_opcode32(uint8_t op)
{
	switch (op) {
	case 0x07:
	case 0x17:
	case 0x1f:
	case 0x6c ... 0x6f:
	case 0xcc ... 0xcf:
	case 0xe4 ... 0xe7:
	case 0xec ... 0xef:
	case 0xf1:
	case 0xf4:
	case 0xfa ... 0xfb:
		return true;
	default:
		return false;
	}
}

static bool is_bad(const ZydisDecodedInstruction *z)
{
	return x86__is32(z) ? bad_opcode32(z->opcode) : bad_opcode(z->opcode);
}

/* insn_masking_exception(): pop and mov to %ss, by opcode byte and ModRM.reg */
static bool masks_exceptions(const ZydisDecodedInstruction *z)
{
	if (x86__is32(z) && z->opcode == 0x17)
		return true;
	return z->opcode == 0x8e && (z->attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
	       z->raw.modrm.reg == 2;
}

/*
 * branch_setup_xol_ops() and arch_uprobe_analyze_insn() test the opcode byte without its map. They
 * emulate a VEX or EVEX instruction with one of these bytes as the branch or nop of that opcode, or
 * fix it up as the return, call or popf, and the program misbehaves (observed with vpbroadcastb
 * r32, EVEX 7a, on 6.18). push isn't in the list: the kernel also checks its length.
 */
static bool taken_for_another(uint8_t op)
{
	switch (op) {
	case 0x70 ... 0x7f: /* jcc */
	case 0x90:	    /* nop */
	case 0x9a:	    /* lcall */
	case 0x9d:	    /* popf */
	case 0xc2:	    /* ret, lret */
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xe8: /* call, jmp */
	case 0xe9:
	case 0xea:
	case 0xeb:
	case 0xff: /* indirect call, jmp */
		return true;
	default:
		return false;
	}
}

struct prefixes {
	bool bad; /* is_prefix_bad() */
	bool data16, repeat;
};

static struct prefixes prefixes_of(const ZydisDecodedInstruction *z)
{
	struct prefixes p = {0};

	for (unsigned i = 0; i < z->raw.prefix_count; i++) {
		switch (z->raw.prefixes[i].value) {
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf0:
			p.bad = true;
			break;
		case 0x66:
			p.data16 = true;
			break;
		case 0xf2:
		case 0xf3:
			p.repeat = true;
			break;
		}
	}
	return p;
}

static bool is_rip_relative(const ZydisDecodedInstruction *z)
{
	return !x86__is32(z) && (z->attributes & ZYDIS_ATTRIB_HAS_MODRM) && !z->raw.modrm.mod &&
	       z->raw.modrm.rm == 5;
}

/*
 * With prefix f2 or f3 the kernel's table (arch/x86/lib/x86-opcode-map.txt) has no ModRM byte for
 * some of movnt, cmov and set. So the kernel doesn't adjust a RIP-relative operand, and the copy
 * would access memory relative to its own address.
 */
static bool hides_its_operand(const ZydisDecodedInstruction *z, const struct prefixes *p)
{
	return p->repeat && is_rip_relative(z) && z->opcode_map == ZYDIS_OPCODE_MAP_0F &&
	       (z->opcode == 0x2b || z->opcode >> 4 == 4 || z->opcode >> 4 == 9);
}

/*
 * Instructions that behave differently when a copy is single-stepped out of line, and that the
 * kernel neither fixes up nor refuses. All were observed: tests/e2e/t_forms.sh.
 */
static bool wrong_when_stepped(const ZydisDecodedInstruction *z, const struct insn *i,
			       const struct prefixes *p)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_PUSHF: /* pushes the trap flag: popf would raise SIGTRAP */
	case ZYDIS_MNEMONIC_PUSHFD:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_INTO:
	case ZYDIS_MNEMONIC_BOUND:
	case ZYDIS_MNEMONIC_SYSCALL: /* the next instruction is executed out of line, too */
	case ZYDIS_MNEMONIC_SGDT:    /* likewise, when the kernel emulates these (UMIP) */
	case ZYDIS_MNEMONIC_SIDT:
	case ZYDIS_MNEMONIC_SLDT:
	case ZYDIS_MNEMONIC_SMSW:
	case ZYDIS_MNEMONIC_STR:
	case ZYDIS_MNEMONIC_VMCALL: /* KVM replaces one by the other: emulator_fix_hypercall() */
	case ZYDIS_MNEMONIC_VMMCALL:
		return true;
	default:
		break;
	}
	/* with data16 AMD processors truncate the instruction pointer, or the return address, to 16
	 * bits; Intel processors ignore the prefix */
	return (p->data16 && (i->kind == BRANCH_LOOP || i->kind == BRANCH_ICALL)) ||
	       hides_its_operand(z, p);
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
static bool differs_in_64(const ZydisDecodedInstruction *z)
{
	bool plain = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
		     z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;

	if (plain && (z->opcode >> 4 == 4 || bad_opcode(z->opcode)))
		return true;
	if (z->mnemonic == ZYDIS_MNEMONIC_NOP && z->length == 5)
		return true;
	return z->address_width == 16 || ((z->attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
					  !z->raw.modrm.mod && z->raw.modrm.rm == 5);
}

static enum probe_refusal refusal_of(const ZydisDecodedInstruction *z, const struct insn *i,
				     bool relative)
{
	bool vex = z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
		   z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	bool legacy = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
	bool plain = legacy && z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
	struct prefixes p = prefixes_of(z);

	if (i->flow == FLOW_UNSUPPORTED)
		return PROBE_UNSUPPORTED;
	if (!legacy && !vex) /* XOP and others: unknown to the kernel's decoder */
		return PROBE_VECTOR;
	if (p.bad || (relative && p.data16) ||
	    ((plain || vex) && (is_bad(z) || masks_exceptions(z))))
		return PROBE_PREFIX;
	/* with REX.B, opcode 90 is xchg %r8,%rax, which the kernel would emulate as a nop */
	if (plain && z->opcode == 0x90 && z->raw.rex.B)
		return PROBE_PREFIX;
	if (vex && taken_for_another(z->opcode))
		return PROBE_VECTOR;
	if (x86__is32(z) && differs_in_64(z))
		return PROBE_WIDTH;
	return wrong_when_stepped(z, i, &p) ? PROBE_STEPPED : PROBE_OK;
}

void x86__uprobe(const uint8_t *bytes, const ZydisDecodedInstruction *z, struct insn *out)
{
	bool relative =
		out->kind == BRANCH_JCC || out->kind == BRANCH_JMP || out->kind == BRANCH_CALL;
	bool plain = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
		     z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
	bool nop = z->mnemonic == ZYDIS_MNEMONIC_NOP && known_nop(bytes, out->len);

	out->user_refusal = refusal_of(z, out, relative);
	out->patchable = nop && out->len == 5;
	out->repeats = z->attributes &
		       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
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
