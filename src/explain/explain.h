/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * explain: which branch chose that a system call failed, or that a program ended badly. Public
 * header of src/explain. Pure: no system call, no BPF, no /proc, no exit.
 *
 * Its input are steps. A call that returns an error is judged when it returns: where its value was
 * made, and the last branch that was executed whose other side may have led to another one.
 */
#ifndef BBTRACE_EXPLAIN_H
#define BBTRACE_EXPLAIN_H

#include "output/output.h"

/* System calls that failed alike, of CMD. */
struct failed_call {
	uint64_t number;
	int64_t result; /* -errno */
	uint64_t times;
	uint64_t time; /* of the last one; CLOCK_MONOTONIC, ns */
};

/* What is asked, and what became known. */
struct explaining {
	bool ends;     /* also how CMD ended */
	uint32_t pid;  /* CMD's; 0: all processes */
	bool last;     /* of the calls of a function that failed only the last one */
	bool captured; /* what would be shown goes to .text */
	const char *command;
	/* Set before the end: */
	int status, signal;
	bool is_own; /* a signal that threads get by what they do: a fault, abort(3) */
	const char *(*syscall_name)(uint64_t number); /* NULL: not known */
	/* Found out, for the caller, who frees it: */
	VEC(struct failed_call) failed;
	struct failed_call blamed; /* whose result the branch tested that chose CMD's end */
	struct str text;
	VEC(char *) wanted; /* kernel functions that made values and weren't traced */
	size_t explained;
	bool complete; /* each failure was traced to its branch */
};
void explaining__free(struct explaining *e);

/* output_options.explaining has to be set. */
extern const struct output_format explain_text, explain_json;

/* Kernel functions that the plan's functions call, and whose results they may return; that the plan
 * doesn't have. Names by their symbols. fn may be called with the same one several times. */
void explain__callees(const struct plan *p, void (*fn)(void *ctx, const char *name), void *ctx);

#endif
