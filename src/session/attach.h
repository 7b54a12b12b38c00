/* SPDX-License-Identifier: BSD-2-Clause */
/* attach: the probes of a trace, from the plan to the last one. */
#ifndef BBTRACE_SESSION_ATTACH_H
#define BBTRACE_SESSION_ATTACH_H

#include "cli/request.h"

struct attaching {
	const struct request *request;
	struct plan *plan;
	const struct plan_options *options; /* that it was built with */
	struct output *output;		    /* NULL: none */
	struct sources **sources;	    /* the probes are added; others may take their place */
	struct inliner *inliner;	    /* NULL: no functions are copied */
};
/* -EINTR: interrupted. */
int attach__probes(struct attaching *a, struct probe_options *o);

#endif
