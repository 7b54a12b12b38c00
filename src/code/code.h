/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code: what the bytes mean. Front door of src/code. Pure: no system call, no BPF, no /proc, no
 * exit.
 *
 * arch: decodes one instruction and says what a branch did, given the registers. graph: follows
 * control flow from the functions' entries. plan: the frozen list of functions, blocks and sites,
 * and which site carries a probe.
 */
#ifndef BBTRACE_CODE_H
#define BBTRACE_CODE_H

#include "target/target.h"
#include "util/util.h"

/* ---- instructions ---- */

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
	uint8_t return_reg, sp_reg, counter_reg;
	uint32_t clobbered; /* registers that a call may change, one bit each */
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

/* As object__frame_link(), by the code of a Go function, which has no .eh_frame (prologue.c). */
enum frame_link prologue__frame_link(const struct object *o, uint64_t vaddr);

/* ---- the plan ---- */

#define NO_SITE	       UINT32_MAX
#define NO_BLOCK       UINT32_MAX
#define NO_FUNCTION    UINT32_MAX
#define PLAN_MAX_SITES (1u << 20) /* the kernel's MAX_UPROBE_MULTI_CNT */

/* One control-transfer instruction, or a function's first instruction, or both. Index = site id =
 * attach cookie. */
struct plan_site {
	uint64_t vaddr;
	uint64_t target;      /* direct: when taken; 0 for indirect and ret */
	const char *mnemonic; /* NULL where kind is NONE */
	struct operand operand;
	uint32_t object;   /* index into plan->objects */
	uint32_t function; /* whose range holds it: index into plan->functions */
	uint32_t block;	   /* the block that it ends (or starts, for an entry that is no branch) */
	uint8_t len;
	uint8_t kind; /* enum branch_kind */
	uint8_t cond;
	uint8_t entry; /* 1: its probe tells the entry of .function: it is the first instruction, or
			* the branch that ends the first block with nothing but comparisons before
			* it */
	uint8_t refusal;  /* enum probe_refusal */
	uint8_t probe;	  /* 1: carries a probe */
	uint8_t probe_at; /* an entry's probe: bytes behind vaddr, where registers are still as at
			     vaddr */
	uint8_t repeats;  /* a rep string instruction: its probe is hit once an iteration */
	uint8_t thunk;	  /* kernel: a jmp to a return thunk (kind RET) or call/jmp to an indirect
			     thunk */
	uint8_t switched; /* the stack pointer was loaded anew in this call: it doesn't say whose
			     branch this is (sp_delta is SP_UNKNOWN) */
	int32_t sp_delta; /* entry_sp - sp just before it runs, bytes; SP_UNKNOWN */
};
#define SP_UNKNOWN INT32_MIN

/* A basic block: runs from start to its last instruction without a branch or a join. */
struct plan_block {
	uint64_t start, end; /* [start, end), end is behind the last instruction */
	uint32_t object;
	uint32_t function; /* whose range holds start */
	uint32_t site;	/* the branch that ends it, NO_SITE if it just runs into next (or stops) */
	uint32_t next;	/* fall-through (also behind a call): block index, NO_BLOCK: none, or it
			   leaves the plan */
	uint32_t taken; /* direct target when inside the plan: block index; NO_BLOCK otherwise. Not
			   for calls */
	uint32_t table,
		ntable; /* IJMP: successors known from a jump table: plan->table[table … + ntable).
			 * With unresolved set they are what was found, perhaps not all */
	uint8_t noreturn;   /* ends in a call that does not return */
	uint8_t unresolved; /* IJMP whose targets could not be told */
	uint8_t leaves; /* the taken edge (JMP, JCC, IJMP without table) leaves the function: a tail
			   call or a shared tail */
	uint8_t pad;	/* enum pad */
};

/* Is a block entered from elsewhere? */
enum pad {
	PAD_NONE,
	PAD_LANDING, /* by the unwinder */
	PAD_RESUMED, /* behind what was held for the end of a way */
};

/* Why a function's entry can't carry a return probe. */
enum return_refusal {
	RETURN_OK,
	RETURN_NO_ENTRY,  /* its entry carries no probe that is hit once a call */
	RETURN_CAUGHT,	  /* it catches exceptions, which can't pass a return probe */
	RETURN_REENTERED, /* control comes back to its entry with another stack */
	RETURN_TWICE,	  /* it keeps its return address for a second return, as setjmp(3) does */
	RETURN_NO_WAY,	  /* it is not seen to return to what is on top of the stack at its entry */
	RETURN_REFUSALS
};
extern const char *const return_refusal_text[RETURN_REFUSALS]; /* NULL for OK */

