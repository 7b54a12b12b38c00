/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan: the functions, blocks and sites of a trace, and which site carries a probe. Public header
 * of src/plan. Pure: no system call, no BPF, no /proc, no exit.
 *
 * The plan is all that the replay of a trace needs, so a trace file begins with it. First:
 * plan__build(), plan__site_at(), plan__function_at(). What only some need has a header of its own:
 * change/change.h, counting/counting.h, graph/, join/join.h, placement/cost.h and hits.h.
 */
#ifndef BBTRACE_PLAN_H
#define BBTRACE_PLAN_H

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
	PROBE_CHANGING,	    /* it is being attached or removed: an event, or none */
	PROBE_INLINE_COUNT, /* counted by code in the process, no event */
	PROBE_HOWS
};

/* The stack of so many bytes is recorded with a signal, for the return address. */
#define ENTRY_MAX_LOWERED 504

/* An instruction that may carry a probe. Its index is its permanent id: sites are only appended. */
struct plan_site {
	uint64_t vaddr;
	uint64_t target;      /* direct: when taken; 0 for indirect and ret */
	const char *mnemonic; /* of a branch, else NULL */
	const char *compare;  /* conditional: the instruction of its block that set the flags which
				 it tests, "cmp A, 0x40"; NULL: none, or not known */
	const struct test *test; /* plan_options.tests: its operands, all of which can be told
				    where the branch is executed; NULL: they can't. Not in trace
				    files */
	/* What .compare's operands are in the source, "p->count" (plan__variables()); NULL: not
	 * known */
	const char *variable_a, *variable_b;
	struct operand operand;
	uint32_t object;   /* index into plan->objects */
	uint32_t function; /* the function whose range contains it: index into plan->functions */
	uint32_t block;	   /* its block; ROLE_BRANCH: it is the last instruction */
	uint8_t len;
	uint8_t role;  /* enum site_role */
	uint8_t kind;  /* enum branch_kind; NONE: not a branch, or one of a kind
			  that is not known, which is refused */
	uint8_t entry; /* 1: its probe reports the entry of .function: it is the first instruction,
			  or the branch of the first block with nothing before it that matters */
	uint8_t refusal;    /* enum probe_refusal */
	uint8_t probe;	    /* enum probe_how */
	uint8_t probe_at;   /* an entry's probe: its offset from vaddr; the registers that
			       plan_options asks for are still as at vaddr */
	uint8_t lowered_at; /* an entry: its probe is behind an instruction that lowers the stack
			       pointer, which ends at this offset in the block. Not in trace
			       files */
	uint16_t lowered;   /* by so many bytes, at most ENTRY_MAX_LOWERED; 0: there is none */
	uint8_t repeats;    /* a rep string instruction: its probe is hit at each iteration */
	uint8_t thunk;	    /* kernel: a jmp to a return thunk (kind RET) or call/jmp to an indirect
			       thunk */
	uint8_t switched;   /* the function has loaded the stack pointer from elsewhere: it doesn't
			       identify the call (sp_delta is SP_UNKNOWN) */
	uint8_t traps;	  /* of a hit of its probe: 2 where the kernel single-steps the instruction;
			     0: not known */
	uint8_t unsolved; /* PLACEMENT_COUNT: its count can't be told. Not in trace files */
	uint8_t variable_types; /* enum variable_type of A, and of B << 4 */
	uint8_t kept;		/* its probe is in place: plan_options.before. Not in trace files */
	uint8_t logs; /* code in the process logs it, whatever .probe says: it is shown while
			 that is PROBE_INLINE. Not in trace files */
	uint16_t cond;
	int32_t sp_delta; /* sp at the entry - sp before the instruction, bytes; SP_UNKNOWN */
};

/* Does each execution of it have an event? */
static inline bool plan_site__has_events(const struct plan_site *s)
{
	return s->probe == PROBE_TRAP || s->probe == PROBE_INLINE;
}

