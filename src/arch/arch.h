/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch: decodes one instruction and describes what differs between CPU architectures. Public
 * header of src/arch. Pure: tables and functions of their arguments. Each architecture has a folder
 * and a row in arch.c.
 */
#ifndef BBTRACE_ARCH_ARCH_H
#define BBTRACE_ARCH_ARCH_H

#include "util/util.h"

/* What kind of branch an instruction is: the field kind of CONTRACT.md. NONE: not a branch; a site
 * may still be there, for an entry or a witness. */
enum branch_kind {
	BRANCH_NONE,
	BRANCH_JCC,  /* conditional on flags */
	BRANCH_LOOP, /* conditional on a counter: loop, loope, loopne, jrcxz, jecxz */
	BRANCH_JMP,
	BRANCH_CALL,
	BRANCH_IJMP, /* target in a register or in memory */
	BRANCH_ICALL,
	BRANCH_RET,
	BRANCH_KINDS
};
extern const char *const branch_kind_names[BRANCH_KINDS]; /* "jcc" ... NULL for NONE */

/* Where control can transfer after an instruction. */
enum flow {
	FLOW_NEXT,	  /* to the next instruction; also after syscall, int N, int3 (a handler may
			     resume) and, in the kernel, ud2 (WARN() resumes) */
	FLOW_BRANCH,	  /* as its branch_kind says */
	FLOW_STOP,	  /* nowhere: hlt, ud2 in user space */
	FLOW_UNSUPPORTED, /* unknown: far call, far jmp, far ret, iret, sysret, xbegin, xabort */
};

/*
 * Where an indirect branch finds its target: in a register, or in memory at seg_base + base + index
 * * scale + disp. For a call that leaves its return address in another register than link_reg,
 * index is that register.
 */
enum operand_kind {
	OPERAND_NONE,
	OPERAND_REG,
	OPERAND_MEM,
	OPERAND_SUM, /* the address itself is the target */
	/* Memory holds the distance of the target from the next instruction, in units of struct
	 * arch's alignment. */
	OPERAND_AHEAD,
};
enum operand_seg { SEG_NONE, SEG_FS, SEG_GS };
#define REG_NONE      0xff
#define REG_IP	      0xfe /* as base: the address of the next instruction */
#define EXTEND_SIGNED 0x80
struct operand {
	uint8_t kind;	     /* enum operand_kind */
	uint8_t base, index; /* register numbers of the architecture, REG_NONE, REG_IP */
	uint8_t scale;	     /* 1, 2, 4, 8 */
	uint8_t seg;	     /* enum operand_seg */
	uint8_t addr32;	     /* the address is truncated to 32 bits (prefix 67) */
	uint8_t size;	     /* bytes in memory; a target of 2 or 4 bytes is truncated */
	uint8_t extend;	     /* the number of low bits of the index that count, zero-extended, or
				sign-extended with EXTEND_SIGNED; 0: all of them */
	int32_t disp;
};

/* Why a site can't carry a probe. The text is what list --sites and -v show. */
enum probe_refusal {
	PROBE_OK,
	PROBE_VECTOR,	   /* a vector instruction that the kernel mistakes for the branch, nop, ret
			      or popf with the same opcode byte */
	PROBE_PREFIX,	   /* the kernel refuses uprobes on this prefix (notrack, lock, branch hint,
			      data16) */
	PROBE_UNPROVED,	   /* not proved to be the start of an instruction */
	PROBE_BLACKLIST,   /* kernel blacklist, noinstr, notrace */
	PROBE_KERNEL,	   /* the kernel refused it when attaching (static call, jump label) */
	PROBE_UNSUPPORTED, /* far branch, xbegin */
	PROBE_PATCHABLE,   /* unsafe to probe on Linux 6.18 and later: insn.patchable */
	PROBE_STEPPED,	 /* behaves differently when single-stepped out of line (pushf, syscall) */
	PROBE_EXCLUSIVE, /* of a load- and a store-exclusive, or between them: insn.exclusive */
	PROBE_WIDTH, /* 32-bit code that is something else in 64-bit mode: the kernel decodes it in
			the mode of whichever process maps the file first */
	PROBE_REFUSALS
};
extern const char *const probe_refusal_text[PROBE_REFUSALS]; /* NULL for OK */

