/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy: relocated copies of functions, which log what they do, and the patches of the original that
 * lead into them. Public header of src/copy. Pure: no system call, no BPF, no /proc, no exit.
 *
 * A copy has all blocks of its function, with direct branches from copy to copy. Calls, and
 * instructions that enter the kernel, are kept in the original: the copy logs, and jumps to the
 * original instruction; a springboard behind that leads back into the copy. So return addresses,
 * and what signals and unwinders see, are as ever. Other springboards are at the entry and wherever
 * control may come from elsewhere: targets of jump tables, landing pads, what other code jumps or
 * points to.
 */
#ifndef BBTRACE_COPY_H
#define BBTRACE_COPY_H

#include "arch/arch.h"
#include "object/object.h"
#include "plan/plan.h"

/* Why a function isn't copied; its sites keep their uprobes. The text is what -v shows. */
enum copy_refusal {
	COPY_OK,
	COPY_RANGE,	 /* a part of a function was requested */
	COPY_GAP,	 /* not all of its bytes are decoded */
	COPY_DOUBTFUL,	 /* some instructions may not be ones, or overlap */
	COPY_UNRESOLVED, /* an indirect jump whose targets aren't all known */
	COPY_INSN,	 /* an instruction that can't be executed elsewhere */
	COPY_ROOM,	 /* no room for a springboard */
	COPY_RETURN,	 /* what it calls reads or changes its return address */
	COPY_GO,	 /* of a Go program, and not known to be Go code */
	COPY_RUNS,	 /* of a Go program that runs already */
	COPY_STEPS,	 /* patches that are right together only, in more than one page */
	COPY_STACK,	 /* of a Go program: the stack may have no room for the log */
	COPY_OBJECT, /* its object can't be patched: text relocations, no copier, rseq, sanitizers …
		      */
	COPY_SITE,   /* a site can't be logged */
	COPY_VALUES,   /* its arguments or its result lie in memory, which copies don't load */
	COPY_RESERVED, /* a probe that isn't the plan's is in it (plan.reserved) */
	COPY_CHANGES,  /* the program changes its code, by what the compiler says */
	COPY_REFUSALS
};
extern const char *const copy_refusal_text[COPY_REFUSALS]; /* NULL for OK */

/* What is written over the original. */
enum patch_kind {
	PATCH_JUMP,  /* a jump to offset .to of the copies */
	PATCH_SHORT, /* a short jump to address .to of the original, an island */
	PATCH_CALL,  /* nops of .nops bytes and a call of offset .to of the copies, which ends where
			the  original call does */
};
#define PATCH_MAX 16 /* bytes */
struct copy_patch {
	uint64_t vaddr;
	uint64_t to;
	uint8_t kind; /* enum patch_kind */
	uint8_t nops;
	uint8_t len; /* bytes in all */
};

/* The state of the machine at this offset is that of the original before the instruction at vaddr,
 * which is not logged yet. Elsewhere it is not exact. near: nor is it here, where code begins that
 * belongs to that instruction but is not next to its copy; vaddr 0: to none. shown: so are
 * registers and flags that are dead there; elsewhere a log may have changed them. */
struct copy_pc {
	uint32_t offset;
	bool near, shown;
	uint64_t vaddr;
};

struct copy_function {
	uint32_t function;   /* in the plan */
	uint32_t start, end; /* offsets of its copy's hot part */
	uint32_t cold_start, cold_end;
	uint32_t patches, patches_end; /* its patches */
};

struct copy_extent {
	uint64_t start, end;
};

/* The copies of one object's functions. */
struct copy_image {
	uint32_t object; /* in the plan */
	VEC(uint8_t) code;
	VEC(struct code_fixup) fixups; /* to the original; those to labels are done */
	VEC(struct code_fault) faults; /* ascending; resume is an offset */
	VEC(struct code_time) times;   /* ascending; instead is an offset */
	VEC(struct copy_patch)
	patches;      /* by function, each one's in the order in which they have to be written. None
		       * changes two pages */
	id_vec order; /* that of all of them. In either, what follows each other in one page has to
		       * be written at once, and what crosses a page alone: then the original is
		       * right
		       */
	id_vec patches_by_vaddr;
	VEC(struct copy_pc) pcs;	     /* by offset */
	id_vec by_vaddr;		     /* indices of those that aren't near, by vaddr */
	VEC(struct copy_function) functions; /* by start */
	VEC(uint64_t) live; /* ascending: what is executed in the original: copy_image__is_live() */
	VEC(uint64_t)
	springs; /* ascending: addresses of the original where control comes to the copy */
	VEC(struct copy_extent)
	approaches; /* ascending: what is executed behind those, where the original has other code
		     */
	VEC(struct copy_extent)
	intact; /* ascending ranges of vaddr: execution that resumes in the
		 * original at an instruction there runs rightly, unlogged, until
		 * it comes to a springboard */
};

