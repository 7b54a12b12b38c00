// SPDX-License-Identifier: BSD-2-Clause
/* x86-64: an instruction as text, by Zydis, in Intel's syntax. */
#include "x86.h"

static ZydisFormatter formatter;
static bool is_prepared;

static void prepare(void)
{
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, false);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	is_prepared = true;
}

/* Replaces Zydis' mnemonic by ours: je, jne for jz, jnz. */
static void put_mnemonic(const char *text, const struct x86_raw *raw, const char *mnemonic,
			 char *out, size_t size)
{
	const char *theirs = ZydisMnemonicGetString(raw->z.mnemonic);
	const char *at = mnemonic && theirs ? strstr(text, theirs) : NULL;

	if (at)
		snprintf(out, size, "%.*s%s%s", (int)(at - text), text, mnemonic,
			 at + strlen(theirs));
	else
		snprintf(out, size, "%s", text);
}

bool x86__format(enum x86_mode mode, const uint8_t *bytes, size_t len, uint64_t addr, char *out,
		 size_t size)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct x86_raw raw;
	struct insn insn;
	char text[128];

	if (!len || x86__raw(mode, bytes, len, &raw) ||
	    x86__decode(mode, bytes, len, addr, false, &insn))
		return false;
	if (!is_prepared)
		prepare();
	/* the size of memory is seen nowhere else in "inc [rdi]" */
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE,
				  raw.z.operand_count_visible == 1 && insn.kind == BRANCH_NONE);
	x86__operands(&raw, ops);
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &raw.z, ops,
							  raw.z.operand_count_visible, text,
							  sizeof(text), addr, NULL)))
		return false;
	put_mnemonic(text, &raw, insn.mnemonic, out, size);
	return true;
}
