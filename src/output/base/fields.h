/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fields: a step's fields, described once: name, type, the steps that have it, and how to read it.
 * JSON writes the table in order; text uses single rows in its lines. Private to src/output.
 */
#ifndef BBTRACE_OUTPUT_BASE_FIELDS_H
#define BBTRACE_OUTPUT_BASE_FIELDS_H

#include "src.h"
#include "totals.h"
#include "util/json.h"

enum field_type {
	VALUE_DEC,
	VALUE_SIGNED,
	VALUE_HEX, /* JSON: a hex string */
	VALUE_STRING,
	VALUE_BOOL,
	VALUE_AT,    /* a location whose members are fields of the event */
	VALUE_PLACE, /* a location as an object */
	VALUE_REGS,  /* values by register number, and the registers to show */
	VALUE_WORDS, /* hex strings */
	VALUE_STACK,
	VALUE_SRC,
	VALUE_NAMED, /* the fields of a named event, as an object */
	VALUE_WHY,   /* what a conditional tested, as an object */
	VALUE_TYPED, /* arguments by their types, as an object; the result; names (values.h) */
	VALUE_RESULT,
	VALUE_CUT,
	VALUE_NOT_RECORDED_NAMES,
};

union field_value {
	uint64_t number;
	bool flag;
	const char *string;
	struct {
		const uint64_t *values; /* by register number */
		const struct reg_list *shown;
	} regs;
	struct {
		const uint64_t *at;
		size_t n;
	} values;
	const struct location *place;
	struct {
		const struct location *frames;
		size_t n;
	} stack;
	const struct src *src;
	const struct event_named *named;
	const struct step *step; /* whose values it is about */
};

/* In the order of JSON output. */
enum field_id {
	FIELD_TS,
	FIELD_PID,
	FIELD_TID,
	FIELD_NS_PID,
	FIELD_GOROUTINE,
	FIELD_COMM,
	FIELD_CPU,
	FIELD_CONTEXT,
	FIELD_EVENT,
	FIELD_TEXT,
	FIELD_NUMBER,
	FIELD_BY,
	FIELD_ASKED,
	FIELD_NAME,
	FIELD_ARGS,
	FIELD_AT,
	FIELD_SRC,
	FIELD_KIND,
	FIELD_INSN,
	FIELD_TAKEN,
	FIELD_TO,
	FIELD_WHY,
	FIELD_IMPLIED,
	FIELD_DEPTH,
	FIELD_REGS,
	FIELD_SYSCALL_ARGS,
	FIELD_TYPED,
	FIELD_SINCE,
	FIELD_STACK,
	FIELD_STACK_END,
	FIELD_VALUE,
	FIELD_RET,
	FIELD_ERRNO,
	FIELD_CUT,
	FIELD_NOT_RECORDED,
	FIELD_DURATION,
	FIELD_NET,
	FIELD_OFF,
	FIELD_BELOW_NOISE,
	FIELD_COUNT,
	FIELD_AT_LEAST,
	FIELDS
};

struct field {
	struct json_key key; /* AT: none, its members have keys */
	uint8_t type;	     /* enum field_type */
	unsigned steps;	     /* mask of 1 << enum step_type that can have it */
	/* Sets the value. Returns false if this step doesn't have it. */
	bool (*get)(const struct output *o, const struct step *s, union field_value *v);
};
extern const struct field fields[FIELDS];

/* Returns true if this step has the field, and sets its value. */
static inline bool field__get(enum field_id id, const struct output *o, const struct step *s,
			      union field_value *v)
{
	return (fields[id].steps >> s->type & 1) && fields[id].get(o, s, v);
}

/* What makes the event, "tracepoint"; its fields as a JSON object, and as text: "pid=1 comm=\"x\""
 * (named.c). */
const char *named__kind(const struct output *o, const struct step *s);
void named__put_json(const struct output *o, struct json *j, const struct event_named *n);
/* Puts the names of fields that are not recorded, as a JSON array; with j NULL it puts nothing.
 * Returns false if there are none. */
bool named__put_not_recorded(const struct output *o, struct json *j, const struct event_named *n);
void named__put_args(const struct output *o, struct str *s, const struct event_named *n);
/* A table of how many there were of each: of plan->named. */
void named__put_counts(struct output *o, const uint64_t *counts);
/* Before the first step: which registers entries show (regs.c). */
void regs__choose(struct output *o);
/* The registers that this entry shows. */
const struct reg_list *output__regs(const struct output *o, const struct step *step);

#endif
