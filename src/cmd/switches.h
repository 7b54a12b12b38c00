/* SPDX-License-Identifier: BSD-2-Clause */
/* switches: where recording is switched: --start-on, --stop-on, and with --control app the markers
 * of include/bbtrace.h in the files that the traced processes run. */
#ifndef BBTRACE_CMD_SWITCHES_H
#define BBTRACE_CMD_SWITCHES_H

#include "planning.h"

struct switches {
	const struct args *args;
	struct planning *planning;
	switch_vec all;
	VEC(char *) names;		     /* of all; owned */
	VEC(const struct object *) searched; /* for markers */
	VEC(char *) mapped;		     /* files that were not searched yet */
	struct map64 seen;		     /* those that were, by what is_new() makes of them */
	size_t markers;			     /* of START and STOP, that were found */
};
/* Finds those that are there now; CMD is about to be started, if there is one. 0, or -errno with a
 * message. */
int switches__find(struct switches *s, const struct args *a, struct planning *p);
/* Does anything of these options switch recording while the trace runs? */
bool args__switches(const struct args *a);
/* A file was mapped by a traced process; ino: its inode's number. */
void switches__mapped(struct switches *s, const char *path, uint64_t ino);
/* Looks for markers in the files that were mapped since the last time. Returns the number of
 * switches before those that it has found. */
size_t switches__look(struct switches *s);
void switches__free(struct switches *s);

#endif
