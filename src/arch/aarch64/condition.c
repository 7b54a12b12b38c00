// SPDX-License-Identifier: BSD-2-Clause
/*
 * AArch64: what the outcome of a conditional branch proves: of the register that it tests, or by
 * the text of the comparison that set its flags, of two operands without shift or extension.
 */
#include "arch/aarch64/aarch64.h"

struct token {
	const char *at;
	int len;
};

/* Takes a register's name, or a number after #. */
static bool take_token(const char **text, struct token *out)
{
	*text += **text == '#';
	out->at = *text;
	out->len = (int)strcspn(*text, ",");
	*text += out->len;
	return out->len && !memchr(out->at, ' ', out->len) && !memchr(out->at, '.', out->len);
}

/* "cmp w0, #0xa": its operands. */
static bool parse(const char *text, const char *mnemonic, struct token *a, struct token *b)
{
	size_t len = strlen(mnemonic);

	if (!text || strncmp(text, mnemonic, len) != 0 || text[len] != ' ')
		return false;
	text += len + 1;
	if (!take_token(&text, a) || strncmp(text, ", ", 2) != 0)
		return false;
	text += 2;
	return take_token(&text, b) && !*text;
}

static bool is_zero(struct token t)
{
	return (t.len == 1 && *t.at == '0') || (t.len == 3 && !memcmp(t.at, "0x0", 3));
}

/* cs, cc, hi, ls */
static bool is_unsigned(unsigned cond)
{
	return cond == 2 || cond == 3 || cond == 8 || cond == 9;
}

bool aarch64__is_unsigned(uint8_t kind, uint16_t cond)
{
	return !(cond & A64_NO_FLAGS) && is_unsigned(cond);
}

/* DDI 0487, C1.2.4, of A - B. */
static bool put_compared(unsigned cond, struct token a, struct token b, struct str *out)
{
	static const char *const ops[16] = {
		"==", "!=", ">=", "<", NULL, NULL, NULL, NULL, ">", "<=", ">=", "<", ">", "<=",
	};

	if ((cond == 4 || cond == 5) && is_zero(b))
		str__printf(out, "%.*s %s 0", a.len, a.at, cond == 4 ? "<" : ">=");
	else if (cond == 6 || cond == 7)
		str__printf(out, "%.*s - %.*s %s", a.len, a.at, b.len, b.at,
			    cond == 6 ? "overflows" : "doesn't overflow");
	else if (ops[cond])
		str__printf(out, "%.*s %s %.*s%s", a.len, a.at, ops[cond], b.len, b.at,
			    is_unsigned(cond) ? " (unsigned)" : "");
	else
		return false;
	return true;
}

static void put_tested(uint16_t cond, bool taken, struct str *out)
{
	unsigned reg = cond >> A64_COND_REG_SHIFT & 31, bit = cond >> A64_COND_BIT_SHIFT;
	bool one = cond & A64_ONE, wide = one ? bit > 31 : cond & A64_WIDE;
	bool nonzero = taken == (bool)(cond & A64_NONZERO);
	char name[8];

	if (reg == A64_ZERO)
		snprintf(name, sizeof(name), "%czr", wide ? 'x' : 'w');
	else
		snprintf(name, sizeof(name), "%c%u", wide ? 'x' : 'w', reg);
	if (one)
		str__printf(out, "bit %u of %s is %s", bit, name, nonzero ? "set" : "clear");
	else
		str__printf(out, "%s %s 0", name, nonzero ? "!=" : "==");
}

bool aarch64__proves(uint8_t kind, uint16_t cond, bool taken, const char *compare, struct str *out)
{
	struct token a, b;

	if (cond & A64_NO_FLAGS) {
		if (cond & A64_OTHER)
			return false;
		put_tested(cond, taken, out);
		return true;
	}
	if (cond > 13)
		return false;
	cond = taken ? cond : cond ^ 1;
	if (parse(compare, "cmp", &a, &b))
		return put_compared(cond, a, b, out);
	if (cond > 1 || !parse(compare, "tst", &a, &b))
		return false;
	str__printf(out, "(%.*s & %.*s) %s 0", a.len, a.at, b.len, b.at, cond ? "!=" : "==");
	return true;
}
