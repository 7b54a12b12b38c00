/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch: one instruction, and what differs between CPU architectures. Public header of src/arch.
 * Pure: tables and functions of their arguments, one folder an architecture, a row each in arch.c.
 */
#ifndef BBTRACE_ARCH_H
#define BBTRACE_ARCH_H

#include "util/util.h"

/* kind in CONTRACT.md: what one site is. NONE: an entry or a witness probe that is no branch. */
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

/* Where an indirect branch's target is: in a register, or at seg_base + base + index * scale +
 * disp.
 */
enum operand_kind { OPERAND_NONE, OPERAND_REG, OPERAND_MEM };
enum operand_seg { SEG_NONE, SEG_FS, SEG_GS };
#define REG_NONE      0xff
#define REG_IP	      0xfe /* base is the address behind the instruction */
#define EXTEND_SIGNED 0x80
struct operand {
	uint8_t kind;	     /* enum operand_kind */
	uint8_t base, index; /* register numbers of the architecture, REG_NONE, REG_IP */
	uint8_t scale;	     /* 1, 2, 4, 8 */
	uint8_t seg;	     /* enum operand_seg */
	uint8_t addr32;	     /* the address is cut to 32 bits (0x67) */
	uint8_t size;	     /* bytes of the target: 8; 2 and 4 are cut targets */
	uint8_t extend;	     /* so many low bits of the index count, zero-extended, with
				EXTEND_SIGNED sign-extended; 0: all of it */
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
	PROBE_PATCHABLE,   /* unsafe to probe from 6.18 on: insn.patchable */
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
	uint8_t flow;	      /* enum flow */
	uint8_t kind;	      /* enum branch_kind */
	uint8_t reads[2];     /* conditional: the registers that decide, REG_NONE: none. What the
				 condition makes of them (bits, a bit's number) is in cond */
	uint16_t cond;	      /* conditional: of src/arch/NAME and bpf/arch/NAME.h alone */
	uint8_t user_refusal; /* enum probe_refusal for a uprobe here */
	bool emulated; /* the kernel emulates it under a uprobe: one trap; else single-stepped: two
			*/
	bool only_compares; /* sets flags and does nothing else */
	bool keeps_state;   /* leaves flags and memory as they were, and no more registers than
			       graph__writes() says */
	bool thunk;	/* stands for a kernel thunk that it jumps to or calls; set by graph, not by
			   decode */
	bool completes; /* second half of a direct branch, if what is in front of it sets
			   operand.base to a constant; else indirect */
	bool patchable; /* a kernel may turn a uprobe on it into a call (x86: the 5-byte nop) */
	bool repeats;	/* a breakpoint on it is hit more than once a run (x86: rep) */
	bool padding;	/* what fills the room between functions: nop, a breakpoint */
	/* effect on the stack pointer, for stack.c */
	uint8_t sp_effect; /* enum sp_effect */
	int32_t sp_value; /* ADD: bytes added to sp; FROM_FP: sp = fp + value; FP_FROM_SP: fp = sp +
			     value */
};

#define SP_UNKNOWN INT32_MIN /* of how deep the stack is */
enum sp_effect {
	SP_SAME,
	SP_ADD,	       /* sp += value: push, pop, sub */
	SP_FROM_FP,    /* sp = fp + value */
	SP_FP_FROM_SP, /* fp = sp + value */
	SP_FP_LOST,    /* fp written otherwise, sp += value: pop of fp */
	SP_LOST,       /* anything else */
	SP_LOADED,     /* sp from memory of neither sp nor fp: another stack, or another frame */
	SP_LEAVE,      /* sp = fp + value; fp lost */
	SP_ADD_REG,    /* sp += what register sp_value holds; unknown where the code doesn't tell */
	SP_SUB_REG,
};

/* What an instruction does to the registers: enough to read jump tables and IFUNC resolvers. */
enum detail_op {
	DETAIL_OTHER,	  /* see writes */
	DETAIL_CONST,	  /* dst = imm, also lea of an address that is known from the code */
	DETAIL_COPY,	  /* dst = the low bits of src, extended */
	DETAIL_LOAD,	  /* dst = bits of memory at mem, extended */
	DETAIL_STORE,	  /* bits of src to mem */
	DETAIL_LEA,	  /* dst = address of mem */
	DETAIL_ADD,	  /* dst += src */
	DETAIL_ADD_CONST, /* dst += imm */
	DETAIL_AND_CONST, /* dst &= imm */
	DETAIL_SHL_CONST, /* dst = src << imm, both being bits wide */
	DETAIL_SHR_CONST, /* dst = src >> imm, both being bits wide */
	DETAIL_CMP,	  /* flags of src minus with */
	DETAIL_CMP_CONST, /* flags of src, or where that is REG_NONE of memory at mem, minus imm */
	DETAIL_CMOV,	  /* dst = src or with */
	DETAIL_CMOV_LOAD, /* dst = memory or dst */
	DETAIL_PUSH,	  /* src; REG_NONE: memory at mem, or a constant */
};
struct insn_detail {
	uint8_t op, dst, src, with;
	uint8_t bits; /* 8, 16, 32, 64 */
	bool sign;    /* COPY, LOAD, ADD_CONST: sign-extended, else zero-extended */
	bool writes_flags, writes_memory;
	uint32_t writes; /* registers that hold something else afterwards, one bit each (calls: the
			    caller-saved) */
	int64_t imm;
	struct operand mem; /* a base of REG_IP is folded into imm: then base is REG_NONE and imm
			       the address */
};

