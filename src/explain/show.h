/* SPDX-License-Identifier: BSD-2-Clause */
/* show: what is printed about a failure, and about the end of CMD. Private to src/explain. */
#ifndef BBTRACE_EXPLAIN_SHOW_H
#define BBTRACE_EXPLAIN_SHOW_H

#include "explain/state.h"

struct shown_as {
	void (*failure)(struct output *o, const struct explained *f);
	void (*ending)(struct output *o, const struct ending_found *f);
	void (*hidden)(struct output *o, uint64_t failures);
	bool ending_first; /* failures that it has shown are left out then */
};
extern const struct shown_as shown_as_text, shown_as_json, shown_as_sarif;
/* What is before and after SARIF's results. */
void sarif__begin(struct output *o);
void sarif__end(struct output *o);

/* Returns how the kernel came by the failure of a call; NULL if that was not traced. */
struct explained *failure__in_kernel(struct output *o, const struct outcome *f);

/* Parts of the text, also for messages (message_text.c). verb: "decided by"; where: what is before
 * the verb. */
void explained__put_verdict(struct output *o, const struct verdict *v, const char *where);
void explained__put_decision(struct output *o, const struct verdict *v, const char *verb);
void explained__put_place(struct output *o, uint32_t function, uint64_t vaddr);
void explained__put_error(struct output *o, int64_t result);
/* The last system calls of a process that failed. */
void failures__put_text(struct output *o, uint32_t pid);
/* How many writes aren't explained, and failures not kept. */
void losses__put_text(struct output *o, const struct outcomes *all);
/* The children of a process that failed, and theirs. */
void children__put_text(struct output *o, uint32_t pid);
/* Appends the branch that led to the end of a child that was traced, if no message shows it. */
void child__put_text(struct output *o, const struct ended_child *c);
/* The last system call that failed like this; NULL if it isn't known. */
const struct outcome *outcome__of(const struct outcomes *all, const struct failure *f);
/* Appends "NAME(ARGUMENTS)". Returns false if f is NULL. */
bool outcome__put_call(struct output *o, const struct outcome *f);
/* Returns true if the branch tested the result of a function that isn't traced, of a library that
 * isn't the system's. */
bool verdict__tests_library(const struct output *o, const struct verdict *v);
/* Returns true if the value that decided was loaded or computed, so that it was decided elsewhere;
 * or what the branch tested was. */
bool verdict__is_passed_on(const struct output *o, const struct verdict *v);
/* Returns the last test of the loop that the branch ended; NULL if there is none, or if something
 * else says more: where a traced function's result was tested, or a constant. */
const struct item *verdict__last_test(const struct verdict *v);
/* Returns the one that comes first: if the branch chose among several failures, why it was one. */
static inline const struct verdict *verdict__first(const struct verdict *v)
{
	return v && v->failing ? v->failing : v;
}
/* Returns another branch of the verdict's function as one that decided, for what shows such. */
static inline struct verdict verdict__of_branch(const struct verdict *v, const struct item *branch)
{
	return (struct verdict){.function = v->function, .decided = true, .branch = *branch};
}
/* What CMD wrote, and why. */
void message__put_text(struct output *o, const struct message *m, bool brief);
/* The last longjmp(3), or exception, of a process, and why. */
void jump__put_text(struct output *o, uint32_t pid);

/* Returns the store that made the variable what it was from which the verdict's value is, or which
 * its branch tested; NULL if that isn't known. v may be NULL. */
const struct stored *show__stored(struct output *o, const struct verdict *v,
				  const struct verdict *deciding);
/* Returns what is assumed of the verdict's value; NULL if nothing is. */
const char *show__assumed(struct output *o, const struct verdict *v);
/* Returns the symbolic name of an error number; NULL if it has none. */
const char *show__errno_name(int64_t number);
/* Returns the name of the system call that this function implements; NULL if it implements none. */
const char *show__syscall_of(const struct plan *p, uint32_t function);
/* Returns the step of a branch that decided, for why__put_text(). */
struct step show__step_of(const struct output *o, const struct verdict *v);
/* What of the source is shown of an object's code has to be read before. */
void show__read_source(const struct output *o, uint32_t object);
/* Returns true if the untraced function that the value is from is in the plan. Then its calls can't
 * be seen. */
bool show__is_planned(const struct plan *p, const struct verdict *v);
/* Returns why nothing is named; NULL if something is, or if the reason is printed in more
 * detail. */
const char *show__unknown(const struct verdict *v);

#endif
