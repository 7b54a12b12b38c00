// SPDX-License-Identifier: BSD-2-Clause
/* What conditionals have compared, in lines of the text format. */
#include <elf.h>
#include "output_fixture.h"

#define shows(want, what, ...) fixture_shows("text", &fixture_options, want, what, __VA_ARGS__)

#define LEFT "   0.000012345 ls-7          "

#define BITS(n) ((__builtin_ctz(n) - 3) << TESTED_SIZE_SHIFT)

/* b: a jne that is not taken. */
static void test_why(struct step b)
{
	static const char not_taken[] = LEFT "  malloc+0x25  jne  not taken -> malloc+0x27  ";
	static const struct {
		struct tested t;
		const char *compare, *want, *what;
	} rows[] = {
		{{TESTED | TESTED_TWO | BITS(64), {0x10, 0x40}},
		 "cmp rax, rdx",
		 "cmp rax, rdx: 0x10 vs 0x40",
		 "what was compared is told"},
		{{TESTED | TESTED_TWO | BITS(32), {9, 0xffffffea}},
		 "cmp eax, edx",
		 "cmp eax, edx: 9 vs -22",
		 "small numbers are decimal, with the sign that their size gives them"},
		{{TESTED | TESTED_TWO | BITS(64), {0xffffffea, (uint64_t)-4096}},
		 "cmp rax, rdx",
		 "cmp rax, rdx: 0xffffffea vs 0xfffffffffffff000",
		 "others are not negative"},
		{{TESTED | BITS(8), {0x80}}, "test al, al", "test al, al: -128", "a byte"},
		{{TESTED | TESTED_RESULT | BITS(32), {0}},
		 "dec edi",
		 "dec edi gave 0",
		 "a result is called so"},
		{{TESTED | TESTED_TWO | TESTED_AGAIN | BITS(16), {1, 2}},
		 "cmp word ptr [rdi], 0x02",
		 "cmp word ptr [rdi], 0x02: 1 vs 2 (read again)",
		 "memory was read again"},
	};
	char want[256];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		fixture_sites[SITE_JNE].compare = rows[i].compare;
		b.tested = rows[i].t;
		snprintf(want, sizeof(want), "%s%s\n", not_taken, rows[i].want);
		shows(want, rows[i].what, b);
	}
	fixture_sites[SITE_JNE].compare = NULL;
	shows(LEFT "  malloc+0x25  jne  not taken -> malloc+0x27\n",
	      "without the comparison there is nothing to tell", b);
}

/* Where debug information has the operands. b: a conditional that is not taken. */
static void test_why_in_source(struct step b)
{
	static const char not_taken[] = LEFT "  malloc+0x25  jne  not taken -> malloc+0x27  ";
	static const struct {
		uint16_t cond;
		struct tested t;
		const char *compare, *a, *b;
		uint8_t types;
		const char *want, *what;
	} rows[] = {
		{5,
		 {TESTED | BITS(32), {-5u}},
		 "test edi, edi",
		 "n",
		 NULL,
		 VARIABLE_SIGNED,
		 "n = -5: n == 0",
		 "a signed variable"},
		{2,
		 {TESTED | TESTED_TWO | BITS(16), {0xfff0, 5}},
		 "cmp si, 0x05",
		 "n",
		 NULL,
		 VARIABLE_UNSIGNED,
		 "n = 65520: n >= 5 (unsigned)",
		 "a register's name in a word is none"},
		{2,
		 {TESTED | TESTED_TWO | BITS(32), {0, 3}},
		 "bt eax, cl",
		 NULL,
		 "k",
		 VARIABLE_SIGNED << 4,
		 "eax = 0, k = 3: bit k % 32 of eax is clear",
		 "nor is that at the beginning of one"},
		{5,
		 {TESTED | TESTED_TWO | TESTED_AGAIN | BITS(64), {0x1000, 0x1000}},
		 "cmp rax, [rax+0x08]",
		 "p",
		 "p->self",
		 VARIABLE_POINTER | VARIABLE_POINTER << 4,
		 "p = 0x1000, p->self = 0x1000: p == p->self (read again)",
		 "both operands"},
		{5,
		 {TESTED | TESTED_TWO | TESTED_AGAIN | BITS(64), {0x1000, 0x1000}},
		 "cmp rax, [rax+0x08]",
		 "p",
		 NULL,
		 VARIABLE_POINTER,
		 "p = 0x1000, [rax+0x08] = 0x1000: p == [rax+0x08] (read again)",
		 "what an address is made of stays as it is"},
	};
	struct plan_site *site = &fixture_sites[SITE_JNE], before = *site;
	const struct arch *arch = fixture_plan.arch;
	char want[256];

	fixture_plan.arch = arch__by_machine(EM_X86_64);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		site->cond = rows[i].cond;
		site->compare = rows[i].compare;
		site->variable_a = rows[i].a;
		site->variable_b = rows[i].b;
		site->variable_types = rows[i].types;
		b.tested = rows[i].t;
		snprintf(want, sizeof(want), "%s%s\n", not_taken, rows[i].want);
		shows(want, rows[i].what, b);
	}
	*site = before;
	fixture_plan.arch = arch;
}

int main(void)
{
	struct step b = fixture_branch(SITE_JNE, false, fixture_at(0x27));

	test_why(b);
	test_why_in_source(b);
	return tap__done();
}
