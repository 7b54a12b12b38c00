// SPDX-License-Identifier: BSD-2-Clause
/* Arguments of static probes: each form of an operand, and text that is none. */
#include <elf.h>
#include "arch/arch.h"
#include "tap.h"

static const struct arch *arch;

#include "usdt_fixture.h"

/* Numbers of registers: SDM 2, table 2-2. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R15 = 15 };

static void test_operands(void)
{
	is_argument("8@%rdi", (struct usdt_argument){USDT_REGISTER, 8, false, RDI});
	is_argument("-4@%eax", (struct usdt_argument){USDT_REGISTER, 4, true, RAX});
	is_argument("-2@%r15w", (struct usdt_argument){USDT_REGISTER, 2, true, R15});
	is_argument("1@%sil", (struct usdt_argument){USDT_REGISTER, 1, false, RSI});
	is_argument("-4@$-5", (struct usdt_argument){USDT_CONSTANT, 4, true, .disp = -5});
	is_argument("8@$0x10", (struct usdt_argument){USDT_CONSTANT, 8, false, .disp = 16});
	is_argument("-8@-24(%rbp)",
		    (struct usdt_argument){USDT_MEMORY, 8, true, RBP, REG_NONE, 1, -24});
	is_argument("8@(%r8)", (struct usdt_argument){USDT_MEMORY, 8, false, R8, REG_NONE, 1});
	is_argument("4@8(%rbx,%rcx,4)",
		    (struct usdt_argument){USDT_MEMORY, 4, false, RBX, RCX, 4, 8});
	is_argument("4@(%rax,%rdx)", (struct usdt_argument){USDT_MEMORY, 4, false, RAX, RDX, 1});
	is_argument("8@16(,%rdx,8)",
		    (struct usdt_argument){USDT_MEMORY, 8, false, REG_NONE, RDX, 8, 16});
}

static void is_symbol(const char *text, struct usdt_argument want, const char *symbol)
{
	struct usdt_argument got[USDT_ARGUMENTS];

	is_argument(text, want);
	usdt__arguments(arch, text, got);
	ok(got[0].symbol_len == strlen(symbol) && !memcmp(got[0].symbol, symbol, strlen(symbol)),
	   "'%s': its symbol", text);
}

static void test_symbols(void)
{
	is_symbol("-4@requests(%rip)",
		  (struct usdt_argument){USDT_MEMORY, 4, true, REG_IP, REG_NONE, 1}, "requests");
	is_symbol("-8@total+16(%rip)",
		  (struct usdt_argument){USDT_MEMORY, 8, true, REG_IP, REG_NONE, 1, 16}, "total");
	is_symbol("8@8+.LC0-4+1(%rip)",
		  (struct usdt_argument){USDT_MEMORY, 8, false, REG_IP, REG_NONE, 1, 5}, ".LC0");
	is_symbol("8@count.0", (struct usdt_argument){USDT_MEMORY, 8, false, REG_IP, REG_NONE, 1},
		  "count.0");
	is_symbol("8@table-8(,%rax,8)",
		  (struct usdt_argument){USDT_MEMORY, 8, false, REG_IP, RAX, 8, -8}, "table");
	is_symbol("8@table(%rbx)", (struct usdt_argument){USDT_MEMORY, 8, false, REG_IP, RBX, 1},
		  "table");
	is_symbol("8@$text", (struct usdt_argument){USDT_CONSTANT, 8, false, REG_IP}, "text");
}

static void test_floats(void)
{
	struct usdt_argument got[USDT_ARGUMENTS];

	is(usdt__arguments(arch, "8f@%rax -4f@8(%rsp) 4@%eax", got), 3, "three arguments");
	ok(got[0].is_float && got[0].kind == USDT_REGISTER && got[0].size == 8,
	   "a double in a general register");
	ok(got[1].is_float && got[1].kind == USDT_MEMORY && got[1].size == 4, "a float in memory");
	ok(!got[2].is_float, "an integer");
}

static void test_texts(void)
{
	static const char text[] = " 8@%rax 4@[sp, 16]  8f@%xmm0 ";
	size_t len;
	const char *at = usdt__argument_text(text, 1, &len);

	ok(len == 10 && !memcmp(at, "4@[sp, 16]", len), "the text of an argument");
	at = usdt__argument_text(text, 2, &len);
	ok(len == 8 && !memcmp(at, "8f@%xmm0", len), "that of the last one");
	usdt__argument_text(text, 3, &len);
	is(len, 0, "there are no more");
}

/* A word has 4 bytes; more registers there are none, though their names are known. */
static void test_i386(void)
{
	const struct arch *other = arch;

	arch = arch__by_machine(EM_386);
	is_argument("4@%edi", (struct usdt_argument){USDT_REGISTER, 4, false, RDI});
	is_argument("-8@8(%esp)",
		    (struct usdt_argument){USDT_MEMORY, 8, true, RSP, REG_NONE, 1, 8});
	is_argument("4@(%eax,%ecx,4)", (struct usdt_argument){USDT_MEMORY, 4, false, RAX, RCX, 4});
	is_argument("8@$5", (struct usdt_argument){USDT_CONSTANT, 8, false, .disp = 5});
	is_argument("8@%eax", (struct usdt_argument){USDT_UNKNOWN, 8, false});
	is_argument("4@%r8d", (struct usdt_argument){USDT_UNKNOWN, 4, false});
	is_argument("4@(%eax,%r9)", (struct usdt_argument){USDT_UNKNOWN, 4, false});
	arch = other;
}

