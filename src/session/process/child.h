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
	int signal; /* the signal that ended it; 0 if none did */
};
/* Returns 0 if there is such a command, else -errno with a message, and the exit status. */
int child__check(const char *name, int *status);
/* Forks a process that waits to become CMD. Returns 0, or -errno with a message; -ENOENT or
 * -EACCES if it can't be executed, with EXIT_... as *status. */
int child__prepare(struct child *c, char **command, const char *user, int *status);
/* Starts CMD. Returns 0, or -errno of its exec, with *status as above. */
int child__start(struct child *c, int *status);
/* Returns true if CMD has ended, and sets c->status and c->signal. wait: waits for its end. */
bool child__ended(struct child *c, bool wait);
/* Notes the signal that ended CMD, if one did: the shell can't, since CMD is not its child. */
void child__report_signal(struct child *c);
/* Called when the trace's time is over. Returns true if a CMD that still runs after CHILD_LEFT_S
 * seconds is left running; not if it would lose the terminal by that. Notes what is done. */
#define CHILD_LEFT_S 5
bool child__leave(struct child *c);
/* Kills a child that was not started. */
void child__cancel(struct child *c);

#endif
