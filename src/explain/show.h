/* SPDX-License-Identifier: BSD-2-Clause */
/* show: what is printed of a failure, and of the end of CMD. Private to src/explain. */
#ifndef BBTRACE_EXPLAIN_SHOW_H
#define BBTRACE_EXPLAIN_SHOW_H

#include "explain/state.h"

struct shown_as {
	void (*failure)(struct output *o, const struct explained *f);
	void (*ending)(struct output *o, const struct ending_found *f);
	void (*hidden)(struct output *o, uint64_t failures);
};
extern const struct shown_as shown_as_text, shown_as_json;

/* The symbolic name of an error number; NULL: it has none. */
const char *show__errno_name(int64_t number);
/* The name of a system call that this function implements; NULL: it implements none. */
const char *show__syscall_of(const struct plan *p, uint32_t function);
/* The step of a branch that decided, for why__put_text(). */
struct step show__step_of(const struct verdict *v, const struct plan *p);
/* Is the untraced function that made a value in the plan? Then its calls can't be seen. */
bool show__is_planned(const struct plan *p, const struct verdict *v);
/* Why nothing is named; NULL: it is, or that is said in more words. */
const char *show__unknown(const struct verdict *v);

#endif