static void test_unknown(void)
{
	static const char *const texts[] = {
		"8@x@tpoff(%rip)",  "8f@%xmm0",	   "8@%xmm0",	      "8@%nope", "8@8(%rip)",
		"8@%fs:x",	    "8@a+b(%rip)", "8@a-b(%rip)",     "2f@%rax", "8x@%rax",
		"8@a(%rax,%rbx,8)", "8@(%rax",	   "8@(%rax,%rbx,3)", "8@$",	 "8@",
		"16@%rax",	    "3@%rax",	   "8@%rax)"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct usdt_argument got[USDT_ARGUMENTS];

		ok(usdt__arguments(arch, texts[i], got) == 1 && got[0].kind == USDT_UNKNOWN,
		   "'%s' can't be told", texts[i]);
	}
}

static void test_lists(void)
{
	struct usdt_argument got[USDT_ARGUMENTS];

	is(usdt__arguments(arch, "", got), 0, "no arguments");
	is(usdt__arguments(arch, "nonsense", got), 0, "no text of arguments");
	is(usdt__arguments(arch, "8@%rax 8@%xmm0 -4@$1", got), 3,
	   "an argument that can't be told has its place");
	ok(got[1].kind == USDT_UNKNOWN && got[2].kind == USDT_CONSTANT && got[2].disp == 1,
	   "and those behind it theirs");
	is(usdt__arguments(arch, "8@[sp, 16] 4@$2", got), 2,
	   "blanks within an operand are part of it");
	is(usdt__arguments(arch,
			   "8@$1 8@$2 8@$3 8@$4 8@$5 8@$6 8@$7 8@$8 8@$9 8@$10 8@$11 8@$12 8@$13",
			   got),
	   USDT_ARGUMENTS, "no more than there is room for");
	is(usdt__arguments(arch__by_machine(EM_AARCH64), "8@x0 4@[sp, 16]", got), 2,
	   "other architectures' arguments are counted");
	ok(got[0].kind == USDT_REGISTER && got[1].kind == USDT_MEMORY && got[1].disp == 16,
	   "and told");
	is(usdt__arguments(arch__by_machine(EM_ARM), "4@r0 4@[sp, #16]", got), 2,
	   "those of an architecture that can't be traced are counted");
	is(got[0].kind, USDT_UNKNOWN, "but not told");
}

int main(void)
{
	arch = arch__by_machine(EM_X86_64);
	test_operands();
	test_symbols();
	test_floats();
	test_texts();
	test_i386();
	test_unknown();
	test_lists();
	return tap__done();
}
