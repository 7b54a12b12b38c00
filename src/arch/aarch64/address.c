// SPDX-License-Identifier: BSD-2-Clause
/* Addresses of data: adrp and add of the same register (Arm ARM, C6.2). */
#include "aarch64.h"

#define PAIR_MOST 5 /* instructions from the upper to the lower part of an address */

static uint64_t page_of(uint32_t adrp, uint64_t addr)
{
	uint64_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);

	return (addr & ~0xfffull) + (pages << 12) - (pages >> 20 ? 1ull << 33 : 0);
}

void aarch64__each_address(const uint8_t *bytes, size_t len, uint64_t addr, taken_address_fn fn,
			   void *ctx)
{
	uint32_t adrp, add;

	for (size_t at = 0; aarch64__word(bytes + at, len - at, addr + at, &adrp); at += 4) {
		if ((adrp & 0x9f000000) != 0x90000000)
			continue;
		for (size_t to = at + 4; to < at + 4 * PAIR_MOST; to += 4) {
			if (!aarch64__word(bytes + to, len - to, addr + to, &add))
				break;
			if ((add & 0xffc00000) == 0x91000000 && (add >> 5 & 31) == (adrp & 31))
				fn(ctx, addr + to, page_of(adrp, addr + at) + (add >> 10 & 0xfff),
				   add & 31);
		}
	}
}