/* Part of an atomic change by two instructions: the second one fails if there was an exception in
 * between. */
enum exclusive {
	EXCLUSIVE_NONE,
	EXCLUSIVE_LOAD,
	EXCLUSIVE_STORE,
	EXCLUSIVE_CLEAR, /* gives up: no store follows */
};

struct insn {
	uint64_t addr;
	uint64_t target;      /* direct branches: where it goes when taken */
	const char *mnemonic; /* static string, AT&T/Intel common form: "jne", "call", "jmp", "ret",
				 "loopne" */
	struct operand operand; /* indirect branches; ret: disp bytes of arguments are popped; the
				 memory that a plain instruction loads or stores */
	uint8_t len;
	uint8_t flow;	      /* enum flow */
	uint8_t kind;	      /* enum branch_kind */
	uint8_t reads[2];     /* conditional: the registers that the condition reads, REG_NONE: none
			       */
	uint16_t cond;	      /* conditional: the condition; only src/arch/NAME and bpf/arch/NAME.h
				 interpret it */
	uint8_t user_refusal; /* enum probe_refusal for a uprobe here */
	uint8_t kernel_refusal; /* for a kprobe */
	bool emulated; /* under a uprobe the kernel emulates it: one trap. Otherwise it single-steps
			  it: two */
	bool varies;   /* not all kernels do with it what .emulated says */
	bool only_compares; /* sets flags and changes nothing else */
	bool keeps_state;   /* leaves flags and memory unchanged, and writes only the registers that
			       graph__writes() returns */
	/* changes registers only, and what .operand names, by what they and the instruction
	 * contain: a fault apart, nothing keeps it from being executed at once. False: not known */
	bool is_plain;
	bool loads, stores; /* a plain one: from memory, to memory */
	bool thunk;	/* replaces a jump to a kernel thunk, or a call of one; set by graph, not by
			   decode */
	bool completes; /* a direct branch if a preceding instruction sets operand.base to a
			   constant, else indirect */
	bool patchable; /* a kernel may turn a uprobe on it into a call (x86: the 5-byte nop) */
	bool repeats;	/* one execution may hit a breakpoint on it several times (x86: rep) */
	bool slow;	/* may wait, enter the kernel, or repeat */
	bool enters_kernel; /* a system call, a software interrupt, a trap that resumes */
	uint8_t exclusive;  /* enum exclusive */
	bool padding;	    /* fills space between functions: nop, a breakpoint */
	/* A call, a ret or an indirect jump that is executed if cond holds; else control reaches
	 * the next instruction. */
	bool conditional;
	/* struct arch_modes: the mode that a direct branch leads to; the state in which control
	 * falls through to the next instruction */
	uint8_t target_mode, next_state;
	/* effect on the stack pointer, for stack.c */
	uint8_t sp_effect; /* enum sp_effect */
	int32_t sp_value; /* ADD: bytes added to sp; FROM_FP: sp = fp + value; FP_FROM_SP: fp = sp +
			     value */
};

#define SP_UNKNOWN INT32_MIN /* as a stack depth */
enum sp_effect {
	SP_SAME,
	SP_ADD,	       /* sp += value: push, pop, sub */
	SP_FROM_FP,    /* sp = fp + value */
	SP_FP_FROM_SP, /* fp = sp + value */
	SP_FP_LOST,    /* fp written in another way; sp += value: pop of fp */
	SP_LOST,       /* anything else */
	SP_LOADED,     /* sp loaded from memory addressed by neither sp nor fp: another stack or
			  frame */
	SP_LEAVE,      /* sp = fp + value; fp lost */
	SP_ADD_REG, /* sp += register sp_value, if its value follows from the code; else as SP_LOST
		     */
	SP_SUB_REG,
};

/* What an instruction does to the registers, as far as reading jump tables and IFUNC resolvers
 * needs it. */
