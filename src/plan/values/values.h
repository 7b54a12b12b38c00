/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values: what is shown of functions' arguments and results by their types. It is part of the plan,
 * so that a trace file shows the same elsewhere. Part of plan.h; uses types. First: plan__values(),
 * plan__add_value(), plan_value__width().
 */
#ifndef BBTRACE_PLAN_VALUES_H
#define BBTRACE_PLAN_VALUES_H

#include "types/types.h"

struct object;
struct plan;

/* An argument, what an expression leads to, or the result. */
struct plan_value {
	const char *name;     /* as C has it: "path->dentry"; "ret"; owned by the plan; so is: */
	const char *type;     /* of the parameter; NULL: not known */
	uint32_t function;    /* index into plan->functions; ascending */
	uint32_t enumeration; /* of ENUM: that of the enumerators; else UINT32_MAX */
	uint8_t of_return;    /* it is told when the function returns, else when it is entered */
	uint8_t kind;	      /* enum value_kind */
	uint8_t from;	      /* enum value_from: where it is, or where the way to it begins */
	uint8_t reg, second;  /* as in struct value_place; reg of the result: how many parameters
			       * there are */
	uint8_t size, bit_at, bits;
	uint8_t errnos;	 /* a small negative number is that of an error */
	uint8_t fetched; /* 1 + its index in what is loaded in the hit; 0: it isn't loaded */
	/* Not in trace files: how it is loaded, as in struct value. */
	uint8_t nsteps, array;
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
	const expression_vec *expressions;     /* NULL: all arguments */
	const value_condition_vec *conditions; /* what they name is there as well */
	/* The prototypes of functions of the kernel or a module. */
	void (*kernel)(void *ctx, const struct object *o, const struct type_query *queries,
		       size_t n, const struct type_names *members, struct types *out);
	void *ctx;
	bool (*is_libc)(const struct object *o); /* is this libc? */
};
struct plan_values_result {
	uint32_t untyped;	  /* functions whose types aren't known */
	uint32_t first_untyped;	  /* one of them */
	uint32_t unfetched;	  /* values in memory that aren't loaded */
	uint32_t first_unfetched; /* the function of one of them */
};
/* Adds the values of all functions. -EINVAL with a message: an expression isn't right in any
 * function. */
int plan__add_values(struct plan *p, const struct plan_values_options *o,
		     struct plan_values_result *out);
void plan__add_value(struct plan *p, const struct plan_value *v);
/* Those of a function: *n of them. NULL: its types aren't known. */
const struct plan_value *plan__values(const struct plan *p, uint32_t function, size_t *n);
/* How many of them are loaded when it is entered, or returns. */
unsigned plan__fetched(const struct plan *p, uint32_t function, bool of_return);
/* By an event's site: of an entry, a ret or a return. */
unsigned plan__site_fetched(const struct plan *p, uint32_t site, bool of_return);
/* The most of all functions. */
unsigned plan__most_fetched(const struct plan *p);
const struct plan_enumerator *plan__enumerators(const struct plan *p, uint32_t enumeration,
						size_t *n);

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

/* Resolves them in all functions whose values have all their names. -EINVAL with a message: there
 * is none, or a condition isn't right where the names are. */
int plan__add_conditions(struct plan *p, const value_condition_vec *conditions);
/* Those of a function: *n of them; 0: it isn't judged. */
const struct plan_condition *plan__conditions(const struct plan *p, uint32_t function, size_t *n);
/* Has any function such conditions: of its arguments, of its return? */
bool plan__judges(const struct plan *p, bool of_return);
/* Does the function have them? */
bool plan__judges_function(const struct plan *p, uint32_t function, bool of_return);

/* How the number of a value is compared. */
struct compare_type plan_value__compared(const struct plan *p, const struct plan_value *v);

#endif
