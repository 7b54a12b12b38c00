/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model: one or two runs, with what was counted by function, and their steps as text. The screens
 * read it, and nothing changes it once the files are read.
 */
#ifndef BBTRACE_TUI_MODEL_MODEL_H
#define BBTRACE_TUI_MODEL_MODEL_H

#include "output/output.h"
#include "path.h"

#define RUNS 2

struct model {
	struct output_options options; /* of text */
	const struct plan *plan;
	size_t nruns;
	struct run run[RUNS];
	struct output *counts[RUNS]; /* the summary format, which counts by function */
	struct trace_totals totals[RUNS];
	struct output *text;
	struct str line; /* what text wrote */
	/* Of two runs: the paths of each function that only one of them has, by function. */
	VEC(struct only_paths { uint64_t n[RUNS]; }) only;
	bool paths_unknown; /* there are too many to compare */
};

int model__begin_run(struct model *m, const char *name, const struct plan *plan,
		     const struct output_options *options);
int model__step(struct model *m, const struct step *s);
void model__plan_extended(struct model *m);
void model__end_run(struct model *m, const struct trace_totals *totals);
/* All runs have ended. */
void model__end(struct model *m);
void model__free(struct model *m);

enum line_style {
	LINE_STEP,    /* as the text format has it */
	LINE_UNTIMED, /* without durations */
};
/* Appends the text of the step at a position, coloured. Sets *k, if it isn't NULL, to the step,
 * which kept__free() frees. Returns false if there is none. */
bool model__put_step(struct model *m, const struct run *r, uint64_t at, enum line_style style,
		     struct kept_step *k, struct str *out);
/* Appends a call as "name(arguments) = result". */
void model__put_call(struct model *m, const struct run *r, uint32_t call, struct str *out);
/* Appends what is special about a call: "not returned", "events are missing"; with something
 * before it. */
void model__put_state(const struct call *c, struct str *out);
/* Appends "name-12", the thread of a call. */
void model__put_thread(const struct run *r, uint32_t thread, struct str *out);

/* Where a step is in the source. */
struct source_place {
	const char *object, *file;
	unsigned line;
};
/* Returns false if that isn't known. */
bool model__source(const struct model *m, const struct step *s, struct source_place *out);
/* Returns a line of a source; NULL if it can't be shown. Valid until the next call. */
const char *model__source_line(const struct model *m, const struct source_place *at, unsigned line);
/* Returns true if no call of the other run had the outcome of this branch. */
bool model__is_only_here(const struct model *m, const struct run *r, const struct step *s);

#endif