enum detail_op {
	DETAIL_OTHER,	  /* see writes */
	DETAIL_CONST,	  /* dst = imm; also lea of a constant address */
	DETAIL_COPY,	  /* dst = the low bits of src, extended */
	DETAIL_LOAD,	  /* dst = bits of memory at mem, extended */
	DETAIL_STORE,	  /* bits of src to mem */
	DETAIL_LEA,	  /* dst = address of mem */
	DETAIL_ADD,	  /* dst += src */
	DETAIL_ADD_LOAD,  /* dst += memory at mem */
	DETAIL_ADD_CONST, /* dst += imm */
	DETAIL_AND_CONST, /* dst &= imm */
	DETAIL_SHL_CONST, /* dst = src << imm, both bits wide */
	DETAIL_SHR_CONST, /* dst = src >> imm, both bits wide */
	DETAIL_CMP,	  /* flags = src - with */
	DETAIL_CMP_CONST, /* flags = src - imm; src REG_NONE: memory at mem - imm */
	DETAIL_CMOV,	  /* dst = src or with */
	DETAIL_CMOV_LOAD, /* dst = memory or dst */
	DETAIL_PUSH,	  /* pushes src; REG_NONE: memory at mem, or a constant */
	/* src/explain reads these as well; others take them for DETAIL_OTHER: */
	DETAIL_CHOICE,	    /* as CMOV, of 32 bits */
	DETAIL_FLAGS,	    /* dst by the flags alone */
	DETAIL_SELF,	    /* dst by dst and constants */
	DETAIL_AND,	    /* dst &= src; dst REG_NONE: memory at mem */
	DETAIL_OR,	    /* dst |= src, likewise */
	DETAIL_STORE_CONST, /* bits of imm to mem */
	DETAIL_POP,	    /* dst = what the stack pointer points to */
};
struct insn_detail {
	uint8_t op, dst, src, with;
	uint8_t bits;	/* 8, 16, 32, 64 */
	bool sign;	/* COPY, LOAD, ADD_CONST: sign-extended, else zero-extended */
	bool subtracts; /* ADD_CONST: its flags are those of comparing dst with -imm */
	bool writes_flags, writes_memory;
	bool conditional; /* all this if cond holds (struct insn), else nothing */
	uint16_t cond;
	uint32_t writes; /* registers written, one bit each (calls: the caller-saved ones) */
	int64_t imm;
	struct operand mem; /* without base and index imm is the address (REG_IP is folded into it)
			     */
};

/* What an instruction does to the flags that a conditional branch reads. */
enum flags_effect {
	FLAGS_UNKNOWN, /* it may change some of them */
	FLAGS_KEPT,
	FLAGS_SET, /* it always sets all of them */
};

#include "arch/test.h"
#include "arch/execution.h"

/* ---- memory that an instruction has accessed ---- */

/* An access of memory, by the registers after the instruction. */
struct access {
	uint64_t addr; /* if located */
	uint32_t size; /* bytes; 0: not known, from addr on */
	/* How many bytes from addr on were stored as in stored; 0 if not known; the last ones if
	 * size is larger. */
	uint8_t known;
	bool located; /* where it was follows from the registers */
	bool reads, writes;
	bool repeats; /* somewhere within these bytes, at the last of its iterations */
	bool goes_on; /* there are iterations left */
	bool fills;   /* stored is repeated over all of it */
	uint8_t len;  /* of the instruction */
	uint8_t stored[16];
};
#define ACCESS_MOST 3
/* Registers, by number, and the bases of segments. */
struct access_state {
	const uint64_t *regs;
	uint64_t fs, gs;
};

/* ---- what differs between architectures ---- */

/* The argument registers of a call, in order. */
struct convention {
	const uint8_t *args;
	uint8_t nargs;
	uint8_t result; /* register */
};
enum convention_kind {
	CONVENTION_C,
	CONVENTION_GO,	    /* Go's own: go/src/cmd/compile/abi-internal.md; nargs 0: not known */
	CONVENTION_SYSCALL, /* a system call's, in its caller's registers */
	CONVENTIONS
};

/* How arguments are passed that are no integer of at most a word. */
struct arch_passing {
	bool known;
	bool by_reference;    /* of what is larger than two words: its address */
	bool result_argument; /* the address of such a result is the first argument */
	bool classes;	    /* a struct of up to two words is in registers by its words' classes */
	bool float_structs; /* one of up to four floats is in registers for them */
	bool even_pairs;    /* what is aligned to two words begins in an even register */
	bool splits;	    /* between the last register and the stack */
	bool closes;	    /* what found too few registers is the last one that looks for them */
	uint8_t floats;	    /* registers for them; 0: they are where integers are */
	bool floats_follow; /* further ones are where integers are; else on the stack */
};

