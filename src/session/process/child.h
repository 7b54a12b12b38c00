/* SPDX-License-Identifier: BSD-2-Clause */
/* child: CMD, the command that is run and traced. */
#ifndef BBTRACE_SESSION_PROCESS_CHILD_H
#define BBTRACE_SESSION_PROCESS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
	const char *name; /* as given */
	pid_t pid;
	int go;	    /* write end: a byte starts CMD */
	int failed; /* read end: errno of an exec that failed */
	bool ended;
	int status; /* exit status for CMD's caller */
	int signal; /* that ended it; 0: none did */
};
/* Forks a process that waits to become CMD. -ENOENT, -EACCES (with EXIT_… as *status): no such
 * command. */
int child__prepare(struct child *c, char **command, const char *user, int *status);
/* Starts CMD. -errno of its exec, *status as above. */
int child__start(struct child *c, int *status);
/* Has it ended? Sets c->status and c->signal. wait: waits for its end. */
bool child__ended(struct child *c, bool wait);
/* A note, if a signal ended it: as a shell does, which can't here, since CMD is not its child. */
void child__report_signal(struct child *c);
/* The time is over: is a CMD that still runs so many seconds later left to itself? Not if it would
 * lose the terminal by that. A note says what is done. */
#define CHILD_LEFT_S 5
bool child__leave(struct child *c);
/* Kills a child that was not started. */
void child__cancel(struct child *c);

#endif
