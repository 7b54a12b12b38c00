/* SPDX-License-Identifier: BSD-2-Clause */
/* why_run: a run of CMD for bbtrace why, in a process of its own, since tracing gives up
 * privileges. */
#ifndef BBTRACE_VERBS_WHY_WHY_RUN_H
#define BBTRACE_VERBS_WHY_WHY_RUN_H

#include "explain/explain.h"
#include "cli/request.h"

struct why_run {
	int status;  /* bbtrace's exit status: CMD's, if it was traced */
	bool traced; /* CMD has ended, and that was explained */
	bool complete;
	size_t explained;
	struct failed_call blamed; /* what the program's deciding branch tested; result 0 if none */
	VEC(struct failed_call) failed;
	VEC(char *) wanted;    /* of the kernel; owned */
	VEC(char *) elsewhere; /* operands: functions of libraries; owned */
	VEC(char *) programs;  /* of children that failed untraced: paths; owned */
	char *text;	       /* owned */
	size_t len;
};
struct why_options {
	bool system_calls;	 /* all failed system calls are recorded */
	struct passing *passing; /* in shared memory, or NULL */
	bool passes;		 /* this is the run that passes: it fills .passing */
};
/* Runs CMD. The operands of the trace are borrowed. Returns 0, or -errno if the run could not
 * begin. */
int why_run__do(struct why_run *r, const struct request *req, char *const *operands, size_t n,
		struct why_options o);
void why_run__free(struct why_run *r);

#endif