/* How .eh_frame describes an ordinary frame: DWARF register numbers and byte offsets. */
struct arch_dwarf {
	const uint8_t *regs; /* by DWARF number: the register */
	uint8_t nregs;	     /* 0: stacks aren't unwound by rules */
	uint16_t entry_reg;  /* at a function's first instruction the CFA is this register + offset
			      */
	uint16_t entry_offset;
	/* return_reg's rule is that of the return address. In links it is a register of its own,
	 * which has the return address at the function's entry. */
	uint16_t fp, return_reg;
	bool links;
	/* In Go programs the frame pointer leads to the caller's frame pointer, and to the return
	 * address after it. */
	bool go_records;
	uint8_t address_bits;	  /* what is above them in a return address is a signature; 0: there
				     are none */
	int64_t fp_at, return_at; /* offsets from the CFA of the saved frame pointer and of the
				     return address; fp_at 0: frame pointers aren't followed */
	uint64_t cfa;		  /* offset of the CFA from the frame pointer */
};

/* ELF relocation types; 0: none. */
struct arch_relocations {
	uint32_t jump_slot, glob_dat, relative, irelative;
};

/* An entry of a PLT. */
struct plt_stub {
	uint64_t slot; /* address of the GOT slot that it jumps through */
	uint64_t size; /* > 0 */
	uint8_t lead;  /* how many bytes at its start are code of lead_mode (struct arch_modes) */
	uint8_t lead_mode;
	bool by_got; /* slot is an offset from the GOT's address, DT_PLTGOT */
};

/* Where ld.so(8) finds libraries. */
struct arch_loader {
	const char *folder; /* /lib/FOLDER */
	uint32_t flags;	    /* of an ld.so.cache entry: FLAG_ELF_LIBC6 and the machine */
	/* The glibc-hwcaps folders that this machine may use, best first, ending with NULL. NULL:
	 * none. */
	const char *const *(*hwcaps)(void);
};

struct breakpoint {
	uint8_t bytes[4];
	uint8_t len; /* 0: unknown */
};

/*
 * An architecture with several instruction sets. The mode of code is the set that it is in. In
 * files and registers, the low bits of a function's address have the mode; addresses of
 * instructions don't. decode, detail and format get code addresses (object__code_address()), which
 * hold what the bytes don't show: the mode in the low bits, the state in bits 32 to 39 (ARM: that
 * of the IT block), and CODE_IS_DATA.
 */
struct arch_modes {
	uint8_t mask;	 /* the low bits */
	uint8_t initial; /* the mode of the PLT, and of code for which nothing shows another one */
	/* Returns the mode that a mapping symbol begins, MODE_DATA, or -1 if it is no mapping
	 * symbol. */
	int (*of_symbol)(const char *name);
};
#define MODE_DATA	 0xff
#define CODE_STATE_SHIFT 32
#define CODE_IS_DATA	 (1ull << 40)

/* A machine that runs bbtrace: where hits have the costs that were measured. */
struct host {
	char cpu[49];	     /* its model; "": unknown */
	char hypervisor[13]; /* its name; "": unknown, or none */
	bool is_virtual;     /* it runs in a virtual machine, where a trap may cost far more */
};

/* The cost of a hit, by how the kernel implements the probe. Only ratios matter. */
enum cost_class {
	COST_EMULATED,	 /* one trap */
	COST_STEPPED,	 /* single-stepped out of line: two traps */
	COST_BREAKPOINT, /* kernel: kprobe with a breakpoint */
	COST_JUMP,	 /* kernel: kprobe optimised to a jump */
	COST_FTRACE,	 /* kernel: kprobe on the ftrace call at a function's start */
	COST_CLASSES
};
struct cost_row {
	const char *mechanism; /* NULL: the last row */
	bool kernel;
	uint32_t cost[COST_CLASSES]; /* ns */
};

