/* SPDX-License-Identifier: BSD-2-Clause */
/* search: a search for the file that OBJECT names (find.c), and what of it is the dynamic loader's
 * (soname.c). Private to src/resolve. */
#ifndef BBTRACE_RESOLVE_SEARCH_H
#define BBTRACE_RESOLVE_SEARCH_H

#include "resolve/resolve.h"

/* The name, where to search, and the result. */
struct search {
	const char *name;
	pid_t pid;		 /* the process whose maps are searched; 0: none */
	struct root root;	 /* of that process */
	const struct arch *arch; /* whose libraries; NULL: not known */
	const struct object *of; /* the object that needs the library; NULL: not known */
	struct found *out;
	bool own; /* it belongs to of: without that, and without LD_LIBRARY_PATH, the loader would
		     find none of this name, or another one */
};

/* Takes path, as seen in the root, if test() is true for the file. 1: taken, 0: not, or -errno of
 * opening it. */
int search__take(struct search *s, const char *path, bool (*test)(const struct search *s, int fd));
/* Returns true if the dynamic loader finds the name (ld.so(8)). */
bool search__soname(struct search *s);
/* Reads the loader's cache. Returns false if there is none. */
bool search__read_cache(const struct search *s, char **bytes, size_t *len);

#endif
