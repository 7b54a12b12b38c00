/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64, i386: what the table of instruction forms (forms.c) says of an instruction. All views of
 * an instruction are derived from this and from what Zydis says. docs/howto-instruction.md shows
 * how a form is added.
 */
#ifndef BBTRACE_ARCH_X86_FORMS_H
#define BBTRACE_ARCH_X86_FORMS_H

#include <stdint.h>

/* What an instruction does, for the views that follow values: detail, sp, access, execution,
 * emulate. They have a table by it. */
enum x86_op {
	X86_OTHER,
	X86_NOP,     /* nop of any length */
	X86_NOTHING, /* nothing that the registers show: pause, endbr64 */
	X86_MOVE,    /* a copy of the source, zero-extended */
	X86_MOVE_SIGNED,
	X86_STORE, /* a move to memory only */
	X86_STORE_SWAPPED,
	X86_EXTEND, /* rax = the sign-extended eax */
	X86_LEA,
	X86_EXCHANGE,
	X86_PUSH,
	X86_POP,
	X86_PUSH_FLAGS,
	X86_POP_FLAGS,
	X86_PUSH_ALL,
	X86_POP_ALL,
	X86_ENTER,
	X86_LEAVE,
	X86_ADD,
	X86_ADC,
	X86_SUB,
	X86_SBB,
	X86_AND,
	X86_OR,
	X86_XOR,
	X86_CMP,
	X86_TEST,
	X86_INC,
	X86_DEC,
	X86_NOT,
	X86_NEG,
	X86_SHL,
	X86_SHR,
	X86_SAR,
	X86_SET_IF,  /* setcc */
	X86_MOVE_IF, /* cmovcc */
	X86_COMPARE_EXCHANGE,
	X86_COMPARE_EXCHANGE_PAIR, /* with rdx:rax */
	X86_FILL,		   /* stos */
	X86_CLEAR_LINE,		   /* clzero */
	X86_FLAGS_TO_AH,
	X86_AH_TO_FLAGS,
	X86_READ_TIME,
	X86_TRANSLATE, /* xlat */
	X86_JUMP,
	X86_CALL,
	X86_RET,
	X86_INTERRUPT_RETURN,
	X86_SYSTEM_CALL,
	X86_ABORT, /* xabort */
	X86_OPS
};

/* How the flags follow from the operands A and B. */
enum x86_setter {
	X86_SET_NOT_KNOWN,
	X86_SET_COMPARE,   /* as A - B, which is stored nowhere */
	X86_SET_SUB,	   /* as A - B, which becomes A */
	X86_SET_ADD,	   /* as A + B, which becomes A */
	X86_SET_INC,	   /* as SUB with -1 and 1, but for CF */
	X86_SET_DEC,	   /* likewise */
	X86_SET_TEST,	   /* as A & B, which is stored nowhere; CF and OF are 0 */
	X86_SET_LOGIC,	   /* as the result, which becomes A; CF and OF are 0 */
	X86_SET_RESULT,	   /* ZF, SF and PF as the result, which becomes A */
	X86_SET_SIGN,	   /* ZF and SF as the result, which becomes A */
	X86_SET_BIT,	   /* CF: bit B of A */
	X86_SET_BIT_TAKE,  /* as X86_SET_BIT, and A is changed */
	X86_SET_SCAN,	   /* ZF: B is 0. A is changed */
	X86_SET_EXCHANGE,  /* ZF: A is the accumulator. Either is changed */
	X86_SET_VECTOR,	   /* ZF: A & B is 0 */
	X86_SET_FLOAT,	   /* ZF, PF, CF: 000 A > B, 001 A < B, 100 A == B, 111 unordered */
	X86_SET_FLOAT_POP, /* as X86_SET_FLOAT, and the stack is popped */
	X86_SETTERS
};

/* Properties. Without one, the views assume the worst, except for those of SLOW and STEPPED. */
enum x86_property {
	/* use: Zydis' operands and flags say all that it reads and writes */
	X86_OPERANDS = 1 << 0,
	/* use: neither its operands nor flags count */
	X86_INERT = 1 << 1,
	/* use: it may leave its destination unchanged */
	X86_MAY_KEEP = 1 << 2,
	/* use: of a register with itself it doesn't depend on that */
	X86_CANCELS = 1 << 3,
	/* use: without an operand in memory nothing raises an exception, if each processor has it
	 */
	X86_SAFE = 1 << 4,
	/* plan: changes neither flags nor memory nor general registers */
	X86_KEEPS_STATE = 1 << 5,
	/* plain: computes by what registers and ModRM's operand contain, and changes only these */
	X86_PLAIN = 1 << 6,
	/* plain: what it does with the operand of ModRM.rm */
	X86_READS = 1 << 7,
	X86_WRITES = 1 << 8,
	/* plain: bit 1 of some opcodes exchanges the operands (SDM volume 2, B.1.4.8) */
	X86_DIRECTED = 1 << 9,
	/* plain: of 16 bytes, though Zydis' operand width is another one */
	X86_VECTOR = 1 << 10,
	/* may wait, enter the kernel or a hypervisor, or take hundreds of cycles */
	X86_SLOW = 1 << 11,
	/* slow: waits until it alone has the memory, without the prefix, too */
	X86_LOCKS = 1 << 12,
	X86_ENTERS_KERNEL = 1 << 13,
	/* uprobe: behaves differently when a copy is single-stepped, which the kernel neither fixes
	 * nor refuses */
	X86_STEPPED = 1 << 14,
	/* access: names memory, but doesn't access it as data */
	X86_ONLY_NAMES = 1 << 15,
	/* access: saves or loads a state whose size depends on the processor */
	X86_STATE = 1 << 16,
	/* access, plain: a register as bit number reaches beyond the operand */
	X86_BIT_STRING = 1 << 17,
	/* displace: uses the base of gs, which is the log's, without naming it */
	X86_USES_GS = 1 << 18,
	/* plan: stores to memory that ModRM doesn't name */
	X86_STORES_ELSEWHERE = 1 << 19,
};

/* Properties of a byte of code, by the rules of the kernel, which checks bytes; or of a prefix. */
enum x86_byte {
	X86_PREFIX = 1 << 0,
	X86_PREFIX_REFUSED = 1 << 1, /* is_prefix_bad() */
	X86_PREFIX_DATA16 = 1 << 2,
	X86_PREFIX_REPEATS = 1 << 3,
	X86_REX = 1 << 4,
	/* opcodes that uprobe_init_insn() refuses: those that aren't in good_insns_64,
	   good_insns_32 */
	X86_REFUSED = 1 << 5,
	X86_REFUSED_32 = 1 << 6,
	/* an instruction of another map with this opcode byte is mistaken for that of the first
	 * map */
	X86_MISTAKEN = 1 << 7,
	/* a kprobe's emulation does it wrongly (prepare_emulation()) */
	X86_EMULATED_WRONGLY = 1 << 8,
};

struct x86_form {
	uint32_t has;	/* enum x86_property */
	uint8_t op;	/* enum x86_op */
	uint8_t sets;	/* enum x86_setter */
	uint8_t flow;	/* enum flow, as if the branch was a direct one */
	uint8_t branch; /* enum branch_kind */
};

#endif
