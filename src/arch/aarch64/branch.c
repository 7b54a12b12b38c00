// SPDX-License-Identifier: BSD-2-Clause
/*
 * AArch64: branches and exceptions, DDI 0487, C4.1.93 "Branches, Exception Generating and System
 * instructions".
 */
#include "arch/aarch64/aarch64.h"

/* The encoding of the target and the condition. */
enum form {
	PLAIN,	  /* no operand */
	IMM26,	  /* 26-bit offset: b, bl */
	COND,	  /* 19-bit offset; condition on the flags */
	ZERO,	  /* 19-bit offset; a register is compared with zero */
	BIT,	  /* 14-bit offset; one bit of a register is tested */
	COMPARE,  /* 9-bit offset; two registers are compared */
	WITH,	  /* 9-bit offset; a register is compared with an immediate */
	REG,	  /* target in a register */
	REG_AUTH, /* target in a register, signed with another register or sp as modifier */
	NUMBER5,  /* exception with a 16-bit immediate at bit 5 */
	NUMBER0,  /* exception with a 16-bit immediate at bit 0 */
};

#define BRANCH(form, kind) form, FLOW_BRANCH, BRANCH_##kind
#define UNSUPPORTED	   PLAIN, FLOW_UNSUPPORTED, BRANCH_NONE
#define STOP(form)	   form, FLOW_STOP, BRANCH_NONE

static const struct match rows[] = {
	{0xfc000000, 0x14000000, BRANCH(IMM26, JMP), "b"},
	{0xfc000000, 0x94000000, BRANCH(IMM26, CALL), "bl"},
	{0xff00001e, 0x5400000e, BRANCH(COND, JMP), NULL}, /* al, nv: unconditional */
	{0xff00001e, 0x5400001e, BRANCH(COND, JMP), NULL},
	{0xff000000, 0x54000000, BRANCH(COND, JCC), NULL},
	{0x7f000000, 0x34000000, BRANCH(ZERO, JCC), "cbz"},
	{0x7f000000, 0x35000000, BRANCH(ZERO, JCC), "cbnz"},
	{0x7f000000, 0x36000000, BRANCH(BIT, JCC), "tbz"},
	{0x7f000000, 0x37000000, BRANCH(BIT, JCC), "tbnz"},
	{0xfffffc1f, 0xd61f0000, BRANCH(REG, IJMP), "br"},
	{0xfffffc1f, 0xd63f0000, BRANCH(REG, ICALL), "blr"},
	{0xfffffc1f, 0xd65f0000, BRANCH(REG, RET), "ret"},
	/* FEAT_PAuth */
	{0xfffffc1f, 0xd61f081f, BRANCH(REG, IJMP), "braaz"},
	{0xfffffc1f, 0xd61f0c1f, BRANCH(REG, IJMP), "brabz"},
	{0xfffffc1f, 0xd63f081f, BRANCH(REG, ICALL), "blraaz"},
	{0xfffffc1f, 0xd63f0c1f, BRANCH(REG, ICALL), "blrabz"},
	{0xfffffc00, 0xd71f0800, BRANCH(REG_AUTH, IJMP), "braa"},
	{0xfffffc00, 0xd71f0c00, BRANCH(REG_AUTH, IJMP), "brab"},
	{0xfffffc00, 0xd73f0800, BRANCH(REG_AUTH, ICALL), "blraa"},
	{0xfffffc00, 0xd73f0c00, BRANCH(REG_AUTH, ICALL), "blrab"},
	{0xffffffff, 0xd65f0bff, BRANCH(PLAIN, RET), "retaa"},
	{0xffffffff, 0xd65f0fff, BRANCH(PLAIN, RET), "retab"},
	/* FEAT_PAuth_LR: the operand is used to check the link register, which is the target */
	{0xffffffe0, 0xd65f0be0, BRANCH(PLAIN, RET), "retaasppcr"},
	{0xffffffe0, 0xd65f0fe0, BRANCH(PLAIN, RET), "retabsppcr"},
	{0xffe0001f, 0x5500001f, BRANCH(PLAIN, RET), "retaasppc"},
	{0xffe0001f, 0x5520001f, BRANCH(PLAIN, RET), "retabsppc"},
	/* FEAT_CMPBR */
	{0x7f00c000, 0x74000000, BRANCH(COMPARE, JCC), NULL},
	{0xff008000, 0x74008000, BRANCH(COMPARE, JCC), NULL},
	{0x7f004000, 0x75000000, BRANCH(WITH, JCC), NULL},
	{0xffffffff, 0xd69f03e0, UNSUPPORTED, "eret"},
	{0xffffffff, 0xd69f0bff, UNSUPPORTED, "eretaa"},
	{0xffffffff, 0xd69f0fff, UNSUPPORTED, "eretab"},
	{0xffffffff, 0xd6bf03e0, UNSUPPORTED, "drps"},
	{0xffe0001f, A64_BRK, STOP(NUMBER5), "brk"},
	{0xffe0001f, 0xd4400000, STOP(NUMBER5), "hlt"},
	{0xffff0000, 0x00000000, STOP(NUMBER0), "udf"},
};

