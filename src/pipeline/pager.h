/* SPDX-License-Identifier: BSD-2-Clause */
/* pager: the pager and the progress line, for long output and long work on a terminal. */
#ifndef BBTRACE_PIPELINE_PAGER_H
#define BBTRACE_PIPELINE_PAGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Inserts $PAGER between fd 1 and the terminal. Returns its PID; 0 if there is no pager. */
pid_t pager__start(void);
/* Forks the process that pager__start() turns into the pager, before bbtrace gives up the rights
 * that the pager keeps. If it isn't used it ends with bbtrace. */
void pager__prepare(void);
/* Closes the output and waits until the pager exits. */
void pager__wait(pid_t pager);

/* True if TERM is unset or dumb: no escape sequences. */
bool terminal__is_dumb(void);

struct progress {
	bool shown; /* stderr is a terminal, not a dumb one, and no CMD writes to it */
	uint64_t probes,
		attached; /* numbers of probes and of attached ones; 0 while reading bytes */
	uint64_t total;	  /* bytes, or plan__attach_work(); 0 if unknown */
	uint64_t done;
	uint64_t start, last; /* ns */
	bool estimated;	      /* the estimate was printed */
	const char *what;     /* what is done, where it is neither reading nor attaching */
};
void progress__read(struct progress *p, bool wanted, uint64_t bytes);
/* what is done, "decoding"; total: of units that are nobody's concern. */
void progress__work(struct progress *p, bool wanted, const char *what, uint64_t total);
void progress__attach(struct progress *p, bool wanted, uint64_t probes, uint64_t work);
/* Adds attached probes, and the share of the work that they took. */
void progress__attached(struct progress *p, uint64_t probes, uint64_t work);
void progress__add(struct progress *p, uint64_t n);
void progress__end(struct progress *p);

#endif
