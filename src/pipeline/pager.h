/* SPDX-License-Identifier: BSD-2-Clause */
/* pager and progress line, for long output and long work on a terminal. */
#ifndef BBTRACE_PIPELINE_PAGER_H
#define BBTRACE_PIPELINE_PAGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Inserts $PAGER between fd 1 and the terminal; 0: no pager. */
pid_t pager__start(void);
/* Makes the process that pager__start() starts: before the rights that it is to have are given up.
 * It ends with bbtrace if it isn't started. */
void pager__prepare(void);
/* Closes the output and waits until the pager exits. */
void pager__wait(pid_t pager);

/* TERM is unset or dumb: no escape sequences. */
bool terminal__is_dumb(void);

struct progress {
	bool shown; /* stderr is a terminal that no CMD writes to, and not a dumb one */
	uint64_t probes,
		attached; /* the number of probes, and of attached ones; 0: reading bytes */
	uint64_t total;	  /* bytes, or plan__attach_work(); 0: unknown */
	uint64_t done;
	uint64_t start, last; /* ns */
	bool told;	      /* the estimate was printed */
};
void progress__read(struct progress *p, bool wanted, uint64_t bytes);
void progress__attach(struct progress *p, bool wanted, uint64_t probes, uint64_t work);
/* Adds attached probes, and the share of the work that they took. */
void progress__attached(struct progress *p, uint64_t probes, uint64_t work);
void progress__add(struct progress *p, uint64_t n);
void progress__end(struct progress *p);

#endif