/* The mnemonics of b.cond and bc.cond, by condition; C1.2.4. */
static const char *const plain[16] = {
	"b.eq", "b.ne", "b.cs", "b.cc", "b.mi", "b.pl", "b.vs", "b.vc",
	"b.hi", "b.ls", "b.ge", "b.lt", "b.gt", "b.le", "b.al", "b.nv",
};
static const char *const consistent[16] = {
	"bc.eq", "bc.ne", "bc.cs", "bc.cc", "bc.mi", "bc.pl", "bc.vs", "bc.vc",
	"bc.hi", "bc.ls", "bc.ge", "bc.lt", "bc.gt", "bc.le", "bc.al", "bc.nv",
};

/* The mnemonics of FEAT_CMPBR, by bits 21 to 23. */
static const char *const words[8] = {"cbgt", "cbge", "cbhi", "cbhs", NULL, NULL, "cbeq", "cbne"};
static const char *const bytes[8] = {"cbbgt", "cbbge", "cbbhi", "cbbhs",
				     NULL,    NULL,    "cbbeq", "cbbne"};
static const char *const halves[8] = {"cbhgt", "cbhge", "cbhhi", "cbhhs",
				      NULL,    NULL,	"cbheq", "cbhne"};
static const char *const numbers[8] = {"cbgt", "cblt", "cbhi", "cblo", NULL, NULL, "cbeq", "cbne"};

const struct match *aarch64__branch_row(uint32_t word)
{
	return match__find(rows, ARRAY_SIZE(rows), word);
}

static const char *mnemonic_of(uint32_t word, const struct match *row)
{
	static const char *const *const compared[4] = {words, NULL, bytes, halves};

	switch (row->form) {
	case COND:
		return (word & 16 ? consistent : plain)[word & 15];
	case COMPARE:
		return compared[word >> 14 & 3][word >> 21 & 7];
	case WITH:
		return numbers[word >> 21 & 7];
	default:
		return row->mnemonic;
	}
}

/* Bytes from a direct branch to its target; 0 for other branches. */
static int64_t distance(uint32_t word, uint8_t form)
{
	static const struct {
		uint8_t low, count;
	} fields[] = {
		[IMM26] = {0, 26}, [COND] = {5, 19},   [ZERO] = {5, 19},
		[BIT] = {5, 14},   [COMPARE] = {5, 9}, [WITH] = {5, 9},
	};

	if (form >= ARRAY_SIZE(fields) || !fields[form].count)
		return 0;
	return match__signed(match__field(word, fields[form].low, fields[form].count),
			     fields[form].count) *
	       4;
}

/* In the kernel a brk may be a WARN(), which resumes at the next instruction. */
static uint8_t flow_of(const struct match *row, bool kernel)
{
	return kernel && row->flow == FLOW_STOP && row->value == A64_BRK ? FLOW_NEXT : row->flow;
}

bool aarch64__is_signed(const struct match *row)
{
	return row->form == REG_AUTH || (row->form == REG && row->value >> 11 & 1) ||
	       (row->form == PLAIN && row->kind == BRANCH_RET);
}

bool aarch64__is_misexecuted(uint32_t word)
{
	const struct match *row = aarch64__branch_row(word);

	return row &&
	       (row->form == COMPARE || row->form == WITH || (row->form == COND && word & 16));
}

static uint8_t read_register(unsigned reg)
{
	return reg == A64_ZERO ? REG_NONE : reg;
}

static uint16_t condition_of(uint32_t word, const struct match *row)
{
	uint16_t reg = aarch64__rd(word) << A64_COND_REG_SHIFT;
	uint16_t bit = word >> 31 << 5 | match__field(word, 19, 5);

	switch (row->form) {
	case COND:
		return word & 15;
	case ZERO:
		return A64_NO_FLAGS | reg | (word >> 24 & 1 ? A64_NONZERO : 0) |
		       (word >> 31 ? A64_WIDE : 0);
	case BIT:
		return A64_NO_FLAGS | reg | (word >> 24 & 1 ? A64_NONZERO : 0) | A64_ONE |
		       bit << A64_COND_BIT_SHIFT;
	default:
		return A64_NO_FLAGS | A64_OTHER;
	}
}

static void set_condition(uint32_t word, const struct match *row, struct insn *out)
{
	out->reads[0] = out->reads[1] = REG_NONE;
	if (row->kind != BRANCH_JCC)
		return;
	out->cond = condition_of(word, row);
	out->reads[0] = row->form == COND ? A64_FLAGS : read_register(aarch64__rd(word));
	if (row->form == COMPARE)
		out->reads[1] = read_register(aarch64__rm(word));
}

