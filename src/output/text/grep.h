/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grep: passes on only steps whose line of text matches, with the calls that they are in: the
 * entries of these, and their returns. What is lost is always passed on. Private to src/output.
 */
#ifndef BBTRACE_OUTPUT_TEXT_GREP_H
#define BBTRACE_OUTPUT_TEXT_GREP_H

#include "output/output.h"

struct grep;
/* The pattern is an extended regular expression; -EINVAL with a message if it is none: then *out is
 * NULL. */
int grep__new(struct grep **out, const struct output *o);
void grep__free(struct grep *g);
void grep__plan_extended(struct grep *g);
/* Passes steps to fn, which gets o, and counts them in it. Returns 0, or what fn returned. */
int grep__step(struct grep *g, const struct step *s,
	       int (*fn)(struct output *o, const struct step *s), struct output *o);

#endif
