/* SPDX-License-Identifier: BSD-2-Clause */
/* Side events: forks, execs, exits, names and executable mappings of all processes, from perf's
 * dummy event. */
#ifndef BBTRACE_PROBE_SIDE_H
#define BBTRACE_PROBE_SIDE_H

#include "reach.h"

struct side;
int side__open(struct side **out);
void side__close(struct side *s);
/* From now on only those of these processes, and of their children where these are followed. */
void side__limit(struct side *s, const struct reach *reach);
/* Takes over all that the kernel has written so far, sorted by time. */
void side__collect(struct side *s);
/* Drops all that happened so far. */
void side__forget(struct side *s);
/* The oldest collected event with time <= until, NULL: none. Valid until the next collect. */
const struct side_event *side__next(struct side *s, uint64_t until);

#endif
