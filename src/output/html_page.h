/* SPDX-License-Identifier: BSD-2-Clause */
/* The fixed parts of the html format: what it looks like, and what it does. See html_page.c. */
#ifndef BBTRACE_HTML_PAGE_H
#define BBTRACE_HTML_PAGE_H

extern const char html_head[];	 /* up to the title's text */
extern const char html_style[];	 /* from there on, up to the body's first words */
extern const char html_body[];	 /* the places that the script fills in */
extern const char html_script[]; /* JavaScript; reads what html.c writes */

#endif
