/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * explain: which branch chose that a system call failed, or that a program ended badly. Public
 * header of src/explain. Pure: no system call, no BPF, no /proc, no exit.
 *
 * Its input is steps. A call that returns an error is judged when it returns: where its value came
 * about, and the last executed branch whose other side may have led to another value.
 */
#ifndef BBTRACE_EXPLAIN_EXPLAIN_H
#define BBTRACE_EXPLAIN_EXPLAIN_H

#include "explain/passing.h"
#include "output/output.h"

/* The system calls of CMD that failed with the same error. */
struct failed_call {
	uint64_t number;
	int64_t result; /* -errno */
	uint64_t times;
	uint64_t time; /* of the last one; CLOCK_MONOTONIC, ns */
};

/* What is to be explained, and what became known. */
struct explaining {
	bool ends;     /* explain how CMD ended, too */
	uint32_t pid;  /* the PID of CMD; 0 for all processes */
	bool last;     /* of the failed calls of a function, explain only the last one */
	bool again;    /* another run can trace more */
	bool captured; /* the text is not written, but kept in .text */
	bool passes;   /* this is the run that passes: it is noted in .passing, and not explained */
	struct passing *passing; /* NULL: there is none */
	const char *command;
	/* Appends the address of a socket; returns false if its family isn't known. */
	bool (*socket_address)(const void *bytes, size_t len, struct str *out);
	/* Appends the arguments of a system call that are shown by their names. Returns false if it
	 * is another one. */
	bool (*named_arguments)(uint64_t number, const uint64_t *args, struct str *out);
	uint64_t output_number;		  /* of the standard output: a descriptor */
	uint64_t outputs_most;		  /* writes to it that are reported */
	bool (*is_wait)(uint64_t number); /* a system call that learns of a child's end */
	/* Opens the library of this name, which the caller keeps; NULL if it can't. */
	const struct object *(*library)(void *ctx, const char *soname);
	void *library_ctx;
	/* Set before the end: */
	int status, signal;
	bool (*is_own_signal)(int signal); /* one that threads get by what they do themselves */
	const char *(*syscall_name)(uint64_t number); /* returns NULL if not known */
	uint32_t (*syscall_texts)(
		uint64_t number); /* its arguments that are strings, one bit each */
	/* Results, which the caller frees: */
	VEC(struct failed_call) failed;
	/* The failed call whose result was tested by the branch that chose CMD's end. */
	struct failed_call blamed;
	struct str text;
	/* Operands of trace: functions of libraries that messages lead to; if .again is set. */
	VEC(char *) elsewhere;
	/* The programs of children that failed, and that weren't traced: paths. */
	VEC(char *) programs;
	VEC(char *) wanted; /* kernel functions that values are from, and that weren't traced */
	size_t explained;
	bool complete; /* each failure was traced to its branch */
};
void explaining__free(struct explaining *e);

/* These need output_options.explaining. */
extern const struct output_format explain_text, explain_json, explain_sarif;

/*
 * Calls fn for kernel functions that the plan doesn't have, but that its functions call and whose
 * results they may return: with the names of their symbols, perhaps with the same name several
 * times.
 */
void explain__callees(const struct plan *p, void (*fn)(void *ctx, const char *name), void *ctx);

#endif
