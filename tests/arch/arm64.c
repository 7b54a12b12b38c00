// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is arm64's own, for t_own.sh: each condition on all flags, tests of registers, signed
 * return addresses, a loop of exclusives, a consistent branch, a static probe. It prints what it
 * did itself: "MNEMONIC TAKEN NOT-TAKEN" for each conditional, as its own branches tell.
 */
#include <signal.h>
#include "../progs/prog.h"
#include "../progs/sdt.h"

static unsigned counts[32][2];

#define FLAGS(n, cond)                                                                             \
	__asm__ volatile("msr nzcv, %1\n\tb." cond                                                 \
			 " 1f\n\tmov %w0, #0\n\tb 2f\n1:\tmov %w0, #1\n2:"                         \
			 : "=r"(taken)                                                             \
			 : "r"(flags)                                                              \
			 : "cc");                                                                  \
	counts[n][!taken]++;

/* The outcome is told by the code behind it, not by the condition. */
NOINLINE void conditions(uint64_t flags)
{
	unsigned taken;

	FLAGS(0, "eq")
	FLAGS(1, "ne")
	FLAGS(2, "cs")
	FLAGS(3, "cc")
	FLAGS(4, "mi")
	FLAGS(5, "pl")
	FLAGS(6, "vs")
	FLAGS(7, "vc")
	FLAGS(8, "hi")
	FLAGS(9, "ls")
	FLAGS(10, "ge")
	FLAGS(11, "lt")
	FLAGS(12, "gt")
	FLAGS(13, "le")
}

#define TEST(n, insn)                                                                              \
	__asm__ volatile(insn " 1f\n\tmov %w0, #0\n\tb 2f\n1:\tmov %w0, #1\n2:"                    \
			 : "=&r"(taken)                                                            \
			 : "r"(value));                                                            \
	counts[n][!taken]++;

NOINLINE void registers(uint64_t value)
{
	unsigned taken;

	TEST(16, "cbz %w1,")
	TEST(17, "cbz %x1,")
	TEST(18, "cbnz %w1,")
	TEST(19, "cbnz %x1,")
	TEST(20, "tbz %w1, #0,")
	TEST(21, "tbz %x1, #63,")
	TEST(22, "tbnz %w1, #31,")
	TEST(23, "tbnz %x1, #32,")
	TEST(24, "cbz xzr,")
}

/* bc.eq: FEAT_HBC. Where the processor hasn't it, b.eq. */
#ifdef CONSISTENT
#define BRANCH ".inst 0x54000050"
#else
#define BRANCH "b.eq .+8"
#endif
NOINLINE int consistent(int n)
{
	int out = 1;

	__asm__ volatile("cmp %w1, #3\n\t" BRANCH "\n\tmov %w0, #7" : "+r"(out) : "r"(n) : "cc");
	return out;
}

/* Without LSE: a probe between the two would never let it end. */
NOINLINE unsigned add_if(unsigned *to, unsigned old, unsigned new)
{
	unsigned was, failed;

	__asm__ volatile(
		"1:\tldaxr %w0, [%2]\n\tcmp %w0, %w3\n\tb.ne 2f\n\tstlxr %w1, %w4, [%2]\n\t"
		"cbnz %w1, 1b\n2:"
		: "=&r"(was), "=&r"(failed)
		: "r"(to), "r"(old), "r"(new)
		: "cc", "memory");
	return was;
}

/* Returns by an authenticating return. */
__asm__(".arch armv8.3-a\n.text\n.balign 4\n.globl authenticated\n.type authenticated, %function\n"
	"authenticated:\n.cfi_startproc\n\tpaciasp\n\t.cfi_negate_ra_state\n\tcbz x0, 1f\n\tsub x0, x0, #1\n"
	"1:\tretaa\n.cfi_endproc\n.size authenticated, . - authenticated\n");
long authenticated(long n);

/* -mbranch-protection=standard signs it. */
NOINLINE int innermost(int n)
{
	return touch(n);
}

NOINLINE int below(int n)
{
	return n ? below(n - 1) + 1 : innermost(n) + 1;
}

NOINLINE void probed(long n)
{
	const long *at = &n;

	__asm__ volatile(NOTE("probe", "0", "-8@%x0 4@%w1 -4@-5 -8@[%x2]")
			 :
			 : "r"(n + 1), "r"((int)n), "r"(at), "m"(n));
}

static volatile int handled;

NOINLINE void handler(int number)
{
	handled++;
}

int main(void)
{
	static const char *const names[] = {"b.eq", "b.ne", "b.cs", "b.cc", "b.mi", "b.pl", "b.vs",
					    "b.vc", "b.hi", "b.ls", "b.ge", "b.lt", "b.gt", "b.le",
					    NULL,   NULL,   "cbz",  "cbz",  "cbnz", "cbnz", "tbz",
					    "tbz",  "tbnz", "tbnz", "cbz"};
	static const uint64_t values[] = {0, 1, 1u << 31, 1ull << 32, 1ull << 63, ~0ull};
	unsigned shared = 0;
	int sum = 0;

	signal(SIGUSR1, handler);
	for (uint64_t flags = 0; flags < 16; flags++)
		conditions(flags << 28);
	for (unsigned i = 0; i < sizeof(values) / sizeof(*values); i++)
		registers(values[i]);
	for (int i = 0; i < 10; i++) {
		sum += consistent(i);
		while (add_if(&shared, shared, shared + 1) != (unsigned)i)
			;
		probed(i);
	}
	raise(SIGUSR1);
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i])
			printf("%s %u %u\n", names[i], counts[i][0], counts[i][1]);
	printf("%d %u %ld %d %d\n", sum, shared, authenticated(5) + authenticated(0), below(4),
	       handled);
	return 0;
}