/* Has it two sides: taken, and not taken? */
static inline bool plan_site__is_conditional(const struct plan_site *s)
{
	return s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP;
}

static inline bool plan_site__is_counted(const struct plan_site *s)
{
	return s->probe == PROBE_COUNT || s->probe == PROBE_INLINE_COUNT;
}

/* Does a uprobe or a kprobe hook it? */
static inline bool plan_site__is_hooked(const struct plan_site *s)
{
	return s->probe == PROBE_TRAP || s->probe == PROBE_COUNT;
}

/* A basic block: control enters only at its start and leaves only after its last instruction. */
struct plan_block {
	uint64_t start, end; /* [start, end): end is after the last instruction */
	uint32_t object;
	uint32_t function; /* the function whose range contains start */
	uint32_t site;	   /* its last branch; NO_SITE: falls through to next, or stops */
	uint32_t next;	/* fall-through, also of a call: block index; NO_BLOCK: none, or outside of
			   the plan */
	uint32_t taken; /* direct target: block index; NO_BLOCK: outside of the plan, or a call */
	uint32_t table, ntable; /* IJMP: successors from a jump table: plan->table[table … table +
				   ntable). If unresolved is set, there may be more */
	uint8_t noreturn;	/* ends in a call that does not return */
	uint8_t unresolved;	/* IJMP: not all targets are known */
	uint8_t leaves; /* the taken edge (JMP, JCC, IJMP without table) leaves the function: a tail
			   call or a shared tail */
	uint8_t abnormal; /* enum abnormal_entry */
	uint8_t quick;	  /* its number of instructions if none of them is slow (insn.slow) and they
			     are at most QUICK_MAX; else 0 */
	uint8_t outward;  /* IJMP: its table has targets outside of the plan; no branch: control
			     falls through out of it. Not in trace files */
	uint8_t unfit;	  /* no witness in it: some of its instructions may not be ones, or are
			     between a load- and a store-exclusive. Not in trace files */
	int32_t sp_delta; /* of its first instruction, as that of a site. Not in trace files */
};
#define QUICK_MAX 32 /* instructions that take far less time than a hit */

/* Can control enter a block by no edge of the graph? */
enum abnormal_entry {
	ABNORMAL_NONE,
	ABNORMAL_LANDING_PAD, /* from the unwinder */
	ABNORMAL_RESUMED,     /* after an instruction that was assumed not to continue */
};

/* Why a function's entry can't carry a return probe. */
enum return_refusal {
	RETURN_OK,
	RETURN_NO_ENTRY,  /* its entry carries no probe that is hit once per call */
	RETURN_CAUGHT,	  /* it catches exceptions, which can't pass a return probe */
	RETURN_REENTERED, /* control comes back to its entry with another stack */
	RETURN_TWICE,	  /* it keeps its return address for a second return, as setjmp(3) does */
	RETURN_UNPROVED,  /* it isn't proved to return to the address on top of the stack at its
			     entry */
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
	uint32_t skipped;	/* those of them that have no probe because of a refusal */
	uint32_t unprobed;	/* those of them without a probe for whatever reason */
	uint32_t unresolved;	/* indirect jumps whose table was not resolved */
	uint64_t unreached;	/* bytes of its ranges in plan->gaps */
	uint8_t arguments;	/* as in struct function */
	uint8_t return_refusal; /* enum return_refusal, if return probes are requested */
};

/* The size of all its ranges. */
uint64_t plan_function__size(const struct plan_function *f);

struct plan_object {
	const struct object *object; /* NULL if the plan came from a trace file */
	const char *path;
	uint16_t machine;
	bool kernel; /* the kernel or a module */
	bool module;
};

/* Which branches carry a probe. The resulting steps are the same, except that implied ones have no
 * time. */
