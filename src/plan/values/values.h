/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values: what is shown of functions' arguments and results, by their types. It is part of the
 * plan, so that a trace file shows the same on another machine. Part of plan.h; uses types. First:
 * plan__values(), plan__add_value(), plan_value__width().
 */
#ifndef BBTRACE_PLAN_VALUES_VALUES_H
#define BBTRACE_PLAN_VALUES_VALUES_H

#include "types/types.h"

struct object;
struct plan;

/* An argument, a value that an expression leads to, or the result. The members of a struct that is
 * passed by value follow it (KIND_STRUCT, KIND_ARRAY), with their paths as names. */
struct plan_value {
	const char *name;     /* as in C: "path->dentry"; "ret"; owned by the plan; and so is: */
	const char *type;     /* of the parameter; NULL if not known */
	uint32_t function;    /* index into plan->functions; ascending */
	uint32_t enumeration; /* of ENUM: that of the enumerators; else UINT32_MAX */
	uint8_t of_return;    /* read when the function returns, else when it is entered */
	uint8_t kind;	      /* enum value_kind */
	uint8_t from;	      /* enum value_from: where it is, or where the path to it begins */
	/* As in struct value_place; reg of the result: the number of parameters. */
	uint8_t reg, second;
	uint8_t size, bit_at, bits;
	uint8_t errnos;	 /* a small negative number is that of an error */
	uint8_t fetched; /* 1 + its index among what is loaded in the hit; 0 if it isn't loaded */
	uint8_t at;	 /* its offset in that */
	/* How it is loaded, as in struct value. Not in trace files. */
	uint8_t nsteps, array, chunk;
	int64_t steps[VALUE_STEPS];
};

struct plan_enumerator {
	const char *name; /* owned by the plan */
	int64_t value;
	uint32_t enumeration; /* ascending */
};

/* The most values that are loaded in one hit. */
#define VALUES_FETCHED 8

struct plan_values_options {
	const expression_vec *expressions;     /* NULL for all arguments */
	const value_condition_vec *conditions; /* the values that they name are added as well */
	/* Finds the prototypes of functions of the kernel or a module. */
	void (*kernel)(void *ctx, const struct object *o, const struct type_query *queries,
		       size_t n, const struct type_names *members, struct types *out);
	void *ctx;
	bool (*is_libc)(const struct object *o); /* returns true if this is libc */
	bool no_memory;				 /* nothing is loaded: a string is a pointer */
	uint64_t recorded; /* the registers that entries report, a bit each; 0: all */
};
struct plan_values_result {
	uint32_t untyped;	  /* the number of functions whose types aren't known */
	uint32_t first_untyped;	  /* one of them */
	uint32_t unfetched;	  /* the number of values in memory that aren't loaded */
	uint32_t first_unfetched; /* the function of one of them */
};
/* Adds the values of all functions. Returns -EINVAL with a message if an expression is wrong in all
 * functions. */
int plan__add_values(struct plan *p, const struct plan_values_options *o,
		     struct plan_values_result *out);
void plan__add_value(struct plan *p, const struct plan_value *v);
/* Returns the values of a function, *n of them; NULL if its types aren't known. */
const struct plan_value *plan__values(const struct plan *p, uint32_t function, size_t *n);
/* Returns how many of them are loaded when the function is entered, or when it returns. */
unsigned plan__fetched(const struct plan *p, uint32_t function, bool of_return);
/* The same for an event's site: of an entry, a ret or a return. */
unsigned plan__site_fetched(const struct plan *p, uint32_t site, bool of_return);
/* Returns the most of all functions. */
unsigned plan__most_fetched(const struct plan *p);
const struct plan_enumerator *plan__enumerators(const struct plan *p, uint32_t enumeration,
						size_t *n);

/* Returns how many rows a value has: itself, and what is in it; at most n, which there are. */
size_t plan_value__rows(const struct plan_value *v, size_t n);
/* Returns its name in what it is in: "x" of "p.x", "" of "p[0]" and of a struct without a name. */
const char *plan_value__own_name(const struct plan_value *v);
bool plan__is_signed(const struct plan *p, const struct plan_value *v);
unsigned plan_value__width(const struct plan_value *v);
uint64_t value__lowest(uint64_t number, unsigned bits);

/* ---- conditions of --if (conditions.c) ---- */

/* A comparison that an invocation of the function has to pass. */
struct plan_condition {
	uint32_t function; /* ascending */
	uint32_t value;	   /* index into plan->values */
	uint8_t how;	   /* enum compare_how */
	bool of_text;
	struct constant with; /* a number */
	char text[VALUE_TEXT_MAX + 1];
};

/* Resolves the conditions in all functions whose values have all their names. Returns -EINVAL with
 * a message if there is none, or if a condition is wrong where the names are. */
int plan__add_conditions(struct plan *p, const value_condition_vec *conditions);
/* Returns the conditions of a function, *n of them; 0 if it isn't judged. */
const struct plan_condition *plan__conditions(const struct plan *p, uint32_t function, size_t *n);
/* Returns true if any function has conditions: of its arguments, of its return. */
bool plan__judges(const struct plan *p, bool of_return);
/* Returns true if the function has them. */
bool plan__judges_function(const struct plan *p, uint32_t function, bool of_return);

/* Returns how the number of a value is compared. */
struct compare_type plan_value__compared(const struct plan *p, const struct plan_value *v);

#endif
