/* SPDX-License-Identifier: BSD-2-Clause */
/* targets: from the operands of a command line to functions. */
#ifndef BBTRACE_SELECT_TARGETS_H
#define BBTRACE_SELECT_TARGETS_H

#include "cli/request.h"
#include "plan/plan.h"
#include "resolve/resolve.h"

struct targets {
	VEC(struct object *) objects; /* owned */
	struct object *kernel;	      /* among objects; NULL: none of its functions is named */
	function_vec functions;
	bool exported;		     /* of those that are named, only exported ones */
	VEC(struct plan_stub) stubs; /* PLT stubs that lead to one of functions (tail_calls.c) */
};
/* pid: the process whose maps and mount namespace are used (0: none). all: no FUNC means all
 * functions. */
int targets__find(struct targets *n, const struct request *req, pid_t pid, bool all);
/* Does an operand name functions of the kernel? */
bool targets__name_kernel(const struct request *req);
/* --exclude (exclude.c). -ENOENT: it leaves no function. */
int exclude__apply(struct targets *n, const struct request *req);
void targets__free(struct targets *n);
/*
 * Functions for a trace that runs, as FUNC in the object that the command line named first, OBJECT
 * FUNC..., OBJECT:FUNC, user:OBJECT:FUNC or kernel:FUNC; appended to out, which the caller frees.
 * The kernel's only if the trace has some of them: its code can't be read later. Objects that are
 * new belong to n.
 */
int targets__find_more(struct targets *n, const struct request *req, char *const *words,
		       size_t nwords, pid_t pid, function_vec *out);
/* Copies of the functions that were requested, but without those in out, if there are any; the
 * caller frees them. */
function_vec targets__copy(const struct targets *n, const function_vec *out);
/* Opens the file that OBJECT names, each file once; *out belongs to n. */
int targets__open(struct targets *n, const char *name, pid_t pid, struct object **out);
/*
 * Adds the functions of other objects that the plan's functions tail-call, as FUNCTION_HELPER
 * (tail_calls.c). True: there were some, or stubs that lead to functions of the plan, so the plan
 * must be rebuilt.
 */
bool tail_calls__add(struct targets *n, const struct plan *plan, pid_t pid);

#endif
