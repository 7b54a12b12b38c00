/* SPDX-License-Identifier: BSD-2-Clause */
/* literal: the code in an object that a message's text is from. Private to src/explain. */
#ifndef BBTRACE_EXPLAIN_LITERAL_H
#define BBTRACE_EXPLAIN_LITERAL_H

#include "object/object.h"

/* An instruction that takes the address of a string by which a message may have been made. */
struct text_place {
	const struct object *object;
	uint64_t literal, code; /* link-time addresses */
	size_t letters;		/* of the string that are in the message */
};
#define TEXT_PLACES_MOST 4

/* Returns the number of letters of the text that this format of printf(3) would have made; 0 if it
 * has not. */
size_t literal__letters(const char *format, const char *text, size_t len);
/* Likewise of what is there in an object: a string of C, or one of Go or Rust, which has no end.
 * Appends what of it is in the text to shown, unless that is NULL. */
size_t literal__letters_at(const struct object *o, uint64_t vaddr, const char *text, size_t len,
			   struct str *shown);
/*
 * Looks for the string with the most letters, more than *n places have that were found before, and
 * sets the instructions that take its address. *n is TEXT_PLACES_MOST + 1 if there are more.
 */
void literal__find(const struct object *o, const char *text, size_t len,
		   struct text_place places[TEXT_PLACES_MOST], size_t *n);

typedef void (*literal_fn)(void *ctx, uint64_t code, uint64_t literal);
/* Calls fn for each string that a message may be made by, of which an instruction in [start, end)
 * takes the address to use it there. An instruction may begin or end elsewhere than it seems:
 * rarely, one is listed that isn't there. */
void literal__each(const struct object *o, uint64_t start, uint64_t end, literal_fn fn, void *ctx);

#endif
