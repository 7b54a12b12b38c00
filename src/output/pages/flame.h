/* SPDX-License-Identifier: BSD-2-Clause */
/* The flame graph as a piece of SVG, for the svg format and for pages that embed it: see
 * flame.c. */
#ifndef BBTRACE_OUTPUT_PAGES_FLAME_H
#define BBTRACE_OUTPUT_PAGES_FLAME_H

#include "output/stats/stats.h"

enum flame_value { FLAME_NS, FLAME_NET, FLAME_CALLS };

/* What a flame graph of times shows: the times without tracing; those of the clock, if none of
 * these is known; or calls, if all of them are below the noise. */
struct flame_view {
	enum flame_value value;
	const char *title; /* "where the time went" */
};
const struct flame_view *flame__view(const struct stats *p);

struct flame_options {
	enum flame_value value; /* what a frame's width shows */
	const char *title;
	const char *note;    /* what is missing; NULL: nothing */
	const char *tracing; /* what times include; NULL: nothing is known, or no times are shown */
	const char *more;    /* appended to each count and sum: output.more */
	bool embedded;	     /* within an HTML page: no XML declaration */
};
/* Appends one <svg> element with its style and script. Call it after stats__end(). */
void flame__put(struct str *s, const struct stats *p, const struct flame_options *options);

#endif
