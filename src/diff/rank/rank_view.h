/* SPDX-License-Identifier: BSD-2-Clause */
/* rank_view: shared by what shows ranked branches. Private to src/diff. */
#ifndef BBTRACE_DIFF_RANK_RANK_VIEW_H
#define BBTRACE_DIFF_RANK_RANK_VIEW_H

#include "diff/view.h"

/* Appends what is true of the runs that a row counts: "at least 5 times"; nothing if it was
 * executed. */
void rank__how(const struct rank_row *row, struct str *s);

#endif
