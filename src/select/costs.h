/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * costs: what hits cost on this machine. `doctor --calibrate` measures it and keeps it in a file,
 * by which later traces place their probes. Without it, they assume what is usual.
 */
#ifndef BBTRACE_SELECT_COSTS_H
#define BBTRACE_SELECT_COSTS_H

#include "plan/plan.h"

#define COSTS_ROWS     8	   /* most rows, with the last, empty one */
#define COSTS_FILE_MAX (16u << 10) /* bytes */

struct machine_costs {
	char kernel[65];     /* its release: costs change with it */
	struct host machine; /* that was measured */
	struct cost_row rows[COSTS_ROWS];
};

/* ---- the file's text (costs_text.c); pure ---- */

void costs_text__put(struct str *out, const struct arch *arch, const struct machine_costs *c);
/* -EBADMSG with a message: it is not what costs_text__put() writes. Any bytes may come. */
int costs_text__parse(const char *text, size_t len, const struct arch *arch,
		      struct machine_costs *out);
/* Were they measured where kernel and machine are these? */
bool costs__are_of(const struct machine_costs *c, const char *kernel, const struct host *m);

/* ---- the file (costs.c) ---- */

/* What is assumed where nothing was measured; NULL: all hits cost the same. */
const struct cost_row *costs__usual(const struct arch *arch);
/* What is known of this machine: measured, or else usual. Says which under -v. */
const struct cost_row *costs__known(const struct arch *arch);
/* Keeps these rows, of this machine. *path: the file, which the caller frees. -errno with a
 * message. */
int costs__keep(const struct arch *arch, const struct cost_row *rows, char **path);

#endif
