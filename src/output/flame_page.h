/* SPDX-License-Identifier: BSD-2-Clause */
/* The fixed parts of a flame graph: what it looks like, and what it does. See flame_page.c. */
#ifndef BBTRACE_FLAME_PAGE_H
#define BBTRACE_FLAME_PAGE_H

extern const char flame_style[];    /* CSS; all of it below .bbtrace-flame */
extern const char flame_controls[]; /* SVG: the line of details, the search field, the buttons */
extern const char flame_script[];   /* JavaScript, for within CDATA */

#endif
