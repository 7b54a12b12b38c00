/* SPDX-License-Identifier: BSD-2-Clause */
/* interrupt: signals that end a run: SIGINT, SIGTERM, and SIGHUP unless nohup(1) ignores it.
 * SIGUSR1 asks for the counts so far. */
#ifndef BBTRACE_SESSION_PROCESS_INTERRUPT_H
#define BBTRACE_SESSION_PROCESS_INTERRUPT_H

#include <signal.h>
#include <sys/types.h>
#include "source/source.h"

/* The signal that came; 0 if none has. */
extern volatile sig_atomic_t interrupted;

/* SIGUSR1 came. */
extern volatile sig_atomic_t counts_asked_for;

/* From here on, signals only set `interrupted`, and are passed on to CMD (0 if none). */
void interrupt__catch(pid_t cmd);
/* SIGUSR1 sets counts_asked_for from here on, instead of ending bbtrace. */
void interrupt__asks(void);
/* A signal stops these sources at once, and a later one cuts what they have left. NULL: none. */
void interrupt__stops(struct source *s);
/* The sources were stopped: the next signal cuts. */
void interrupt__cuts(void);
/* A signal wakes the process_ends with this wakeup; -1 if none. */
void interrupt__wakes(int wakeup);

#endif
