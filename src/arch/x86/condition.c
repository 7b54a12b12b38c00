// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64, i386: the outcome of a conditional branch by what it reads, and what an outcome proves of
 * the operands of the instruction that set its flags, by the text of that alone: a trace file has
 * no more. Intel SDM volume 1, appendix B, and each instruction's "Flags Affected" in volume 2.
 */
#include "x86.h"

/* ---- the outcome, by the values of what it reads ---- */

enum { CF = 1, PF = 4, ZF = 0x40, SF = 0x80, OF = 0x800 };

/* Intel SDM volume 1, appendix B: the low bit of a condition code inverts the condition. */
static bool holds(uint8_t cc, uint16_t flags)
{
	bool less = !(flags & SF) != !(flags & OF);
	bool truth[8] = {
		flags & OF, flags & CF, flags & ZF, flags & (CF | ZF),
		flags & SF, flags & PF, less,	    less || flags & ZF,
	};

	return truth[cc >> 1 & 7] != (cc & 1);
}

bool x86__taken(uint8_t kind, uint16_t cond, const uint64_t reads[2])
{
	uint64_t flags = reads[0], counter = reads[1];

	if (kind != BRANCH_LOOP)
		return holds(cond, flags);
	if (cond & X86_LOOP_ADDR32)
		counter = (uint32_t)counter;
	switch (X86_LOOPNE | (cond & 3)) {
	case X86_JRCXZ:
		return counter == 0;
	case X86_LOOPE:
		return counter != 1 && flags & ZF;
	case X86_LOOPNE:
		return counter != 1 && !(flags & ZF);
	default:
		return counter != 1;
	}
}

/* Signed conditions give no bound on an unsigned value. */
bool x86__bound(uint16_t cond, bool is_taken, bool swapped, uint64_t n, uint64_t *max)
{
	if (swapped)
		return false; /* detail only reads comparisons of x with a constant */
	switch (is_taken ? cond : cond ^ 1) {
	case 2: /* b */
		*max = n - 1;
		return n > 0;
	case 4: /* e */
	case 6: /* be */
		*max = n;
		return true;
	default:
		return false;
	}
}

/* ---- the text of an instruction ---- */

struct token {
	const char *at;
	size_t len;
};

struct compare {
	uint8_t setter; /* enum x86_setter */
	struct token a, b;
};

static bool token__is(struct token w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.at, text, w.len);
}

static bool token__same(struct token a, struct token b)
{
	return a.len == b.len && !memcmp(a.at, b.at, a.len);
}

/* Takes the text before the separator, and the separator. */
static struct token take_token(const char **text, const char *separator)
{
	const char *end = strstr(*text, separator);
	struct token w = {*text, end ? (size_t)(end - *text) : strlen(*text)};

	*text = end ? end + strlen(separator) : w.at + w.len;
	return w;
}

static struct compare parse(const char *text)
{
	struct token mnemonic = take_token(&text, " ");
	struct compare c = {0};

	if (token__is(mnemonic, "lock"))
		mnemonic = take_token(&text, " ");
	c.setter = x86__setter(mnemonic.at, mnemonic.len);
	c.a = take_token(&text, ", ");
	c.b = take_token(&text, ", ");
	return c.a.len ? c : (struct compare){0};
}

/* Returns the bits of a general register, by its name; 0 if it is none. */
static unsigned register_bits(struct token w)
{
	char first = w.len >= 2 && w.len <= 4 ? *w.at : 0, last = first ? w.at[w.len - 1] : 0;

	if (first == 'r' && w.at[1] >= '0' && w.at[1] <= '9')
		return last == 'b' ? 8 : last == 'w' ? 16 : last == 'd' ? 32 : 64;
	if (!first || memchr(w.at, '[', w.len) || memchr(w.at, '0', w.len))
		return 0;
	if (last == 'l' || last == 'h')
		return 8;
	return w.len == 2 ? 16 : first == 'r' ? 64 : first == 'e' ? 32 : 0;
}

static const struct {
	const char *name;
	unsigned bits;
} memory_sizes[] = {{"byte ptr ", 8}, {"word ptr ", 16}, {"dword ptr ", 32}, {"qword ptr ", 64}};

