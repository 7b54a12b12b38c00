/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * made: the calls that took the address of a text by which a message may be made, as they were
 * then: a message may be written long after, by other functions. Private to src/explain.
 */
#ifndef BBTRACE_EXPLAIN_MADE_H
#define BBTRACE_EXPLAIN_MADE_H

#include "explain/judge/calls.h"

#define MADE_FRAMES 3

/* The last time that a branch was executed after an instruction that takes a text's address. */
struct made {
	uint32_t pid, site;
	uint64_t call; /* its ID */
	uint64_t time;
	uint64_t times;
	uint32_t texts;			  /* 1 + the index of its first text, in the code */
	struct call *frames[MADE_FRAMES]; /* copies, innermost first; owned; NULL at the end */
};

/* An instruction that takes a text's address: link-time addresses. */
struct taken_text {
	uint64_t literal, code;
	uint32_t next; /* 1 + the index of another one before the same branch; 0 if none */
};

struct all_made {
	VEC(struct taken_text) texts;
	VEC(struct made) all;
	uint32_t *of_site;  /* by site: 1 + the index in all; 0: no text is before it */
	bool *seen;	    /* by function: its code was searched */
	bool has_main;	    /* it is known which function is main */
	struct map64 began; /* PIDs whose main has run: the texts of before are no messages yet */
};

/* Takes the last branch of the innermost of these calls, which are those of a thread. */
void made__take(struct all_made *a, struct code *code, struct call *const *calls, size_t n,
		const struct step *step);
/* Returns the one whose text has most letters in a message of this process, and the latest of
 * these; NULL if there is none. */
const struct made *made__best(const struct all_made *a, const struct code *code, uint32_t pid,
			      const char *text, size_t len, struct taken_text *taken);
void made__free(struct all_made *a);

#endif
