// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: instructions of Intel's Advanced Performance Extensions (APX specification, rev. 6.0),
 * which Zydis doesn't know: REX2, EVEX map 4, EVEX with extended registers, VEX instructions in
 * EVEX form, JMPABS. Each is rewritten as an older instruction that moves control and the stack
 * pointer in the same way, where there is one. It uses raw.c, and gives x86__apx().
 */
#include <errno.h>
#include "x86.h"

enum {
	REX2 = 0xd5,
	EVEX = 0x62,
	VEX = 0xc4,
	ESCAPE = 0x0f,
	JMPABS = 0xa1,
	LONGEST = ZYDIS_MAX_INSTRUCTION_LENGTH,
};

/* REX2: M0 R4 X4 B4 W R3 X3 B3 */
enum { REX2_M0 = 0x80, REX2_R4 = 0x40, REX2_X4 = 0x20, REX2_B4 = 0x10, REX2_W = 8 };
#define REX2_EXTENDED (REX2_R4 | REX2_X4 | REX2_B4)

/* EVEX, three bytes: R3 X3 B3 R4 B4 m m m; W v v v v X4 p p; z L' L ND V4 NF a a. The registers'
 * bits other than B4 are inverted. */
enum { EVEX_B3 = 0x20, EVEX_B4 = 8, EVEX_R4 = 0x10, EVEX_MAP = 7, EVEX_W = 0x80, EVEX_X4 = 4 };
enum { EVEX_Z_AAA = 0x83, EVEX_ND = 0x10, EVEX_V4 = 8, EVEX_L = 0x20 };

static bool is_prefix(uint8_t byte)
{
	return x86__byte(byte) & X86_PREFIX;
}

static size_t count_prefixes(const uint8_t *bytes, size_t len)
{
	size_t n = 0;

	while (n < len && is_prefix(bytes[n]))
		n++;
	return n;
}

/* Decodes what was rewritten: it is shorter by `less` bytes. */
static int decode_older(const uint8_t *older, size_t len, size_t less, struct x86_apx *out)
{
	if (x86__raw(X86_64, older, len, &out->raw))
		return -EILSEQ;
	out->len = out->raw.z.length + less;
	return out->len > LONGEST ? -EILSEQ : 0;
}

/* ---- REX2 ---- */

/* The opcodes that raise #UD after REX2: those that are prefixes or lead to other maps, and some
 * rows: APX specification, 3.1.2.1. */
static bool is_reserved(uint8_t opcode, bool map1)
{
	uint8_t row = opcode >> 4;

	if (map1)
		return row == 3 || row == 8 || opcode == ESCAPE;
	return row == 4 || row == 7 || row == 0xa || row == 0xe || opcode == ESCAPE ||
	       is_prefix(opcode) || opcode == EVEX || opcode == VEX || opcode == VEX + 1 ||
	       opcode == REX2;
}

/* xsave, xrstor and the like, which don't keep the extended registers. */
static bool saves_state(const uint8_t *op)
{
	uint8_t reg = op[1] >> 3 & 7;

	if (op[1] >> 6 == 3)
		return false;
	return op[0] == 0xae ? reg >= 4 && reg <= 6 : op[0] == 0xc7 && reg >= 3 && reg <= 5;
}

static int jmpabs(const uint8_t *bytes, size_t len, struct x86_apx *out)
{
	if (len < 3 + sizeof(out->target) || bytes[1] & (REX2_M0 | REX2_W))
		return -EILSEQ;
	memcpy(&out->target, bytes + 3, sizeof(out->target));
	out->jumps = true;
	out->len = 3 + sizeof(out->target);
	return 0;
}

/* Registers from r16 on become r8 to r15, which are neither the stack nor the frame pointer. */
static uint8_t rex_of(uint8_t payload)
{
	return 0x40 | (payload & 0x0f) | (payload & REX2_EXTENDED) >> 4;
}

static int rex2(const uint8_t *bytes, size_t len, size_t prefixes, struct x86_apx *out)
{
	const uint8_t *op = bytes + prefixes + 2;
	uint8_t older[LONGEST + 1], payload;
	size_t n = prefixes, left;

	if (len < prefixes + 3)
		return -EILSEQ;
	payload = bytes[prefixes + 1];
	if (!prefixes && *op == JMPABS)
		return jmpabs(bytes, len, out);
	if (is_reserved(*op, payload & REX2_M0))
		return -EILSEQ;
	if (payload & REX2_M0 && len > prefixes + 3 && saves_state(op))
		return -EILSEQ;
	memcpy(older, bytes, n);
	older[n++] = rex_of(payload);
	if (payload & REX2_M0)
		older[n++] = ESCAPE;
	left = min_of(len - prefixes - 2, sizeof(older) - n);
	memcpy(older + n, op, left);
	out->older = true;
	out->extended = payload & REX2_EXTENDED;
	return decode_older(older, n + left, payload & REX2_M0 ? 0 : 1, out);
}