/* A function with one instruction whose cost under a probe is measured. Three consecutive rows have
 * the same name. Only for the architecture that bbtrace is built for. */
struct sample {
	const char *name; /* NULL: the last row */
	void (*run)(void);
	const uint8_t *at; /* the instruction */
};

/* The kernel functions that implement system calls and take the caller's registers as their
 * argument. */
struct syscall_wrapper {
	const char *prefix;  /* of their names; NULL: the last row */
	bool is32;	     /* called by 32-bit programs */
	bool has_tracepoint; /* has a tracepoint, which lists the arguments */
};

enum thunk { THUNK_NONE, THUNK_RETURN, THUNK_REG /* + the register's number */ };

/* The kernel's code, and how the kernel implements kprobes. Any function may be NULL, if it does
 * not apply or is unknown. */
struct arch_kernel {
	const struct syscall_wrapper *syscalls;
	/* What a direct branch to symbol + offset means: enum thunk. */
	unsigned (*thunk)(const char *symbol, uint64_t offset);
	/* Whether these bytes look like a direct branch, and its target. Does not decode what
	 * precedes them. */
	bool (*branch_at)(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *target);
	/* The byte values that fill unused memory of modules, nfill of them. */
	const uint8_t *fill;
	uint8_t nfill;
	/* The nop that ftrace replaces by a call. */
	const uint8_t *ftrace_nop;
	uint8_t ftrace_size;
	bool ftrace_keeps;    /* the kernel accepts no kprobe on it */
	uint8_t landing_size; /* of the landing instruction (endbr64) that may precede the nop */
	/* Whether this is ftrace's call, and its target. */
	bool (*ftrace_call)(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *target);
	struct breakpoint breakpoint;
	uint8_t ip_after;    /* the instruction pointer at a kprobe's hit minus its address */
	bool counts_by_task; /* a task's thread_info has the preempt_count, not a variable of
				CPUs */
	uint8_t decodes; /* average bytes per instruction, to estimate how many the kernel decodes
			    to place a kprobe; 0: it decodes none */
	/* Whether this is the jump of an optimised kprobe, complete or being written, and its
	 * target. */
	bool (*detour)(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *target);
	/* Returns the length of the landing instruction at the start of these bytes; 0 if there is
	 * none. The kernel moves a kprobe on it to the next instruction. */
	size_t (*landing)(const uint8_t *bytes, size_t len);
	/* Whether a kernel emulates the instruction wrongly under a kprobe, so that execution
	 * continues at the wrong address. versions: text that contains the upstream version. */
	bool (*emulates_wrongly)(const uint8_t *bytes, size_t len, const char *versions);
};

/* reg: it gets the address; REG_NONE: a vector register gets what is there. at: the instruction. */
typedef void (*taken_address_fn)(void *ctx, uint64_t at, uint64_t address, uint8_t reg);

/*
 * One CPU architecture: tables and pure functions. Members are required unless marked otherwise.
 * Those that only tracing needs are optional: without them programs can be listed.
 */
/* An argument of a static probe (.note.stapsdt). */
enum usdt_kind { USDT_UNKNOWN, USDT_CONSTANT, USDT_REGISTER, USDT_MEMORY };
struct usdt_argument {
	uint8_t kind; /* enum usdt_kind */
	uint8_t size; /* bytes: 1, 2, 4 or 8 */
	bool is_signed;
	uint8_t base, index,
		scale; /* registers by number; REG_NONE: none. REG_IP: symbol's address */
	int64_t disp;  /* CONSTANT: its value */
	bool is_float;
	const char *symbol; /* in the note's text, symbol_len bytes of it; NULL: there is none */
	size_t symbol_len;
};
#define USDT_ARGUMENTS 12 /* of a probe, at most */
struct arch;
/* Sets the arguments that a note's text names, "8@%rdi -4@$5 ...", and returns their number. One
 * that isn't understood is USDT_UNKNOWN (arch.c). */
unsigned usdt__arguments(const struct arch *arch, const char *text,
			 struct usdt_argument out[USDT_ARGUMENTS]);
/* Returns where an argument's text is, *len bytes. */
const char *usdt__argument_text(const char *text, unsigned i, size_t *len);