struct plan_function {
	const char *name; /* shown */
	const char *raw;  /* NULL without symbol */
	uint32_t object;
	uint32_t entry_site; /* NO_SITE for FUNCTION_RANGE */
	uint32_t entry_block;
	unsigned flags; /* enum function_flags */
	const struct range *ranges;
	size_t nranges;
	uint32_t branches;	/* its branch sites */
	uint32_t skipped;	/* of those without probe for a refusal */
	uint32_t silent;	/* of its branches without probe, whatever the reason */
	uint32_t unresolved;	/* indirect jumps whose table was not understood */
	uint64_t unreached;	/* bytes of its ranges that are among plan->gaps */
	uint8_t arguments;	/* as in struct function */
	uint8_t return_refusal; /* enum return_refusal, where return probes are asked for */
};

/* Bytes of all its ranges. */
uint64_t plan_function__size(const struct plan_function *f);

struct plan_object {
	const struct object *object; /* NULL when the plan came out of a trace file */
	const char *path;
	uint16_t machine;
	bool kernel; /* the kernel or a module */
	bool module;
};

/* Which branches carry a probe. The steps that come out are the same, but for the times that
 * weren't measured. */
enum plan_placement {
	PLACEMENT_FULL,	   /* every one */
	PLACEMENT_IMPLIED, /* not the jumps and calls that what comes next implies */
	PLACEMENT_WITNESS, /* nor the conditionals that it tells */
};

/* A PLT stub that jumps to a function of the plan, asked for or silent. */
struct plan_stub {
	const struct object *object;
	uint64_t vaddr;
};

/* Which function an address belongs to. */
struct plan_piece {
	uint64_t start, end;
	uint32_t object, function;
};

/* Bytes of a function that nothing known leads to: they were not decoded and carry no probe. Not
 * padding. */
struct plan_gap {
	uint64_t start, end;
	uint32_t object, function;
};

/* The source line of the code from vaddr on, up to the next row of that object. line 0: of none
 * that is known. */
struct plan_line {
	uint64_t vaddr;
	uint32_t object;
	uint32_t file; /* index into plan->line_files */
	uint32_t line;
};

struct plan {
	const struct arch *arch; /* of all its objects */
	enum plan_placement placement;
	bool silent_rets;   /* some rets carry no probe because the path tells them */
	bool return_probes; /* returns are told by return probes on entries, not at rets */
	bool kernel;
	VEC(struct plan_object) objects;
	VEC(struct plan_function) functions;
	VEC(struct plan_site) sites;   /* by object, then vaddr */
	VEC(struct plan_block) blocks; /* by object, then start */
	VEC(uint32_t) table;	       /* block indices */
	VEC(struct plan_stub) stubs;   /* where a tail call through the PLT leads is in the plan */
	VEC(struct plan_piece) pieces; /* by object, then start; none: a plan made by hand */
	VEC(struct plan_gap) gaps;     /* by object, then start */
	VEC(struct plan_line)
	lines; /* by object, then vaddr. Empty unless plan__lines() was called or a file had them */
	VEC(char *) line_files; /* paths, as debug information has them; owned */
	/* counts for the summary */
	uint32_t probes;	/* sites that carry a probe */
	uint32_t skipped;	/* sites that should and can't */
	uint32_t ifunc_unknown; /* IFUNC resolvers that may return more than what was found */
	void *priv;		/* string pool and function list */
};

enum plan_events { PLAN_ENTRY = 1, PLAN_BRANCH = 2, PLAN_RETURN = 4 };

/* How often a branch ran before. */
struct branch_counts {
	uint64_t taken, not_taken;
};

/* What the kernel does with the instruction under a probe. */
enum cost_class {
	COST_EMULATED, /* one trap */
	COST_STEPPED,  /* single-stepped out of line: two */
	COST_INT3,     /* kernel: a kprobe's breakpoint */
	COST_JUMP,     /* kernel: a kprobe that was optimised to a jump */
	COST_FTRACE,   /* kernel: a kprobe on the call to ftrace that a function begins with */
	COST_CLASSES
};
extern const char *const cost_class_names[COST_CLASSES];

