// SPDX-License-Identifier: BSD-2-Clause
/* The walk over a copied stack: each rule of DWARF, where it ends and why, and random rules on
 * random bytes. */
#include <dwarf.h>
#include <elf.h>
#include "arch/arch.h"
#include "event/event.h"
#include "tap.h"

enum { RAX = 0, RBP = 6, RSP = 7, RIP = 16 }; /* DWARF's numbers */
#define START 0x7000
#define WORDS 32

static struct rule_op ops[64];
static struct rule_set set;
static uint64_t words[WORDS];
static struct stack_copy copy = {.start = START, .bytes = (const uint8_t *)words, .len = 8 * WORDS};
static struct unwind_rules found; /* of code; elsewhere there are none */
#define CODE	 0x1000
#define END	 0x2000
#define NO_RULES 0x9000
static uint64_t call; /* what a call is before */

static void find(void *ctx, uint64_t addr, struct unwind_rules *out)
{
	if (addr >= CODE && addr < END)
		*out = found;
	out->no_code = !addr;
}

static bool follows_call(void *ctx, uint64_t addr)
{
	return addr == call;
}

static void give(struct rule *rule, unsigned first, unsigned n)
{
	*rule = (struct rule){.first = first, .n = n, .kind = RULE_OPS_LEAD};
}

/* An ordinary frame: CFA = rsp + size, the return address below it. */
static void begin(uint64_t size)
{
	memset(ops, 0, sizeof(ops));
	memset(words, 0, sizeof(words));
	memset(&set, 0, sizeof(set));
	ops[0] = (struct rule_op){.atom = DW_OP_bregx, .a = RSP, .b = size};
	ops[1] = (struct rule_op){.atom = DW_OP_call_frame_cfa};
	ops[2] = (struct rule_op){.atom = DW_OP_plus_uconst, .a = -8};
	ops[3] = (struct rule_op){.atom = DW_OP_call_frame_cfa};
	ops[4] = (struct rule_op){.atom = DW_OP_stack_value};
	give(&set.cfa, 0, 1);
	give(&set.regs[RIP], 1, 2);
	give(&set.regs[RSP], 3, 2);
	set.regs[RBP].kind = RULE_SAME;
	found = (struct unwind_rules){.known = true, .row = {.set = &set, .ops = ops}};
	copy.len = 8 * WORDS;
	copy.cut = false;
}

static struct unwound walk(void)
{
	const struct arch *arch = arch__by_machine(EM_X86_64);
	static const struct unwind_lookup lookup = {find, follows_call, NULL};
	uint64_t regs[EVENT_REGS] = {0};
	struct unwound out;

	regs[arch->ip_reg] = CODE;
	regs[arch->sp_reg] = START;
	regs[arch->dwarf.regs[RBP]] = START + 64;
	unwind__stack(arch, regs, &copy, &lookup, &out);
	return out;
}

static void ends(unsigned n, enum stack_end end, const char *what)
{
	struct unwound u = walk();

	ok(u.n == n && u.end == end && u.stack[0] == CODE, "%s (%u frames, end %d)", what, u.n,
	   u.end);
}

static void test_ends(void)
{
	begin(8);
	words[0] = CODE + 5;
	words[1] = CODE + 6;
	ends(3, STACK_WHOLE, "a return address of 0 is the end");
	words[2] = END;
	ends(4, STACK_WHOLE, "a call may be the last instruction of its code");
	words[3] = 0x9000;
	ends(5, STACK_NO_RULES, "code without rules");
	begin(8);
	set.regs[RIP].kind = RULE_UNDEFINED;
	ends(1, STACK_WHOLE, "no return address: the outermost frame");
	begin(8);
	found.known = false;
	ends(1, STACK_NO_RULES, "no rules at all");
	found.link = FRAME_OUTERMOST;
	ends(1, STACK_WHOLE, "the outermost frame by other means");
	begin(8);
	for (int i = 0; i < WORDS; i++)
		words[i] = CODE + 1;
	ends(WORDS + 1, STACK_UNREADABLE, "what follows the copy could not be read");
	copy.cut = true;
	ends(WORDS + 1, STACK_CUT, "what follows the copy was cut off");
	copy.len = 12;
	ends(2, STACK_CUT, "half a word is none");
	begin(1 << 20);
	ends(1, STACK_CUT, "a frame elsewhere was not copied");
	begin(-64);
	ends(1, STACK_CUT, "nor one below the copy");
	begin(8);
	ops[0].b = 0;
	copy.start -= 8;
	words[0] = CODE + 1;
	ends(1, STACK_UNREADABLE, "a caller is not at its callee's place");
	copy.start += 8;
	begin(8);
	ops[0].a = RAX + 1;
	set.cfa.n = 0;
	ends(1, STACK_NO_RULES, "no CFA");
}

