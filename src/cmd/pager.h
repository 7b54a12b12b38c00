/* SPDX-License-Identifier: BSD-2-Clause */
/* pager, progress: what makes long work on a terminal bearable. */
#ifndef BBTRACE_CMD_PAGER_H
#define BBTRACE_CMD_PAGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Puts $PAGER between fd 1 and the terminal that it is; 0: there is none to be had. */
pid_t pager__start(void);
/* Ends the output and waits until the reader has seen enough. */
void pager__wait(pid_t pager);

struct progress {
	bool shown;		   /* stderr is a terminal that nobody else writes to */
	uint64_t probes, attached; /* how many there are, and are done; 0: bytes are read */
	uint64_t total; /* bytes, or what attaching takes (plan__attach_work()); 0: not known */
	uint64_t done;
	uint64_t start, last; /* ns */
	bool told;	      /* the estimate, where nothing is shown */
};
void progress__read(struct progress *p, bool wanted, uint64_t bytes);
void progress__attach(struct progress *p, bool wanted, uint64_t probes, uint64_t work);
/* So many probes more, which took so much of the work. */
void progress__attached(struct progress *p, uint64_t probes, uint64_t work);
void progress__add(struct progress *p, uint64_t n);
void progress__end(struct progress *p);

#endif
