/* SPDX-License-Identifier: BSD-2-Clause */
/* The sites that are measured. Private to src/source/probes. */
#ifndef BBTRACE_SOURCE_PROBES_CALIBRATE_CALIBRATE_H
#define BBTRACE_SOURCE_PROBES_CALIBRATE_CALIBRATE_H

#include "source/probes/session.h"

/* A child that runs a site repeatedly and reports the time. */
struct runner {
	pid_t pid;
	int to, from;
};
#define RUN_SYSCALL UINT32_MAX /* in place of a site: getppid(2) */
int runner__start(struct runner *r);
void runner__stop(struct runner *r);
/* ns a run */
int runner__time(struct runner *r, uint32_t site, uint32_t hits, double *ns);

#define CALIBRATE_ROUNDS 9
#define CALIBRATE_HITS	 1000u
struct figures {
	double ns[CALIBRATE_ROUNDS];
};
double figures__median(const struct figures *f);

/* Closes *p unless it is NULL: for CLEANUP(). */
void calibrate__close(struct source **p);
/* Runs a site, then drains the ring and counts its records. */
int calibrate__hit(struct runner *r, struct source *p, uint32_t site, bool stopped, double *ns,
		   uint64_t *records);

#endif
