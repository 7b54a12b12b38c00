/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slices: steps as the timelines that trace viewers draw, whatever file they are written to. A
 * thread is a track; a call is a slice, from its begin to its end; a branch, a loss or an unknown
 * path is an instant. Slices nest: a call that is left without a return ends when the next step
 * shows that. An untimed step has the time of the previous one of its track. Private to src/output.
 */
#ifndef BBTRACE_OUTPUT_TIMELINE_SLICES_H
#define BBTRACE_OUTPUT_TIMELINE_SLICES_H

#include "output/base/fields.h"

struct open_call {
	uint64_t call;
	uint32_t function;
};

/* A thread, a CPU's idle task (no pid), or a goroutine, whichever thread it runs on. */
struct track {
	uint32_t index;
	uint32_t pid, tid; /* tid: of goroutines and idle tasks a made-up number */
	uint32_t cpu;	   /* of an idle task */
	uint64_t goroutine;
	char comm[16];
	uint64_t now; /* ns, of its last timed step */
	VEC(struct open_call) open;
};

enum slice_arg_type { ARG_TEXT, ARG_HEX, ARG_NUMBER, ARG_FLAG };

struct slice_arg {
	const char *key;
	enum slice_arg_type type;
	const char *text;
	uint64_t number;
};

enum slice_phase { SLICE_BEGIN, SLICE_END, SLICE_INSTANT };

struct slice_event {
	enum slice_phase phase;
	const struct track *track; /* NULL: an instant of the whole trace */
	uint64_t time;		   /* ns; of a track: never before that of its previous event */
	const char *category;	   /* NULL: an end */
	const char *name;
	const struct slice_arg *args;
	size_t nargs;
};

struct slice_writer {
	/* The track has another name: comm. process: so has its process. */
	void (*name)(struct output *o, const struct track *t, bool process);
	void (*event)(struct output *o, const struct slice_event *e);
	/* The thread has ended: another one may have its number. NULL: no matter. */
	void (*exit)(struct output *o, const struct track *t);
};

/* The beginning of the state of a format. */
struct slices {
	const struct slice_writer *writer;
	struct map64 tracks; /* thread -> index + 1 */
	VEC(struct track) list;
	struct map64 processes; /* named ones */
	VEC(struct slice_arg) args;
	VEC(char *) texts;	 /* of them, owned */
	struct str name, at, to; /* of the current event */
};

/* A member of struct output_format. */
int slices__step(struct output *o, const struct step *s);
/* Ends the calls that are open. */
void slices__end(struct output *o);
/* An instant of the whole trace whose arguments are the totals. */
void slices__put_totals(struct output *o, uint64_t time, const struct trace_totals *t);
void slices__free(struct output *o);

#endif
