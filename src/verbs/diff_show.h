/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BBTRACE_VERBS_DIFF_SHOW_H
#define BBTRACE_VERBS_DIFF_SHOW_H

#include "cli/request.h"
#include "diff/diff.h"

/* Writes what fn renders to where the options say, once all is rendered. Before that, sets what
 * the options say of the view: colours, addresses, sources. Returns 0, or -errno with a message. */
int diff_show(const struct request *req, struct diff_view *v,
	      void (*fn)(void *ctx, enum output_form form, struct str *out), void *ctx);

#endif
