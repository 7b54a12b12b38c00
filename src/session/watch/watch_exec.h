/* SPDX-License-Identifier: BSD-2-Clause */
/* watch_exec: watchpoints in CMD, from its exec on. */
#ifndef BBTRACE_SESSION_WATCH_WATCH_EXEC_H
#define BBTRACE_SESSION_WATCH_WATCH_EXEC_H

#include "session/process/child.h"
#include "select/events/watch.h"

/* CMD, which is stopped when it has called exec, so that nothing that it does is missed. */
int watch_exec__prepare(pid_t pid);
int watch_exec__begin(struct watchpoints *w, struct sources *s, const struct child *c);

#endif