/* A counter of each thread (log.h): how often a site was executed; of a conditional: taken, or not.
 */
struct copy_counter {
	uint32_t site;
	bool not_taken;
};

struct copies {
	VEC(struct copy_image) images;	  /* by object; those without a copy are missing */
	VEC(struct copy_counter) counted; /* by counter */
	VEC(uint8_t) refusals;		  /* enum copy_refusal, by function of the plan */
};

/*
 * Copies all functions of the plan that can be copied, and says so in the plan: their sites that
 * have a probe (PROBE_TRAP) are PROBE_INLINE then, and those that count (PROBE_COUNT)
 * PROBE_INLINE_COUNT: by counters, but indirect branches and rets by records with their targets.
 * Kernel functions stay as they are.
 */
int copies__make(struct plan *plan, const struct log_options *options, struct copies **out);
void copies__free(struct copies *c);
/* Of the memory that each thread needs: bytes. */
static inline uint64_t copies__slot_size(const struct copies *c)
{
	return log__slot_size(c->counted.len);
}

/* The patch's bytes, and the copies' code, as they are with the object's load bias and the copies'
 * running address. False: out of reach. */
bool copy_image__patch(const struct copy_image *i, const struct arch *arch,
		       const struct copy_patch *p, uint64_t bias, uint64_t base,
		       uint8_t out[PATCH_MAX]);
bool copy_image__relocate(const struct copy_image *i, uint64_t bias, uint64_t base, uint8_t *code);

/* The address of the original that offset stands for; false: the state is not exact there. */
bool copy_image__original(const struct copy_image *i, uint32_t offset, uint64_t *vaddr);
/* Is it exact there, dead registers and flags included? */
bool copy_image__is_shown(const struct copy_image *i, uint32_t offset);
/* Of the function, or the instruction that is being copied there, even if the state is not exact:
 * the last pc at or before offset. False: in no function. */
bool copy_image__near(const struct copy_image *i, uint32_t offset, uint64_t *vaddr);
/* Where the copy of the instruction at vaddr, with its log, begins; false: it has none. What is
 * kept in the original (calls) has one, too: the block goes through the log again. */
bool copy_image__copy_at(const struct copy_image *i, uint64_t vaddr, uint32_t *offset);
/* Is this an instruction that is executed in the original: a kept call, or one that enters the
 * kernel, a landing instruction in front of a springboard, or that? */
bool copy_image__is_live(const struct copy_image *i, uint64_t vaddr);
/* Is a springboard there? Whoever resumes there in the original goes on in the copy at once. */
bool copy_image__has_spring(const struct copy_image *i, uint64_t vaddr);
/* Is a thread there that has passed a springboard's start, and isn't in the copy yet? */
bool copy_image__is_approach(const struct copy_image *i, uint64_t vaddr);
bool copy_image__is_intact(const struct copy_image *i, uint64_t vaddr);
/* The patch that changes the byte at vaddr; NULL: none. */
const struct copy_patch *copy_image__patch_at(const struct copy_image *i, uint64_t vaddr);
/* Where what the patch jumps to is in the copies; PATCH_CALL: it jumps nowhere, 0. */
uint32_t copy_image__leads_to(const struct copy_image *i, const struct copy_patch *p);
/* Where to go on if the load at offset faults; false: it is not one of the log's. */
bool copy_image__fault(const struct copy_image *i, uint32_t offset, uint32_t *resume);
/* Is the time stamp counter read there by the log, or is what it was read for going on there? The
 * start of that code. */
bool copy_image__time(const struct copy_image *i, uint32_t offset, uint32_t *start);
/* Changes the copies' code to that for a process that may not read it. */
void copy_image__untime(const struct copy_image *i, const struct arch *arch, uint8_t *code);

#endif
