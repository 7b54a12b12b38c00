/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace in progress: what the probes report, replayed and rendered or recorded. Between probe/
 * and output/. */
#ifndef BBTRACE_CMD_LIVE_H
#define BBTRACE_CMD_LIVE_H

#include "record.h"
#include "show.h"

struct live {
	struct show show;
	struct recorder *recorder; /* NULL: nothing is recorded */
	struct probe_sink sink;
	unsigned own_numbers; /* of bbtrace itself that /proc shows; 0: not looked yet */
	bool count_the_dead;  /* their end may have been lost */
	VEC(struct sideband_event) dead;
	uint64_t found_dead; /* when; CLOCK_MONOTONIC, ns */
};

void live__open(struct live *l, const struct plan *plan, const struct targets *targets,
		const struct trace_options *options, struct output *output,
		struct recorder *recorder, uint64_t limit);
/* Takes over the names and mappings of the processes that run already: of pids, or of all where
 * there are none. */
void live__rescan(struct live *l, const pid_vec *pids);
/* Called after each poll: whose end was not told has ended all the same. What happened before
 * settled has been taken. 0, or as the sink returns. */
int live__tick(struct live *l, uint64_t now, uint64_t settled);
void live__close(struct live *l);

#endif
