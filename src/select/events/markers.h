/* SPDX-License-Identifier: BSD-2-Clause */
/* markers: the places where recording is switched, by --start-on and --stop-on, and with
 * --control app by the markers of bbtrace.h; and the marks of programs. */
#ifndef BBTRACE_SELECT_EVENTS_MARKERS_H
#define BBTRACE_SELECT_EVENTS_MARKERS_H

#include "select/planning.h"

struct markers {
	const struct request *request;
	struct planning *planning;
	bool marks; /* marks of programs are wanted */
	probe_marker_vec all;
	VEC(char *) names; /* by index into all; owned */
	VEC(const struct object *) searched;
	VEC(char *) mapped; /* mapped files that were not searched yet */
	struct map64 seen;  /* files that were mapped, by inode */
	size_t switches;    /* number of START and STOP markers that were found */
};
/*
 * Finds the markers of what is mapped now, and of CMD, which is not started yet. marks: also finds
 * marks. plan has the functions whose returns --dump-on names. Returns 0, or -errno with a message.
 */
int markers__find(struct markers *s, const struct request *req, struct planning *p, bool marks,
		  const struct plan *plan);
/* Notes that a traced process mapped a file with this inode number. */
void markers__mapped(struct markers *s, const char *path, uint64_t ino);
/* Searches the files that were mapped since the last time. Returns the index of the first new
 * marker. */
size_t markers__look(struct markers *s);
void markers__free(struct markers *s);

#endif
