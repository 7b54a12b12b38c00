/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan: the frozen list of functions, blocks and sites, and which site carries a probe. Front door
 * of src/plan. Pure: no system call, no BPF, no /proc, no exit.
 *
 * It is all that is needed to understand a trace later: a trace file begins with it.
 */
#ifndef BBTRACE_PLAN_H
#define BBTRACE_PLAN_H

#include "arch/arch.h"
#include "object/object.h"

#define NO_SITE	       UINT32_MAX
#define NO_BLOCK       UINT32_MAX
#define PLAN_MAX_SITES (1u << 20) /* the kernel's MAX_UPROBE_MULTI_CNT */

enum site_role {
	ROLE_BRANCH,  /* a control-transfer instruction: it ends its block */
	ROLE_ENTRY,   /* a function's first instruction, where that is no branch */
	ROLE_WITNESS, /* an instruction whose probe tells that control is in its block */
	ROLES
};

/* An instruction that a probe may tell. Its index is its id for good: sites are only appended. */
struct plan_site {
	uint64_t vaddr;
	uint64_t target;      /* direct: when taken; 0 for indirect and ret */
	const char *mnemonic; /* of a branch, else NULL */
	struct operand operand;
	uint32_t object;   /* index into plan->objects */
	uint32_t function; /* whose range holds it: index into plan->functions */
	uint32_t block;	   /* the block that it is in; ROLE_BRANCH: that it ends */
	uint8_t len;
	uint8_t role;  /* enum site_role */
	uint8_t kind;  /* enum branch_kind; NONE: no branch, or one of PROBE_UNSUPPORTED */
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
	uint16_t cond;
	int32_t sp_delta; /* entry_sp - sp just before it runs, bytes; SP_UNKNOWN */
};

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
	uint8_t abnormal; /* enum abnormal_entry */
};

/* Is a block entered from elsewhere? */
enum abnormal_entry {
	ABNORMAL_NONE,
	ABNORMAL_LANDING_PAD, /* by the unwinder */
	ABNORMAL_RESUMED,     /* behind what was held for the end of a way */
};

/* Why a function's entry can't carry a return probe. */
enum return_refusal {
	RETURN_OK,
	RETURN_NO_ENTRY,  /* its entry carries no probe that is hit once a call */
	RETURN_CAUGHT,	  /* it catches exceptions, which can't pass a return probe */
	RETURN_REENTERED, /* control comes back to its entry with another stack */
	RETURN_TWICE,	  /* it keeps its return address for a second return, as setjmp(3) does */
	RETURN_UNPROVED,  /* it is not seen to return to what is on top of the stack at its entry */
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
	uint32_t unprobed;	/* of its branches without probe, whatever the reason */
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
struct plan_extent {
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
	bool unprobed_rets; /* some rets carry no probe because the path tells them */
	bool return_probes; /* returns are told by return probes on entries, not at rets */
	bool kernel;
	VEC(struct plan_object) objects;
	VEC(struct plan_function) functions;
	VEC(struct plan_site) sites;
	VEC(uint32_t) by_address;      /* their ids, by object, then vaddr: plan__index_sites() */
	VEC(struct plan_block) blocks; /* by object, then start */
	VEC(uint32_t) table;	       /* block indices */
	VEC(struct plan_stub) stubs;   /* where a tail call through the PLT leads is in the plan */
	VEC(struct plan_extent) extents; /* by object, then start; none: a plan made by hand */
	VEC(struct plan_gap) gaps;	 /* by object, then start */
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

/* As users read it. */
const char *cost__class_name(const struct arch *arch, enum cost_class class);
/* Of a branch whose way the path may tell: a conditional, or a jump by a table. */
enum cost_class cost__class(const struct cost_row *row, uint8_t kind);
/* mechanism NULL: the best one. NULL: nothing is known of this architecture. */
const struct cost_row *cost__row(const struct arch *arch, bool kernel, const char *mechanism);

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
	bool (*weights)(void *ctx, const struct object *o, uint64_t vaddr,
			struct branch_counts *counts);
	void *weights_ctx;
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
bool plan__reports_entry(const struct plan *p, uint32_t site);
/* Is vaddr the first instruction of a function whose entry carries a probe? */
bool plan__entry_is_probed(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Fills in by_address; to be called when sites were appended. */
void plan__index_sites(struct plan *p);
/*
 * Has each event of these kinds (enum plan_events) a record of its own, and each record as many
 * events as its probe word says? Else losing a record may lose more: branches that the path
 * implies, a return with the ret of what a call jumped to.
 */
bool plan__has_record_per_event(const struct plan *p, unsigned events);
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

/* ---- control flow between blocks (flow.c) ---- */

/*
 * Which blocks can follow a block, and where a probe reports that they do. Placement removes probes
 * by this relation, and the replay fills in paths by it. Of a conditional branch each outcome is a
 * successor, also where both lead to one block; the successor of a call is what follows its return.
 */
struct plan_flow {
	const struct plan *plan;
	uint32_t *out, *successors;  /* of block b: successors[out[b] … out[b + 1]) */
	uint32_t *in, *predecessors; /* likewise */
	bool *marked; /* by block: an entry or a witness in it is probed, and hit when control
			 enters */
	bool *enters; /* by block: ends in a direct call of a function whose entry is probed */
};
/* plan must outlive it. What of the plan's probes changes later, of branches excepted, is not seen:
 * who places witnesses keeps marked. */
void plan_flow__init(struct plan_flow *f, const struct plan *p);
void plan_flow__free(struct plan_flow *f);
static inline const uint32_t *plan_flow__successors(const struct plan_flow *f, uint32_t block)
{
	return f->successors + f->out[block];
}
static inline uint32_t plan_flow__count(const struct plan_flow *f, uint32_t block)
{
	return f->out[block + 1] - f->out[block];
}
/* Is control's way on from the end of this block reported, by the branch there or by the entry that
 * it calls? */
bool plan_flow__is_probed(const struct plan_flow *f, uint32_t block);
/* Does the block end in a ret without probe? */
bool plan_flow__is_unprobed_ret(const struct plan_flow *f, uint32_t block);

#endif
