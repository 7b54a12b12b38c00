// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is riscv64's own, for t_own.sh: each conditional on pairs of values and in both lengths,
 * jumps with a displacement, calls and returns by t0, a loop of lr and sc, a static probe. It
 * prints what it did itself: "MNEMONIC TAKEN NOT-TAKEN" for each conditional, as the code behind it
 * tells.
 */
#include <signal.h>
#include "../progs/prog.h"
#include "../progs/sdt.h"

static unsigned counts[32][2];

/* The outcome is told by the code behind it, not by the condition. */
#define TEST(n, insn)                                                                              \
	__asm__ volatile(insn ", 1f\n\tli %0, 0\n\tj 2f\n1:\tli %0, 1\n2:"                         \
			 : "=&r"(taken)                                                            \
			 : "r"(a), "r"(b), "r"(c));                                                \
	counts[n][!taken]++;

NOINLINE void conditions(uint64_t a, uint64_t b)
{
	register uint64_t c __asm__("s1") = a; /* one that short forms have */
	unsigned taken;

	TEST(0, "beq %1, %2")
	TEST(1, "bne %1, %2")
	TEST(2, "blt %1, %2")
	TEST(3, "bge %1, %2")
	TEST(4, "bltu %1, %2")
	TEST(5, "bgeu %1, %2")
	TEST(6, "beqz %1")
	TEST(7, "bnez %1")
	TEST(8, "bltz %1")
	TEST(9, "bgez %1")
	TEST(10, "bgtz %1")
	TEST(11, "blez %1")
	TEST(12, "c.beqz %3")
	TEST(13, "c.bnez %3")
	TEST(14, "bltu zero, %1")
	TEST(15, "beq zero, zero")
}

/* The highest registers, and the lowest ones. */
NOINLINE int registers(long a, long b)
{
	register long high __asm__("t6") = a;
	register long ra __asm__("s11") = b;
	int out = 1;

	__asm__ volatile("blt %1, %2, 1f\n\tli %0, 2\n1:" : "+r"(out) : "r"(high), "r"(ra));
	return out;
}

/* A call and a jump that add to what the register holds; the lowest bit of the sum doesn't count.
 */
__asm__(".text\n.globl displaced\n.type displaced, @function\ndisplaced:\n.cfi_startproc\n"
	"\taddi sp, sp, -16\n\t.cfi_def_cfa_offset 16\n\tsd ra, 8(sp)\n\t.cfi_offset ra, -8\n"
	"\tlla a4, plus\n\taddi a4, a4, 2047\n\tjalr ra, -2047(a4)\n"
	"\tld ra, 8(sp)\n\taddi sp, sp, 16\n\t.cfi_def_cfa_offset 0\n"
	"\tlla a5, plus\n\taddi a5, a5, -19\n\tjr 20(a5)\n.cfi_endproc\n"
	".size displaced, . - displaced\n");
long displaced(long n);

NOINLINE long plus(long n)
{
	return n + 7;
}

/* Calls a part of itself by t0, as code for size does where it saves registers. */
__asm__(".text\n.globl linked\n.type linked, @function\nlinked:\n.cfi_startproc\n"
	"\tjal t0, minus\n\tjal t0, minus\n\tret\n.cfi_endproc\n.size linked, . - linked\n"
	".globl minus\n.type minus, @function\nminus:\n.cfi_startproc\n.cfi_return_column 5\n"
	"\taddi a0, a0, -1\n\tjr t0\n.cfi_endproc\n.size minus, . - minus\n");
long linked(long n);

/* A probe between the two would never let it end. */
NOINLINE unsigned add_if(unsigned *to, unsigned old, unsigned new)
{
	unsigned was, failed;

	__asm__ volatile("1:\tlr.w.aq %0, (%2)\n\tbne %0, %3, 2f\n\tsc.w.rl %1, %4, (%2)\n\t"
			 "bnez %1, 1b\n2:"
			 : "=&r"(was), "=&r"(failed)
			 : "r"(to), "r"((long)(int)old), "r"(new)
			 : "memory");
	return was;
}

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

	__asm__ volatile(NOTE("probe", "0", "-8@%0 4@%1 -4@-5 -8@0(%2)")
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
	static const char *const names[] = {"beq",  "bne",  "blt",  "bge",  "bltu", "bgeu",
					    "beqz", "bnez", "bltz", "bgez", "bgtz", "blez",
					    "beqz", "bnez", "bltu", "beqz"};
	static const uint64_t values[] = {0, 1, INT64_MAX, 1ull << 63, ~0ull};
	const unsigned n = sizeof(values) / sizeof(*values);
	unsigned shared = 0;
	int sum = 0;

	signal(SIGUSR1, handler);
	for (unsigned i = 0; i < n * n; i++)
		conditions(values[i % n], values[i / n]);
	for (int i = 0; i < 10; i++) {
		sum += registers(i, 5);
		while (add_if(&shared, shared, shared + 1) != (unsigned)i)
			;
		probed(i);
	}
	raise(SIGUSR1);
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		printf("%s %u %u\n", names[i], counts[i][0], counts[i][1]);
	printf("%d %u %ld %ld %d %d\n", sum, shared, displaced(5), linked(5), below(4), handled);
	return 0;
}