/* ---- what differs between architectures ---- */

/* Which registers a call takes its arguments from, in order. */
struct convention {
	const uint8_t *args;
	uint8_t nargs;
	uint8_t result; /* register */
};
enum convention_kind {
	CONVENTION_C,
	CONVENTION_GO,	    /* Go's own: go/src/cmd/compile/abi-internal.md; nargs 0: not known */
	CONVENTION_SYSCALL, /* of a system call, in the registers of its caller */
	CONVENTIONS
};

/* What .eh_frame says of an ordinary frame: DWARF's register numbers, and bytes. */
struct arch_dwarf {
	uint16_t entry_reg; /* the CFA at a function's first instruction: this register + offset */
	uint16_t entry_offset;
	uint16_t fp, return_reg;
	int64_t fp_at, return_at; /* from the CFA: where a frame pointer that leads on, and the
				     return address, are kept; fp_at 0: frames aren't followed */
	uint64_t cfa;		  /* from such a frame pointer */
};

/* ELF's relocation types, 0: there is none. */
struct arch_relocations {
	uint32_t jump_slot, glob_dat, relative, irelative;
};

/* A stub of a PLT. */
struct plt_stub {
	uint64_t slot; /* the address that it jumps through */
	uint64_t size; /* > 0 */
};

/* ld.so(8) */
struct arch_loader {
	const char *folder; /* of libraries: /lib/FOLDER */
	uint32_t flags;	    /* of an entry of ld.so.cache: FLAG_ELF_LIBC6 and the machine */
	/* Folders of glibc-hwcaps that this machine may use, the best first, ends with NULL; NULL:
	 * there are none. */
	const char *const *(*hwcaps)(void);
};

struct breakpoint {
	uint8_t bytes[4];
	uint8_t len; /* 0: not known */
};

/* What a hit costs. Only the ratios count. */
enum cost_class {
	COST_EMULATED,	 /* one trap */
	COST_STEPPED,	 /* single-stepped out of line: two */
	COST_BREAKPOINT, /* kernel: a kprobe's */
	COST_JUMP,	 /* kernel: a kprobe that was optimised to a jump */
	COST_FTRACE,	 /* kernel: a kprobe on the call to ftrace that a function begins with */
	COST_CLASSES
};
struct cost_row {
	const char *mechanism; /* NULL: the last row */
	bool kernel;
	uint16_t cost[COST_CLASSES];
};

/* A function of one instruction that is worth measuring, three of each name, one behind the other.
 * Only of the machine that this is built for. */
struct sample {
	const char *name; /* NULL: the last one */
	void (*run)(void);
	const uint8_t *at; /* the instruction */
};

/* The functions that system calls begin with: all take the caller's registers. */
struct syscall_wrapper {
	const char *prefix; /* of their names; NULL: the last row */
	bool is32;	    /* the registers are those of a 32-bit program */
	bool told;	    /* its tracepoint tells the number of its arguments */
};

enum thunk { THUNK_NONE, THUNK_RETURN, THUNK_REG /* + the register's number */ };

/* The kernel's code, and what it makes of kprobes. Any function may be NULL: there is no such
 * thing, or it isn't known. */
