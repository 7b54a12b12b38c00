/* SPDX-License-Identifier: BSD-2-Clause */
/* root: a process's root folder and mount namespace, to look up paths as that process sees them. */
#ifndef BBTRACE_TARGET_ROOT_H
#define BBTRACE_TARGET_ROOT_H

#include "util/util.h"

struct root {
	pid_t pid; /* 0: our own */
	int fd;	   /* of /proc/PID/root; -1: the same as our own */
};

/* -ESRCH: no such process, -EACCES: not ours to look into. */
int root__open(struct root *r, pid_t pid);
void root__close(struct root *r);

/*
 * The path to open for what path is inside the root (links followed there), malloc()ed; NULL: there
 * is none. *shown, unless NULL: the real path as the process sees it. Relative paths are relative
 * to our own working directory.
 */
char *root__resolve(const struct root *r, const char *path, char **shown);

#endif