/* ---- EVEX ---- */

/* Rewrites an EVEX instruction without its extended registers. */
static int evex_older(const uint8_t *bytes, size_t len, size_t at, struct x86_apx *out)
{
	uint8_t older[LONGEST];

	len = min_of(len, sizeof(older));
	memcpy(older, bytes, len);
	if (older[at + 1] & EVEX_B4)
		older[at + 1] &= ~(EVEX_B4 | EVEX_B3);
	older[at + 2] |= EVEX_X4;
	return decode_older(older, len, 0, out);
}

/* Rewrites it in VEX form. */
static int evex_vex(const uint8_t *bytes, size_t len, size_t at, struct x86_apx *out)
{
	uint8_t older[LONGEST], p0 = bytes[at + 1], p1 = bytes[at + 2], p2 = bytes[at + 3];
	uint8_t map = p0 & EVEX_MAP, vvvv = p1 & 0x78;
	size_t left = min_of(len - at - 4, sizeof(older) - at - 3);

	if (!map || map > 3 || p2 & (EVEX_Z_AAA | EVEX_ND | EVEX_L << 1))
		return -EILSEQ;
	if (!(p0 & EVEX_R4))
		p0 &= 0x7f;
	if (!(p1 & EVEX_X4))
		p0 &= 0xbf;
	if (p0 & EVEX_B4)
		p0 &= ~EVEX_B3;
	if (!(p2 & EVEX_V4))
		vvvv &= 0x3f;
	memcpy(older, bytes, at);
	older[at] = VEX;
	older[at + 1] = (p0 & 0xe0) | map;
	older[at + 2] = (p1 & EVEX_W) | vvvv | (p2 & EVEX_L) >> 3 | (p1 & 3);
	memcpy(older + at + 3, bytes + at + 4, left);
	return decode_older(older, at + 3 + left, 1, out);
}

/* ---- EVEX map 4: forms of the one-byte and two-byte opcodes ---- */

enum { M4_NONE, M4_PLAIN, M4_IMM8, M4_IMM, M4_GROUP3 };

/* By opcode: what follows ModRM; GROUP3 has an immediate in its first two rows. */
static const uint8_t map4[256] = {
	[0x00 ... 0x03] = M4_PLAIN,
	[0x08 ... 0x0b] = M4_PLAIN,
	[0x10 ... 0x13] = M4_PLAIN,
	[0x18 ... 0x1b] = M4_PLAIN,
	[0x20 ... 0x23] = M4_PLAIN,
	[0x24] = M4_IMM8,
	[0x28 ... 0x2b] = M4_PLAIN,
	[0x2c] = M4_IMM8,
	[0x30 ... 0x33] = M4_PLAIN,
	[0x38 ... 0x3b] = M4_PLAIN,
	[0x40 ... 0x4f] = M4_PLAIN,
	[0x60 ... 0x61] = M4_PLAIN,
	[0x65 ... 0x66] = M4_PLAIN,
	[0x69] = M4_IMM,
	[0x6b] = M4_IMM8,
	[0x80] = M4_IMM8,
	[0x81] = M4_IMM,
	[0x83] = M4_IMM8,
	[0x84 ... 0x85] = M4_PLAIN,
	[0x88] = M4_PLAIN,
	[0x8f] = M4_PLAIN,
	[0xa5] = M4_PLAIN,
	[0xad] = M4_PLAIN,
	[0xaf] = M4_PLAIN,
	[0xc0 ... 0xc1] = M4_IMM8,
	[0xd0 ... 0xd3] = M4_PLAIN,
	[0xf0 ... 0xf2] = M4_PLAIN,
	[0xf4 ... 0xf5] = M4_PLAIN,
	[0xf6 ... 0xf7] = M4_GROUP3,
	[0xf8 ... 0xf9] = M4_PLAIN,
	[0xfc] = M4_PLAIN,
	[0xfe ... 0xff] = M4_PLAIN,
};

/* ModRM, SIB and displacement: SDM volume 2, 2.1.5. */
static size_t address_size(const uint8_t *modrm, size_t len)
{
	uint8_t mod = *modrm >> 6, rm = *modrm & 7;
	size_t n = 1;

	if (mod == 3)
		return n;
	if (rm == 4) {
		n++;
		if (mod == 0 && len > 1 && (modrm[1] & 7) == 5)
			return n + 4;
	}
	return n + (mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0);
}

static size_t immediate_size(uint8_t opcode, uint8_t reg, uint8_t p1)
{
	bool byte = !(opcode & 1), is16 = (p1 & 3) == 1 && !(p1 & EVEX_W);
	size_t whole = byte ? 1 : is16 ? 2 : 4;

	switch (map4[opcode]) {
	case M4_IMM8:
		return 1;
	case M4_IMM:
		return whole;
	case M4_GROUP3:
		return reg < 2 ? whole : 0;
	default:
		return 0;
	}
}

