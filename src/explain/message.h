/* SPDX-License-Identifier: BSD-2-Clause */
/* message: what CMD wrote to the standard error stream, and the branches by which control came
 * there; the system calls that failed. Private to src/explain. */
#ifndef BBTRACE_EXPLAIN_MESSAGE_H
#define BBTRACE_EXPLAIN_MESSAGE_H

#include "explain/state.h"

/* Takes a NAMED_OUTCOME of a thread. */
void outcome__take(struct explain_state *s, const struct explaining *e, struct thread *t,
		   const struct step *step);
/* Takes a branch that may call longjmp(3), or throw an exception. */
void jump__take(struct explain_state *s, const struct explaining *e, struct thread *t,
		const struct step *step);
/* The process executes this program from now on. */
void program__take(struct outcomes *o, uint32_t pid, const char *path);
void messages__free(struct outcomes *o);

/* Returns true if the C library made the call of its own accord. */
bool outcome__is_librarys(const struct outcome *o);
/* Returns true if the message has the text of this error: -errno. */
bool message__has_error(const struct message *m, int64_t result);
/* The order among the branches of a message; more is better. */
int reached__score(const struct explain_state *s, const struct explaining *e,
		   const struct message *m, const struct reached *r);
/* Returns the branch that is the most likely reason of the message; NULL if none is known. */
const struct reached *message__because(const struct message *m);
/* Returns true if the same branch is the reason of both. */
bool message__is_same(const struct message *a, const struct message *b);
/* Returns true if the function got the message's text as an argument, or was called by such a one.
 */
bool message__prints(const struct message *m, uint32_t function);
/* Returns the last call that failed before the message and that it names: by an argument and the
 * error, else by an argument, else by the error; NULL if there is none. */
const struct outcome *message__failed(const struct outcomes *all, const struct message *m);
/* Returns the last message on the standard output, if CMD has written none elsewhere, and something
 * led to it; else NULL. */
const struct message *message__output(const struct outcomes *all, uint32_t pid);
/* Appends what of its text was made by .made_by. */
void message__put_made(const struct plan *p, const struct message *m, struct str *out);

#endif
