// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of x86 instruction forms (src/arch/x86/forms.c): what it says of memory operands is
 * compared with Zydis' operands for each opcode; and rows for forms that were wrong once. A new
 * form gets a row in forms[] below.
 */
#include "arch/x86/x86.h"
#include "tap.h"

#define AT 0x400000

/* ---- single forms ---- */

enum { KEEPS = 1, PLAIN = 2, SLOW = 4, STOPS = 8, STEPPED = 16, PADDING = 32 };
static const struct {
	const char *bytes;
	uint8_t len;
	unsigned is;
	const char *text;
} forms[] = {
#define FORM(bytes, is, text)                                                                      \
	{                                                                                          \
		bytes, sizeof(bytes) - 1, is, text                                                 \
	}
	FORM("\x90", KEEPS | PADDING, "nop"),
	FORM("\xf3\x0f\x1e\xfa", KEEPS, "endbr64"),
	FORM("\xc5\xf9\xef\xc0", KEEPS, "vpxor"),
	FORM("\xc4\xe3\x79\x0e\xc1\x05", KEEPS, "vpblendw"),
	FORM("\xc4\xe2\x79\x17\xc1", 0, "vptest"),
	FORM("\xc5\xf8\x2e\xc1", 0, "vucomiss"),
	FORM("\xc5\xf8\x98\xc9", 0, "kortestw"),
	FORM("\xc4\xe2\x70\xf5\xc3", 0, "bzhi"),
	FORM("\xc4\xe2\x70\xf2\xc3", 0, "andn"),
	FORM("\xc4\xe2\x78\xf3\xcb", 0, "blsr"),
	FORM("\xc4\xe2\x78\xf7\xc3", 0, "bextr"),
	FORM("\xc4\xe3\x79\x63\xc1\x0c", 0, "vpcmpistri"),
	FORM("\xc5\xf9\xf7\xc1", 0, "vmaskmovdqu"),
	FORM("\x48\x89\x07", PLAIN, "mov"),
	FORM("\x8e\xd8", 0, "mov"),	/* to ds */
	FORM("\x0f\x20\xc0", 0, "mov"), /* of cr0 */
	FORM("\xf0\x01\x07", SLOW, "lock add"),
	FORM("\x87\x07", SLOW, "xchg"),
	FORM("\x87\xc7", 0, "xchg"),
	FORM("\x0f\x0b", STOPS, "ud2"),
	FORM("\xf4", STOPS | SLOW, "hlt"),
	FORM("\x9c", STEPPED, "pushfq"),
	FORM("\x0f\x01\xd5", 0, "xend"),
};

static void check_forms(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const uint8_t *bytes = (const uint8_t *)forms[i].bytes;
		struct insn insn = {0};
		char text[128] = "";

		arch_x86_64.decode(bytes, forms[i].len, AT, false, &insn);
		arch_x86_64.format(bytes, forms[i].len, AT, text, sizeof(text));
		ok(!strncmp(text, forms[i].text, strlen(forms[i].text)), "%s is decoded: %s",
		   forms[i].text, text);
		is(insn.keeps_state * KEEPS + insn.is_plain * PLAIN + insn.slow * SLOW +
			   (insn.flow == FLOW_STOP) * STOPS +
			   (insn.user_refusal == PROBE_STEPPED) * STEPPED + insn.padding * PADDING,
		   forms[i].is, "%s has the properties of its form", forms[i].text);
	}
}

/* Not a branch of a known kind: it reads no registers as conditions do. */
static void check_unsupported(void)
{
	static const uint8_t uiret[] = {0xf3, 0x0f, 0x01, 0xec}, lret[] = {0xcb};
	struct insn insn = {0};

	arch_x86_64.decode(uiret, sizeof(uiret), AT, false, &insn);
	ok(insn.flow == FLOW_UNSUPPORTED && insn.reads[0] == REG_NONE && insn.reads[1] == REG_NONE,
	   "uiret goes to an unknown place, by no condition");
	is_str(insn.mnemonic, "uiret", "it has its name");
	arch_x86_64.decode(lret, sizeof(lret), AT, false, &insn);
	ok(insn.flow == FLOW_UNSUPPORTED, "so does a far return");
	is_str(insn.mnemonic, "lret", "it has its name");
}

/* ---- memory operands, by Zydis ---- */

/* The actions of the operand in memory that ModRM names; 0: it has none. */
static unsigned actions_of(const uint8_t *bytes, size_t len)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct x86_raw raw;
	unsigned n, actions = 0;

	if (x86__raw(X86_64, bytes, len, &raw))
		return 0;
	n = x86__operands(&raw, ops);
	for (unsigned i = 0; i < n; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ops[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
		    ops[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			actions |= ops[i].actions;
	return actions;
}

/* How many plain forms at an opcode say less of their memory than Zydis. */
static unsigned wrong_at(const uint8_t *start, size_t n, unsigned *plain)
{
	unsigned wrong = 0;

	for (unsigned modrm = 0; modrm < 0x100; modrm += 1) {
		uint8_t bytes[15] = {0};
		struct insn insn;
		unsigned actions;

		memcpy(bytes, start, n);
		bytes[n] = modrm;
		if (arch_x86_64.decode(bytes, sizeof(bytes), AT, false, &insn) || !insn.is_plain)
			continue;
		++*plain;
		actions = actions_of(bytes, insn.len);
		wrong += (actions & ZYDIS_OPERAND_ACTION_MASK_READ && !insn.loads) ||
			 (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && !insn.stores);
	}
	return wrong;
}

static void check_memory(void)
{
	static const uint8_t prefixes[] = {0, 0x66, 0xf2, 0xf3, 0x48};
	unsigned wrong = 0, plain = 0;

	for (unsigned op = 0; op < 0x200; op++)
		for (size_t i = 0; i < sizeof(prefixes); i++) {
			uint8_t bytes[3];
			size_t n = 0;

			if (prefixes[i])
				bytes[n++] = prefixes[i];
			if (op >= 0x100)
				bytes[n++] = 0x0f;
			bytes[n++] = op;
			wrong += wrong_at(bytes, n, &plain);
		}
	is(wrong, 0, "plain forms load and store what Zydis' operands say");
	ok(plain > 50000, "%u of them", plain);
}

/* ---- the kernel's bytes ---- */

static void check_bytes(void)
{
	unsigned prefixes = 0, refused = 0, refused32 = 0;

	for (unsigned i = 0; i < 0x100; i++) {
		prefixes += arch_x86_64.is_prefix(i);
		refused += !!(x86__byte(i) & X86_REFUSED);
		refused32 += !!(x86__byte(i) & X86_REFUSED_32);
	}
	is(prefixes, 11, "eleven bytes are prefixes");
	is(refused, 40, "as many opcodes as good_insns_64 leaves out are refused");
	is(refused32, 23, "so are those that good_insns_32 leaves out");
}

int main(void)
{
	check_forms();
	check_unsupported();
	check_memory();
	check_bytes();
	return tap__done();
}
