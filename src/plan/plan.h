/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan: the functions, blocks and sites of a trace, and which site carries a probe. Public header
 * of src/plan. Pure: no system call, no BPF, no /proc, no exit.
 *
 * The plan is all that the replay of a trace needs, so a trace file begins with it. First:
 * plan__build(), plan__site_at(), plan__function_at(). What only some need has a header of its own:
 * change/change.h, counting/counting.h, graph/, join/join.h, placement/cost.h and hits.h.
 */
#ifndef BBTRACE_PLAN_PLAN_H
#define BBTRACE_PLAN_PLAN_H

#include "arch/arch.h"
#include "object/lookup/lookup.h"
#include "plan/lines/lines.h"
#include "plan/named/named.h"
#include "plan/values/values.h"

#define NO_SITE	       UINT32_MAX
#define NO_BLOCK       UINT32_MAX
#define PLAN_MAX_SITES (1u << 20) /* the kernel's MAX_UPROBE_MULTI_CNT */

enum site_role {
	ROLE_BRANCH,  /* a control-transfer instruction, the last one of its block */
	ROLE_ENTRY,   /* a function's first instruction, if it is not a branch */
	ROLE_WITNESS, /* an instruction whose probe shows that control entered its block */
	ROLES
};

/* How a site reports that it was executed. In trace files: append only. */
enum probe_how {
	PROBE_NONE,	    /* not at all: the path implies it, or it stays unknown */
	PROBE_TRAP,	    /* an event each time, by a uprobe or kprobe */
	PROBE_INLINE,	    /* an event each time, by code in the process */
	PROBE_COUNT,	    /* counted in the kernel, no event */
	PROBE_CHANGING,	    /* being attached or removed: an event, or none */
	PROBE_INLINE_COUNT, /* counted by code in the process, no event */
	PROBE_HOWS
};

/* The most bytes of stack that are recorded with a signal, for the return address. */
#define ENTRY_MAX_LOWERED 504

/* An instruction that may carry a probe. Its index is its permanent id: sites are only appended. */
struct plan_site {
	uint64_t vaddr;
	uint64_t target; /* of a direct branch: where it leads when taken; 0 for indirect branches
			    and rets */
	const char *mnemonic; /* of a branch; else NULL */
	/* Of a conditional: the instruction of its block that set the flags which it tests, "cmp A,
	 * 0x40"; NULL if there is none, or if it is not known. */
	const char *compare;
	/* With plan_options.tests: its operands, if all can be read where the branch is executed;
	 * else NULL. Not in trace files. */
	const struct test *test;
	/* The names in the source of .compare's operands, "p->count" (plan__variables()); NULL if
	 * not known. */
	const char *variable_a, *variable_b;
	struct operand operand;
	uint32_t object;   /* index into plan->objects */
	uint32_t function; /* the function whose range contains it: index into plan->functions */
	uint32_t block;	   /* its block, of which a ROLE_BRANCH is the last instruction */
	uint8_t len;
	uint8_t role; /* enum site_role */
	/* enum branch_kind; NONE if it is no branch, or one of an unknown kind, which is
	 * refused. */
	uint8_t kind;
	/* 1 if its probe reports the entry of .function: it is the first instruction, or the branch
	 * of the first block with nothing before it that matters. */
	uint8_t entry;
	uint8_t refusal; /* enum probe_refusal */
	uint8_t probe;	 /* enum probe_how */
	/* An entry's probe: its offset from vaddr. The registers that plan_options asks for have
	 * not changed since vaddr. */
	uint8_t probe_at;
	/* An entry: its probe is after an instruction that lowers the stack pointer, which ends at
	 * this offset in the block. Not in trace files. */
	uint8_t lowered_at;
	/* by how many bytes, at most ENTRY_MAX_LOWERED; 0 if there is no such instruction */
	uint16_t lowered;
	uint8_t repeats; /* a rep string instruction: its probe is hit at each iteration */
	/* kernel: a jmp to a return thunk (kind RET), or a call or jmp to an indirect thunk */
	uint8_t thunk;
	/* The function has loaded the stack pointer from elsewhere, so it doesn't identify the call
	 * (sp_delta is SP_UNKNOWN). */
	uint8_t switched;
	/* of a hit of its probe: 2 if the kernel single-steps the instruction; 0 if not known */
	uint8_t traps;
	uint8_t unsolved;	/* PLACEMENT_COUNT: its count doesn't follow. Not in trace files */
	uint8_t variable_types; /* enum variable_type of A, and of B << 4 */
	uint8_t kept;		/* its probe is in place: plan_options.before. Not in trace files */
	/* Code in the process logs it, whatever .probe is; it is shown while that is PROBE_INLINE.
	 * Not in trace files. */
	uint8_t logs;
	uint16_t cond;
	int32_t sp_delta; /* sp at the entry - sp before the instruction, bytes; SP_UNKNOWN */
};

