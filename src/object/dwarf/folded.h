/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * folded: which function of the source code is shown as, if a linker or a compiler folded several
 * into one, or if it kept one of several copies. Read in the sandbox. Private to src/object/dwarf.
 */
#ifndef BBTRACE_OBJECT_DWARF_FOLDED_H
#define BBTRACE_OBJECT_DWARF_FOLDED_H

#include <elfutils/libdw.h>
#include "object/debug/debug.h"
#include "object/lookup/lookup.h"

/* A function that was compiled in a unit. Its strings are libdw's. */
struct folded_function {
	const char *name, *linkage, *file; /* NULL if not known */
	uint32_t line;			   /* of its declaration */
	uint64_t entry; /* of libdwfl's module; 0 if its code isn't in the program */
};

struct folded_unit {
	bool read;
	VEC(struct folded_function) functions;
};
void folded_unit__read(struct folded_unit *u, Dwarf_Die *unit, Dwarf_Addr bias,
		       const struct debug_session *s);
void folded_unit__free(struct folded_unit *u);

/* How well a function fits code that is listed by a symbol's name, in ascending order. */
enum folded_fit {
	FOLDED_OTHER,
	FOLDED_CODE,  /* its code is there */
	FOLDED_NAME,  /* it has the name; the debug information doesn't show where its code is */
	FOLDED_EXACT, /* both */
};
enum folded_fit folded__fit(const struct folded_function *f, uint64_t entry, const char *symbol);
/* Sets the description of a subprogram's DIE. Returns false if it isn't one of code. */
bool folded__describe(Dwarf_Die *die, Dwarf_Addr bias, const struct debug_session *s,
		      struct folded_function *out);

/* Returns the symbol's name by which a function at an entry is listed, unless it was asked for by
 * another one; NULL if none begins there. */
const char *folded__listed(const struct debug_session *s, uint64_t entry);

/* Which function has the code at each entry. */
struct folded_owner {
	uint64_t entry;
	const char *name; /* in the symbol table; NULL if not known */
	uint32_t number;  /* the caller's */
	uint8_t fit;
};
/* A function that is compiled to the code at entry. */
struct folded_claim {
	struct folded_function f;
	uint64_t entry;
};
struct folded_owners {
	const struct debug_session *session;
	VEC(struct folded_owner) all;
	struct map64 by_entry; /* 1 + its index in all */
	struct map64 names;    /* entry -> the name by which the caller lists it */
	struct map64 by_name;  /* the name of code that has several -> 1 + the range's index */
	struct map64 by_alias; /* each of the names of such code -> its address */
	VEC(struct folded_claim) claims;
	const struct range *ranges;
	struct map64 replaced; /* numbers */
};
/* ranges: the code that is asked for; names of symbols, or NULL. */
void folded_owners__begin(struct folded_owners *w, const struct debug_session *s,
			  const struct range *ranges, size_t n);
void folded_owners__end(struct folded_owners *w);
/* Makes a function the owner of the code at entry. Returns false if another one fits at least as
 * well. */
bool folded_owners__take(struct folded_owners *w, const struct folded_function *f, uint64_t entry,
			 uint32_t number);
/* Sets the code of a function that debug information has without it. Returns false if it isn't
 * listed by its name. */
bool folded_owners__find_entry(const struct folded_owners *w, const struct folded_function *f,
			       uint64_t *entry, uint64_t *size);
/* Notes that a function is one of those with some code, if that code has several names. */
void folded_owners__claim(struct folded_owners *w, const struct folded_function *f);
/* Passes the functions whose code belongs to another one, each once. */
typedef void (*folded_fn)(void *ctx, uint64_t entry, const struct folded_function *f);
void folded_owners__each_other(struct folded_owners *w, folded_fn fn, void *ctx);
/* Return true if a number's code was given to another one later. */
bool folded_owners__changed(const struct folded_owners *w);
bool folded_owners__is_replaced(const struct folded_owners *w, uint32_t number);

#endif
