// SPDX-License-Identifier: BSD-2-Clause
/* Addresses of data: auipc and addi of the same register (RISC-V ISA manual, RV32I). */
#include "riscv.h"

#define PAIR_MOST 20 /* bytes from the upper to the lower part of an address */

static uint32_t word_at(const uint8_t *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static unsigned dst_of(uint32_t insn)
{
	return insn >> 7 & 31;
}

void riscv__each_address(const uint8_t *bytes, size_t len, uint64_t addr, taken_address_fn fn,
			 void *ctx)
{
	for (size_t at = 0; at + 4 <= len; at += 2) {
		uint32_t auipc = word_at(bytes + at);

		if ((auipc & 0x7f) != 0x17 || !dst_of(auipc))
			continue;
		for (size_t to = at + 4; to < at + PAIR_MOST && to + 4 <= len; to += 2) {
			uint32_t addi = word_at(bytes + to);

			if ((addi & 0x707f) == 0x13 && (addi >> 15 & 31) == dst_of(auipc))
				fn(ctx, addr + to,
				   addr + at + (int32_t)(auipc & 0xfffff000) +
					   ((int32_t)addi >> 20),
				   dst_of(addi));
		}
	}
}