/* Returns true if each execution of the site has an event. */
static inline bool plan_site__has_events(const struct plan_site *s)
{
	return s->probe == PROBE_TRAP || s->probe == PROBE_INLINE;
}

/* Returns true if the site has two sides: taken and not taken. */
static inline bool plan_site__is_conditional(const struct plan_site *s)
{
	return s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP;
}

static inline bool plan_site__is_counted(const struct plan_site *s)
{
	return s->probe == PROBE_COUNT || s->probe == PROBE_INLINE_COUNT;
}

/* Returns true if a uprobe or a kprobe hooks the site. */
static inline bool plan_site__is_hooked(const struct plan_site *s)
{
	return s->probe == PROBE_TRAP || s->probe == PROBE_COUNT;
}

/* A basic block: control enters only at its start and leaves only after its last instruction. */
struct plan_block {
	uint64_t start, end; /* [start, end): end is after the last instruction */
	uint32_t object;
	uint32_t function; /* the function whose range contains start */
	uint32_t site;	   /* its last branch; NO_SITE if it falls through to next, or stops */
	/* The fall-through, also of a call, as a block's index; NO_BLOCK if there is none, or if it
	 * is outside of the plan. */
	uint32_t next;
	/* The direct target, as a block's index; NO_BLOCK if it is outside of the plan, or for a
	 * call. */
	uint32_t taken;
	/* IJMP: the successors by a jump table: plan->table[table ... table + ntable). If
	 * unresolved is set, there may be more. */
	uint32_t table, ntable;
	uint8_t noreturn;   /* it ends in a call that does not return */
	uint8_t unresolved; /* IJMP: not all targets are known */
	/* The taken edge (JMP, JCC, IJMP without table) leaves the function: a tail call or a
	 * shared tail. */
	uint8_t leaves;
	uint8_t abnormal; /* enum abnormal_entry */
	/* Its number of instructions, if none of them is slow (insn.slow) and they are at most
	 * QUICK_MAX; else 0. */
	uint8_t quick;
	/* IJMP: its table has targets outside of the plan. No branch: control falls through out of
	 * the plan. Not in trace files. */
	uint8_t outward;
	/* It can have no witness: some of its bytes may not be instructions, or are between a load-
	 * and a store-exclusive. Not in trace files. */
	uint8_t unfit;
	int32_t sp_delta; /* that of its first instruction, as in struct plan_site. Not in trace
			     files */
};
#define QUICK_MAX 32 /* how many instructions take far less time than a hit */

/* Whether control can enter a block by no edge of the graph. */
enum abnormal_entry {
	ABNORMAL_NONE,
	ABNORMAL_LANDING_PAD, /* from the unwinder */
	ABNORMAL_RESUMED,     /* after an instruction that was assumed not to continue */
	ABNORMAL_ADDRESS,     /* its function makes its address, or data holds it, for a jump from
				 elsewhere */
	ABNORMAL_TWICE,	      /* after a call that may return twice, as setjmp(3) does */
};

/* Why a function's entry can't carry a return probe. */
enum return_refusal {
	RETURN_OK,
	RETURN_NO_ENTRY,  /* its entry carries no probe that is hit once per call */
	RETURN_CAUGHT,	  /* it catches exceptions, which can't pass a return probe */
	RETURN_REENTERED, /* control comes back to its entry with another stack */
	RETURN_TWICE,	  /* it keeps its return address for a second return, as setjmp(3) does */
	/* It isn't proved to return to the address on top of the stack at its entry. */
	RETURN_UNPROVED,
	RETURN_REFUSALS
};
extern const char *const return_refusal_text[RETURN_REFUSALS]; /* NULL for OK */

