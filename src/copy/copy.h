/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy: relocated copies of functions, which log what they do, and the patches of the original that
 * lead into them. Public header of src/copy. Pure: no system call, no BPF, no /proc, no exit.
 *
 * A copy has all blocks of its function, with direct branches from copy to copy. Calls, and
 * instructions that enter the kernel, are kept in the original: the copy logs, and jumps to the
 * original instruction; a springboard after that instruction leads back into the copy. So return
 * addresses, and what signals and unwinders see, don't change. Other springboards are at the entry
 * and wherever control may come from elsewhere: targets of jump tables, landing pads, and what
 * other code jumps or points to.
 */
#ifndef BBTRACE_COPY_COPY_H
#define BBTRACE_COPY_COPY_H

#include "arch/arch.h"
#include "object/object.h"
#include "plan/pack.h"
#include "plan/plan.h"

/* Why a function isn't copied; its sites keep their uprobes. -v shows the text. */
enum copy_refusal {
	COPY_OK,
	COPY_RANGE,	 /* only a part of the function was requested */
	COPY_GAP,	 /* not all of its bytes are decoded */
	COPY_UNCERTAIN,	 /* some bytes may not be instructions, or instructions overlap */
	COPY_UNRESOLVED, /* it has an indirect jump not all of whose targets are known */
	COPY_INSN,	 /* it has an instruction that can't be executed elsewhere */
	COPY_ROOM,	 /* it has no room for a springboard */
	COPY_RETURN,	 /* a function that it calls reads or changes its return address */
	COPY_GO,	 /* the program is a Go program, and this is not known to be Go code */
	COPY_RUNS,	 /* the program is a Go program that runs already */
	COPY_STEPS,	 /* its patches are in more than one page, and correct only together */
	COPY_STACK,	 /* of a Go program: the stack may have no room for the log */
	/* Its object can't be patched: text relocations, no copier, rseq, sanitizers ... */
	COPY_OBJECT,
	COPY_SITE,     /* one of its sites can't be logged */
	COPY_VALUES,   /* its arguments or its result are in memory, which copies don't load */
	COPY_RESERVED, /* a probe that isn't the plan's is in it (plan.reserved) */
	COPY_CHANGES,  /* the program changes its code, as the compiler recorded */
	COPY_BOUNDS,   /* it was found without a symbol and an FDE (struct frame, .found) */
	COPY_REFUSALS
};
extern const char *const copy_refusal_text[COPY_REFUSALS]; /* NULL for COPY_OK */

/* What is written over the original. */
enum patch_kind {
	PATCH_JUMP, /* a jump to offset .to of the copies */
	/* A short jump to address .to of the original, where an island or another one is. If .len
	 * is 1, its second byte is there already. */
	PATCH_SHORT,
	/* nops of .nops bytes and a call of offset .to of the copies, which ends where the original
	 * call ends */
	PATCH_CALL,
};
#define PATCH_MAX 16 /* bytes */
struct copy_patch {
	uint64_t vaddr;
	uint64_t to;
	uint8_t kind; /* enum patch_kind */
	uint8_t nops;
	uint8_t len; /* of all of it */
};

/*
 * A position in the copies. At this offset the machine's state is that of the original before the
 * instruction at vaddr, which is not logged yet; between these offsets it is not exact. near: the
 * state is not exact here either, since this is code of that instruction which is not next to its
 * copy; vaddr is 0 if the code belongs to no instruction. shown: dead registers and flags are
 * exact, too; elsewhere a log may have changed them.
 */
struct copy_pc {
	uint32_t offset;
	bool near, shown;
	uint16_t unused; /* 0, since rows are kept as bytes */
	uint64_t vaddr;
};

struct copy_function {
	uint32_t function;   /* in the plan */
	uint32_t start, end; /* offsets of the hot part of its copy */
	uint32_t cold_start, cold_end;
	uint32_t patches, patches_end; /* indices of its patches */
};

struct copy_extent {
	uint64_t start, end;
};

/* The copies of one object's functions. */
struct copy_image {
	uint32_t object; /* in the plan */
	VEC(uint8_t) code;
	VEC(struct code_fixup) fixups; /* to the original; those to labels are resolved */
	VEC(struct code_fault) faults; /* ascending; resume is an offset */
	VEC(struct code_time) times;   /* ascending; instead is an offset */
	/* By function, each function's in the order in which they have to be written. No patch
	 * changes two pages. */
	VEC(struct copy_patch) patches;
	/*
	 * The order of all patches. Here, and in a function's, patches of one page that follow each
	 * other have to be written at once, and a patch that crosses pages by itself. Then the
	 * original is correct after each write.
	 */
	id_vec order;
	id_vec patches_by_vaddr;
	VEC(struct copy_pc) pcs;	     /* by offset */
	id_vec by_vaddr;		     /* the indices of those that aren't near, by vaddr */
	VEC(struct copy_function) functions; /* by start */
	/* ascending: the instructions that are executed in the original: copy_image__is_live() */
	VEC(uint64_t) live;
	/* Ascending: the addresses of the original from which a springboard leads to the copy. */
	VEC(uint64_t) springs;
	/* Ascending: what is executed after a springboard's start, where the original has other
	 * code. */
	VEC(struct copy_extent) approaches;
	/* Ascending ranges of vaddr: execution that resumes at an instruction there, in the
	 * original, is correct and unlogged until it reaches a springboard. */
	VEC(struct copy_extent) intact;
};

