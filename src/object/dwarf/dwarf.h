/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dwarf: what debug information and unwinding tables say about code: lines, scopes, variables,
 * prototypes, frames. Front header of src/object/dwarf, which asks by debug (in the sandbox), and
 * checks each answer. First: object__lines(), object__scopes(), object__rules().
 */
#ifndef BBTRACE_OBJECT_DWARF_H
#define BBTRACE_OBJECT_DWARF_H

#include "object/lookup/lookup.h"
#include "rules.h"
#include "types/types.h"

/* ---- frames (rules.c, unwind.c) ---- */

/* What .eh_frame says about the frame pointer at the instruction at vaddr (unwind.c). */
enum frame_link {
	FRAME_UNKNOWN,	  /* no row, or one that can't be interpreted */
	FRAME_NO_POINTER, /* it doesn't point to this frame here */
	FRAME_POINTER, /* it points to the caller's frame pointer, which the return address follows
			*/
	FRAME_OUTERMOST, /* the outermost frame: there is no caller */
};
/* How far the stack pointer is below the CFA at an instruction, by its rules. False: they tell it
 * by another register, or not at all. */
bool object__stack_depth(const struct object *o, uint64_t vaddr, int64_t *bytes);
enum frame_link object__frame_link(const struct object *o, uint64_t vaddr);
/*
 * The rules at the instruction at vaddr, by .eh_frame or, where that has none, .debug_frame, also
 * that of a separate debug file (rules.c). The first call for an object reads them all, and prints
 * a note if they can't be. False: there are none.
 */
bool object__rules(const struct object *o, uint64_t vaddr, struct rule_row *out);
/* ---- source lines (lines.c, line_rows.c) ---- */

/* A row of the line table: the line of the code from vaddr on. line 0, file NULL: unknown. */
struct line_row {
	uint64_t vaddr;
	const char *file; /* as debug information has it; lives as long as the object */
	unsigned line;
	unsigned discriminator; /* which of the line's blocks, as the compiler numbers them; 0: one
				 */
};
/*
 * Calls fn with the rows of each range in order: ascending, the first at its start, then one of
 * line 0 at its end. There are none without debug information, or if it can't be read, which prints
 * a note (line_rows.c). Pass all ranges of an object at once: each call reads its debug information
 * again.
 */
void object__lines(const struct object *o, const struct range *ranges, size_t n,
		   void (*fn)(void *ctx, const struct line_row *row), void *ctx);

/* A function of the source that has code, or a copy of one that was inlined. */
struct source_scope {
	const char *name, *raw; /* in the source; in the symbol table, NULL: the same */
	const char *file;	/* where it is declared, as in struct line_row */
	unsigned line;		/* 0: not known */
	uint32_t parent;	/* the number of the one that it was inlined in; NO_SCOPE: none */
	/* of what was inlined: the place of the call; NULL, 0: not known */
	const char *call_file;
	unsigned call_line, call_discriminator;
	uint64_t entry; /* where control enters it; 0: not known */
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
/* What that is in the source, "p->count"; name NULL: not known. The name lives as long as the
 * object. */
struct variable {
	const char *name;
	uint8_t type; /* enum variable_type */
};
/* Of places, which are ascending. Without debug information none is known (variables.c). */
void object__variables(const struct object *o, const struct operand_place *places, size_t n,
		       struct variable *out);

struct scope_calls {
	/* The next one; they are numbered from 0. Strings live as long as the object. */
	void (*scope)(void *ctx, const struct source_scope *s);
	/* Code of the scope, and of those that were inlined in it. */
	void (*range)(void *ctx, uint32_t scope, uint64_t start, uint64_t end);
};
/*
 * The scopes of the code in ranges, which are ascending: a scope is behind the one that it was
 * inlined in, and its ranges are behind it. Like object__lines() without debug information, and as
 * to calls (scopes.c).
 */
void object__scopes(const struct object *o, const struct range *ranges, size_t n,
		    const struct scope_calls *calls, void *ctx);

/* The prototypes of functions by debug information; those that it doesn't have, or whose parameters
 * may be elsewhere, are absent (prototypes.c). */
void object__prototypes(const struct object *o, const struct type_query *queries, size_t n,
			const struct type_names *members, struct types *out);

/*
 * Which functions the code at vaddr was inlined from, as they are shown, innermost first, each on a
 * line; NULL: none, or it isn't known (inlined.c). Lives as long as the object.
 */
const char *object__inlined_at(const struct object *o, uint64_t vaddr);
/* Reads that, for all code; once. */
void object__read_inlined(const struct object *o);
/* For objects of trace files. names must outlive the object. */
void object__add_inlined(struct object *o, uint64_t vaddr, const char *names);
void inlined__free(struct inlined *in);

/*
 * FILE:LINE by debug information: appends the functions that start there, or selections of the
 * line's code. text: as the user gave it, for messages. -ENOENT, -EPROTO.
 */
int object__resolve_line(struct object *o, const char *text, const char *file, uint64_t line,
			 function_vec *v);
/* Does path, from debug information, end in the components of asked? */
bool path__is_file(const char *path, const char *asked);

#endif