struct plan_function {
	const char *name; /* the name that is shown */
	const char *raw;  /* NULL without a symbol */
	uint32_t object;
	uint32_t entry_site; /* NO_SITE for FUNCTION_RANGE */
	uint32_t entry_block;
	unsigned flags; /* enum function_flags */
	const struct range *ranges;
	size_t nranges;
	uint32_t branches;	/* the number of its branch sites */
	uint32_t skipped;	/* branches without a probe because of a refusal */
	uint32_t unprobed;	/* branches without a probe for any reason */
	uint32_t unresolved;	/* indirect jumps whose table was not resolved */
	uint64_t unreached;	/* bytes of its ranges in plan->gaps */
	uint8_t arguments;	/* as in struct function */
	uint8_t return_refusal; /* enum return_refusal, if return probes are requested */
	/* Control may enter it in the middle by no edge (irregular.c): none of its branches is
	 * implied. Not in trace files. */
	bool irregular;
};

/* Returns the size of all its ranges. */
uint64_t plan_function__size(const struct plan_function *f);

struct plan_object {
	const struct object *object; /* NULL if the plan is from a trace file */
	const char *path;
	uint16_t machine;
	bool kernel; /* the kernel or a module */
	bool module;
};

/* Which branches carry a probe. The resulting steps are the same, except that implied steps have no
 * time. */
enum plan_placement {
	PLACEMENT_FULL,	   /* each branch */
	PLACEMENT_IMPLIED, /* not jumps and calls that later events imply */
	PLACEMENT_WITNESS, /* nor conditionals that later events imply */
	/* No events: probes count, as few and as cheap ones as show how often each edge was
	 * taken. */
	PLACEMENT_COUNT,
};

/* A PLT stub that jumps to a function of the plan, which may be a helper. */
struct plan_stub {
	const struct object *object;
	uint64_t vaddr;
};

/* Maps addresses to functions. */
struct plan_extent {
	uint64_t start, end;
	uint32_t object, function;
};

/* Bytes of a function that no known control flow reaches and that are not padding: they are not
 * decoded, and have no probes. */
struct plan_gap {
	uint64_t start, end;
	uint32_t object, function;
};

typedef VEC(uint32_t) id_vec;

/* A side of a conditional to which no other edge leads: a site in it shows that it was taken. */
struct plan_side {
	uint32_t site;	  /* the conditional */
	uint32_t witness; /* its probe may replace that of .site */
	bool taken;
};

/* An instruction that control may enter or leave at any time: the one before it enters the kernel,
 * as a system call does. */
struct plan_break {
	uint64_t vaddr;
	uint32_t block;
};

/* An instruction that has to be executed in place, even if its function runs as a copy: a probe of
 * somebody else is on it. */
struct plan_kept {
	uint64_t vaddr;
	uint32_t object;
};

/* An instruction. */
struct plan_place {
	uint32_t object;
	uint64_t vaddr;
};