bool aarch64__branch(uint32_t word, const struct match *row, bool kernel, struct insn *out)
{
	out->flow = flow_of(row, kernel);
	out->kind = row->kind;
	if (row->flow == FLOW_STOP)
		return true;
	out->mnemonic = mnemonic_of(word, row);
	set_condition(word, row, out);
	if (row->form == REG || row->form == REG_AUTH)
		out->operand = (struct operand){.kind = OPERAND_REG,
						.base = aarch64__rn(word),
						.index = REG_NONE,
						.scale = 1,
						.size = 8};
	else if (row->form != PLAIN)
		out->target = out->addr + distance(word, row->form);
	return out->mnemonic;
}

static const char *name(uint32_t reg, bool wide, char text[8])
{
	if (reg == A64_ZERO)
		return wide ? "xzr" : "wzr";
	snprintf(text, 8, "%c%u", wide ? 'x' : 'w', reg);
	return text;
}

void aarch64__format_branch(uint32_t word, const struct match *row, uint64_t addr, char *out,
			    size_t size)
{
	const char *mnemonic = mnemonic_of(word, row);
	unsigned long long to = addr + distance(word, row->form);
	const char *n;
	char a[8], b[8];

	switch (row->form) {
	case IMM26:
	case COND:
		snprintf(out, size, "%s 0x%llx", mnemonic, to);
		break;
	case ZERO:
		snprintf(out, size, "%s %s, 0x%llx", mnemonic, name(word & 31, word >> 31, a), to);
		break;
	case BIT:
		snprintf(out, size, "%s %s, #%u, 0x%llx", mnemonic, name(word & 31, word >> 31, a),
			 word >> 31 << 5 | match__field(word, 19, 5), to);
		break;
	case COMPARE:
		snprintf(out, size, "%s %s, %s, 0x%llx", mnemonic, name(word & 31, word >> 31, a),
			 name(aarch64__rm(word), word >> 31, b), to);
		break;
	case WITH:
		snprintf(out, size, "%s %s, #%u, 0x%llx", mnemonic, name(word & 31, word >> 31, a),
			 match__field(word, 15, 6), to);
		break;
	case REG:
		n = name(aarch64__rn(word), true, a);
		if (row->kind == BRANCH_RET && aarch64__rn(word) == A64_LR)
			n = "";
		snprintf(out, size, "%s%s%s", mnemonic, *n ? " " : "", n);
		break;
	case REG_AUTH:
		n = (word & 31) == A64_SP ? "sp" : name(word & 31, true, b);
		snprintf(out, size, "%s %s, %s", mnemonic, name(aarch64__rn(word), true, a), n);
		break;
	case NUMBER5:
		snprintf(out, size, "%s #0x%x", mnemonic, match__field(word, 5, 16));
		break;
	case NUMBER0:
		snprintf(out, size, "%s #0x%x", mnemonic, match__field(word, 0, 16));
		break;
	default:
		snprintf(out, size, "%s", mnemonic);
	}
}

/* Carry set means no borrow, so higher or the same. A signed condition doesn't give an unsigned
 * bound. If swapped, the right side is bounded: n higher than x is x lower than n. */
bool aarch64__bound(uint16_t cond, bool taken, bool swapped, uint64_t n, uint64_t *max)
{
	enum { EQ = 0, CS = 2, CC = 3, HI = 8, LS = 9 };

	if (cond >= A64_NO_FLAGS)
		return false;
	if (!taken)
		cond ^= 1;
	*max = n;
	if (cond == EQ || cond == (swapped ? CS : LS))
		return true;
	*max = n - 1;
	return n && cond == (swapped ? HI : CC);
}

enum { N = 8, Z = 4, C = 2, V = 1 };

/* DDI 0487, C1.2.4: an odd condition is the opposite of the one before it; but 15 is always true,
 * too. */
static bool holds(uint16_t cond, unsigned nzcv)
{
	bool signs = !(nzcv & N) == !(nzcv & V);
	bool truth[8] = {
		nzcv & Z,
		nzcv & C,
		nzcv & N,
		nzcv & V,
		(nzcv & C) && !(nzcv & Z),
		signs,
		signs && !(nzcv & Z),
		true,
	};

	return cond >= 14 || truth[cond >> 1] != (cond & 1);
}

bool aarch64__taken(uint8_t kind, uint16_t cond, const uint64_t reads[2])
{
	uint64_t value = reads[0];

	if (!(cond & A64_NO_FLAGS))
		return holds(cond, value >> 28 & 15);
	if ((cond >> A64_COND_REG_SHIFT & 31) == A64_ZERO)
		value = 0;
	else if (cond & A64_ONE)
		value = value >> (cond >> A64_COND_BIT_SHIFT) & 1;
	else if (!(cond & A64_WIDE))
		value = (uint32_t)value;
	return (value != 0) == (cond & A64_NONZERO);
}
