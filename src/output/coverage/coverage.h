/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coverage: which of the traced code ran. Private to src/output; pure.
 *
 * The whole is what was asked for: all functions of the plan except helpers, with all their blocks,
 * whether they ran or not. A branch is a conditional, which has two sides (taken or not), or an
 * indirect jump through a table, which has one for each place that it can lead to.
 *
 * A line ran as often as its block that ran most, in each function that has code of it and in each
 * inlined copy; the sum of these is its count. In code that a compiler has not optimized, this is
 * how often the line's statement began.
 */
#ifndef BBTRACE_OUTPUT_COVERAGE_COVERAGE_H
#define BBTRACE_OUTPUT_COVERAGE_COVERAGE_H

#include "output/stats/runs.h"

/*
 * Counts may be RUNS_UNKNOWN. line 0: the source is not known, and file is 0.
 *
 * A function of the source, if debug information has what is inlined where: all code that was made
 * from it, and its inlined copies. Otherwise a function of the plan.
 */
struct coverage_function {
	const char *name; /* the symbol's own, if there is one */
	uint32_t file, line;
	uint64_t calls;
	bool shared;   /* others of its file have the name, too */
	uint64_t rest; /* calls of its outlined rest, "foo.part.0"; they begin in inlined copies */
};
struct coverage_line {
	uint32_t file, line;
	uint64_t count;
};
struct coverage_side {
	uint32_t file, line;
	uint32_t site;
	/* branch is its number on its line, in order of address. side is 0 if not taken, 1 if
	 * taken, or its number in order of the addresses to which a table leads. */
	uint32_t branch, side;
	bool table;
	uint64_t to;	/* the address to which a table leads */
	uint64_t count; /* how often it was gone to */
	uint64_t runs;	/* how often its branch was executed */
};

/* The code of a function of the plan. */
struct coverage_code {
	struct coverage_ratio blocks, sides;
};

struct coverage {
	const struct plan *plan;
	const struct output_options *options;
	struct runs runs;
	struct output_coverage total;
	uint32_t *rank; /* by file: their order, by folder, then name */
	/* each by file and line; those without source are last */
	VEC(struct coverage_function) by_function; /* then by name */
	VEC(struct coverage_line) by_line;	   /* without those of no source */
	VEC(struct coverage_side) by_side;	   /* then by address */
	struct coverage_code *code;		   /* by function of the plan */
};

/* The stats have ended. They, the plan and the options must outlive it. */
void coverage__init(struct coverage *c, const struct stats *p, const struct output_options *o);
void coverage__free(struct coverage *c);
/* Return true if this function, this block is part of the whole. */
bool coverage__has_function(const struct coverage *c, uint32_t function);
bool coverage__has_block(const struct coverage *c, uint32_t block);

/* ---- functions.c, for coverage.c ---- */

/* Fills in by_function. */
void coverage__find_functions(struct coverage *c);
/* The line where a function is declared has its calls if it has no code, or if none of the
 * function's lines ran, since nothing is left of the code that was inlined. Compilers' coverage has
 * that line, too, and genhtml of lcov 2 wants a count where a function is. */
void coverage__fill_lines(struct coverage *c);

/* ---- for both ---- */

/* Compares the places of two lines; line 0 is last. */
int coverage__order(const uint32_t *rank, uint32_t file, uint32_t line, uint32_t file2,
		    uint32_t line2);
/* What is not known adds nothing to what is. */
uint64_t coverage__sum(uint64_t a, uint64_t b);
void coverage__set_line(const struct plan_line *l, uint32_t *file, uint32_t *line);

/* ---- by file ---- */

/* Rows of one source file: [first, end). */
struct coverage_rows {
	size_t first, end;
};
struct coverage_file {
	uint32_t file;
	struct coverage_rows functions, lines, sides;
};
/* The next one; {0} before the first. False: there are no more. */
bool coverage__next_file(const struct coverage *c, struct coverage_file *f);
/* The ratios of a file's rows. */
struct coverage_ratio coverage__functions(const struct coverage *c, const struct coverage_rows *r);
struct coverage_ratio coverage__lines(const struct coverage *c, const struct coverage_rows *r);
struct coverage_ratio coverage__sides(const struct coverage *c, const struct coverage_rows *r);

/* For a conditional that was executed: the side that was never taken, in words: "never taken". NULL
 * if both were, if it never ran, or if that is not known. */
const char *coverage__unseen_side(const struct coverage *c, uint32_t site);

/* Returns the ratio in which what is not known counts as not executed. */
struct coverage_ratio coverage__whole(const struct coverage_ratio *r);
/* "87.5%" of a ratio, "" if it is empty. */
void coverage__percent(struct str *s, const struct coverage_ratio *r);
/* "5/8" of a ratio, "-" if it is empty. */
void coverage__part(struct str *s, const struct coverage_ratio *r);

#endif