struct plan {
	const struct arch *arch; /* of all its objects */
	enum plan_placement placement;
	bool unprobed_rets; /* some rets carry no probe because the path implies them */
	bool entries_only;  /* PLACEMENT_COUNT: only how often functions are entered is counted */
	bool retires;	    /* probes are removed during the trace: counts are lower bounds */
	/* Placement count: each branch and entry has a probe that counts it, so the counts of rets
	 * have targets. */
	bool counts_all;
	bool edgeless;	    /* its blocks have no edges: see plan_options.batch */
	bool return_probes; /* returns of programs are recorded by return probes on entries, not at
			       rets */
	bool mutes;	    /* plan_options.mutes. Not in trace files */
	bool late_entries;  /* plan_options.late_entries, for programs. Not in trace files */
	bool tests;	    /* plan_options.tests. Not in trace files */
	bool executes;	    /* plan_options.executes. Not in trace files */
	VEC(struct plan_object) objects;
	VEC(struct plan_function) functions;
	VEC(struct plan_site) sites;
	VEC(struct plan_block) blocks;
	id_vec sites_by_address;  /* plan__index(): site ids by object, then vaddr */
	id_vec blocks_by_address; /* plan__index(): block ids by object, then start */
	VEC(uint32_t) table;	  /* block indices */
	/* PLACEMENT_COUNT: by block, then vaddr. Not in trace files */
	VEC(struct plan_break) breaks;
	VEC(struct plan_kept) kept;  /* not in trace files */
	VEC(struct plan_side) sides; /* sites that may retire: by site. Not in trace files */
	VEC(struct plan_stub) stubs; /* the stubs whose targets are in the plan */
	/* by object, then start; empty in plans made by unit tests */
	VEC(struct plan_extent) extents;
	VEC(struct plan_gap) gaps; /* by object, then start */
	/* Where control reaches a gap whose first bytes are no known instruction: by object, then
	 * vaddr. Each counts as a skipped site. Not in trace files */
	VEC(struct plan_place) undecoded;
	/* by object, then vaddr. Empty unless plan__lines() was called or a file had them */
	VEC(struct plan_line) lines;
	VEC(char *) line_files; /* paths, as debug information has them; owned */
	VEC(struct plan_scope) scopes;
	VEC(struct plan_scope_range) scope_ranges; /* by object, then start */
	/* by the engine, for probes that aren't the plan's. Not in trace files */
	VEC(struct plan_place) reserved;
	VEC(struct plan_named) named;  /* an increment of the plan has none; nor has it: */
	VEC(struct plan_field) fields; /* by named event */
	VEC(struct plan_value) values; /* by function; only a joined plan grows */
	VEC(struct plan_enumerator) enumerators; /* by enumeration */
	/* by function. Not in trace files, which have their text */
	VEC(struct plan_condition) conditions;
	/* counts for the summary: */
	/* If all functions were requested: struct trace_totals. Not in trace files */
	uint64_t unknown_code, all_code;
	uint32_t probes;	/* sites that carry a probe */
	uint32_t skipped;	/* sites that should carry a probe, but can't */
	uint32_t ifunc_unknown; /* IFUNC resolvers that may return other functions than those found
				 */
	void *priv;		/* the pool of strings, and the list of functions */
};

enum plan_events { PLAN_ENTRY = 1, PLAN_BRANCH = 2, PLAN_RETURN = 4 };

/* How often a branch was taken, and not taken, in an earlier run. */
struct branch_counts {
	uint64_t taken, not_taken;
};

struct plan_options {
	unsigned events; /* enum plan_events: the requested events */
	enum plan_placement placement;
	bool path_ends; /* events show when iterations of loops end */
	/* The flags register is recorded on entry, so it must not have changed since the first
	 * instruction. */
	bool exact_flags;
	/* The entries of programs may be reported by a later instruction if that is cheaper. Needs
	 * the signals' events. */
	bool late_entries;
	bool executes; /* the probes' programs can execute instructions that would be single-stepped
			*/
	/* The registers, a bit each, that must then have the values of the first instruction. */
	uint64_t entry_regs;
	bool patchable_unsafe;	       /* refuse a probe on insn.patchable */
	bool return_probes;	       /* record the returns of programs by return probes */
	const struct plan_stub *stubs; /* copied */
	size_t nstubs;
	/* Placement witness: sets the counts of a branch in an earlier run. Returns false if its
	 * object is unknown. NULL: estimate all. */
	bool (*weights)(void *ctx, const struct object *o, uint64_t vaddr,
			struct branch_counts *counts);
	void *weights_ctx;
	/*
	 * If not 0, the plan is only listed. Its functions are followed in batches of this many
	 * bytes of code, which bounds memory; there may be any number of sites, without stack
	 * depths, and the blocks of different batches have no edges.
	 */
	uint64_t batch;
	/* Progress: this many more instructions were followed. NULL: nobody asks. */
	void (*followed)(void *ctx, uint64_t instructions);
	void *followed_ctx;
	bool count_all; /* placement count: a probe of its own counts each branch and entry */
	const struct cost_row *costs; /* measured, as those of arch; NULL for the usual ones */
	bool tests;		      /* find out what conditionals test (plan_site.test) */
	/* Entries may have no event, nor may anything up to their returns, which nobody knows in
	 * advance: they show no path. */
	bool mutes;
	/* Placement count, all branches: their probes will be removed one by one, which needs
	 * plan->sides. */
	bool retire;
	const char *mechanism; /* the mechanism whose costs count; NULL for the best one */
	/* The plan of a running trace: probes that are in place stay where they are wanted, and
	 * what the kernel refused stays refused. NULL if there is none. */
	const struct plan *before;
	/* The object with the thunks that modules use; NULL if no kernel function is traced. */
	const struct object *kernel_object;
};

