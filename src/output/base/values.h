/* SPDX-License-Identifier: BSD-2-Clause */
/* values: arguments and results by their types (plan->values); more is in output.h. Private to
 * src/output. */
#ifndef BBTRACE_OUTPUT_BASE_VALUES_H
#define BBTRACE_OUTPUT_BASE_VALUES_H

#include "output/output.h"

/* Returns true if the types of the step's function are known. */
bool values__are_typed(const struct output *o, const struct step *step);
/* For a step that has arguments: "fd=3, path=\"x\"". */
void values__put_args(const struct output *o, const struct step *step, struct str *out);
/* Puts the names of those whose text is longer than what was recorded, as a JSON array; with j NULL
 * it puts nothing. Returns false if there are none. */
bool values__put_cut(const struct output *o, struct json *j, const struct step *step);
/* The same of those that are not recorded. */
bool values__put_not_recorded(const struct output *o, struct json *j, const struct step *step);

enum result_known {
	RESULT_UNTYPED, /* nothing but the register */
	RESULT_NONE,	/* the function has none */
	RESULT_NOT_RECORDED,
	RESULT_TYPED,
};
enum result_known values__result(const struct output *o, const struct step *step);
/* TYPED, NOT_RECORDED */
void values__put_result(const struct output *o, const struct step *step, struct str *out);
void values__put_result_json(const struct output *o, struct json *j, const struct step *step);
/* Returns the name of a result that is an error; NULL if it isn't one. */
const char *values__errno(const struct output *o, const struct step *step);

#endif
