/* SPDX-License-Identifier: BSD-2-Clause */
/* functions: makes struct function out of symbols and ranges, each address once. Private to
 * src/target. */
#ifndef BBTRACE_TARGET_FUNCTIONS_H
#define BBTRACE_TARGET_FUNCTIONS_H

#include "match.h"

/* All take name over (malloc()ed). */
void function__from_symbol(struct function *out, struct object *o, size_t symbol, char *name);
/* Begins at vaddr; name NULL: it goes by its place in the function that holds it, "foo+0x10". */
void function__from_range(struct function *out, const struct object *o, uint64_t vaddr,
			  uint64_t size, char *name);
void function__clear(struct function *f);

/* The entries of the functions in v that o has, as keys: adding one whole function after the other
 * stays linear. */
struct map64 functions__entries(const function_vec *v, const struct object *o);
/* Appended unless there is one of the same object with this entry. */
void functions__add_symbol(function_vec *v, struct map64 *entries, struct object *o, size_t symbol,
			   char *name);
void functions__add_range(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size,
			  char *name);
/* Does q name one of the symbols at f's entry? */
bool functions__alias_matches(const struct function *f, const struct query *q);

/* ---- selection.c ---- */

/* The function that holds vaddr, and in *range which of its ranges does. False: none is known. */
bool object__holder(const struct object *o, uint64_t vaddr, struct function *out, size_t *range);
/* Appends the branches of [vaddr, vaddr + size), for each function that holds some of it. */
void functions__select(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size);

/* ---- offsets.c: 0xOFF, 0xOFF+0xLEN, @POINTS ---- */

int offsets__resolve(struct object *o, const struct spec *spec, function_vec *v);
int ranges__resolve(struct object *o, const struct spec *spec, function_vec *v);
int points__resolve(struct object *o, const struct spec *spec, function_vec *v);
/* The address that an offset or range of the command line begins at. False: not in the code. */
bool spec__vaddr(const struct spec *spec, const struct object *o, uint64_t *vaddr);

/* lines.c */
int lines__resolve(struct object *o, const struct spec *spec, function_vec *v);

#endif
