/* SPDX-License-Identifier: BSD-2-Clause */
/* covered: the objects of bbtrace cover, of which all functions are counted. */
#ifndef BBTRACE_SELECT_COVERED_COVERED_H
#define BBTRACE_SELECT_COVERED_COVERED_H

#include "select/targets.h"

/*
 * Finds all functions of the OBJECTs and of the files that --objects matches. Without both: of the
 * program of CMD; if that is a script, or has no debug information and isn't below the current
 * folder, as a shell, make or ctest: of all objects below that folder that have debug information.
 * Returns 0, or -errno with a message.
 */
int covered__find(struct targets *n, const struct request *req);
/* Called after CMD has ended: notes which objects it has built that the patterns match. They are
 * not covered, since counting has to begin before they run. */
void covered__report_built(const struct targets *n, const struct request *req);

#endif