static void test_limit(void)
{
	static uint64_t many[STACK_FRAMES + 2];

	begin(8);
	for (int i = 0; i < STACK_FRAMES + 2; i++)
		many[i] = CODE + 1;
	copy.bytes = (const uint8_t *)many;
	copy.len = sizeof(many);
	ends(STACK_FRAMES, STACK_LIMIT, "no more frames than an entry has");
	copy.bytes = (const uint8_t *)words;
}

static void test_signal(void)
{
	struct unwound u;

	begin(8);
	words[0] = NO_RULES;
	found.row.signal = true;
	u = walk();
	ok(u.n == 2 && u.exact == 3, "what a signal interrupted is exact (%llx)",
	   (unsigned long long)u.exact);
	found.row.signal = false;
	u = walk();
	ok(u.n == 2 && u.exact == 1, "a return address is not");
}

/* Where nothing can be executed, a call has left its return address on top of the stack. */
static void test_no_code(void)
{
	struct unwound u;

	begin(8);
	words[0] = 0;
	words[1] = CODE + 5;
	found.row.signal = true;
	u = walk();
	ok(u.n == 2 && u.exact == 3 && !u.stack[1] && u.end == STACK_NO_RULES,
	   "a signal interrupted what is at 0: no call is before the return address");
	call = CODE + 5;
	u = walk();
	ok(u.n >= 3 && (u.exact & 7) == 3 && !u.stack[1] && u.stack[2] == CODE + 5,
	   "a call of 0 has its caller");
	found.row.signal = false;
	u = walk();
	ok(u.n == 1 && u.end == STACK_WHOLE, "a return to 0 is no call");
	call = 0;
}

static void test_pointer(void)
{
	begin(8);
	found.known = false;
	found.link = FRAME_POINTER;
	words[8] = START + 96; /* at the frame pointer */
	words[9] = CODE + 9;
	words[12] = START + 8;
	words[2] = CODE + 2;
	words[13] = CODE + 13;
	ends(3, STACK_UNREADABLE, "frame pointers lead on, outwards");
	ok(walk().stack[2] == CODE + 13, "to the return address above them");
}

static void test_entry(void)
{
	struct unwound u;

	begin(8);
	found.known = false;
	found.entry = true;
	words[0] = END;
	words[1] = 0x9000;
	u = walk();
	ok(u.n == 3 && u.stack[1] == END && u.stack[2] == 0x9000 && u.exact == 1,
	   "a function's first instruction needs no rules");
}

/* The value that operations leave becomes the CFA, with the return address in front of it. */
static void computes(uint64_t offset, unsigned n, const struct rule_op *code, const char *what)
{
	struct unwound u;

	begin(8);
	memcpy(ops + 8, code, n * sizeof(*code));
	give(&set.cfa, 8, n);
	words[offset / 8 - 1] = 0x9000;
	u = walk();
	ok(u.n == 2 && u.stack[1] == 0x9000, "%s", what);
}
#define COMPUTES(offset, what, ...)                                                                \
	computes(offset, sizeof((struct rule_op[]){__VA_ARGS__}) / sizeof(struct rule_op),         \
		 (struct rule_op[]){__VA_ARGS__}, what)
#define OP(name, ...)                                                                              \
	{                                                                                          \
		.atom = DW_OP_##name, __VA_ARGS__                                                  \
	}