struct arch_kernel {
	const struct syscall_wrapper *syscalls;
	/* What a direct branch to offset bytes behind this symbol is: enum thunk. */
	unsigned (*thunk)(const char *symbol, uint64_t offset);
	/* Do these bytes look like a direct branch, and where does it go? Without decoding what is
	 * before them. */
	bool (*branch_at)(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *target);
	/* What modules' memory is filled up with: bytes, nfill of them. */
	const uint8_t *fill;
	uint8_t nfill;
	/* The nop that ftrace turns into a call. */
	const uint8_t *ftrace_nop;
	uint8_t ftrace_size;
	uint8_t landing_size; /* of the landing instruction that may come before it */
	/* Is this ftrace's call, and whom does it call? */
	bool (*ftrace_call)(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *target);
	struct breakpoint breakpoint;
	uint8_t ip_behind; /* how far behind a kprobe's address the instruction pointer is */
	uint8_t decodes;   /* each so many bytes is an instruction that the kernel decodes to place
			      a kprobe; 0: none */
	/* A jump that an optimised kprobe has become, or is becoming: to where. */
	bool (*detour)(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *target);
	/* Bytes of the landing instruction that code begins with, behind which the kernel puts a
	 * kprobe that is asked for here. */
	size_t (*landing)(const uint8_t *bytes, size_t len);
	/* Does a kernel of these versions (text that has upstream's) emulate the instruction
	 * wrongly under a kprobe? Then the system goes on at the wrong place. */
	bool (*emulates_wrongly)(const uint8_t *bytes, size_t len, const char *versions);
};

/*
 * One CPU architecture: tables and pure functions. Rows in arch/arch.c. What isn't marked otherwise
 * must be there; what is needed for tracing only may be missing: then foreign programs are listed.
 */
struct arch {
	const char *name; /* "x86-64" */
	uint16_t machine; /* e_machine, of 64 bits and little-endian */

	/* ---- instructions ---- */

	uint8_t longest;   /* bytes */
	uint8_t alignment; /* of each */
	/* Decodes at most len bytes (len > 0). 0, or -EILSEQ: no instruction. kernel: decode for
	 * kernel mode. */
	int (*decode)(const uint8_t *bytes, size_t len, uint64_t addr, bool kernel,
		      struct insn *out);
	/* The whole instruction as text, as a disassembler shows it. Returns false if it can't. */
	bool (*format)(const uint8_t *bytes, size_t len, uint64_t addr, char *out, size_t size);
	/* What the instruction does to the registers. Returns false if it is none. */
	bool (*detail)(const uint8_t *bytes, size_t len, uint64_t addr, struct insn_detail *out);
	/* May this byte stand in front of an instruction that is one without it as well? NULL: none
	 * may. */
	bool (*is_prefix)(uint8_t byte);
	/* Of a conditional branch: is it taken, with these values of the registers that it reads?
	 * The kernel side has its own: bpf/arch. */
	bool (*taken)(uint8_t kind, uint16_t cond, const uint64_t reads[2]);
	/* JCC that compares or follows a comparison: with how many values of (unsigned) x is
	 * x OP n, or swapped n OP x, as the condition and taken say: at most *max. */
	bool (*bound)(uint16_t cond, bool taken, bool swapped, uint64_t n, uint64_t *max);

	/* ---- registers and calls ---- */

	unsigned nregs;				     /* at most EVENT_REGS (src/event/event.h) */
	const char *const *reg_names;		     /* by register number */
	uint8_t sp_reg, ip_reg, flags_reg, link_reg; /* REG_NONE: there is none */
	uint16_t flags_mask; /* bits of flags_reg that trace files of formats 1 and 2 have */
	struct convention conventions[CONVENTIONS];
	uint32_t clobbered;  /* registers that a call may change, one bit each */
	uint8_t call_pushes; /* bytes of stack that a call takes for the return address; 0: it is in
				link_reg */

	/* ---- files ---- */

	struct arch_dwarf dwarf;
	struct arch_relocations relocations;
	struct arch_loader loader;
	/* The stub of a PLT that begins here, in a section whose entries are said to have this many
	 * bytes (0: unknown). NULL: stubs aren't known. */
	bool (*plt_stub)(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t entry_size,
			 struct plt_stub *out);
	uint8_t plt_alignment;
	/* Does this code of Go begin by comparing its stack's bound, g in a register? NULL: Go's
	 * programs are as any other. */
	bool (*go_checks_stack)(const uint8_t *bytes, size_t len);

	/* ---- probes; all may be missing ---- */

	const char *breakpoint_name; /* "int3" */
	struct breakpoint uprobe_breakpoint;
	/* Two instructions of the same form are both refused by the kernel, or neither. NULL: each
	 * differs. */
	uint64_t (*uprobe_form)(const uint8_t *bytes, size_t len, const struct insn *insn);
	const struct cost_row *costs; /* NULL: all hits cost the same */
	const struct sample *samples;
	const struct arch_kernel *kernel; /* NULL: nothing is known of its kernel */
};
const struct arch *arch__by_machine(uint16_t machine); /* NULL: not known */
const char *arch__names(void);			       /* "x86-64 or arm64" */
const struct arch *arch__native(void);		       /* that of this machine; NULL: not known */

#endif
