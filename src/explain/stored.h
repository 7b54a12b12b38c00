/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stored: who stored the variable that a program ends with: `errors = 1; … return errors;`. Only
 * variables whose address an instruction has, and that main reads, or a function that calls
 * exit(3).
 * Private to src/explain.
 */
#ifndef BBTRACE_EXPLAIN_STORED_H
#define BBTRACE_EXPLAIN_STORED_H

#include "explain/judge/calls.h"

struct explain_state;

/* A store to such a variable. */
struct stored {
	uint64_t vaddr; /* of the instruction */
	uint64_t cell;	/* of the variable */
	uint32_t size;	/* of that, bytes */
	uint32_t function, object;
	bool has_value; /* the code, or what it follows from, has the value: */
	bool changes;	/* the variable becomes something else that depends on what it was */
	uint32_t value;
	uint64_t number;     /* among all stores that were seen; 0: there was none */
	unsigned gaps;	     /* before it */
	struct verdict *why; /* why control reached it, or where the value is from; owned; NULL if
				it is 0, or if there were too many stores */
};

/* A store by a pointer that the function got as an argument. */
struct stored_field {
	uint64_t addr; /* where the process has the variable */
	struct stored last;
};

struct stores {
	VEC(struct stored_field) fields;
	uint8_t *has_field; /* by block, as .has: whether it may store to one */
	uint32_t *times;    /* by block: how often such stores in it were followed */
	unsigned followed;
	uint64_t fields_from; /* what was stored before that number may have been replaced */
	struct map64 cells;   /* object << 48 | address of a variable -> 1 + index in last */
	VEC(struct stored) last;
	uint8_t *has;	 /* by block: 0 if not known, 1 if it stores to no such variable, 2 if it
			    may */
	uint64_t seen;	 /* stores that an instruction has the address of */
	unsigned judged; /* … of which it was found out why */
	unsigned gaps;	 /* in what was seen of the program */
};

/* The branch at this site was executed, and is the last item of the call: notes the stores since
 * the one before. */
void stored__see(struct explain_state *s, const struct call *c);
/* Returns the last store to the variable that the value was loaded from, or that the branch tested;
 * NULL if there was none, or if it was no such variable. */
const struct stored *stored__in(struct explain_state *s, const struct verdict *v);
/* Something was not seen, and may have stored to any variable. */
void stores__gap(struct stores *s);
void stores__free(struct stores *s);

#endif
