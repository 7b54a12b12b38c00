/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * costs: what a hit costs on this machine. `doctor --calibrate` measures it and keeps it in a file,
 * from which later traces choose where to place probes. Without the file, usual costs are assumed.
 */
#ifndef BBTRACE_SELECT_COSTS_H
#define BBTRACE_SELECT_COSTS_H

#include "plan/plan.h"

#define COSTS_ROWS     8	   /* maximum, with the empty row at the end */
#define COSTS_FILE_MAX (16u << 10) /* bytes */

struct machine_costs {
	char kernel[65];     /* its release, since costs change with it */
	struct host machine; /* the machine that was measured */
	struct cost_row rows[COSTS_ROWS];
};

/* ---- the file's text (costs_text.c); pure ---- */

void costs_text__put(struct str *out, const struct arch *arch, const struct machine_costs *c);
/* Parses any bytes. -EBADMSG with a message if they aren't what costs_text__put() writes. */
int costs_text__parse(const char *text, size_t len, const struct arch *arch,
		      struct machine_costs *out);
/* True if they were measured with this kernel on this machine. */
bool costs__are_of(const struct machine_costs *c, const char *kernel, const struct host *m);

/* ---- the file (costs.c) ---- */

/* The costs to assume where nothing was measured. NULL: all hits cost the same. */
const struct cost_row *costs__usual(const struct arch *arch);
/* The costs on this machine: measured, or else usual. Says which under -v. */
const struct cost_row *costs__known(const struct arch *arch);
/* Writes these rows as those of this machine. Sets *path to the file, which the caller frees.
 * Returns 0, or -errno with a message. */
int costs__keep(const struct arch *arch, const struct cost_row *rows, char **path);

#endif
