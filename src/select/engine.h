/* SPDX-License-Identifier: BSD-2-Clause */
/* engine: --engine, what makes the events of programs. */
#ifndef BBTRACE_SELECT_ENGINE_H
#define BBTRACE_SELECT_ENGINE_H

#include "select/events/markers.h"
#include "select/events/typed_values.h"

struct engine_state {
	struct copies *copies;	 /* NULL: probes do it all */
	struct inliner *inliner; /* NULL: not started */
	struct log_options log;
	unsigned copied; /* functions */
	bool advisable;	 /* they could be instead of probes */
	bool marks;	 /* those of programs are recorded */
	bool overwrites; /* threads overwrite their logs, which are read when asked for */
	struct markers markers;
	const char *btf; /* typed_values__plan() */
	struct plan_values_result values;
};
/* Chooses one, without --engine that of BBTRACE_ENGINE or auto; or says what inline doesn't do. */
int engine__settle(struct request *req);
/* Plans, with --args their values, and finds the markers. With copies: makes them, and says so in
 * the plan; with -v also how many, and why not the others. */
int engine__plan(struct engine_state *e, struct request *req, struct planning *p,
		 struct plan **out);
/* A note, if there were many traps and could be none. events: in the whole trace. */
void engine__advise(const struct engine_state *e, uint64_t events);
/* Before the command execs and before the first probe. Where copies can't be: plans anew, for
 * probes, and says so. */
int engine__start(struct engine_state *e, struct request *req, struct planning *p,
		  struct plan **plan, pid_t command);
void engine__close(struct engine_state *e);

#endif
