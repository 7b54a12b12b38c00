/* SPDX-License-Identifier: BSD-2-Clause */
/* near: what an OBJECT that isn't found may have meant. Private to src/resolve. */
#ifndef BBTRACE_RESOLVE_NEAR_H
#define BBTRACE_RESOLVE_NEAR_H

#include "process/process.h"

/* Returns the path that a relative name stands for, by the real path of its folder: the file itself
 * need not exist. NULL if there is no such folder. The caller frees it. */
char *near__absolute(const char *name);
/* If a program of this name is running whose file was deleted, appends how to name it. */
void near__deleted(const char *name, struct str *out);

/* The sonames that are closest to a name up to now. */
#define NEAR_MAX 3

struct near {
	const char *name;
	char *best[NEAR_MAX]; /* NULL: none; owned */
};
/* A soname that exists, as a candidate. */
void near__soname(struct near *n, const char *soname);
/* The only soname that differs from the name by its version alone, as libc.so.6 does from libc;
 * NULL if there is none, or several. */
const char *near__unversioned(const struct near *n);
/* Appends "; did you mean libc.so.6?", or nothing. */
void near__put(const struct near *n, struct str *out);
void near__free(struct near *n);

#endif
