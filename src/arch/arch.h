/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch: one instruction, and what differs between CPU architectures. Front door of src/arch. Pure:
 * tables and functions of their arguments, one folder an architecture, a row each in arch.c.
 */
#ifndef BBTRACE_ARCH_H
#define BBTRACE_ARCH_H

#include "util/util.h"

/* kind of CONTRACT: what one site is. NONE: an entry or a witness probe that is no branch. */
enum branch_kind {
	BRANCH_NONE,
	BRANCH_JCC,  /* conditional on flags */
	BRANCH_LOOP, /* loop, loope, loopne, jrcxz, jecxz: conditional on a counter */
	BRANCH_JMP,
	BRANCH_CALL,
	BRANCH_IJMP, /* target in a register or in memory */
	BRANCH_ICALL,
	BRANCH_RET,
	BRANCH_KINDS
};
extern const char *const branch_kind_names[BRANCH_KINDS]; /* "jcc" ... NULL for NONE */

/* How control goes on behind an instruction. */
enum flow {
	FLOW_NEXT,   /* to the next instruction (syscall, int N, int3 for who handles it, ud2 in
			the kernel where a WARN resumes) */
	FLOW_BRANCH, /* as its branch_kind says */
	FLOW_STOP,   /* nowhere: hlt, ud2 in user space */
	FLOW_UNSUPPORTED, /* far call, far jmp, far ret, iret, sysret, xbegin, xabort: where it goes
			     can't be told */
};

/* Where an indirect branch's target is. x86: addresses are seg_base + base + index * scale + disp.
 */
enum operand_kind { OPERAND_NONE, OPERAND_REG, OPERAND_MEM };
enum operand_seg { SEG_NONE, SEG_FS, SEG_GS };
#define REG_NONE 0xff
#define REG_IP	 0xfe /* base is the address behind the instruction */
struct operand {
	uint8_t kind;	     /* enum operand_kind */
	uint8_t base, index; /* register numbers of the architecture (x86: rax 0 … r15 15),
				REG_NONE, REG_IP */
	uint8_t scale;	     /* 1, 2, 4, 8 */
	uint8_t seg;	     /* enum operand_seg */
	uint8_t addr32;	     /* the address is cut to 32 bits (0x67) */
	uint8_t size;	     /* bytes of the target: 8; 2 and 4 are cut targets */
	int32_t disp;
};

/* Why a site can't carry a probe. The text is what list --sites and -v show. */
enum probe_refusal {
	PROBE_OK,
	PROBE_VECTOR,	/* a vector instruction that the kernel takes for a branch, nop, ret or popf
			   of that opcode */
	PROBE_PREFIX,	/* the kernel refuses uprobes on this prefix (notrack, lock, branch hint,
			   data16) */
	PROBE_UNPROVED, /* not proved to be an instruction start */
	PROBE_BLACKLIST,   /* kernel blacklist, noinstr, notrace */
	PROBE_KERNEL,	   /* the kernel refused it when attaching (static call, jump label) */
	PROBE_UNSUPPORTED, /* far branch, xbegin */
	PROBE_NOP5,	   /* 5-byte nop: unsafe to probe from 6.18 on */
	PROBE_STEPPED,	   /* goes wrong when it is single-stepped out of line (pushf, syscall) */
	PROBE_REFUSALS
};
extern const char *const probe_refusal_text[PROBE_REFUSALS]; /* NULL for OK */

struct insn {
	uint64_t addr;
	uint64_t target;      /* direct branches: where it goes when taken */
	const char *mnemonic; /* static string, AT&T/Intel common form: "jne", "call", "jmp", "ret",
				 "loopne" */
	struct operand operand; /* indirect branches */
	uint8_t len;
	uint8_t flow; /* enum flow */
	uint8_t kind; /* enum branch_kind */
	uint8_t cond; /* JCC: x86 cc 0 … 15; LOOP: enum x86_loop | address size; opaque outside arch
		       */
	uint8_t user_refusal; /* enum probe_refusal for a uprobe here */
	bool emulated; /* the kernel emulates it under a uprobe: one trap; else single-stepped: two
			*/
	bool only_compares; /* sets flags and does nothing else */
	bool keeps_state;   /* leaves flags and memory as they were, and no more registers than
			       graph__writes() says */
	bool thunk;   /* stands for a kernel thunk that it jumps to or calls; set by graph, not by
			 decode */
	bool nop5;    /* the very 5-byte nop that a kernel may turn into a call */
	bool repeats; /* a rep string instruction: a breakpoint on it is hit once an iteration */
	bool padding; /* nop or int3: what fills the room between functions */
	/* effect on the stack pointer, for stack.c */
	uint8_t sp_effect; /* enum sp_effect */
	int32_t sp_value; /* ADD: bytes added to sp; FROM_FP: sp = fp + value; FP_FROM_SP: fp = sp +
			     value */
};

