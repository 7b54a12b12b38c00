/* SPDX-License-Identifier: BSD-2-Clause */
/* Assembler of the architecture that a traced program is built for. */
#ifndef ASM_H
#define ASM_H

#if defined(__aarch64__)
#define ASM_OF(x86_64, arm64, riscv64) arm64
#elif defined(__riscv)
#define ASM_OF(x86_64, arm64, riscv64) riscv64
#else
#define ASM_OF(x86_64, arm64, riscv64) x86_64
#endif

#endif
