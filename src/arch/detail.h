/* SPDX-License-Identifier: BSD-2-Clause */
/* detail: fills in struct insn_detail. Only src/arch includes it. */
#ifndef BBTRACE_DETAIL_H
#define BBTRACE_DETAIL_H

#include "arch/arch.h"

static inline void detail__set_copy(struct insn_detail *out, unsigned src, uint8_t bits, bool sign)
{
	out->op = DETAIL_COPY;
	out->src = src;
	out->bits = bits;
	out->sign = sign;
}

static inline void detail__set_address(struct insn_detail *out, uint8_t base, uint8_t index,
				       uint8_t scale, int32_t disp)
{
	out->op = DETAIL_LEA;
	out->mem = (struct operand){
		.kind = OPERAND_MEM, .base = base, .index = index, .scale = scale, .disp = disp};
}

#endif