enum plan_placement {
	PLACEMENT_FULL,	   /* every one */
	PLACEMENT_IMPLIED, /* not jumps and calls that later events imply */
	PLACEMENT_WITNESS, /* nor conditionals that they imply */
	PLACEMENT_COUNT,   /* no events: probes count, as few and as cheap ones as tell how often
			      each edge was taken */
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

/* Bytes of a function that no known control flow reaches and that are not padding: not decoded, no
 * probes. */
struct plan_gap {
	uint64_t start, end;
	uint32_t object, function;
};

typedef VEC(uint32_t) id_vec;

/* A side of a conditional to which nothing else leads: a site in it shows that it was taken. */
struct plan_side {
	uint32_t site;	  /* the conditional */
	uint32_t witness; /* its probe comes into question when that of .site is removed */
	bool taken;
};

/* An instruction that control may come to or leave by at any time: the one before it enters the
 * kernel, as a system call does. */
struct plan_break {
	uint64_t vaddr;
	uint32_t block;
};

/* An instruction that has to be executed where it is, also if its function runs as a copy: somebody
 * else has a probe on it. */
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
	bool counts_all;    /* placement count: each branch and entry has a probe that counts it, so
			     * that rets tell where they went */
	bool edgeless;	    /* its blocks have no edges: see plan_options.batch */
	bool return_probes; /* returns of programs are recorded by return probes on entries, not at
			     * rets */
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
	VEC(struct plan_break)
	breaks;			     /* PLACEMENT_COUNT: by block, then vaddr. Not in trace files */
	VEC(struct plan_kept) kept;  /* not in trace files */
	VEC(struct plan_side) sides; /* sites that may retire: by site. Not in trace files */
	VEC(struct plan_stub) stubs; /* those whose targets are in the plan */
	VEC(struct plan_extent)
	extents;		   /* by object, then start; empty in plans made by unit tests */
	VEC(struct plan_gap) gaps; /* by object, then start */
	VEC(struct plan_line)
	lines; /* by object, then vaddr. Empty unless plan__lines() was called or a file had them */
	VEC(char *) line_files; /* paths, as debug information has them; owned */
	VEC(struct plan_scope) scopes;
	VEC(struct plan_scope_range) scope_ranges; /* by object, then start */
	VEC(struct plan_place)
	reserved; /* by the engine, for probes that aren't the plan's: not in trace files */
	VEC(struct plan_named) named;		 /* an increment of the plan has none; nor: */
	VEC(struct plan_field) fields;		 /* by named event */
	VEC(struct plan_value) values;		 /* by function; only a joined plan grows */
	VEC(struct plan_enumerator) enumerators; /* by enumeration */
	VEC(struct plan_condition) conditions; /* by function. Not in trace files: their text is */
	/* counts for the summary */
	uint32_t probes;	/* sites that carry a probe */
	uint32_t skipped;	/* sites that should carry a probe, but can't */
	uint32_t ifunc_unknown; /* IFUNC resolvers that may return other functions than those found
				 */
	void *priv;		/* string pool and function list */
};

enum plan_events { PLAN_ENTRY = 1, PLAN_BRANCH = 2, PLAN_RETURN = 4 };

/* How often a branch was taken and not taken in an earlier run. */
struct branch_counts {
	uint64_t taken, not_taken;
};