static unsigned token__bits(struct token w)
{
	for (size_t i = 0; i < ARRAY_SIZE(memory_sizes); i++)
		if (w.len > strlen(memory_sizes[i].name) &&
		    !memcmp(w.at, memory_sizes[i].name, strlen(memory_sizes[i].name)))
			return memory_sizes[i].bits;
	return register_bits(w);
}

static bool token__number(struct token w, int64_t *out)
{
	bool negative = w.len && *w.at == '-';
	uint64_t v = 0;

	w.at += negative;
	w.len -= negative;
	if (w.len < 3 || w.len > 18 || memcmp(w.at, "0x", 2) != 0)
		return false;
	for (size_t i = 2; i < w.len; i++) {
		const char *digit = memchr("0123456789abcdef", w.at[i], 16);

		if (!digit)
			return false;
		v = v << 4 | (*digit <= '9' ? *digit - '0' : *digit - 'a' + 10);
	}
	*out = negative ? -v : v;
	return true;
}

/* ---- what an outcome proves ---- */

enum { CC_E = 4, CC_NE };

uint8_t x86__code_of(uint8_t kind, uint16_t cond)
{
	if (kind == BRANCH_JCC)
		return cond & 15;
	switch (X86_LOOPNE | (cond & 3)) {
	case X86_LOOPE:
		return CC_E;
	case X86_LOOPNE:
		return CC_NE;
	default:
		return X86_NO_CODE;
	}
}

/* What relates A to B after A - B, by condition code. */
enum sense { SENSE_NONE, SENSE_EQUAL, SENSE_SIGN, SENSE_SIGNED, SENSE_UNSIGNED };
static const struct relation {
	const char *op;
	uint8_t sense; /* SIGN: of A - B to 0 */
} relations[16] = {
	[2] = {"<", SENSE_UNSIGNED}, [3] = {">=", SENSE_UNSIGNED}, [4] = {"==", SENSE_EQUAL},
	[5] = {"!=", SENSE_EQUAL},   [6] = {"<=", SENSE_UNSIGNED}, [7] = {">", SENSE_UNSIGNED},
	[8] = {"<", SENSE_SIGN},     [9] = {">=", SENSE_SIGN},	   [12] = {"<", SENSE_SIGNED},
	[13] = {">=", SENSE_SIGNED}, [14] = {"<=", SENSE_SIGNED},  [15] = {">", SENSE_SIGNED},
};

bool x86__is_unsigned(uint8_t kind, uint16_t cond)
{
	return kind == BRANCH_JCC && cond < 16 && relations[cond].sense == SENSE_UNSIGNED;
}

static void put_token(struct str *s, struct token w)
{
	str__put(s, w.at, w.len);
}

static void put_signed(struct str *s, int64_t v)
{
	uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v;

	str__puts(s, v < 0 ? "-" : "");
	str__printf(s, size < 10 ? "%llu" : "0x%llx", (unsigned long long)size);
}

/* Nobody writes out all digits of -1 and of error numbers. */
#define ERROR_MOST 4095

/* Appends B next to A, of this many bits (0 if not known): a number as the comparison takes it. */
static void put_beside(struct str *s, struct token b, unsigned bits, enum sense sense)
{
	unsigned unused = bits ? 64 - bits : 0;
	int64_t v;

	if (!token__number(b, &v)) {
		put_token(s, b);
		return;
	}
	v = (int64_t)((uint64_t)v << unused) >> unused;
	if (sense == SENSE_SIGNED || (sense == SENSE_EQUAL && bits >= 32 && v >= -ERROR_MOST))
		put_signed(s, v);
	else if (v >= 0 && v < 10)
		str__dec(s, v);
	else
		str__hex(s, (uint64_t)v << unused >> unused);
}

/* Appends how the operands are to be read. before: they are those before the instruction. */
static bool put_reading(bool is_unsigned, bool before, struct str *s)
{
	if (is_unsigned || before)
		str__printf(s, " (%s%s%s)", is_unsigned ? "unsigned" : "",
			    is_unsigned && before ? ", " : "", before ? "before" : "");
	return true;
}

static bool put_compared(const struct compare *c, const struct relation *r, bool before,
			 struct str *s)
{
	int64_t v = 1;

