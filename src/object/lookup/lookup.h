/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lookup: what is at an address or has a name: functions, selections of code, cold parts. Front
 * header of src/object/lookup, which uses only the data of struct object and elf. First:
 * object__function_at(), functions__select(), name_query__match(). The lookups of single addresses
 * (lookup.c) are declared in object.h.
 */
#ifndef BBTRACE_OBJECT_LOOKUP_H
#define BBTRACE_OBJECT_LOOKUP_H

#include "names.h"
#include "object/object.h"

/* ---- functions to trace ---- */

#define NO_FUNCTION UINT32_MAX /* in place of a function's index */

struct range {
	uint64_t vaddr, size;
	char *name;	 /* display name: the function's, or the cold part's own ("foo.cold"); NULL:
			    unknown */
	uint64_t offset; /* of vaddr from the start of what has that name: not 0 if the range starts
			    in the middle */
};

enum function_flags {
	FUNCTION_RANGE = 1, /* only the branches in its ranges: no entry, no return (0xOFF+0xLEN,
			       FILE:LINE, @POINTS, foo.cold alone) */
	FUNCTION_IFUNC =
		2, /* entry is an IFUNC resolver: code/ replaces it by what it can return */
	FUNCTION_SYSCALL = 4,  /* kernel: its first argument is the caller's struct pt_regs * */
	FUNCTION_HELPER = 8,   /* not requested: probed at its rets only, to see tail calls return
				  (set by src/code) */
	FUNCTION_GO_ARGS = 16, /* its arguments are in registers by Go's ABIInternal */
	FUNCTION_NO_ARGS =
		32, /* its arguments and results are on the stack, or their location is unknown */
	FUNCTION_SYSCALL32 = 64, /* with FUNCTION_SYSCALL: of the 32-bit ABI */
	FUNCTION_REMOVED = 128,	 /* no longer traced: in a plan it stays for what was shown of it */
};

struct function {
	const struct object *object;
	char *name;	/* as requested, or the symbol's display name for a glob */
	char *raw;	/* the symbol's own (mangled) name, NULL without symbol */
	uint64_t entry; /* ranges[0].vaddr; of a selection, the start of its function */
	unsigned flags;
	uint8_t arguments;	  /* of a system call: 1 + their number; 0: unknown */
	VEC(struct range) ranges; /* [0] contains the entry; then cold parts */
};

typedef VEC(struct function) function_vec;
void functions__free(function_vec *v);
/*
 * Joins the selections in each function to one member with ascending, disjoint ranges, and drops
 * those in a function that is traced entirely. Call it after everything is resolved (selection.c).
 */
void functions__join(function_vec *v);

/* The function that covers vaddr, for addresses that control flow reaches, such as tail-call
 * targets. False: unknown. */
bool object__function_at(const struct object *o, uint64_t vaddr, struct function *out);

/* ---- names (match.c, cold_parts.c) ---- */

/* How a symbol relates to the requested name, in ascending order. */
enum match {
	MATCH_NONE,
	MATCH_NAME,	 /* its raw name is the requested one */
	MATCH_DEMANGLED, /* its demangled name is */
	MATCH_PART,	 /* foo.part.0 for foo: the outlined rest of a partly inlined function */
	MATCH_CLONE, /* foo.isra.0, foo.constprop.0, foo.llvm.1, …: matches if there is no foo */
};

struct name_query {
	const char *text;    /* as given: name, name@VERSION, pattern */
	char *name;	     /* without version */
	const char *version; /* NULL: any */
	bool default_only;   /* name@@VERSION */
	bool glob;
	bool exported;	 /* only exported symbols, and the parts of their functions; for resolve */
	bool mangled;	 /* the name is a mangled one, which no demangled name is */
	char needle[64]; /* every mangled name that can match contains this; "": unknown */
};

void name_query__init(struct name_query *q, const char *text, bool glob);
void name_query__free(struct name_query *q);
enum match name_query__match(const struct name_query *q, const struct symbol *s);
/* The same for a name without symbol or version (a function's display name). */
bool name_query__matches_name(const struct name_query *q, const char *name);

/* Length of "foo" in "foo.part.0", "foo.isra.0.part.1"; 0: not a part of a partly inlined function.
 */
size_t name__part_owner_len(const char *name);
/* Of two names of one function, is a the one to show? The one with fewer underscores in front. */
bool name__is_plainer(const char *a, const char *b);
/* Length of "foo" in "foo.cold", "foo.cold.1", "foo.__part.2"; 0: not a split-off part. */
size_t name__owner_len(const char *name);

/* cold_parts.c: the cold parts of the functions at vaddr: returns n for o->cold_parts[*first …
 * *first + n). */
size_t object__cold_parts(struct object *o, uint64_t vaddr, size_t *first);
/* The symbol of the function that the part at index was split from; NULL: not a part, or
 * ambiguous. */
const struct symbol *object__cold_part_owner(struct object *o, size_t index);

/* ---- making functions (functions.c, selection.c) ---- */

/* A range from vaddr on. Takes ownership of name (malloc()ed); NULL: it is named by its offset in
 * its function, "foo+0x10". */
void function__from_range(struct function *out, const struct object *o, uint64_t vaddr,
			  uint64_t size, char *name);
void function__clear(struct function *f);

/* The entries of o's functions in v, as keys: keeps adding many functions linear. */
struct map64 functions__entries(const function_vec *v, const struct object *o);
/* Appended unless there is one of the same object with this entry. */
void functions__add_symbol(function_vec *v, struct map64 *entries, struct object *o, size_t symbol,
			   char *name);
void functions__add_range(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size,
			  char *name);
/* Does q name one of the symbols at f's entry? */
bool functions__alias_matches(const struct function *f, const struct name_query *q);

/* The function that contains vaddr, and in *range the index of the range that does. False:
 * unknown. */
bool object__holder(const struct object *o, uint64_t vaddr, struct function *out, size_t *range);
/* Appends a selection of [vaddr, vaddr + size) for each function that overlaps it. */
void functions__select(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size);

/* The start of the next symbol (or frame) after vaddr; UINT64_MAX: none. */
uint64_t object__next_start(const struct object *o, uint64_t vaddr, bool frames);

#endif
