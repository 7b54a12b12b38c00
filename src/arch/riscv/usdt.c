// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arguments of static probes as sys/sdt.h has the compiler write them on RISC-V: SIZE@OPERAND, the
 * operand in the assembler's syntax: a0, 5, -8(s0).
 */
#include <stdlib.h>
#include "arch/riscv/riscv.h"

/* Takes a register's name: a0, also fp and x10. */
static bool take_register(const char **p, uint8_t *out)
{
	size_t len = strcspn(*p, " )");
	char *end;

	if (len == 2 && !memcmp(*p, "fp", 2)) {
		*out = RISCV_FP;
		*p += len;
		return true;
	}
	for (uint8_t r = 0; r < RISCV_PC; r++)
		if (strlen(riscv__reg_names[r]) == len && !memcmp(*p, riscv__reg_names[r], len)) {
			*out = r;
			*p += len;
			return true;
		}
	if (**p != 'x' || len < 2 || len > 3)
		return false;
	*out = strtoul(*p + 1, &end, 10);
	len = end - *p - len;
	*p = end;
	return !len && *out < RISCV_PC;
}

bool riscv__usdt_operand(const char **p, struct usdt_argument *out)
{
	char *end;

	out->disp = strtoll(*p, &end, 0);
	if (end == *p && **p != '(') {
		out->kind = USDT_REGISTER;
		return take_register(p, &out->base);
	}
	*p = end;
	if (**p != '(') {
		out->kind = USDT_CONSTANT;
		return true;
	}
	++*p;
	out->kind = USDT_MEMORY;
	out->index = REG_NONE;
	out->scale = 1;
	return take_register(p, &out->base) && *(*p)++ == ')';
}
