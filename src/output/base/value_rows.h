/* SPDX-License-Identifier: BSD-2-Clause */
/* value_rows: walks the rows of plan->values that a step shows, structs as wholes; what values.c
 * and values_json.c share. First: value_rows__next_arg(), value_rows__read(). */
#ifndef BBTRACE_OUTPUT_BASE_VALUE_ROWS_H
#define BBTRACE_OUTPUT_BASE_VALUE_ROWS_H

#include "values.h"

/* A row, and those after it of what it contains. */
struct value_rows {
	const struct plan_value *v;
	size_t n; /* with it, or as many as there are */
};

struct value_rows value_rows__at(const struct plan_value *v, size_t most);
/* Return the rows of the next value in a struct or an array; v NULL after the last one. */
struct value_rows value_rows__first(const struct value_rows *whole);
struct value_rows value_rows__next(const struct value_rows *whole, const struct value_rows *r);
/* Returns the rows of the step's next value that isn't the result; v NULL if there is none. from is
 * an index, which is moved past them. */
struct value_rows value_rows__next_arg(const struct output *o, const struct step *step,
				       size_t *from);
struct value_rows value_rows__result(const struct output *o, const struct step *step);
/* Returns true if it is a struct or an array. */
bool value_rows__hold(const struct plan_value *v);
/* Returns true if it, or some of what it contains, is recorded. */
bool value_rows__recorded(const struct output *o, const struct step *step,
			  const struct value_rows *rows);
struct value_read value_rows__read(const struct output *o, const struct step *s,
				   const struct plan_value *v);
/* Takes the characters of an array up to the first 0. Returns false if it is another array, or if
 * one of them is not known. */
bool value_rows__characters(const struct output *o, const struct step *step,
			    const struct value_rows *array, uint8_t room[UINT8_MAX],
			    struct value_read *out);

#define DIGITS_128 40
/* Returns the decimal digits of a number of two words. */
const char *value__wide_digits(const struct value_read *s, bool is_signed, char room[DIGITS_128]);
/* Puts the names of an enumeration, "A|B". Returns false if it has none. */
bool value__put_enum(const struct output *o, const struct plan_value *v, uint64_t value,
		     struct str *out);
/* Returns true if a number could be an address, and these are hidden. */
bool value__is_hidden(const struct output *o, uint64_t number);

#endif
