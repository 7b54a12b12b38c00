/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record: a step as a few bytes, and back. What many steps share, the places of code and what is
 * known of a task, is kept once and named by a number.
 */
#ifndef BBTRACE_TUI_MODEL_RECORD_H
#define BBTRACE_TUI_MODEL_RECORD_H

#include "trace/trace.h"

/* What steps of one thread have in common. */
struct task {
	uint32_t pid, tid, ns_pid, run;
	uint64_t goroutine;
	char comm[16];
};

struct names {
	VEC(struct location) places;
	VEC(struct task) tasks;
	struct map64 place_of, task_of; /* hash -> 1 + number */
	uint32_t last;			/* task of the last step */
};
void names__free(struct names *n);

/* Appends the step. call: 1 + the number of the call that an entry begins; 0: none. */
void record__put(struct names *n, const struct step *s, uint32_t call, struct str *out);
/* Returns the number that was put with an entry; 0: none, or no entry. *depth is that of the step.
 */
uint32_t record__peek(const uint8_t *data, size_t len, uint8_t *type, uint32_t *depth);
/* Sets *k to the step; kept__free() frees it. The strings of its places are those of the step that
 * was put. Returns false, with *k zeroed, if the bytes are no record. */
bool record__get(const struct names *n, const struct plan *plan, const uint8_t *data, size_t len,
		 struct kept_step *k);

#endif