struct arch {
	const char *name; /* "x86-64" */
	uint16_t machine; /* e_machine, little-endian */
	uint8_t word;	  /* bytes of an address: 8, or 4: of ELFCLASS32 */
	uint16_t hosts;	  /* the machine of kernels that run its programs, too; 0: none */
	bool ordered;	  /* other CPUs see stores in their order */

	/* ---- instructions ---- */

	uint8_t longest;		/* length of the longest, in bytes */
	uint8_t alignment;		/* of each, in bytes */
	const struct arch_modes *modes; /* NULL: there is one instruction set */
	/* Decodes at most len bytes (len > 0). addr: the code address. 0, or -EILSEQ: not an
	 * instruction. kernel: decode for kernel mode. */
	int (*decode)(const uint8_t *bytes, size_t len, uint64_t addr, bool kernel,
		      struct insn *out);
	/* The whole instruction as text, as a disassembler shows it. False if it can't. */
	bool (*format)(const uint8_t *bytes, size_t len, uint64_t addr, char *out, size_t size);
	/* What the instruction does to the registers. False: not an instruction. */
	bool (*detail)(const uint8_t *bytes, size_t len, uint64_t addr, struct insn_detail *out);
	/* By its bytes alone: false if an instruction neither has the address of code as a
	 * constant, which it puts into a register or memory, nor stores or copies the stack
	 * pointer. NULL: ask .detail of each. */
	bool (*might_take)(const uint8_t *bytes, size_t len);
	/* With .might_take: sets such a constant; false if there is none. */
	bool (*constant)(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *out);
	/* Sets the memory that it has accessed, by the state after it. Returns the number of
	 * accesses, -1 if it is not an instruction. NULL if not known. */
	int (*accesses)(const uint8_t *bytes, size_t len, uint64_t addr,
			const struct access_state *after, struct access out[ACCESS_MOST]);
	/* Why accesses of memory can't be watched; NULL if they can, provided that there is
	 * .accesses. */
	const char *unwatched;
	/* Whether this byte is an optional prefix: the bytes after it are an instruction, too. NULL
	 * if there are no prefixes. */
	bool (*is_prefix)(uint8_t byte);
	/* Sets where these bytes would lead if they were a direct branch; false if they can't be
	 * one. Does not examine what precedes them. NULL if not known. */
	bool (*leads_to)(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *target);
	/* Calls fn for each instruction in these bytes that takes an address of data, or completes
	 * one with another before it. They are found by their bytes alone: rarely, one is none.
	 * NULL if not known. */
	void (*each_address)(const uint8_t *bytes, size_t len, uint64_t addr, taken_address_fn fn,
			     void *ctx);
	/* Whether a conditional branch is taken, by the values of the registers that it reads. The
	 * BPF program has its own implementation: bpf/arch. */
	bool (*taken)(uint8_t kind, uint16_t cond, const uint64_t reads[2]);
	/*
	 * For a JCC that compares, or follows a comparison: sets the largest unsigned x for which x
	 * OP n (swapped: n OP x) makes the branch behave as taken says. Returns false if there is
	 * no such bound.
	 */
	bool (*bound)(uint16_t cond, bool taken, bool swapped, uint64_t n, uint64_t *max);
	/* Returns what an instruction does to the flags that a conditional branch of this kind and
	 * condition reads. NULL if not known. */
	enum flags_effect (*flags_effect)(const uint8_t *bytes, size_t len, uint8_t kind,
					  uint16_t cond);
	/*
	 * Appends what the outcome of a conditional branch proves, "rdi < 0x40 (unsigned)", from
	 * the text of the instruction that set its flags; NULL if that is not known. The operands
	 * are those after that instruction, or before it: "(before)". Returns false if there are no
	 * exact words for it, and appends nothing. Any text is accepted. NULL if not known.
	 */
	bool (*proves)(uint8_t kind, uint16_t cond, bool taken, const char *compare,
		       struct str *out);

