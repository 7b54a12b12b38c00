/* SPDX-License-Identifier: BSD-2-Clause */
/* libraries: the part that the program's own libraries have in a message: their texts, and their
 * functions. Private to src/explain. */
#ifndef BBTRACE_EXPLAIN_LIBRARIES_H
#define BBTRACE_EXPLAIN_LIBRARIES_H

#include "explain/literal.h"
#include "explain/message.h"

/* Returns true for the C library and those that belong to it. */
bool library__is_system(const char *soname);

/* Returns true if the plan has the function with this code. */
bool library__is_traced(const struct plan *p, const struct text_place *at);

struct text_places {
	struct text_place all[TEXT_PLACES_MOST];
	size_t n;
};
/* Finds the code in libraries that takes the address of the string with most of a message's text.
 * Returns true if there is such code, but the program itself has none, and none of it is traced. */
bool libraries__find_text(struct output *o, const struct message *m, struct text_places *out);

/* Returns the file name of the program's library that has this function, or that a PLT stub leads
 * to; NULL if it is the program's own or the system's, or if that isn't known. */
const char *library__of(const struct output *o, const struct location *l);

/* Adds to the operands for another run (struct explaining) the libraries' functions that have the
 * messages' texts, that were called when these were written, or whose results were tested. */
void libraries__want(struct output *o);
/* Notes the programs that weren't traced of children that failed: the last one of CMD's, and its
 * last one, and so on. */
void programs__want(struct output *o);

/* Returns true if the function is of the standard library of C++, Go or Rust, by its name: these
 * are linked into programs. */
bool function__is_standard(const struct plan *p, uint32_t function);

#endif
