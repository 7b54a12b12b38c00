/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines: which lines and functions of the source a plan's code is from, by debug information. Part
 * of plan.h; uses the plan's rows and object/dwarf. First: plan__lines(), plan__source(),
 * plan__variables().
 */
#ifndef BBTRACE_PLAN_LINES_LINES_H
#define BBTRACE_PLAN_LINES_LINES_H

#include "object/object.h"

struct plan;

/* The source line of the code from vaddr up to the next row of the same object. line is 0 if not
 * known. */
struct plan_line {
	uint64_t vaddr;
	uint32_t object;
	uint32_t file; /* index into plan->line_files */
	uint32_t line;
	uint32_t discriminator; /* which of the line's blocks; 0 if not known */
};

/* A function of the source that has code, or an inlined copy of one. */
struct plan_scope {
	const char *name, *raw; /* the name in the source, NULL if none; in the symbol table, NULL
				   if the same */
	uint32_t object;
	uint32_t parent; /* the scope that it was inlined in, an earlier row; NO_SCOPE if none */
	uint32_t file, line; /* where it is declared; line 0 if not known */
	/* Of what was inlined: where the call is; 0 if not known. call_file is 1 + the file's
	 * index. */
	uint32_t call_file, call_line, call_discriminator;
	uint64_t entry; /* where control enters it; 0 if not known */
	/* Other functions of the source that have the same code, since the linker folded them: as
	 * they are shown, a line each; NULL if there are none. */
	const char *folded;
};

/* The code of a scope, without that of what was inlined in it. */
struct plan_scope_range {
	uint64_t start, end;
	uint32_t object, scope;
};

/* Fills in lines and line_files from the objects' debug information; slow. */
void plan__lines(struct plan *p);
/* Fills in scopes and scope_ranges, too. */
void plan__scopes(struct plan *p);
/* Fills in the variables of sites with .test; slow (variables.c). */
void plan__variables(struct plan *p);
/* The same of one object, for those of the three that are wanted. Each object may be read once. */
void plan__read_source(struct plan *p, uint32_t object, bool lines, bool scopes, bool variables);
/* Returns the innermost scope of the code at vaddr; NO_SCOPE if not known. */
uint32_t plan__scope_at(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Returns the end of the code from vaddr on that is in the same scope, or in none. */
uint64_t plan__scope_end(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Returns the row that covers vaddr; NULL if none does. */
const struct plan_line *plan__line_at(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Return the first row of an object from this address on, and the first scope range that ends after
 * it: indices into lines, scope_ranges. */
size_t plan__lines_from(const struct plan *p, uint32_t object, uint64_t vaddr);
size_t plan__scope_ranges_from(const struct plan *p, uint32_t object, uint64_t vaddr);
/* Returns the last row with a line that begins in [from, vaddr]; NULL if there is none. */
const struct plan_line *plan__line_before(const struct plan *p, uint32_t object, uint64_t vaddr,
					  uint64_t from);

/* What of the source an instruction belongs to: a function, or an inlined copy of one. */
struct plan_frame {
	const struct plan_scope *scope; /* NULL if not known */
	const char *file;		/* NULL if not known */
	uint32_t line;			/* 0 if not known */
};
/* Sets the innermost frame; for the frames around it, where the inlined function is called. Returns
 * false if nothing is known, or if the frame is the outermost one. */
bool plan__source(const struct plan *p, uint32_t object, uint64_t vaddr, struct plan_frame *f);
bool plan__source_outer(const struct plan *p, struct plan_frame *f);

/* Code of a block that belongs to one row and one scope; scope is NO_SCOPE if none is known. */
struct plan_piece {
	const struct plan_line *row;
	uint32_t scope;
	uint64_t start;
};
/* Calls fn with the pieces of a block whose lines are known. *next has to be 0 for the first block;
 * the others have to follow in order of address (blocks_by_address). */
void plan__each_piece(const struct plan *p, uint32_t block, size_t *next,
		      void (*fn)(void *ctx, const struct plan_piece *piece), void *ctx);

#endif