	if (!c->b.len || r->sense == SENSE_NONE)
		return false;
	/* the sign of a difference that may overflow says nothing */
	if (r->sense == SENSE_SIGN && (!token__number(c->b, &v) || v))
		return false;
	put_token(s, c->a);
	str__printf(s, " %s ", r->op);
	put_beside(s, c->b, token__bits(c->a), r->sense);
	return put_reading(r->sense == SENSE_UNSIGNED, before, s);
}

static bool put_with_zero(struct token a, const char *op, struct str *s)
{
	put_token(s, a);
	str__printf(s, " %s 0", op);
	return true;
}

static bool put_result(const struct compare *c, const struct relation *r, struct str *s)
{
	return (r->sense == SENSE_EQUAL || r->sense == SENSE_SIGN) && put_with_zero(c->a, r->op, s);
}

/* The exact sum or difference, which may have more bits than A: whether it fits there. */
static bool put_overflow(const struct compare *c, char sign, uint8_t cc, bool before, struct str *s)
{
	bool is_unsigned = cc >> 1 == 1;

	if (cc > 3 || !c->b.len)
		return false;
	put_token(s, c->a);
	str__printf(s, " %c ", sign);
	put_beside(s, c->b, token__bits(c->a), is_unsigned ? SENSE_UNSIGNED : SENSE_SIGNED);
	str__puts(s, cc & 1 ? " doesn't overflow" : " overflows");
	return put_reading(is_unsigned, before, s);
}

static bool put_added(const struct compare *c, uint8_t cc, struct str *s)
{
	const struct relation *r = &relations[cc];

	if (put_result(c, r, s) || put_overflow(c, '+', cc, true, s))
		return true;
	if (r->sense != SENSE_SIGNED || !c->b.len)
		return false;
	put_token(s, c->a);
	str__puts(s, " + ");
	put_beside(s, c->b, token__bits(c->a), SENSE_SIGNED);
	str__printf(s, " %s 0", r->op);
	return put_reading(false, true, s);
}

/* CF is 0: be and a are e and ne. OF is 0: l is s. NULL: the condition is constant. */
static const char *logic_op(uint8_t cc)
{
	const struct relation *r = &relations[cc];

	if (r->sense == SENSE_UNSIGNED)
		return cc == 6 ? "==" : cc == 7 ? "!=" : NULL;
	return r->op;
}

static bool put_tested(const struct compare *c, uint8_t cc, struct str *s)
{
	const char *op = logic_op(cc);

	if (!op || !c->b.len)
		return false;
	if (token__same(c->a, c->b))
		return put_with_zero(c->a, op, s);
	str__puts(s, "(");
	put_token(s, c->a);
	str__puts(s, " & ");
	put_beside(s, c->b, token__bits(c->a), SENSE_UNSIGNED);
	str__printf(s, ") %s 0", op);
	return true;
}

/* A register's bits are counted modulo its size; those of memory are a string. */
static bool put_bit(const struct compare *c, uint8_t cc, bool before, struct str *s)
{
	unsigned bits = register_bits(c->a);
	int64_t v;

	if (cc >> 1 != 1 || !c->b.len)
		return false;
	str__puts(s, "bit ");
	if (token__number(c->b, &v)) {
		unsigned size = token__bits(c->a);

		str__dec(s, size ? v & (size - 1) : v & 0xff);
	} else {
		put_token(s, c->b);
		if (bits)
			str__printf(s, " %% %u", bits);
	}
	str__puts(s, " of ");
	put_token(s, c->a);
	str__puts(s, cc & 1 ? " is clear" : " is set");
	return put_reading(false, before, s);
}

static bool put_scanned(const struct compare *c, uint8_t cc, struct str *s)
{
	if (relations[cc].sense != SENSE_EQUAL || !c->b.len)
		return false;
	put_with_zero(c->b, relations[cc].op, s);
	return put_reading(false, true, s);
}

static bool put_exchanged(const struct compare *c, uint8_t cc, struct str *s)
{
	unsigned bits = token__bits(c->b);

	if (relations[cc].sense != SENSE_EQUAL || !bits)
		return false;
	str__printf(s, "%s %s ",
		    bits == 8	 ? "al"
		    : bits == 16 ? "ax"
		    : bits == 32 ? "eax"
				 : "rax",
		    relations[cc].op);
	put_token(s, c->a);
	return put_reading(false, true, s);
}