/* ccmp and ctest, which compare only. */
static bool compares(uint8_t opcode, uint8_t reg)
{
	return opcode >> 2 == 0x38 >> 2 || opcode >> 1 == 0x84 >> 1 ||
	       (opcode >> 2 == 0x80 >> 2 && reg == 7) || (map4[opcode] == M4_GROUP3 && reg < 2);
}

/* Opcodes whose ModRM.reg is a part of the opcode. */
static bool is_group(uint8_t opcode)
{
	return opcode >> 2 == 0x80 >> 2 || opcode == 0x8f || opcode >> 1 == 0xc0 >> 1 ||
	       opcode >> 2 == 0xd0 >> 2 || opcode >> 1 == 0xf6 >> 1 || opcode >> 1 == 0xfe >> 1;
}

static void change(struct x86_apx *out, uint8_t reg)
{
	if (reg == X86_RSP) {
		out->sp_effect = SP_LOST;
		out->sp_value = 0;
	} else if (reg == X86_RBP && out->sp_effect != SP_LOST) {
		out->sp_effect = SP_FP_LOST;
	}
}

/* push2 and pop2; add and sub of a constant to the stack pointer. Returns false for others. */
static bool moves_stack(const uint8_t *evex, uint8_t rm, struct x86_apx *out)
{
	uint8_t opcode = evex[4], reg = evex[5] >> 3 & 7, mod = evex[5] >> 6;
	bool two = opcode == 0xff && reg == 6, byte = opcode == 0x83;
	int32_t imm = 0;

	out->sp_effect = SP_ADD;
	if (two || opcode == 0x8f) {
		out->sp_value = two ? -16 : 16;
		return true;
	}
	if ((opcode != 0x81 && !byte) || mod != 3 || (reg != 0 && reg != 5) || rm != X86_RSP ||
	    evex[3] & EVEX_ND || !(evex[2] & EVEX_W)) {
		out->sp_effect = SP_SAME;
		return false;
	}
	if (byte)
		imm = (int8_t)evex[6];
	else
		memcpy(&imm, evex + 6, sizeof(imm));
	out->sp_value = reg ? -imm : imm;
	return true;
}

/* What it may do to the stack and frame pointers. Any register that it names may be written. */
static void set_stack(const uint8_t *evex, struct x86_apx *out)
{
	uint8_t p0 = evex[1], p1 = evex[2], p2 = evex[3], opcode = evex[4];
	uint8_t reg = (evex[5] >> 3 & 7) | (p0 & 0x80 ? 0 : 8) | (p0 & EVEX_R4 ? 0 : 16);
	uint8_t rm = (evex[5] & 7) | (p0 & EVEX_B3 ? 0 : 8) | (p0 & EVEX_B4 ? 16 : 0);
	uint8_t vvvv = (~p1 >> 3 & 0x0f) | (p2 & EVEX_V4 ? 0 : 16);
	bool known = moves_stack(evex, rm, out);

	if (known && opcode != 0x8f)
		return;
	if (compares(opcode, reg & 7))
		return;
	if (!is_group(opcode))
		change(out, reg);
	if (evex[5] >> 6 == 3)
		change(out, rm);
	if (p2 & EVEX_ND)
		change(out, vvvv);
}

static int decode_map4(const uint8_t *bytes, size_t len, size_t at, struct x86_apx *out)
{
	const uint8_t *evex = bytes + at;
	uint8_t opcode = evex[4];
	size_t n;

	if (!map4[opcode] || evex[3] & 0xe0)
		return -EILSEQ;
	n = at + 5 + address_size(evex + 5, len - at - 5) +
	    immediate_size(opcode, evex[5] >> 3 & 7, evex[2]);
	if (n > len || n > LONGEST)
		return -EILSEQ;
	out->len = n;
	set_stack(evex, out);
	return 0;
}

static int evex(const uint8_t *bytes, size_t len, size_t at, struct x86_apx *out)
{
	const uint8_t *p = bytes + at;
	bool extended;

	if (len < at + 6)
		return -EILSEQ;
	if ((p[1] & EVEX_MAP) == 4)
		return decode_map4(bytes, len, at, out);
	extended = p[1] & EVEX_B4 || (!(p[2] & EVEX_X4) && p[5] >> 6 != 3);
	out->older = out->extended = true;
	if (extended && !evex_older(bytes, len, at, out))
		return 0;
	return evex_vex(bytes, len, at, out);
}

int x86__apx(const uint8_t *bytes, size_t len, struct x86_apx *out)
{
	size_t prefixes = count_prefixes(bytes, len);

	*out = (struct x86_apx){.len = 0};
	if (prefixes >= len)
		return -EILSEQ;
	if (bytes[prefixes] == REX2)
		return rex2(bytes, len, prefixes, out);
	return bytes[prefixes] == EVEX ? evex(bytes, len, prefixes, out) : -EILSEQ;
}
