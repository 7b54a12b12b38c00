/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forms: the forms of FUNC, one function each. Private to src/resolve.
 */
#ifndef BBTRACE_RESOLVE_FORMS_H
#define BBTRACE_RESOLVE_FORMS_H

#include "resolve/resolve.h"

/* ---- offsets.c: 0xOFF, 0xOFF+0xLEN, NAME+0xOFF, @POINTS ---- */

int offsets__resolve(struct object *o, const struct spec *spec, function_vec *v);
int ranges__resolve(struct object *o, const struct spec *spec, function_vec *v);
int points__resolve(struct object *o, const struct spec *spec, function_vec *v);
/* NAME+0xOFF, in these functions of that name: appends the instruction there, of each. */
int places__select(const struct spec *spec, const function_vec *named, function_vec *v);
/* The start address of an offset or range of the command line. False: not in the code. */
bool spec__vaddr(const struct spec *spec, const struct object *o, uint64_t *vaddr);

/* qualified.c: returns the only function's qualified name that ends in ::NAME, with the arguments
 * of a template only if NAME has some; malloc()ed. NULL: there is none, or several has some. */
char *qualified__only(const struct object *o, const char *name, struct str *several);
/* suggest.c: puts ", did you mean a, b?", or "" without close names. */
void suggest__names(const struct object *o, const char *name, struct str *out);

#endif