/* A condition that also holds if A or B is not a number has that in its text. */
static bool put_float(const struct compare *c, uint8_t cc, bool before, struct str *s)
{
	static const char *const texts[16] = {
		[2] = "%.*s < %.*s or unordered",  [3] = "%.*s >= %.*s",
		[4] = "%.*s == %.*s or unordered", [5] = "%.*s < or > %.*s",
		[6] = "%.*s <= %.*s or unordered", [7] = "%.*s > %.*s",
		[10] = "%.*s and %.*s unordered",  [11] = "%.*s and %.*s ordered",
	};

	if (!texts[cc] || !c->b.len)
		return false;
	if (cc >> 1 == 5 && token__same(c->a, c->b)) {
		put_token(s, c->a);
		str__puts(s, cc & 1 ? " is not NaN" : " is NaN");
	} else {
		str__printf(s, texts[cc], (int)c->a.len, c->a.at, (int)c->b.len, c->b.at);
	}
	return put_reading(false, before, s);
}

/* inc and dec: as a comparison with -1 and 1. Neither writes CF. */
static bool put_stepped(const struct compare *c, const struct relation *r, const char *by,
			struct str *s)
{
	struct compare with = {.a = c->a, .b = {by, strlen(by)}};

	if (r->sense == SENSE_SIGNED)
		return put_compared(&with, r, true, s);
	return put_result(c, r, s);
}

static bool put_relation(const struct compare *c, uint8_t cc, struct str *s)
{
	const struct relation *r = &relations[cc];

	switch (c->setter) {
	case X86_SET_COMPARE:
		return put_compared(c, r, false, s) ||
		       (cc < 2 && put_overflow(c, '-', cc, false, s));
	case X86_SET_SUB:
		return put_result(c, r, s) || put_compared(c, r, true, s) ||
		       (cc < 2 && put_overflow(c, '-', cc, true, s));
	case X86_SET_ADD:
		return put_added(c, cc, s);
	case X86_SET_INC:
		return put_stepped(c, r, "-0x1", s);
	case X86_SET_DEC:
		return put_stepped(c, r, "0x1", s);
	case X86_SET_TEST:
		return put_tested(c, cc, s);
	case X86_SET_LOGIC:
		return logic_op(cc) && put_with_zero(c->a, logic_op(cc), s);
	case X86_SET_RESULT:
	case X86_SET_SIGN:
		return put_result(c, r, s);
	case X86_SET_BIT:
		return put_bit(c, cc, false, s);
	case X86_SET_BIT_TAKE:
		return put_bit(c, cc, true, s);
	case X86_SET_SCAN:
		return put_scanned(c, cc, s);
	case X86_SET_EXCHANGE:
		return put_exchanged(c, cc, s);
	case X86_SET_VECTOR:
		return r->sense == SENSE_EQUAL && put_tested(c, cc, s);
	case X86_SET_FLOAT:
		return put_float(c, cc, false, s);
	case X86_SET_FLOAT_POP:
		return put_float(c, cc, true, s);
	default:
		return false;
	}
}

static bool prove(uint8_t cc, bool taken, const char *compare, struct str *s)
{
	struct compare c = parse(compare ? compare : "");

	return put_relation(&c, taken ? cc : cc ^ 1, s);
}

/* loop decrements the counter and tests it, jrcxz only tests it. */
static bool prove_counter(uint16_t cond, bool taken, const char *compare, struct str *s)
{
	const char *counter = cond & X86_LOOP_ADDR32 ? "ecx" : "rcx";
	bool is_zero = (X86_LOOPNE | (cond & 3)) == X86_JRCXZ ? taken : !taken;
	uint8_t cc = x86__code_of(BRANCH_LOOP, cond);
	size_t len = s->len;

	str__printf(s, "%s %s 0", counter, is_zero ? "==" : "!=");
	if (cc == X86_NO_CODE)
		return true;
	str__puts(s, taken ? " and " : " or ");
	if (prove(cc, taken, compare, s))
		return true;
	s->len = len;
	if (s->data)
		s->data[len] = 0;
	return false;
}

bool x86__proves(uint8_t kind, uint16_t cond, bool taken, const char *compare, struct str *out)
{
	if (kind == BRANCH_LOOP)
		return prove_counter(cond, taken, compare, out);
	return kind == BRANCH_JCC && cond < 16 && prove(cond, taken, compare, out);
}
