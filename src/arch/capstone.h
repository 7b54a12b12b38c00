/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capstone: the text of instructions, if bbtrace was built with Capstone and its version supports
 * the architecture. Only src/arch includes it.
 */
#ifndef BBTRACE_ARCH_CAPSTONE_H
#define BBTRACE_ARCH_CAPSTONE_H

#include "arch/arch.h"

#define CAPSTONE_THUMB 0xff28 /* in place of EM_ARM: T32 code */
/* The instruction in at most len bytes as text. machine: e_machine of elf(5). False: built without
 * Capstone, or it doesn't support the architecture or the instruction. */
bool capstone__format(uint16_t machine, const uint8_t *bytes, size_t len, uint64_t addr, char *out,
		      size_t size);
/* Formats the instruction after the first skip ones. */
bool capstone__format_after(uint16_t machine, unsigned skip, const uint8_t *bytes, size_t len,
			    uint64_t addr, char *out, size_t size);

#endif