#define SP_UNKNOWN INT32_MIN /* of how deep the stack is */
enum sp_effect {
	SP_SAME,
	SP_ADD,	       /* push, pop, sub, add, lea rsp,[rsp+n] */
	SP_FROM_FP,    /* mov rsp,rbp; lea rsp,[rbp+n]; leave (sp = fp + 8, fp lost) */
	SP_FP_FROM_SP, /* mov rbp,rsp; lea rbp,[rsp+n] */
	SP_FP_LOST,    /* rbp written otherwise, sp changed by sp_value (pop rbp: 8) */
	SP_LOST,       /* anything else */
	SP_LOADED,     /* mov rsp,[reg+n] of neither rsp nor rbp: another stack, or another frame */
	SP_LEAVE,      /* sp = fp + 8; fp lost */
};

/* What an instruction does to the registers: enough to read jump tables and IFUNC resolvers. */
enum detail_op {
	DETAIL_OTHER, /* see writes */
	DETAIL_CONST, /* dst = imm, also lea of an address that is known from the code */
	DETAIL_COPY,  /* dst = the low bits of src, extended */
	DETAIL_LOAD,  /* dst = bits of memory at mem, extended */
	DETAIL_STORE, /* bits of src to mem */
	DETAIL_LEA,   /* dst = address of mem */
	DETAIL_ADD,   /* dst += src */
	DETAIL_ADD_CONST,
	DETAIL_AND_CONST, /* dst &= imm */
	DETAIL_SHR_CONST, /* dst >>= imm, dst being bits wide */
	DETAIL_CMP_CONST, /* flags of src, or where that is REG_NONE of memory at mem, minus imm */
	DETAIL_CMOV,	  /* dst = src or dst */
	DETAIL_CMOV_LOAD, /* dst = memory or dst */
	DETAIL_PUSH,	  /* src; REG_NONE: memory at mem, or a constant */
};
struct insn_detail {
	uint8_t op, dst, src;
	uint8_t bits; /* 8, 16, 32, 64 */
	bool sign;    /* COPY, LOAD: sign-extended, else zero-extended */
	bool writes_flags, writes_memory;
	uint32_t writes; /* registers that hold something else afterwards, one bit each (calls: the
			    caller-saved) */
	int64_t imm;
	struct operand mem; /* a base of REG_IP is folded into imm: then base is REG_NONE and imm
			       the address */
};

/* One CPU architecture: tables and pure functions. Rows in arch/arch.c. */
struct arch {
	const char *name;
	uint16_t machine; /* e_machine */
	unsigned nregs;
	const char *const *reg_names; /* by register number */
	unsigned nargs;
	const uint8_t *user_args; /* register numbers in the order of the calling convention */
	const uint8_t *kernel_args;
	unsigned ngo_args;
	const uint8_t *go_args; /* Go's own convention (its src/cmd/compile/abi-internal.md) */
	uint8_t return_reg, sp_reg, ip_reg, flags_reg, counter_reg;
	uint8_t call_pushes; /* bytes of stack that a call takes for the return address */
	uint32_t clobbered;  /* registers that a call may change, one bit each */
	/* Decodes at most len bytes (len > 0). 0, or -EILSEQ: no instruction. kernel: decode for
	 * kernel mode. */
	int (*decode)(const uint8_t *bytes, size_t len, uint64_t addr, bool kernel,
		      struct insn *out);
	/* JCC, LOOP: was it taken, with these flags (low 16 bits of the flags register) and this
	 * counter register? */
	bool (*taken)(uint8_t kind, uint8_t cond, uint16_t flags, uint64_t counter);
	/* The whole instruction as text, as a disassembler shows it. Returns false if it can't. */
	bool (*format)(const uint8_t *bytes, size_t len, uint64_t addr, char *out, size_t size);
	/* May this byte stand in front of an instruction that is one without it as well? */
	bool (*is_prefix)(uint8_t byte);
	/* What the instruction does to the registers. Returns false if it is none. */
	bool (*detail)(const uint8_t *bytes, size_t len, uint64_t addr, struct insn_detail *out);
	/* JCC: with how many values of (unsigned) x is x OP n as the condition and taken say: at
	 * most *max. */
	bool (*bound)(uint8_t cond, bool taken, uint64_t n, uint64_t *max);
};
const struct arch *arch__by_machine(uint16_t machine); /* NULL: not known */

/* The rows. */
extern const struct arch arch_x86_64;

#endif
