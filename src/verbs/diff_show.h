/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BBTRACE_VERBS_DIFF_SHOW_H
#define BBTRACE_VERBS_DIFF_SHOW_H

#include "cli/request.h"
#include "diff/diff.h"

/* Writes what fn renders to where the options say, when all of it is rendered. Fills in what the
 * options say of the view before: colours, addresses, sources. -errno with a message. */
int diff_show(const struct request *req, struct diff_view *v,
	      void (*fn)(void *ctx, enum output_form form, struct str *out), void *ctx);

#endif
