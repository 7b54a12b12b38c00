/* SPDX-License-Identifier: BSD-2-Clause */
/* waiting: what a source has reported and is to be passed on later, with copies of its data.
 * Private to src/source/inline. */
#ifndef BBTRACE_SOURCE_INLINE_MERGE_WAITING_H
#define BBTRACE_SOURCE_INLINE_MERGE_WAITING_H

#include "source/source.h"

struct waiting {
	uint64_t time; /* 0: it has none */
	enum { WAITS_EVENT, WAITS_SIDEBAND, WAITS_LOST, WAITS_COUNT } type;
	struct event event;
	struct event_entry entry;
	struct event_named named;
	char comm[16];
	uint64_t *data;		 /* of entry or named; owned */
	struct fetched *fetched; /* of event; owned */
	struct sideband_event sideband;
	char *text; /* of sideband; owned */
	uint32_t pid, tid;
	uint64_t count;
	struct count counted;
};
/* The caller owns these. */
struct waiting *waiting__event(const struct event *e);
struct waiting *waiting__sideband(const struct sideband_event *e);
struct waiting *waiting__lost(uint32_t pid, uint32_t tid, uint64_t count);
struct waiting *waiting__counted(const struct count *n);
/* Returns true if w, which was reported later, may be passed on first, since it happened before. */
bool waiting__may_swap(const struct waiting *before, const struct waiting *w);
/* w is next: if both are losses of a thread with nothing in between that is known, before has
 * those of w, too, from now on, and w is to be freed. */
bool waiting__add_loss(struct waiting *before, const struct waiting *w);
/* Returns true if a thread ends, or a program: what it did before is of no use after that. */
bool waiting__is_end(const struct waiting *w);
int waiting__give(const struct waiting *w, const struct source_sink *sink);
void waiting__free(struct waiting *w);

#endif
