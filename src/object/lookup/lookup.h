/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lookup: what is at an address or has a name: functions, selections of code, cold parts. Front
 * header of src/object/lookup, which uses only the data of struct object and elf. First:
 * object__function_at(), functions__select(), name_query__match(). The lookups of single addresses
 * (lookup.c) are declared in object.h.
 */
#ifndef BBTRACE_OBJECT_LOOKUP_LOOKUP_H
#define BBTRACE_OBJECT_LOOKUP_LOOKUP_H

#include "names.h"
#include "object/object.h"

/* ---- functions to trace ---- */

#define NO_FUNCTION UINT32_MAX /* in place of a function's index */

struct range {
	uint64_t vaddr, size;
	/* The display name: the function's, or the cold part's own ("foo.cold"); NULL if not
	 * known. */
	char *name;
	/* The offset of vaddr from the start of what has that name: not 0 if the range starts in
	 * the middle. */
	uint64_t offset;
};

enum function_flags {
	/* Only the branches in its ranges: no entry, no return (0xOFF+0xLEN, FILE:LINE, @POINTS,
	 * foo.cold alone; code whose start may be a label: frame.unproved). */
	FUNCTION_RANGE = 1,
	/* entry is an IFUNC resolver: src/code replaces it by what it can return. */
	FUNCTION_IFUNC = 2,
	FUNCTION_SYSCALL = 4, /* kernel: its first argument is the caller's struct pt_regs * */
	/* Not requested: only its rets are probed, to see tail calls return (set by src/code). */
	FUNCTION_HELPER = 8,
	FUNCTION_GO_ARGS = 16, /* its arguments are in registers by Go's ABIInternal */
	/* Its arguments and results are on the stack, or their location is unknown. */
	FUNCTION_NO_ARGS = 32,
	FUNCTION_SYSCALL32 = 64, /* with FUNCTION_SYSCALL: of the 32-bit ABI */
	FUNCTION_REMOVED = 128,	 /* no longer traced: it stays in a plan for what was shown of it */
	FUNCTION_FINAL = 256,	 /* runs when the process ends: object__is_final() */
	FUNCTION_MAIN = 512,	 /* the C library calls it as main, whatever its name */
};

struct function {
	const struct object *object;
	char *name;	/* as requested, or the symbol's display name for a glob */
	char *raw;	/* the symbol's own (mangled) name; NULL without a symbol */
	uint64_t entry; /* ranges[0].vaddr; for a selection, the start of its function */
	unsigned flags;
	uint8_t arguments;	  /* of a system call: 1 + their number; 0 if not known */
	VEC(struct range) ranges; /* [0] contains the entry; then cold parts */
};

typedef VEC(struct function) function_vec;
void functions__free(function_vec *v);
/* Returns the bytes of all ranges. */
uint64_t functions__size(const function_vec *functions);
/*
 * Joins the selections in each function to one member with ascending, disjoint ranges, and drops
 * those in a function that is traced entirely. To be called after everything is resolved
 * (selection.c).
 */
void functions__join(function_vec *v);

/* Sets the function that covers vaddr, for addresses that control flow reaches, such as tail-call
 * targets. Returns false if not known. */
bool object__function_at(const struct object *o, uint64_t vaddr, struct function *out);

/* ---- names (match.c, cold_parts.c) ---- */

/* How a symbol relates to the requested name, in ascending order. */
enum match {
	MATCH_NONE,
	MATCH_NAME,	 /* its raw name is the requested one */
	MATCH_DEMANGLED, /* its demangled name is */
	MATCH_PART,	 /* foo.part.0 for foo: the outlined rest of a partly inlined function */
	MATCH_CLONE, /* foo.isra.0, foo.constprop.0, foo.llvm.1, ...: matches if there is no foo */
};

struct name_query {
	const char *text;    /* as given: name, name@VERSION, pattern */
	char *name;	     /* without version */
	const char *version; /* NULL for any version */
	bool default_only;   /* name@@VERSION */
	bool glob;
	bool exported;	 /* only exported symbols, and the parts of their functions; for resolve */
	bool mangled;	 /* the name is mangled, so no demangled name is equal to it */
	char needle[64]; /* every mangled name that can match contains this; "" if not known */
};

void name_query__init(struct name_query *q, const char *text, bool glob);
void name_query__free(struct name_query *q);
enum match name_query__match(const struct name_query *q, const struct symbol *s);
/* The same for a name without a symbol or version (a function's display name). */
bool name_query__matches_name(const struct name_query *q, const char *name);

/* Returns the length of "foo" in "foo.part.0", "foo.isra.0.part.1"; 0 if it is not a part of a
 * partly inlined function. */
size_t name__part_owner_len(const char *name);
/* Returns true if a, of two names of the same function, is the one to show: the one with fewer
 * leading underscores. */
bool name__is_plainer(const char *a, const char *b);
/* Returns the length of "foo" in "foo.cold", "foo.cold.1", "foo.__part.2"; 0 if it is not a
 * split-off part. */
size_t name__owner_len(const char *name);

/* cold_parts.c: the cold parts of the functions at vaddr. Returns n for o->cold_parts[*first ...
 * *first + n). */
size_t object__cold_parts(struct object *o, uint64_t vaddr, size_t *first);
/* Returns the symbol of the function that the part at index was split from; NULL if it is not a
 * part, or ambiguous. */
const struct symbol *object__cold_part_owner(struct object *o, size_t index);

/* ---- making functions (functions.c, selection.c) ---- */

/* Makes a range from vaddr on. Takes ownership of name (malloc()ed); if that is NULL, the range is
 * named by its offset in its function, "foo+0x10". */
void function__from_range(struct function *out, const struct object *o, uint64_t vaddr,
			  uint64_t size, char *name);
void function__clear(struct function *f);

/* Returns the entries of o's functions in v, as keys: adding many functions stays linear in
 * time. */
struct map64 functions__entries(const function_vec *v, const struct object *o);
/* Appends the function, unless there is one of the same object with this entry. */
void functions__add_symbol(function_vec *v, struct map64 *entries, struct object *o, size_t symbol,
			   char *name);
void functions__add_range(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size,
			  char *name);
/* Returns true if q names one of the symbols at f's entry. */
bool functions__alias_matches(const struct function *f, const struct name_query *q);

/* Sets the function that contains vaddr, and *range to the index of the range that does. Returns
 * false if not known. */
bool object__holder(const struct object *o, uint64_t vaddr, struct function *out, size_t *range);
/* Appends a selection of [vaddr, vaddr + size) for each function that overlaps it. */
void functions__select(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size);

/* Returns the start of the next symbol (or frame) after vaddr; UINT64_MAX if there is none. */
uint64_t object__next_start(const struct object *o, uint64_t vaddr, bool frames);

#endif