	/* Returns true if a conditional compares unsigned numbers. NULL if not known. */
	bool (*is_unsigned)(uint8_t kind, uint16_t cond);
	/* What an instruction that sets flags tests, or a conditional that reads no flags. False:
	 * not known. NULL: of none. */
	bool (*test)(const uint8_t *bytes, size_t len, uint64_t addr, struct test *out);
	/* Returns flags_reg after it, computed from the operands. *unknown are the flags that don't
	 * follow from them, which are 0. */
	uint64_t (*test_flags)(const struct test *t, const uint64_t value[2], uint64_t *unknown);

	/* ---- registers and calls ---- */

	unsigned nregs;				     /* at most EVENT_REGS (src/event/event.h) */
	const char *const *reg_names;		     /* by register number */
	uint8_t sp_reg, ip_reg, flags_reg, link_reg; /* REG_NONE: none */
	struct convention conventions[CONVENTIONS];
	struct arch_passing passing; /* of CONVENTION_C */
	uint32_t clobbered;	     /* the caller-saved registers, one bit each */
	uint8_t call_pushes; /* bytes that a call pushes, the return address; 0: that is in link_reg
			      */
	/* Some functions pop their arguments: after a call the stack pointer may be higher than
	 * before it. */
	bool callee_pops;
	/*
	 * Returns the register that a function with this code loads with its return address,
	 * without doing anything else; REG_NONE if it does something else. NULL if there are no
	 * such functions.
	 */
	uint8_t (*loads_return)(const uint8_t *bytes, size_t len);

	/* ---- files ---- */

	struct arch_dwarf dwarf;
	struct arch_relocations relocations;
	struct arch_loader loader;
	/* Sets the PLT entry that begins here. entry_size is that of the section's header; 0 if not
	 * known. NULL: PLT entries aren't recognised. */
	bool (*plt_stub)(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t entry_size,
			 struct plt_stub *out);
	uint8_t plt_alignment;
	/* Parses an operand of a static probe's argument, and moves *text past it. NULL: none is
	 * understood. */
	bool (*usdt_operand)(const char **text, struct usdt_argument *out);
	/* Whether this Go function begins with a comparison of its stack bound, with g in a
	 * register. NULL: Go programs are treated like those of other languages. */
	bool (*go_checks_stack)(const uint8_t *bytes, size_t len);
	/* Returns true if it begins so, by whichever convention: it makes its stack grow. NULL if
	 * not known. */
	bool (*go_grows_stack)(const uint8_t *bytes, size_t len);

	/* ---- probes; all optional ---- */

	const char *untraceable;     /* why its programs can't be traced on it; NULL: they can */
	const char *breakpoint_name; /* "int3" */
	struct breakpoint uprobe_breakpoint;
	/* A key: the kernel accepts uprobes on all instructions with the same key, or on none of
	 * them. NULL: each instruction is tried. */
	uint64_t (*uprobe_form)(const uint8_t *bytes, size_t len, const struct insn *insn);
	/* Sets what the instruction does, if a program at a uprobe may execute it instead of
	 * single-stepping it. NULL: no such instruction is known. */
	bool (*execution)(const uint8_t *bytes, size_t len, struct execution *out);
	const struct cost_row *costs;		/* NULL: all hits cost the same */
	const struct cost_row *virtual_costs;	/* the same on a virtual machine */
	void (*this_machine)(struct host *out); /* this machine; NULL: nothing is known about it */
	const struct sample *samples;
	const struct arch_kernel *kernel; /* NULL: nothing is known about its kernel */
	const struct arch_copier *copier; /* NULL: its functions can't be copied */
	/* Reads the counter that the log takes its times from. NULL if there is none. */
	uint64_t (*ticks)(void);
	const struct arch_tracee *tracee; /* of this machine; NULL: can't be a tracer's */
};
const struct arch *arch__by_machine(uint16_t machine); /* NULL: unknown */
const char *arch__names(void);			       /* "x86-64 or arm64" */
const struct arch *arch__native(void);		       /* of this machine; NULL: unknown */
/* Returns true if this machine's kernel runs its programs. */
bool arch__runs_here(const struct arch *arch);
/* Truncates a computed address: it wraps around at the size of a word. */
static inline uint64_t arch__address(const struct arch *arch, uint64_t addr)
{
	return arch->word == 4 ? (uint32_t)addr : addr;
}

#include "arch/copier.h"
#include "arch/tracee.h"

#endif
