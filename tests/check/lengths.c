// SPDX-License-Identifier: BSD-2-Clause
/* How long bbtrace takes x86-64 instructions for: reads slots of 32 bytes, and prints the length of
 * the instruction at the start of each, 0 if it isn't decoded. For tests/check/apx.py, which asks
 * objdump. */
#include <stdio.h>
#include "arch/arch.h"

extern const struct arch arch_x86_64;

int main(void)
{
	uint8_t slot[32];
	struct insn insn;

	while (fread(slot, sizeof(slot), 1, stdin))
		printf("%d\n",
		       arch_x86_64.decode(slot, sizeof(slot), 0x1000, false, &insn) ? 0 : insn.len);
	return 0;
}
