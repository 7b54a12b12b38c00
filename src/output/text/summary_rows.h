/* SPDX-License-Identifier: BSD-2-Clause */
/* summary_rows: the rows of the table of functions, and their order. Private to src/output. */
#ifndef BBTRACE_OUTPUT_TEXT_SUMMARY_ROWS_H
#define BBTRACE_OUTPUT_TEXT_SUMMARY_ROWS_H

#include "output/coverage/coverage.h"

struct row {
	const struct plan_function *plan;
	const struct stats_function *f;
	const char *more;		  /* appended to counts and sums: output.more */
	const struct coverage_code *code; /* NULL: not shown */
};

typedef VEC(struct row) rows_vec;

/* Sorts them as output_options.order says. */
void rows__sort(const struct output *o, rows_vec *rows);

#endif