static void test_expressions(void)
{
	/* as linkers write it for .plt, at its second instruction */
	COMPUTES(8, "a PLT's expression", OP(breg7, .a = 8), OP(breg16, .a = 0), OP(lit15), OP(and),
		 OP(lit11), OP(ge), OP(lit3), OP(shl), OP(plus));
	COMPUTES(16, "and behind its push", OP(breg7, .a = 8), OP(breg16, .a = 11), OP(lit15),
		 OP(and), OP(lit11), OP(ge), OP(lit3), OP(shl), OP(plus));
	COMPUTES(24, "minus, dup, swap, over, drop", OP(breg7), OP(lit24), OP(dup), OP(over),
		 OP(drop), OP(minus), OP(const1u, .a = 24), OP(swap), OP(drop), OP(plus));
	COMPUTES(32, "constants and comparisons", OP(bregx, .a = RSP), OP(const8s, .a = -3),
		 OP(const1s, .a = -2), OP(lt), OP(lit5), OP(shl), OP(plus));
	COMPUTES(40, "and, or, xor, not, neg", OP(breg7), OP(lit10), OP(lit6), OP(xor), OP(lit4),
		 OP(or), OP(lit28), OP(neg), OP(not ), OP(or), OP(const1u, .a = 28), OP(xor),
		 OP(lit9), OP(plus), OP(const1u, .a = 28), OP(plus), OP(const1u, .a = 248), OP(and),
		 OP(lit0), OP(mul), OP(const1u, .a = 40), OP(plus), OP(plus));
	COMPUTES(48, "shr, shra, pick", OP(const2u, .a = 24), OP(breg7), OP(pick, .a = 1), OP(lit1),
		 OP(shl), OP(plus), OP(const8s, .a = -1), OP(const1u, .a = 70), OP(shra),
		 OP(const1u, .a = 63), OP(shr), OP(lit1), OP(eq), OP(lit1), OP(ne), OP(plus));
}

/* As after the stack pointer was rounded: the CFA is in memory. */
static void test_saved_cfa(void)
{
	struct unwound u;

	begin(8);
	ops[8] = (struct rule_op)OP(breg6, .a = (uint64_t)-8);
	ops[9] = (struct rule_op)OP(deref);
	give(&set.cfa, 8, 2);
	words[7] = START + 120;
	words[14] = 0x9000;
	u = walk();
	ok(u.n == 2 && u.stack[1] == 0x9000, "a CFA that was saved");
	ops[8].a = 1 << 20;
	ends(1, STACK_CUT, "one that isn't in the copy");
	ops[8] = (struct rule_op)OP(breg0);
	ends(1, STACK_CUT, "one by a register that leads elsewhere");
}

static void test_unknown_registers(void)
{
	begin(8);
	words[0] = CODE + 1;
	ops[0] = (struct rule_op)OP(breg3, .a = START + 8);
	ends(2, STACK_NO_RULES, "a register that a call clobbers is not known in its caller");
	begin(8);
	ops[0].atom = DW_OP_div;
	ends(1, STACK_NO_RULES, "an operation that isn't known");
	ops[0].atom = DW_OP_drop;
	ends(1, STACK_NO_RULES, "an operation without operands");
	begin(8);
	for (int i = 8; i < 8 + 40; i++)
		ops[i].atom = DW_OP_lit1;
	give(&set.cfa, 8, 40);
	ends(1, STACK_NO_RULES, "too many values");
}

static uint64_t state = 88172645463325252u;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* Under the sanitizers: nothing is read but the copy. */
static void test_random(void)
{
	unsigned bad = 0, deep = 0;

	for (int i = 0; i < 20000; i++) {
		struct unwound u;

		begin(8 * (rnd() % 4));
		for (int k = 0; k < WORDS; k++)
			words[k] = rnd() % 2 ? CODE + rnd() % 64 : START + rnd() % (16 * WORDS);
		for (int k = 5; k < 64; k++)
			ops[k] = (struct rule_op){rnd() % 2 ? rnd() : rnd() % 64, rnd(), rnd()};
		for (int k = 0; k < RULE_REGS; k++)
			if (rnd() % 3 == 0)
				set.regs[k] = (struct rule){rnd() % 32, rnd() % 32, rnd() % 3};
		if (rnd() % 3 == 0)
			give(&set.cfa, rnd() % 32, rnd() % 32);
		copy.len = rnd() % (8 * WORDS + 1);
		found.row.signal = rnd() % 4 == 0;
		found.link = rnd() % 4;
		u = walk();
		bad += !u.n || u.n > STACK_FRAMES || u.end >= STACK_ENDS || u.stack[0] != CODE;
		deep += u.n > 3;
	}
	ok(!bad && deep > 500, "random rules on random stacks end (%u deep ones)", deep);
}

int main(void)
{
	test_ends();
	test_limit();
	test_signal();
	test_no_code();
	test_pointer();
	test_entry();
	test_expressions();
	test_saved_cfa();
	test_unknown_registers();
	test_random();
	return tap__done();
}
