/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * How many registers an entry's record has: struct arch, nregs. For both sides: the kernel's, which
 * is built for __TARGET_ARCH_NAME, and user space of the same machine.
 */
#ifndef BBTRACE_BPF_ARCH_REGS_H
#define BBTRACE_BPF_ARCH_REGS_H

#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)
#define WIRE_REGS 18
#elif defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define WIRE_REGS 34
#elif defined(__TARGET_ARCH_riscv) || defined(__riscv)
#define WIRE_REGS 33
#else
#define WIRE_REGS 36
#endif

#endif