/* A counter of each thread (log.h): how often a site was executed; for a conditional: how often it
 * was taken, or not. */
struct copy_counter {
	uint32_t site;
	bool not_taken;
};

struct copies {
	VEC(struct copy_image) images;	  /* by object; an object without a copy has none */
	VEC(struct copy_counter) counted; /* by counter */
	VEC(uint8_t) refusals;		  /* enum copy_refusal, by function of the plan */
};

/*
 * Copies all functions of the plan that can be copied, and changes the plan: their sites that have
 * a probe (PROBE_TRAP) become PROBE_INLINE, and those that count (PROBE_COUNT) become
 * PROBE_INLINE_COUNT. They count by counters; indirect branches and rets by records with their
 * targets. Kernel functions are not copied.
 */
int copies__make(struct plan *plan, const struct log_options *options, struct copies **out);
void copies__free(struct copies *c);
/* Passes on the copies, and what copies__make() changed in the plan, as bytes (packed.c). */
void copies__pack(const struct copies *c, const struct plan *p, const struct pack_sink *out);
/* Makes the copies again, and changes the plan, which must be as that of copies__make() was before.
 * Bytes must be those of copies__pack() of this build. Returns NULL if they are not whole; then the
 * plan hasn't changed. */
struct copies *copies__unpack(const void *bytes, size_t len, struct plan *p);
/* Returns the bytes of memory that each thread needs. */
static inline uint64_t copies__slot_size(const struct copies *c)
{
	return log__slot_size(c->counted.len);
}

/* Set the patch's bytes, and relocate the copies' code, for the object's load bias and the copies'
 * running address. Return false if a target is out of reach. */
bool copy_image__patch(const struct copy_image *i, const struct arch *arch,
		       const struct copy_patch *p, uint64_t bias, uint64_t base,
		       uint8_t out[PATCH_MAX]);
bool copy_image__relocate(const struct copy_image *i, uint64_t bias, uint64_t base, uint8_t *code);

/* Sets the address of the original that offset stands for. Returns false if the state is not exact
 * there. */
bool copy_image__original(const struct copy_image *i, uint32_t offset, uint64_t *vaddr);
/* Returns true if the state is exact there, dead registers and flags included. */
bool copy_image__is_shown(const struct copy_image *i, uint32_t offset);
/*
 * Sets the address of the instruction that is being copied there, or an address of the function,
 * even if the state is not exact: that of the last pc at or before offset. Returns false if offset
 * is in no function.
 */
bool copy_image__near(const struct copy_image *i, uint32_t offset, uint64_t *vaddr);
/*
 * Sets the offset at which the copy of the instruction at vaddr, with its log, begins. Returns
 * false if it has none. An instruction that is kept in the original (a call) has one, too; from
 * there the log is executed again.
 */
bool copy_image__copy_at(const struct copy_image *i, uint64_t vaddr, uint32_t *offset);
/* Returns true if the instruction is executed in the original: a kept call, one that enters the
 * kernel, a springboard, or a landing instruction in front of one. */
bool copy_image__is_live(const struct copy_image *i, uint64_t vaddr);
/* Returns true if a springboard is there: a thread that resumes there in the original continues in
 * the copy at once. */
bool copy_image__has_spring(const struct copy_image *i, uint64_t vaddr);
/* Returns true if a thread there has passed a springboard's start, and isn't in the copy yet. */
bool copy_image__is_approach(const struct copy_image *i, uint64_t vaddr);
bool copy_image__is_intact(const struct copy_image *i, uint64_t vaddr);
/* Returns the patch that changes the byte at vaddr; NULL if none does. */
const struct copy_patch *copy_image__patch_at(const struct copy_image *i, uint64_t vaddr);
/* Returns the offset in the copies that the patch jumps to; 0 for a PATCH_CALL, which doesn't
 * jump. */
uint32_t copy_image__leads_to(const struct copy_image *i, const struct copy_patch *p);
/* Sets where execution resumes if the load at offset faults. Returns false if the load isn't a
 * log's. */
bool copy_image__fault(const struct copy_image *i, uint32_t offset, uint32_t *resume);
/* Returns true if the log reads the time stamp counter at offset, or uses what it read. Sets the
 * start of that code. */
bool copy_image__time(const struct copy_image *i, uint32_t offset, uint32_t *start);
/* Changes the copies' code for a process that may not read the time stamp counter. */
void copy_image__untime(const struct copy_image *i, const struct arch *arch, uint8_t *code);

#endif
