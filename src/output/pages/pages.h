/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of src/output/pages/html, embedded by make without their first line, which has the
 * licence. Nothing in them is fetched from elsewhere, and the page's own policy forbids it.
 */
#ifndef BBTRACE_OUTPUT_PAGES_PAGES_H
#define BBTRACE_OUTPUT_PAGES_PAGES_H

#include "output/base/paint.h" /* put(); page_css */

extern const char page_html[]; /* the html format; {{holes}} are rows in html.c */
extern const char page_js[]; /* what it does; puts text into the page as text only, never as HTML */
extern const char timeline_css[], timeline_js[]; /* timeline(), which page_js calls */
extern const char flame_css[];			 /* a flame graph; all of it below .bbtrace-flame */
extern const char flame_svg[]; /* the line of details, the search field, the buttons */
extern const char flame_js[];  /* for within CDATA; several graphs may stand in one page: everything
				* is  looked up from the graph's own <svg> */

#endif
