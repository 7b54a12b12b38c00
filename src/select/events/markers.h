/* SPDX-License-Identifier: BSD-2-Clause */
/* markers: where recording is switched, by --start-on, --stop-on, and with --control app by the
 * markers of bbtrace.h; and the marks of programs. */
#ifndef BBTRACE_SELECT_EVENTS_MARKERS_H
#define BBTRACE_SELECT_EVENTS_MARKERS_H

#include "select/planning.h"

struct markers {
	const struct request *request;
	struct planning *planning;
	bool marks; /* those of programs are wanted */
	probe_marker_vec all;
	VEC(char *) names; /* of all; owned */
	VEC(const struct object *) searched;
	VEC(char *) mapped; /* files that were not searched yet */
	struct map64 seen;  /* those that were mapped */
	size_t switches;    /* START and STOP of bbtrace.h that were found */
};
/* Finds those that are there now; CMD is about to be started, if there is one. marks: also marks.
 * plan: has the functions whose returns --dump-on names. 0, or -errno with a message. */
int markers__find(struct markers *s, const struct request *req, struct planning *p, bool marks,
		  const struct plan *plan);
/* A file was mapped by a traced process; ino: its inode's number. */
void markers__mapped(struct markers *s, const char *path, uint64_t ino);
/* Searches the files that were mapped since the last time. Returns the number of markers before
 * those that it has found. */
size_t markers__look(struct markers *s);
void markers__free(struct markers *s);

#endif
