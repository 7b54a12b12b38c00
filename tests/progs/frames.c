// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls of functions with and without frame pointer: build with -fno-omit-frame-pointer. A function
 * without one uses the register for other data, here data that looks like frames of callers that
 * never existed.
 */
#include "asm.h"

#define NOINLINE __attribute__((noinline, noclone))

volatile int sink;

NOINLINE void leaf(int n)
{
	sink += n;
}

/* Keeps one. */
NOINLINE void inner(int n)
{
	leaf(n);
	sink++;
}

NOINLINE void down(int n)
{
	if (n)
		down(n - 1);
	else
		leaf(n);
	sink++;
}

/* Nobody calls it. */
NOINLINE void never(void)
{
	leaf(1);
	sink++;
}

/* riscv64's frame pointer leads to the end of what is saved. */
#define AT ASM_OF(0, 0, 1)

/* The saved frame pointer and return address of two frames that are none. */
struct {
	void *fp, *back;
} fake[3] = {
	{&fake[1 + AT], (char *)never + 4},
	{&fake[2 + AT], (char *)never + 4},
	{0, (char *)never + 4},
};

/* Its frame pointer leads to the fake ones, and it knows its caller by the stack pointer alone. */
void spoiled(int n, void (*next)(int n));
__asm__(".text\n"
	".type spoiled, @function\n"
	"spoiled:\n"
	".cfi_startproc\n" ASM_OF("push %rbp\n"
				  ".cfi_def_cfa_offset 16\n"
				  ".cfi_offset 6, -16\n"
				  "lea fake(%rip), %rbp\n"
				  "call *%rsi\n"
				  "pop %rbp\n"
				  ".cfi_def_cfa_offset 8\n"
				  ".cfi_restore 6\n",
				  "stp x29, x30, [sp, #-16]!\n"
				  ".cfi_def_cfa_offset 16\n"
				  ".cfi_offset 29, -16\n"
				  ".cfi_offset 30, -8\n"
				  "adrp x29, fake\n"
				  "add x29, x29, :lo12:fake\n"
				  "blr x1\n"
				  "ldp x29, x30, [sp], #16\n"
				  ".cfi_def_cfa_offset 0\n"
				  ".cfi_restore 29\n"
				  ".cfi_restore 30\n",
				  "addi sp, sp, -16\n"
				  ".cfi_def_cfa_offset 16\n"
				  "sd s0, 0(sp)\n"
				  "sd ra, 8(sp)\n"
				  ".cfi_offset 8, -16\n"
				  ".cfi_offset 1, -8\n"
				  "lla s0, fake + 16\n"
				  "jalr a1\n"
				  "ld ra, 8(sp)\n"
				  "ld s0, 0(sp)\n"
				  "addi sp, sp, 16\n"
				  ".cfi_def_cfa_offset 0\n"
				  ".cfi_restore 1\n"
				  ".cfi_restore 8\n") "ret\n"
						      ".cfi_endproc\n"
						      ".size spoiled, . - spoiled\n");

NOINLINE void outer(int n)
{
	spoiled(n, inner); /* leaf < inner < spoiled */
	spoiled(n, leaf);  /* leaf < spoiled */
	sink++;
}

#ifndef WHOLE
#include <stdlib.h>

int main(int argc, char **argv)
{
	outer(1);
	down(argc > 1 ? atoi(argv[1]) : 3);
	return 0;
}
#else
/* A start that says it is one. gcc -static -nostdlib */
__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"xor %ebp, %ebp\n"
	"and $-16, %rsp\n"
	"call begin\n"
	"hlt\n"
	".cfi_endproc\n"
	".size _start, . - _start\n");
void begin(void)
{
	down(3);
	__asm__("mov $60, %eax; xor %edi, %edi; syscall");
}
#endif
