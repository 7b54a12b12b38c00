// SPDX-License-Identifier: BSD-2-Clause
/* Static probes with each form of an argument, with and without a semaphore, at one place and two,
 * and one without code. It prints what it passes. */
#include <stdint.h>
#include <stdio.h>
#include "sdt.h"

SEMAPHORE asked_semaphore, other_semaphore;
/* As a linker leaves them that has dropped the function. */
__asm__(NOTE_AT("0", "dropped", "0", "4@$1"));

struct row {
	int64_t wide[4];
	int32_t narrow[4];
	int16_t half[4];
	int8_t byte[4];
};

__attribute__((noinline)) void forms(struct row *r, uint64_t i, const char *text)
{
	register struct row *a asm("rax") = r;
	register uint64_t b asm("rcx") = i;
	register const char *c asm("r9") = text;
	register uint64_t d asm("rdx") = (uint64_t)r->byte[i];

	asm volatile(
		NOTE("forms", "0",
		     "8@(%%rax,%%rcx,8) -4@32(%%rax,%%rcx,4) -2@48(%%rax,%%rcx,2) -1@%%dl 1@%%dl 8@%%r9 -4@$-7 4@$7 "
		     "-8@(%%rax) 8@%%rcx 4f@%%xmm0 -4@%%ecx")
		:
		: "r"(a), "r"(b), "r"(c), "r"(d), "m"(*r));
	printf("forms 0x%llx %d %d %d %u %s -7 7 %lld 0x%llx %d\n", (unsigned long long)r->wide[i],
	       r->narrow[i], r->half[i], r->byte[i], (uint8_t)r->byte[i], text,
	       (long long)r->wide[0], (unsigned long long)i, (int)i);
}

__attribute__((noinline)) void asked(int n)
{
	register int a asm("edi") = n;

	if (asked_semaphore) {
		asm volatile(NOTE("asked", "asked_semaphore", "-4@%%edi") : : "r"(a));
		printf("asked %d\n", n);
	}
}

__attribute__((noinline)) void twice(int n)
{
	register int a asm("esi") = n;

	if (n & 1)
		asm volatile(NOTE("twice", "0", "-4@%%esi") : : "r"(a));
	else
		asm volatile("mov %%esi, %%r8d\n" NOTE("twice", "0", "-4@%%r8d") : : "r"(a) : "r8");
	printf("twice %d\n", n);
}

int main(void)
{
	struct row r = {{-1, 2, INT64_MAX, 0x1234},
			{-5, 6, INT32_MIN, 8},
			{-9, 10, -11, 12},
			{-1, 127, -128, 3}};
	static const char *const texts[] = {"one", "two words", "", "x"};

	/* a BPF program can't read a page that isn't there yet */
	printf("texts %s %s\n", texts[0], texts[1]);
	for (int n = 0; n < 40; n++) {
		forms(&r, n & 3, texts[n & 3]);
		asked(n - 20);
		twice(-n);
	}
	return 0;
}