struct plan_options {
	unsigned events; /* enum plan_events: the requested events */
	enum plan_placement placement;
	bool path_ends;	   /* events tell when iterations of loops end */
	bool exact_flags;  /* the flags register is recorded on entry, so it must be as at the first
			    * instruction
			    */
	bool late_entries; /* the entries of programs may be reported by a later instruction
			    * if that is cheaper. Needs the signals' events */
	bool executes; /* the probes' programs can do instructions that would be single-stepped */
	uint64_t entry_regs;	       /* the registers, a bit each, that must be as at the first
					* instruction then */
	bool patchable_unsafe;	       /* refuse a probe on insn.patchable */
	bool return_probes;	       /* record the returns of programs by return probes */
	const struct plan_stub *stubs; /* copied */
	size_t nstubs;
	/* placement witness: the counts of a branch in an earlier run. False: its object is
	 * unknown. NULL: estimate all */
	bool (*weights)(void *ctx, const struct object *o, uint64_t vaddr,
			struct branch_counts *counts);
	void *weights_ctx;
	/*
	 * Not 0: the plan is only listed. Its functions are followed in batches of this many bytes
	 * of code, which bounds memory; there may be any number of sites, without stack depths, and
	 * the blocks of several batches have no edges.
	 */
	uint64_t batch;
	bool count_all; /* placement count: each branch and entry is counted by a probe of its own
			 */
	const struct cost_row *costs; /* measured, as those of arch; NULL: the usual ones */
	bool tests;		      /* find out what conditionals test (plan_site.test) */
	bool mutes;  /* entries may have no event, with all up to their returns, as nobody knows in
		      * advance: no path is told by them */
	bool retire; /* placement count, all branches: their probes will be removed one by one,
		      * which needs plan->sides */
	const char *mechanism; /* the one whose costs count; NULL: the best one */
	const struct plan
		*before; /* of a running trace: probes that are in place stay where they
			  * are wanted; what the kernel refused stays refused. NULL: none */
	const struct object *kernel_object; /* the object with the thunks that modules use; NULL: no
					       kernel function is traced */
};

/*
 * Builds the plan for functions, all of one architecture. Their objects are borrowed and must
 * outlive the plan; functions are copied. IFUNC resolvers are replaced by the implementations that
 * their code can return. -ENOENT: nothing to probe, the message says why; -E2BIG: more than
 * PLAN_MAX_SITES to trace.
 */
int plan__build(const function_vec *functions, const struct plan_options *options,
		struct plan **out);
/* The values that the log record of a conditional has: those that it tests and that aren't
 * constant, at most two. Returns how many. */
unsigned plan__logged_values(const struct plan *p, const struct plan_site *s,
			     struct operand values[2]);
/* Does the program of a uprobe at this address do the instruction? In what it does; function: the
 * plan's that it is in, NO_FUNCTION: none (executed.c). */
bool plan__execution(const struct plan *p, uint32_t object, uint32_t function, uint64_t vaddr,
		     struct execution *out);
/* Another probe will be there; an object that isn't in the plan is ignored. */
void plan__reserve(struct plan *p, const struct object *o, uint64_t vaddr);
struct plan *plan__empty(const struct arch *arch); /* for named events alone */
void plan__free(struct plan *p);
/* For CLEANUP(). */
static inline void plan__free_at(struct plan **p)
{
	plan__free(*p);
}

/*
 * How long the kernel takes to attach one site's probe, and all of them, in instructions that it
 * decodes (attach_work.c). A user-mode probe counts as one.
 */
uint64_t plan__site_work(const struct plan *p, uint32_t site);
uint64_t plan__attach_work(const struct plan *p);

/*
 * After sites were refused: chooses others, from which the same steps, or the same counts, follow;
 * none in functions that run as copies.
 * Appends those that had no probe before. False: there are none. Probes of events stay; those that
 * count may go. Not if probes retire.
 */
bool plan__choose_again(struct plan *p, const struct plan_options *options, id_vec *chosen);

/* After entries were refused: probes the rets again whose calls have no return probe now. False:
 * there are none. */
bool plan__probe_rets(struct plan *p);

/* May a return probe at the entry's probe record this function's returns? */
enum return_refusal plan__return_refusal(const struct plan *p, uint32_t function);

/*
 * Kernel, by function: may it end in a jump to a function without probes, and can its entry carry a
 * return probe? The caller frees it.
 */
bool *plan__ends_elsewhere(const struct plan *p);

