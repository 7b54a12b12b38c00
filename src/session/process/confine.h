/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * confine: gives up the rights of verbs that only read files, before they read the first byte. So
 * who made a trace file, a program or a core dump can't use a fault in its reader to change a file,
 * a process or a program. Called by src/main.c.
 */
#ifndef BBTRACE_SESSION_PROCESS_CONFINE_H
#define BBTRACE_SESSION_PROCESS_CONFINE_H

#include "cli/request.h"

/*
 * Confines report, merge, diff, core, and list of files: no capability except to read what the user
 * names, if there was one; root becomes a user that no other process has; no exec, since a pager
 * waits already. Other verbs keep everything. Returns 0, or -errno with a message.
 */
int confine__reader(const struct request *req);
/* Called when all files are open: gives up the last capability. */
int confine__no_files(void);
void confine__end(void);

#endif