/* What a hit costs, relative to the cheapest. */
struct cost_row {
	uint16_t machine;
	const char *mechanism;
	bool kernel;
	uint16_t cost[COST_CLASSES];
};
extern const struct cost_row cost_rows[]; /* ends with machine 0 */
/* Of a branch whose way the path may tell: a conditional, or a jump by a table. */
enum cost_class cost__class(const struct cost_row *row, uint8_t kind);
/* mechanism NULL: the best one. Never NULL. */
const struct cost_row *cost__row(uint16_t machine, bool kernel, const char *mechanism);

struct plan_options {
	unsigned events; /* enum plan_events: what is asked for */
	bool kernel;
	enum plan_placement placement;
	bool exact_flags; /* the flags register is asked for on entry: it has to be as it was there
			   */
	bool nop5_unsafe; /* refuse a probe on a 5-byte nop */
	bool return_probes;	       /* tell returns by return probes; user mode */
	const struct plan_stub *stubs; /* copied */
	size_t nstubs;
	/* witness: what an earlier run says of a branch, in place of guesses; false: nothing is
	 * known of its object. NULL: none */
	bool (*profile)(void *ctx, const struct object *o, uint64_t vaddr,
			struct branch_counts *counts);
	void *profile_ctx;
	const char *mechanism; /* whose costs count; NULL: the best one's */
	const struct object
		*kernel_object; /* kernel: holds the thunks that modules use; may be NULL */
};

/*
 * Builds the plan for functions (all of one architecture). objects are borrowed and must outlive
 * the plan; functions are copied. IFUNC resolvers are replaced by the implementations their code
 * can return. -ENOENT: nothing to probe; -E2BIG: more than PLAN_MAX_SITES.
 */
int plan__build(const function_vec *functions, const struct plan_options *options,
		struct plan **out);
void plan__free(struct plan *p);

/* Fills in lines and line_files of the functions' code by the debug information of their objects;
 * slow. */
void plan__lines(struct plan *p);
/* The row that covers vaddr; NULL: none. */
const struct plan_line *plan__line_at(const struct plan *p, uint32_t object, uint64_t vaddr);

/*
 * How long the kernel takes to attach a site's probe, and all of them (attach_work.c): in
 * instructions that it decodes. A program's probe counts as one.
 */
uint64_t plan__site_work(const struct plan *p, uint32_t site);
uint64_t plan__attach_work(const struct plan *p);

/* A probe could not be placed after all (attach time): the site loses it, the counts follow. */
void plan__refuse(struct plan *p, uint32_t site, enum probe_refusal why);

/* May this function's returns be told by a return probe where its entry's probe is? */
enum return_refusal plan__return_refusal(const struct plan *p, uint32_t function);

/*
 * Kernel: by function, may it end in a jump to one without probes, and can a return probe be where
 * it begins? The caller's to free.
 */
bool *plan__ends_elsewhere(const struct plan *p);

/* The block that starts at / the site at / the function whose range holds this address of an
 * object. */
uint32_t plan__block_at(const struct plan *p, uint32_t object, uint64_t vaddr);
uint32_t plan__site_at(const struct plan *p, uint32_t object, uint64_t vaddr);
uint32_t plan__function_at(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Is this branch the end of the block that a function begins with, whose entry can't carry a probe?
 * Then it tells the entry as well: there is no other way to it. */
bool plan__tells_entry(const struct plan *p, uint32_t site);
/* Is vaddr the first instruction of a function whose entry carries a probe? */
bool plan__entry_speaks(const struct plan *p, uint32_t object, uint64_t vaddr);
/*
 * Has each event of these kinds (enum plan_events) a record of its own, and each record as many
 * events as its probe word says? Else losing a record may lose more: branches that the path
 * implies, a return with the ret of what a call jumped to.
 */
bool plan__is_told_singly(const struct plan *p, unsigned events);
/* Does this PLT stub lead to a function of the plan? */
bool plan__stub_leads_in(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Does this address lie in bytes of a function that were not decoded? */
bool plan__is_undecoded(const struct plan *p, uint32_t object, uint64_t vaddr);
/* The shown name of what holds vaddr, and the offset from its start; NULL: nobody named it, and it
 * has no symbol. */
const char *plan__name_at(const struct plan *p, uint32_t function, uint64_t vaddr,
			  uint64_t *offset);
/* Where it, or the part of it that its first range is in, starts: offsets count from there. */
uint64_t plan__start(const struct plan_function *f);

#endif