/*
 * Builds the plan for functions, all of one architecture. Their objects are borrowed and must
 * outlive the plan; functions are copied. IFUNC resolvers are replaced by the implementations that
 * their code can return. Returns -ENOENT if there is nothing to probe, with a message that says
 * why, and -E2BIG if there are more than PLAN_MAX_SITES to trace.
 */
int plan__build(const function_vec *functions, const struct plan_options *options,
		struct plan **out);
/* Sets the values that the log record of a conditional has: those that it tests and that aren't
 * constant, at most two. Returns their number. */
unsigned plan__logged_values(const struct plan *p, const struct plan_site *s,
			     struct operand values[2]);
/* Returns true if any site has such values. */
bool plan__logs_values(const struct plan *p);
/* Returns true if the program of a uprobe at this address executes the instruction; in has what it
 * does. function is that of the plan that the address is in, NO_FUNCTION for none (executed.c). */
bool plan__execution(const struct plan *p, uint32_t object, uint32_t function, uint64_t vaddr,
		     struct execution *out);
/* Another probe will be there. An object that isn't in the plan is ignored. */
void plan__reserve(struct plan *p, const struct object *o, uint64_t vaddr);
struct plan *plan__empty(const struct arch *arch); /* a plan for named events alone */
void plan__free(struct plan *p);
/* For CLEANUP(). */
static inline void plan__free_at(struct plan **p)
{
	plan__free(*p);
}

/* How long the kernel takes to attach one site's probe, and all of them, in instructions that it
 * decodes (attach_work.c). A user-mode probe counts as one. */
uint64_t plan__site_work(const struct plan *p, uint32_t site);
uint64_t plan__attach_work(const struct plan *p);

/*
 * Chooses other sites after some were refused: sites from which the same steps, or the same counts,
 * follow, but none in functions that run as copies. Appends those that had no probe before, and
 * returns false if there are none. Probes of events stay; those that count may be dropped. Not if
 * probes retire.
 */
bool plan__choose_again(struct plan *p, const struct plan_options *options, id_vec *chosen);

/* After entries were refused: probes the rets again whose calls have no return probe now. Returns
 * false if there are none. */
bool plan__probe_rets(struct plan *p);

/* Returns why a return probe at the entry's probe can't record this function's returns; RETURN_OK
 * if it can. */
enum return_refusal plan__return_refusal(const struct plan *p, uint32_t function);

/* Kernel, by function: it may end in a jump to a function without probes, and its entry can carry a
 * return probe. The caller frees it. */
bool *plan__ends_elsewhere(const struct plan *p);
/* Returns, by function, the number of its tail calls through a pointer: a call that ends in one has
 * a return only if the target's rets have probes. To be freed by the caller. */
uint32_t *plan__pointer_tails(const struct plan *p);

/* Return true if any of its objects is the kernel or a module; if any is a program or a library
 * (sees: or may be). */
bool plan__has_kernel(const struct plan *p);
bool plan__has_programs(const struct plan *p);
bool plan__sees_programs(const struct plan *p);
/* Marks an instruction that stays in the original, if the plan has it; before functions are
 * copied. */
