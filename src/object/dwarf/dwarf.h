/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dwarf: what debug information and unwinding tables have about code: lines, scopes, variables,
 * prototypes, frames. Front header of src/object/dwarf, which queries by debug (in the sandbox),
 * and checks each answer. First: object__lines(), object__scopes(), object__rules().
 */
#ifndef BBTRACE_OBJECT_DWARF_DWARF_H
#define BBTRACE_OBJECT_DWARF_DWARF_H

#include "object/lookup/lookup.h"
#include "rules.h"
#include "types/types.h"

/* ---- frames (rules.c, unwind.c) ---- */

/* What .eh_frame has about the frame pointer at the instruction at vaddr (unwind.c). */
enum frame_link {
	FRAME_UNKNOWN,	  /* no row, or one that can't be interpreted */
	FRAME_NO_POINTER, /* it doesn't point to this frame */
	FRAME_POINTER,	 /* it points to the caller's frame pointer, which is followed by the return
			    address */
	FRAME_OUTERMOST, /* the outermost frame: there is no caller */
};
/* Sets how many bytes the stack pointer is below the CFA at an instruction, by its rules. Returns
 * false if the rules use another register, or if there are none. */
bool object__stack_depth(const struct object *o, uint64_t vaddr, int64_t *bytes);
enum frame_link object__frame_link(const struct object *o, uint64_t vaddr);
/*
 * Sets the rules at the instruction at vaddr, by .eh_frame or, where that has none, by
 * .debug_frame, also that of a separate debug file (rules.c). The first call for an object reads
 * all of them, of a large one those around vaddr, and prints a note if they can't be read. Returns
 * false if there are none.
 */
bool object__rules(const struct object *o, uint64_t vaddr, struct rule_row *out);
/* ---- source lines (line_rows.c) ---- */

/* A row of the line table: the line of the code from vaddr on. line 0, file NULL: not known. */
struct line_row {
	uint64_t vaddr;
	const char *file; /* as in the debug information; lives as long as the object */
	unsigned line;
	unsigned discriminator; /* which of the line's blocks, as the compiler numbers them; 0 if
				   there is only one */
};
/*
 * Calls fn with the rows of each range in order: ascending, the first at its start, then one of
 * line 0 at its end. There are none without debug information, or if it can't be read, which prints
 * a note (line_rows.c). Pass all ranges of an object at once: each call reads its debug information
 * again.
 */
void object__lines(const struct object *o, const struct range *ranges, size_t n,
		   void (*fn)(void *ctx, const struct line_row *row), void *ctx);

/* ---- scopes, variables, prototypes, what was inlined ---- */

/* A function of the source that has code, or an inlined copy of one. */
struct source_scope {
	const char *name,
		*raw; /* the name in the source; the name in the symbol table, NULL if the same */
	const char *file; /* where it is declared, as in struct line_row */
	unsigned line;	  /* 0 if not known */
	uint32_t parent;  /* the number of the scope that it was inlined in; NO_SCOPE if none */
	/* of an inlined copy: the place of the call; NULL, 0 if not known */
	const char *call_file;
	unsigned call_line, call_discriminator;
	uint64_t entry; /* where control enters it; 0 if not known */
};

/* An operand of the instruction at vaddr: a register, or memory at a register, or at no register
 * (REG_NONE), plus disp. */
struct operand_place {
	uint64_t vaddr;
	uint8_t kind; /* enum operand_kind: REG, MEM */
	uint8_t base;
	uint8_t size; /* bytes */
	int64_t disp;
};
/* What an operand is in the source, "p->count"; name is NULL if not known. The name lives as long
 * as the object. */
struct variable {
	const char *name;
	uint8_t type; /* enum variable_type */
};
/* Finds the variables of places, which are ascending. Without debug information none is known
 * (variables.c). */
void object__variables(const struct object *o, const struct operand_place *places, size_t n,
		       struct variable *out);

struct scope_calls {
	/* Called with the next scope; they are numbered from 0. Strings live as long as the
	 * object. */
	void (*scope)(void *ctx, const struct source_scope *s);
	/* Called with code of the scope, and of those that were inlined in it. */
	void (*range)(void *ctx, uint32_t scope, uint64_t start, uint64_t end);
	/* Called last, with the other functions of the source that were folded with a scope's, as
	 * they are shown, a line each. May be NULL. */
	void (*folded)(void *ctx, uint32_t scope, const char *names);
};
/*
 * Passes the scopes of the code in ranges, which are ascending: a scope follows the one that it was
 * inlined in, and its ranges follow it. Without debug information, and for the number of calls, see
 * object__lines() (scopes.c).
 */
void object__scopes(const struct object *o, const struct range *ranges, size_t n,
		    const struct scope_calls *calls, void *ctx);

/* Passes the prototypes of functions by debug information. Functions that it doesn't have, or whose
 * parameters may be elsewhere, are left out (prototypes.c). */
void object__prototypes(const struct object *o, const struct type_query *queries, size_t n,
			const struct type_names *members, struct types *out);

/*
 * Returns the functions that the code at vaddr was inlined from, as they are shown, innermost
 * first, each on a line; NULL if there are none, or if it isn't known (inlined.c). Lives as long as
 * the object.
 */
const char *object__inlined_at(const struct object *o, uint64_t vaddr);
/* Reads these for all code, once. */
void object__read_inlined(const struct object *o);
/* For objects of trace files. names must outlive the object. */
void object__add_inlined(struct object *o, uint64_t vaddr, const char *names);
void inlined__free(struct inlined *in);

/* Resolves FILE:LINE by debug information: appends the functions that start there, or selections of
 * the line's code. text is what the user gave, for messages. Returns -ENOENT, -EPROTO. */
int object__resolve_line(struct object *o, const char *text, const char *file, uint64_t line,
			 function_vec *v);
/* Returns true if path, from debug information, ends in the components of asked. */
bool path__is_file(const char *path, const char *asked);

#endif
