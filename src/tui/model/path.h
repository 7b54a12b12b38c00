/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path: the steps of a call, or of a thread, as rows: one a step, except that a call which they
 * make is one row until it is expanded.
 */
#ifndef BBTRACE_TUI_MODEL_PATH_H
#define BBTRACE_TUI_MODEL_PATH_H

#include "run.h"

/* Rows are made up to this number at once; the last one then stands for the rest. */
#define PATH_ROWS (1u << 20)

enum row_kind {
	ROW_STEP,
	ROW_FOLDED,   /* a call: its entry, its result and what it took */
	ROW_EXPANDED, /* a call whose steps follow */
	ROW_REST      /* steps that have no rows yet; at is where they begin */
};

struct row {
	uint64_t at;   /* position of its step */
	uint64_t to;   /* ROW_REST: the position after the last of the steps */
	uint32_t call; /* 1 + the call that its step begins; 0: none */
	uint32_t depth;
	uint32_t kind;	/* enum row_kind */
	uint32_t below; /* ROW_EXPANDED: the number of rows of its steps */
};

typedef VEC(struct row) row_vec;

struct path {
	const struct run *run;
	uint64_t to; /* the position after its last step */
	row_vec rows;
};

/* Makes the rows of a call: its own entry is the first one. */
void path__of_call(struct path *p, const struct run *r, uint32_t call);
void path__of_thread(struct path *p, const struct run *r, uint32_t thread);
void path__free(struct path *p);
/* Shows the steps of a folded call, and of calls in it down to this many levels. Returns false if
 * the row is none. A row for the rest is replaced by rows. */
bool path__expand(struct path *p, size_t row, unsigned levels);
/* Folds the call of the row, or else the one that the row is in. Returns its row; SIZE_MAX if there
 * is none. */
size_t path__fold(struct path *p, size_t row);
/* Expands all calls, or folds them, while there are less than PATH_ROWS. */
void path__expand_all(struct path *p);
void path__fold_all(struct path *p);

#endif
