/* SPDX-License-Identifier: BSD-2-Clause */
/* targets: finds the functions that the operands of a command line name. */
#ifndef BBTRACE_SELECT_TARGETS_H
#define BBTRACE_SELECT_TARGETS_H

#include "cli/request.h"
#include "plan/plan.h"
#include "resolve/resolve.h"

struct targets {
	VEC(struct object *) objects; /* owned */
	struct object *kernel;	      /* among objects; NULL if no kernel function is named */
	function_vec functions;
	struct timespec found_at; /* cover: when files were looked for */
	bool all_here;		  /* cover: what is below the current folder */
	bool exported;		  /* of the named functions, only the exported ones */
	/* PLT stubs that lead to one of these functions (tail_calls.c) */
	VEC(struct plan_stub) stubs;
};
/* Finds the functions. pid: the process whose maps and mount namespace are used; 0 if none. all:
 * without FUNC, all functions are meant. Returns 0, or -errno with a message. */
int targets__find(struct targets *n, const struct request *req, pid_t pid, bool all);
/* True if an operand names functions of the kernel. */
bool targets__name_kernel(const struct request *req);
/* Applies --exclude (exclude.c). -ENOENT with a message if it leaves no function. */
int exclude__apply(struct targets *n, const struct request *req);
void targets__free(struct targets *n);
/*
 * Finds functions for a running trace, given as FUNC in the object that the command line named
 * first, OBJECT FUNC..., OBJECT:FUNC, user:OBJECT:FUNC or kernel:FUNC, and appends them to out,
 * which the caller frees. Kernel functions can be added only if the trace has some: otherwise the
 * kernel's code can no longer be read. New objects belong to n.
 */
int targets__find_more(struct targets *n, const struct request *req, char *const *words,
		       size_t nwords, pid_t pid, function_vec *out);
/* Returns copies of the requested functions except those in out, which may be NULL. The caller
 * frees them. */
function_vec targets__copy(const struct targets *n, const function_vec *out);
/* Opens the file that OBJECT names, each file once. *out belongs to n. */
int targets__open(struct targets *n, const char *name, pid_t pid, struct object **out);
/*
 * Adds functions of other objects that the plan's functions tail-call, as FUNCTION_HELPER
 * (tail_calls.c). Returns true if it added some, or found stubs that lead to functions of the plan:
 * then the plan must be rebuilt.
 */
bool tail_calls__add(struct targets *n, const struct plan *plan, pid_t pid);
/* Adds those that bytes of the functions lead to by a jump to a PLT stub, before there is a plan,
 * so that it is seldom rebuilt. A few may be called by none. */
void tail_calls__predict(struct targets *n, pid_t pid);

#endif
