/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * execution: what an instruction does, so that a program that the kernel runs at a uprobe can do it
 * in the processor's place (bpf/execution.h). Part of the public header of src/arch.
 */
#ifndef BBTRACE_ARCH_EXECUTION_H
#define BBTRACE_ARCH_EXECUTION_H

#include <stdbool.h>
#include <stdint.h>

enum execution_op {
	EXECUTE_NOTHING, /* endbr64 */
	EXECUTE_SET,	 /* dst = imm */
	EXECUTE_COPY,	 /* dst = base */
	EXECUTE_LEA,	 /* dst = base + index * scale + imm */
	EXECUTE_ADD,	 /* the stack pointer += imm, with the flags of that */
	EXECUTE_SUB,
	EXECUTE_POP,	/* dst = top of the stack */
	EXECUTE_RET,	/* to the top of the stack; pops imm bytes more */
	EXECUTE_JMP,	/* to base */
	EXECUTE_JMP_MEM /* to what is at base + index * scale + imm */
};
struct execution {
	int64_t imm;
	uint8_t op;		  /* enum execution_op */
	uint8_t bits;		  /* of the result: 64, or 32, which are zero-extended */
	uint8_t dst, base, index; /* registers, REG_NONE; base REG_IP: the next instruction */
	uint8_t scale;		  /* 1, 2, 4, 8 */
	uint8_t len;		  /* of the instruction */
	bool moves_sp;
};

#endif
