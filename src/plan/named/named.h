/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * named: events that are no branches and have a name: tracepoints, USDT probes, watchpoints,
 * samples, marks. They are part of a trace's plan, so that their records can be understood later.
 * Part of plan.h; uses values. First: plan__add_named(), plan__add_field(), plan__fields().
 */
#ifndef BBTRACE_PLAN_NAMED_NAMED_H
#define BBTRACE_PLAN_NAMED_NAMED_H

#include "util/util.h"

struct plan;

/* The source of the events. In trace files: append only. */
enum named_kind {
	NAMED_TRACEPOINT, /* a static tracepoint of the kernel */
	NAMED_USDT,	  /* a static probe of a program (.note.stapsdt) */
	NAMED_WATCHPOINT, /* a debug register */
	NAMED_SAMPLE,	  /* a timer, or a counter of the processor */
	NAMED_OFF_CPU,	  /* a thread leaves its CPU, to wait or for another thread */
	NAMED_ON_CPU,	  /* a thread is back on a CPU */
	NAMED_KILLED,	  /* a signal ends the process */
	NAMED_OUTCOME,	  /* a system call failed, or wrote to the standard error stream */
	NAMED_KINDS
};

/* How the bytes of a field are read. In trace files: append only. */
enum named_type {
	TYPE_UNSIGNED, /* size: 1, 2, 4 or 8, in the machine's byte order; likewise: */
	TYPE_SIGNED,
	TYPE_HEX,
	TYPE_BOOL,
	TYPE_STRING,	/* at most size bytes, up to the first 0 */
	TYPE_STRING_AT, /* u32: offset in the data | length << 16 (tracefs: __data_loc) */
	TYPE_BYTES,
	TYPE_BYTES_AT,
	TYPE_TEXT,  /* as STRING; but data that is no text, or has less than two characters, is no
		       value */
	TYPE_FLOAT, /* size: 4 or 8 */
	TYPE_UNRECORDED, /* it has no value; type: what it would be read from */
	NAMED_TYPES
};

/* A field of a named event. An element of an array has size / count bytes. */
struct plan_field {
	const char *name;      /* owned by the plan; and so is: */
	const char *type;      /* as its source has it: "pid_t" */
	uint32_t named;	       /* index into plan->named; ascending */
	uint32_t offset, size; /* in the event's data, bytes */
	uint32_t count;	       /* of an array of numbers; 0 if it is no array */
	uint8_t kind;	       /* enum named_type */
	/* 0 if there always is a value; else 1 + the bit, of the data's first 8 bytes, that is set
	 * if there is one. */
	uint8_t known;
};

/* The name of samples by a clock, whose periods are ns. */
#define SAMPLED_TIME "cpu-clock"

struct plan_named {
	const char *name; /* as the user may name it: "sched:sched_switch"; owned by the plan */
	uint8_t kind;	  /* enum named_kind */
};

/* The limit of an event's data, in bytes. */
#define NAMED_DATA 4096

/* Appends a named event, or a field of the last one; copies the strings. Returns its index. */
uint32_t plan__add_named(struct plan *p, enum named_kind kind, const char *name);
void plan__add_field(struct plan *p, const struct plan_field *f);
/* Returns the fields of a named event, *n of them. */
const struct plan_field *plan__fields(const struct plan *p, uint32_t named, size_t *n);
/* Returns true if the plan has an event of this kind. */
bool plan__has_named(const struct plan *p, enum named_kind kind);
/* Returns the first event of this kind; UINT32_MAX if there is none. */
uint32_t plan__first_named(const struct plan *p, enum named_kind kind);

/* The value of a field. */
struct named_value {
	uint64_t number;   /* of numbers; SIGNED: sign-extended; FLOAT: its bits */
	const void *bytes; /* of strings and bytes: len bytes of the data */
	size_t len;
};
static inline bool plan_field__is_number(const struct plan_field *f)
{
	return f->kind < TYPE_STRING || f->kind == TYPE_FLOAT;
}

/* Sets the value, of an array that of element i. Returns false if the data doesn't have it. */
bool named__value(const struct plan_field *f, size_t i, const void *data, size_t len,
		  struct named_value *out);
/* The same of the event's field of this name, which is no array. */
bool plan__named_value(const struct plan *p, uint32_t named, const char *field, const void *data,
		       size_t len, struct named_value *out);
/* Why a value is missing that an event of this kind should have: "not recorded", "unreadable"; NULL
 * if it is there, or need not be. */
const char *named__missing(const struct plan_field *f, enum named_kind kind, const void *data,
			   size_t len);
/* Appends the value as text: "4096", "0x7f12...", "\"name\"", "[1, 2]". Returns false if the data
 * doesn't have it. */
bool named__put_text(const struct plan_field *f, const void *data, size_t len, struct str *out);

#endif
