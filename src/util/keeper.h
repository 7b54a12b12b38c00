/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keeper: a process that keeps a right which its parent gives up, and uses it at the parent's
 * request. It does so with what it was started with, and with nothing else. It ends with the
 * parent, and by SIGKILL; other signals it ignores, since it is to outlive what the parent still
 * has to do.
 */
#ifndef BBTRACE_UTIL_KEEPER_H
#define BBTRACE_UTIL_KEEPER_H

#include "util.h"

struct keeper {
	pid_t pid; /* 0: there is none */
	int socket;
};

/* What it does; the functions are called in the keeper. */
struct keeper_job {
	const char *name; /* of the process */
	void *ctx;
	/* Gives up all other rights. Not 0: it could not, and the keeper ends. */
	int (*give_up)(void *ctx);
	/* A descriptor, which is closed when the parent has its own; 0: done; or -errno with a
	 * message. */
	int (*answer)(void *ctx, int32_t request);
	/* Descriptors that stay open: standard input, output and error become /dev/null, all others
	 * are closed, since somebody may wait for that. -1: none. */
	int kept[2];
	bool keeps_all; /* it closes none */
};

/* Forks it. 0, or -errno with a message. */
int keeper__start(struct keeper *k, const struct keeper_job *job);
/* What the job answers; -EPIPE, with a message: the keeper has ended. */
int keeper__ask(const struct keeper *k, int32_t request);
/* Waits for its end. */
void keeper__end(struct keeper *k);

#endif
