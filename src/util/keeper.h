/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keeper: a process that keeps a right which its parent gives up, and uses it at the parent's
 * request, only with what it was started with. It ends with the parent, and by SIGKILL; it ignores
 * other signals, since it has to outlive what the parent still has to do.
 */
#ifndef BBTRACE_UTIL_KEEPER_H
#define BBTRACE_UTIL_KEEPER_H

#include "util.h"

struct keeper {
	pid_t pid; /* 0 if there is none */
	int socket;
};

/* What the keeper does; the functions are called in it. */
struct keeper_job {
	const char *name; /* of the process */
	void *ctx;
	/* Gives up all other rights. If the result isn't 0, it could not, and the keeper ends. */
	int (*give_up)(void *ctx);
	/* Returns a descriptor, which is closed when the parent has its own; 0 if it is done; or
	 * -errno with a message. */
	int (*answer)(void *ctx, int32_t request);
	/* Descriptors that stay open: standard input, output and error become /dev/null, and all
	 * others are closed, since somebody may wait for that. -1 for none. */
	int kept[2];
	bool keeps_all; /* it closes none */
};

/* Forks the keeper. Returns 0, or -errno with a message. */
int keeper__start(struct keeper *k, const struct keeper_job *job);
/* Returns what the job answers; -EPIPE, with a message, if the keeper has ended. */
int keeper__ask(const struct keeper *k, int32_t request);
/* Waits for its end. */
void keeper__end(struct keeper *k);

#endif
