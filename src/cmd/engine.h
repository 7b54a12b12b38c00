/* SPDX-License-Identifier: BSD-2-Clause */
/* engine: --engine inline. */
#ifndef BBTRACE_CMD_ENGINE_H
#define BBTRACE_CMD_ENGINE_H

#include "cmd.h"

struct engine_state {
	struct copies *copies;	 /* NULL: probes do it all */
	struct inliner *inliner; /* NULL: not started */
	struct log_options log;
};
/* Copies the plan's functions, and says so there; with -v also how many, and why not the others. */
int engine__copy(struct engine_state *e, const struct args *a, struct plan *plan);
/* Before the command execs and before the first probe. */
int engine__start(struct engine_state *e, const struct args *a, const struct plan *plan,
		  pid_t command);
void engine__close(struct engine_state *e);

#endif
