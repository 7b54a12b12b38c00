/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank: which branches distinguish runs that failed from runs that passed. A part of diff.h.
 *
 * As in statistical debugging (Liblit et al., "Scalable Statistical Bug Isolation", 2005), each
 * outcome gives predicates that are true or false of a run: it was executed, it never was, it was
 * executed a number of times, or in a share of its site's executions. The score is the predicate's
 * uncertainty coefficient (Theil's U): the part of "which runs failed" that it determines. A
 * predicate with a threshold has to pay for the choice of that threshold, as by minimum description
 * length.
 *
 * A branch decides if runs that pass its site the other way fail less often (Liblit's Increase >
 * 0); what only follows it is executed by failing runs alone, and is listed after it. Of those with
 * the same score, the one that came earliest in the failing runs is the first.
 */
#ifndef BBTRACE_DIFF_RANK_RANK_H
#define BBTRACE_DIFF_RANK_RANK_H

#include "diff/diff.h"

enum { RANK_PASS, RANK_FAIL, RANK_SETS };

/* What is true of the runs. */
enum rank_how {
	RANK_EXECUTED,
	RANK_NEVER,
	RANK_AT_LEAST, /* executed at least so often */
	RANK_AT_MOST,
	RANK_SHARE_AT_LEAST, /* of the site's executions at least that share */
	RANK_SHARE_AT_MOST,
};

struct rank_row {
	uint32_t outcome;
	enum rank_how how;
	uint64_t count; /* AT_LEAST, AT_MOST */
	double share;	/* SHARE_...: percent, with the number of decimals */
	unsigned decimals;
	size_t runs[RANK_SETS];	   /* of which it is true */
	size_t of[RANK_SETS];	   /* runs of which it is known */
	uint64_t n[RANK_SETS];	   /* executions of the outcome, */
	uint64_t sites[RANK_SETS]; /* and of its site */
	double score;		   /* 0 … 1 */
	double nats; /* the information that it gives, less what its threshold costs */
	bool decides;
	bool once;    /* each run executes its site once, */
	bool verdict; /* and failing ones at their end */
	double first; /* when it came, mean of the failing runs, 0 … 1; 2: not known */
};

/* An outcome in a run. */
struct rank_sample {
	uint32_t run;
	uint32_t first; /* steps up to the first one; 0: not known */
	uint64_t n;	/* COUNT_UNKNOWN: not known */
};
struct rank_samples {
	VEC(struct rank_sample) of;
};
struct rank_run {
	bool fails;
	unsigned events;
	uint64_t steps;
	size_t traced; /* index into rank.traced */
};
/* A bit for each function that a run traced. */
struct rank_traced {
	VEC(uint8_t) bits;
};

struct rank {
	const struct outcomes *outcomes;
	VEC(struct rank_run) runs;
	VEC(struct rank_samples) samples; /* by outcome */
	VEC(struct rank_traced) traced;
	size_t total[RANK_SETS]; /* runs */
	bool bounds;		 /* some counts are lower bounds: no thresholds */
	VEC(struct rank_row) rows;
	size_t complete; /* rows that are true of all failing runs and of no other */
	size_t changed;	 /* functions whose code differs between builds: left out */
};
void rank__init(struct rank *r, const struct outcomes *o);
void rank__free(struct rank *r);

/* What is known of a run besides its paths. */
struct rank_about {
	bool fails;
	unsigned events; /* enum plan_events: those that it has */
	bool bounds;
	const uint32_t *functions; /* the functions that it traced, in the joined plan */
	size_t nfunctions;
	const uint32_t *unknown_outcomes; /* outcomes whose counts aren't known */
	size_t nunknown;
};
/* Takes the counts; the paths aren't needed after that. */
void rank__add(struct rank *r, const struct paths *p, const struct rank_about *about);
/* After the last run and outcomes__settle(): fills in rows, of these functions of the plan (NULL:
 * all). Rows that give nothing are left out. */
void rank__find(struct rank *r, const bool *functions);

/* ---- how it is shown ---- */

struct rank_view {
	const struct rank *rank;
	const struct diff_view *lines; /* d.outcomes, color, hide_addresses, source */
	uint64_t rows;		       /* to show */
	const char *const *names;      /* of the files, by run */
};
void rank__text(const struct rank_view *v, struct str *out);
void rank__json(const struct rank_view *v, struct str *out);
void rank__html(const struct rank_view *v, struct str *out);

#endif
