/* SPDX-License-Identifier: BSD-2-Clause */
/* attach: attaches the probes of a trace, as its plan has them. */
#ifndef BBTRACE_SESSION_ATTACH_H
#define BBTRACE_SESSION_ATTACH_H

#include "cli/request.h"

struct attaching {
	const struct request *request;
	struct plan *plan;
	const struct plan_options *options; /* with which plan was built */
	struct output *output;		    /* NULL if none */
	struct source **source;		    /* what is attached, also in part; NULL if nothing is */
	struct inliner *inliner;	    /* NULL if no functions are copied */
};
/* Returns 0, or -errno with a message; -EINTR if a signal interrupted it. */
int attach__probes(struct attaching *a, struct probe_options *o);

#endif
