/* SPDX-License-Identifier: BSD-2-Clause */
/* watch_hits: the data that the hits of watchpoints show. */
#ifndef BBTRACE_SESSION_WATCH_WATCH_HITS_H
#define BBTRACE_SESSION_WATCH_WATCH_HITS_H

#include "pipeline/show.h"
#include "select/events/watch.h"

struct watch_hits;
struct watch_hits *watch_hits__new(const struct watchpoints *w, const struct targets *n);
void watch_hits__free(struct watch_hits *h);
/* Returns the event with the data of the hit, valid until the next call; e itself if it is no
 * watchpoint's. */
const struct event *watch_hits__event(struct watch_hits *h, const struct show *s,
				      const struct event *e);

#endif