void plan__keep(struct plan *p, const struct object *o, uint64_t vaddr);
bool plan__is_kept(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Returns how many sites uprobes and kprobes hook: those of plan->probes that aren't in copies. */
uint32_t plan__hooked(const struct plan *p);
/* Returns true if a function begins at this block; false for NO_BLOCK. */
static inline bool plan__is_entry_block(const struct plan *p, uint32_t block)
{
	uint32_t function = block == NO_BLOCK ? NO_FUNCTION : p->blocks.data[block].function;

	return function != NO_FUNCTION && p->functions.data[function].entry_block == block;
}

/* Return true if this site, this function is in the kernel or a module. */
static inline bool plan__is_kernel_site(const struct plan *p, uint32_t site)
{
	return p->objects.data[p->sites.data[site].object].kernel;
}
static inline bool plan__is_kernel_function(const struct plan *p, uint32_t function)
{
	return p->objects.data[p->functions.data[function].object].kernel;
}

/* Returns true if the C library calls it as main. */
static inline bool plan__is_main(const struct plan *p, uint32_t function)
{
	const struct plan_function *f = &p->functions.data[function];

	return f->flags & FUNCTION_MAIN || (f->raw && !strcmp(f->raw, "main"));
}

/* Return the block that starts at this address of an object, the site there, and the function whose
 * range contains it. */
uint32_t plan__block_at(const struct plan *p, uint32_t object, uint64_t vaddr);
uint32_t plan__site_at(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Returns the site whose probe is on this instruction. */
uint32_t plan__hooked_at(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Placement count: returns true if this instruction follows one that enters the kernel. */
bool plan__is_break(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Returns the site of this role there; NO_SITE if there is none. */
uint32_t plan__site_of(const struct plan *p, uint32_t object, uint64_t vaddr, enum site_role role);
/* Returns an object's number; objects.len if the plan has none of its code. */
uint32_t plan__object_of(const struct plan *p, const struct object *o);
/* Returns the block that holds this address. */
uint32_t plan__block_holding(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Sets the pointer at a link-time address that an indirect branch of a program loads, as its file
 * has it. Returns false if memory may differ from that, since it can be written. */
bool plan__read_pointer(const struct plan *p, uint32_t site, uint64_t vaddr, uint64_t *value);
/* Returns the first site of an object from this address on: an index into sites_by_address. */
size_t plan__sites_from(const struct plan *p, uint32_t object, uint64_t vaddr);
/* The same for blocks: an index into blocks_by_address. */
size_t plan__blocks_from(const struct plan *p, uint32_t object, uint64_t vaddr);
uint32_t plan__function_at(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Returns true if the function is still traced. */
static inline bool plan__traces(const struct plan *p, uint32_t function)
{
	return function != NO_FUNCTION && !(p->functions.data[function].flags & FUNCTION_REMOVED);
}
/* Returns true if this branch ends the first block of a function whose entry can't carry a probe.
 * Then it also reports the entry, since only the entry leads to it. */
bool plan__reports_entry(const struct plan *p, uint32_t site);
/* Returns how many bytes the entry's probe is after the function's first instruction; 0 without a
 * probe. */
uint64_t plan__entry_delay(const struct plan *p, uint32_t function);
/* Returns true if vaddr is the first instruction of a function whose entry carries a probe. */
bool plan__entry_is_probed(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Fills in ..._by_address. To be called after rows of sites or blocks were appended. */
void plan__index(struct plan *p);
/*
 * Returns true if each event of these kinds (enum plan_events) has its own record, and each record
 * has as many events as its site's action reports. Otherwise a lost record may lose more: implied
 * branches, or the return of a call that ended in a tail call.
 */
bool plan__has_record_per_event(const struct plan *p, unsigned events);
/* Appends what is proved of the operands of .compare if a conditional was taken, or not taken: "A <
 * 0x40 (unsigned)". Returns false if there are no exact words for it (condition.c). */
bool plan__condition(const struct plan *p, uint32_t site, bool taken, struct str *out);
/* Returns true if this PLT stub leads to a function of the plan. */
bool plan__stub_leads_in(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Returns true if this address is in bytes of a function that were not decoded. */
bool plan__is_undecoded(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Returns the display name of the function or part at vaddr, and sets the offset from its start;
 * NULL if it was not named and has no symbol. */
const char *plan__name_at(const struct plan *p, uint32_t function, uint64_t vaddr,
			  uint64_t *offset);
/* Returns the start of the function, or of the part that its first range is in: offsets count from
 * there. */
uint64_t plan__start(const struct plan_function *f);

#endif
