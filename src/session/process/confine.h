/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * confine: what verbs that only read files give up before they read the first byte. Who made a
 * trace file, a program or a core dump gets nothing by it then: a fault in what reads it can change
 * no file, no process and no program. For src/main.c.
 */
#ifndef BBTRACE_SESSION_PROCESS_CONFINE_H
#define BBTRACE_SESSION_PROCESS_CONFINE_H

#include "cli/request.h"

/* For report, merge, diff, core, and list of files: no capability but to read what the user names,
 * if there was one; root becomes a user that no other process has; no exec: a pager waits already.
 * Other verbs keep everything. 0, or -errno with a message. */
int confine__reader(const struct request *req);
/* All files are open: no capability at all. */
int confine__no_files(void);
void confine__end(void);

#endif
