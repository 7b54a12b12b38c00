/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * match: does a name or pattern of the command line mean this symbol? And what compilers append to
 * names: the clones and split-off parts of a function.
 */
#ifndef BBTRACE_TARGET_MATCH_H
#define BBTRACE_TARGET_MATCH_H

#include "target/target.h"

/* Ascending: which of a function's bodies a symbol is, seen from the name that was asked for. */
enum match {
	MATCH_NONE,
	MATCH_NAME,	 /* this very (raw) name */
	MATCH_DEMANGLED, /* by its readable form */
	MATCH_PART,  /* foo.part.0, asked for foo: the outlined rest of a partly inlined function */
	MATCH_CLONE, /* foo.isra.0, foo.constprop.0, foo.llvm.1, …: counts where no foo exists */
};

struct query {
	const char *text;    /* as asked: name, name@VERSION, pattern */
	char *name;	     /* without version */
	const char *version; /* NULL: any */
	bool default_only;   /* name@@VERSION */
	bool glob;
	char needle[64]; /* every mangled name that can match holds this; "": not known */
};

void query__init(struct query *q, const char *text, bool glob);
void query__free(struct query *q);
enum match query__match(const struct query *q, const struct symbol *s);
/* The same for a name without symbol or version (the shown name of a function). */
bool query__matches_name(const struct query *q, const char *name);

/* Length of "foo" in "foo.cold", "foo.cold.1", "foo.__part.2"; 0: not a split-off part. */
size_t name__owner_len(const char *name);

/* parts.c: the split-off parts of the functions at vaddr, as o->splits[*first … + n). */
size_t object__splits(struct object *o, uint64_t vaddr, size_t *first);
/* The symbol of the function that the part at index was split off; NULL: not a part, or not told
 * apart. */
const struct symbol *object__split_owner(struct object *o, size_t index);

/* suggest.c: ", did you mean a, b?", or "" without close names. */
void suggest__names(const struct object *o, const char *name, struct str *out);

#endif