/* Is any of its objects the kernel or a module? Is any a program or a library (sees: or may be)? */
bool plan__has_kernel(const struct plan *p);
bool plan__has_programs(const struct plan *p);
bool plan__sees_programs(const struct plan *p);
/* Before functions are copied: an instruction that stays in the original, if the plan has it. */
void plan__keep(struct plan *p, const struct object *o, uint64_t vaddr);
bool plan__is_kept(const struct plan *p, uint32_t object, uint64_t vaddr);
/* How many sites uprobes and kprobes hook: those of plan->probes that aren't in copies. */
uint32_t plan__hooked(const struct plan *p);
/* Is this site, this function in the kernel or a module? */
static inline bool plan__is_kernel_site(const struct plan *p, uint32_t site)
{
	return p->objects.data[p->sites.data[site].object].kernel;
}
static inline bool plan__is_kernel_function(const struct plan *p, uint32_t function)
{
	return p->objects.data[p->functions.data[function].object].kernel;
}

/* The block that starts at, the site at, the function whose range contains this address of an
 * object. */
uint32_t plan__block_at(const struct plan *p, uint32_t object, uint64_t vaddr);
uint32_t plan__site_at(const struct plan *p, uint32_t object, uint64_t vaddr);
/* The site whose probe is on this instruction. */
uint32_t plan__hooked_at(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Placement count: does this instruction follow one that enters the kernel? */
bool plan__is_break(const struct plan *p, uint32_t object, uint64_t vaddr);
/* The site of this role there; NO_SITE: none. */
uint32_t plan__site_of(const struct plan *p, uint32_t object, uint64_t vaddr, enum site_role role);
/* An object's number; objects.len: the plan has none of its code. */
uint32_t plan__object_of(const struct plan *p, const struct object *o);
/* The block that holds this address. */
uint32_t plan__block_holding(const struct plan *p, uint32_t object, uint64_t vaddr);
/* The pointer at a link-time address that an indirect branch of a program loads, by its file.
 * False: memory may differ from that, since it can be written. */
bool plan__read_pointer(const struct plan *p, uint32_t site, uint64_t vaddr, uint64_t *value);
/* The first site of an object from this address on: an index into sites_by_address. */
size_t plan__sites_from(const struct plan *p, uint32_t object, uint64_t vaddr);
/* The same of blocks: an index into blocks_by_address. */
size_t plan__blocks_from(const struct plan *p, uint32_t object, uint64_t vaddr);
uint32_t plan__function_at(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Is it still traced? */
static inline bool plan__traces(const struct plan *p, uint32_t function)
{
	return function != NO_FUNCTION && !(p->functions.data[function].flags & FUNCTION_REMOVED);
}
/* Does this branch end the first block of a function whose entry can't carry a probe? Then it also
 * reports the entry: only the entry leads to it. */
bool plan__reports_entry(const struct plan *p, uint32_t site);
/* How many bytes behind a function's first instruction its entry's probe is; 0 without a probe. */
uint64_t plan__entry_delay(const struct plan *p, uint32_t function);
/* Is vaddr the first instruction of a function whose entry carries a probe? */
bool plan__entry_is_probed(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Fills in …_by_address. Call it after rows of sites or blocks were appended. */
void plan__index(struct plan *p);
/*
 * Does each event of these kinds (enum plan_events) have its own record, and each record as many
 * events as its site's action says? Otherwise a lost record may lose more: implied branches, or the
 * return of a call that ended in a tail call.
 */
bool plan__has_record_per_event(const struct plan *p, unsigned events);
/* Appends what it proves of the operands of .compare that a conditional was taken, or not taken:
 * "A < 0x40 (unsigned)". False: nothing that there are exact words for (condition.c). */
bool plan__condition(const struct plan *p, uint32_t site, bool taken, struct str *out);
/* Does this PLT stub lead to a function of the plan? */
bool plan__stub_leads_in(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Is this address in bytes of a function that were not decoded? */
bool plan__is_undecoded(const struct plan *p, uint32_t object, uint64_t vaddr);
/* The display name of the function or part at vaddr, and the offset from its start; NULL: it was
 * not named and has no symbol. */
const char *plan__name_at(const struct plan *p, uint32_t function, uint64_t vaddr,
			  uint64_t *offset);
/* The start of the function, or of the part that its first range is in: offsets count from
 * there. */
uint64_t plan__start(const struct plan_function *f);

#endif
