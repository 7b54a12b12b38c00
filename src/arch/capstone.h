/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capstone: the text of instructions by Capstone, where bbtrace was built with it and its version
 * knows the architecture. Only src/arch includes it.
 */
#ifndef BBTRACE_CAPSTONE_H
#define BBTRACE_CAPSTONE_H

#include "arch/arch.h"

/* The instruction in at most len bytes as text. False: there is no Capstone here, or it knows
 * neither the architecture (e_machine of elf(5)) nor the instruction. */
bool capstone__format(uint16_t machine, const uint8_t *bytes, size_t len, uint64_t addr, char *out,
		      size_t size);

#endif
