/* SPDX-License-Identifier: BSD-2-Clause */
/* functions: makes struct function out of symbols and ranges, each address once. Private to
 * src/target. */
#ifndef BBTRACE_TARGET_FUNCTIONS_H
#define BBTRACE_TARGET_FUNCTIONS_H

#include "match.h"

/* All take name over (malloc()ed). */
void function__from_symbol(struct function *out, struct object *o, size_t symbol, char *name);
/* range.name is the covering symbol's; name NULL: "SYMBOL+0xOFF", or the range itself. */
void function__from_range(struct function *out, const struct object *o, uint64_t vaddr,
			  uint64_t size, unsigned flags, char *name);
void function__clear(struct function *f);

/* The entries of the functions in v that o has, as keys: adding one whole function after the other
 * stays linear. */
struct map64 functions__entries(const function_vec *v, const struct object *o);
/* Appended unless there is one of the same object with this entry (and, of a range, this size). */
void functions__add_symbol(function_vec *v, struct map64 *entries, struct object *o, size_t symbol,
			   char *name);
void functions__add_range(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size,
			  unsigned flags, char *name);
/* Does q name one of the symbols at f's entry? */
bool functions__alias_matches(const struct function *f, const struct query *q);

/* lines.c */
int lines__resolve(struct object *o, const struct spec *spec, function_vec *v);

#endif
