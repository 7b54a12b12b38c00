/* SPDX-License-Identifier: BSD-2-Clause */
/* watch_exec: sets watchpoints in CMD at its exec. */
#ifndef BBTRACE_SESSION_WATCH_WATCH_EXEC_H
#define BBTRACE_SESSION_WATCH_WATCH_EXEC_H

#include "session/process/child.h"
#include "select/events/watch.h"

/* Prepares CMD to stop at its exec, so that nothing it does is missed. */
int watch_exec__prepare(pid_t pid);
int watch_exec__begin(struct watchpoints *w, struct source *s, const struct child *c);

#endif
