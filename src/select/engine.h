/* SPDX-License-Identifier: BSD-2-Clause */
/* engine: --engine: whether copies of functions or probes report the events of programs. */
#ifndef BBTRACE_SELECT_ENGINE_H
#define BBTRACE_SELECT_ENGINE_H

#include "select/events/markers.h"
#include "select/events/typed_values.h"

struct engine_state {
	struct copies *copies;	 /* NULL if only probes are used */
	struct inliner *inliner; /* NULL until started */
	struct log_options log;
	unsigned copied; /* number of functions */
	bool advisable;	 /* functions that have probes could be copied instead */
	bool marks;	 /* marks of programs are recorded */
	bool overwrites; /* threads overwrite their logs, which are read only on demand */
	struct markers markers;
	const char *btf; /* typed_values__plan() */
	struct plan_values_result values;
};
/* Chooses the engine: by --engine, else by BBTRACE_ENGINE, else auto. Fails if inline was asked
 * for and can't do what the request needs. */
int engine__settle(struct request *req);
/* Plans, with --args also the values, and finds the markers. With copies, makes them and marks
 * the functions in the plan; -v reports how many, and why the others are not copied. */
int engine__plan(struct engine_state *e, struct request *req, struct planning *p,
		 struct plan **out);
/* Notes that copies would avoid traps, if there were many. events: the number in the whole
 * trace. */
void engine__advise(const struct engine_state *e, uint64_t events);
/* Called before the command execs and before the first probe is attached. If copies can't be
 * used in these processes, plans again for probes and notes why. */
int engine__start(struct engine_state *e, struct request *req, struct planning *p,
		  struct plan **plan, pid_t command);
void engine__close(struct engine_state *e);

#endif
