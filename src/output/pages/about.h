/* SPDX-License-Identifier: BSD-2-Clause */
/* about: the head of a page. Private to src/output; pure. */
#ifndef BBTRACE_OUTPUT_PAGES_ABOUT_H
#define BBTRACE_OUTPUT_PAGES_ABOUT_H

#include "output/stats/stats.h"

/* Command line, machine, date and totals, as HTML. */
void about__put(struct str *s, const struct output_options *o, const struct trace_totals *t);
/* Puts what is missing; nothing if nothing is. */
void about__put_missing(struct str *s, const struct stats *p, const struct trace_totals *t);

#endif
