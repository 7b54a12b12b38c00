/* SPDX-License-Identifier: BSD-2-Clause */
/* detail: fills in struct insn_detail. Only src/arch includes it. */
#ifndef BBTRACE_ARCH_DETAIL_H
#define BBTRACE_ARCH_DETAIL_H

#include "arch/arch.h"

static inline void detail__set_copy(struct insn_detail *out, unsigned src, uint8_t bits, bool sign)
{
	out->op = DETAIL_COPY;
	out->src = src;
	out->bits = bits;
	out->sign = sign;
}

/* A register plus itself is that register times two, as compilers scale an index. */
static inline void detail__join_registers(struct operand *mem)
{
	if (mem->base == REG_NONE || mem->base != mem->index || mem->scale != 1 || mem->extend)
		return;
	mem->base = REG_NONE;
	mem->scale = 2;
}

/* dst = base + index * scale + disp; extend: as struct operand has it */
static inline void detail__set_extended(struct insn_detail *out, uint8_t base, uint8_t index,
					uint8_t scale, uint8_t extend)
{
	out->op = DETAIL_LEA;
	out->mem = (struct operand){.kind = OPERAND_MEM,
				    .base = base,
				    .index = index,
				    .scale = scale,
				    .extend = extend};
	detail__join_registers(&out->mem);
}

static inline void detail__set_address(struct insn_detail *out, uint8_t base, uint8_t index,
				       uint8_t scale, int32_t disp)
{
	detail__set_extended(out, base, index, scale, 0);
	out->mem.disp = disp;
}

#endif
