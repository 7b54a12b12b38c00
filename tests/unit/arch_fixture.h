/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the tests that decode single instructions of an architecture: rows of words, and what
 * they decode to at the address AT, which the test defines.
 */
#ifndef ARCH_FIXTURE_H
#define ARCH_FIXTURE_H

#include "arch/arch.h"
#include "tap.h"

static const struct arch *arch;

static inline int decode(uint32_t word, struct insn *out)
{
	return arch->decode((const uint8_t *)&word, sizeof(word), AT, false, out);
}

/* text: as disassemblers format it; NULL: not compared. */
static inline void check_text(uint32_t word, const char *want)
{
	char text[64];

	ok(arch->format((const uint8_t *)&word, sizeof(word), AT, text, sizeof(text)),
	   "%08x: it is formatted", word);
	if (want)
		is_str(text, want, "%08x: it is formatted as disassemblers do", word);
}

/* ---- branches ---- */

struct branch_row {
	uint32_t word;
	uint8_t kind;
	int64_t offset;	  /* of the target; 0: not direct */
	const char *text; /* begins with the mnemonic */
	uint8_t len;	  /* 0: the architecture's longest */
};

static inline void check_branches(const struct branch_row *rows, size_t n)
{
	for (const struct branch_row *b = rows; b < rows + n; b++) {
		struct insn insn = {.mnemonic = ""};
		char mnemonic[16];

		is(decode(b->word, &insn), 0, "%08x, %s: it is decoded", b->word, b->text);
		ok(insn.flow == FLOW_BRANCH && insn.kind == b->kind,
		   "%s: it is a branch of its kind", b->text);
		is(insn.len, b->len ? b->len : arch->longest, "%s: its length is decoded", b->text);
		is(insn.target, b->offset ? AT + b->offset : 0, "%s: its target is decoded",
		   b->text);
		snprintf(mnemonic, sizeof(mnemonic), "%.*s", (int)strcspn(b->text, " "), b->text);
		is_str(insn.mnemonic, mnemonic, "%s: its mnemonic is decoded", b->text);
		check_text(b->word, b->text);
	}
}

/* ---- what is no branch ---- */

struct other_row {
	uint32_t word;
	uint8_t flow, flow_in_kernel;
	const char *text; /* NULL: not compared */
};

static inline void check_others(const struct other_row *rows, size_t n)
{
	struct insn insn;

	for (const struct other_row *o = rows; o < rows + n; o++) {
		ok(!decode(o->word, &insn) && insn.flow == o->flow && insn.kind == BRANCH_NONE,
		   "%08x: its flow in a program is decoded", o->word);
		ok(!arch->decode((const uint8_t *)&o->word, sizeof(o->word), AT, true, &insn) &&
			   insn.flow == o->flow_in_kernel,
		   "%08x: its flow in the kernel is decoded", o->word);
		check_text(o->word, o->text);
	}
}

/* ---- effects on the stack pointer ---- */

struct effect_row {
	uint32_t word;
	uint8_t effect;
	int32_t value;
	const char *text;
};

static inline void check_effects(const struct effect_row *rows, size_t n)
{
	struct insn insn;

	for (const struct effect_row *e = rows; e < rows + n; e++)
		ok(!decode(e->word, &insn) && insn.sp_effect == e->effect &&
			   insn.sp_value == e->value,
		   "%s: its effect on the stack pointer is decoded", e->text);
}

#endif
