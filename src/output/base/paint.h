/* SPDX-License-Identifier: BSD-2-Clause */
/* paint: colours, blanks and durations in text. Private to src/output; pure. */
#ifndef BBTRACE_OUTPUT_BASE_PAINT_H
#define BBTRACE_OUTPUT_BASE_PAINT_H

#include "output/output.h"

#define put(s, literal) str__put((s), literal, sizeof(literal) - 1)

enum colour { PLAIN, DIM, BRIGHT, GREEN, CYAN, YELLOW, RED };
/* Switches the colour if colours are enabled; PLAIN ends it. */
void paint(struct output *o, enum colour colour);

void put_spaces(struct str *s, unsigned n);
/* The text, with blanks before it up to this width. */
void put_right(struct str *s, const char *text, unsigned width);

#endif
