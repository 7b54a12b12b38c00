/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ending: where a process begins to end: what a thread runs after main has returned, or after a
 * call of exit(3), is what the C library and the compiler have added, and handlers of atexit(3).
 * Private to src/trace/filter.
 */
#ifndef BBTRACE_TRACE_FILTER_ENDING_H
#define BBTRACE_TRACE_FILTER_ENDING_H

#include "trace/trace.h"

enum ending_state {
	ENDING_NOT,
	ENDING_SURE,  /* main has returned; or a function was called that doesn't return */
	ENDING_CALL,  /* a function was called that may end the process, error(3) */
	ENDING_FINAL, /* a destructor runs: also when a plugin is unloaded */
};

struct ending {
	enum ending_state state;
	unsigned depth; /* of the function that has called one; of the destructor */
};

/* Returns true if the thread's next step shows that the process continues, although it seemed to
 * end. */
bool ending__refuted(struct ending *e, const struct step *s);
/* Returns true if the step is of the process's end. Changes *e for those after it. */
bool ending__has_begun(struct ending *e, const struct step *s);

#endif
