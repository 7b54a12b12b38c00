/* SPDX-License-Identifier: BSD-2-Clause */
/* What the traced programs share: they print something, they end with a known status, each run is
 * like the last. */
#ifndef PROG_H
#define PROG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "asm.h"

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone, noipa))
#endif
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

#ifdef __cplusplus
#define EXTERN extern "C"
#else
#define EXTERN
#endif

/* Keeps the compiler from knowing n. */
static inline int touch(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

/* A function written in assembler, with a type and a size as the compiler's have. */
#define ASM_FUNCTION(name, body)                                                                   \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name          \
		":\n" body "\n.size " #name ", . - " #name "\n")

#endif
