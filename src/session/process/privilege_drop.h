/* SPDX-License-Identifier: BSD-2-Clause */
/* privilege_drop: drops what a live trace no longer needs once its probes are attached. */
#ifndef BBTRACE_SESSION_PROCESS_PRIVILEGE_DROP_H
#define BBTRACE_SESSION_PROCESS_PRIVILEGE_DROP_H

#include "pipeline/write/file_keeper.h"
#include "pipeline/write/record.h"

struct privilege_drop {
	const struct request *request;
	const struct plan *plan;
	struct source *source;
	struct recorder *recorder; /* NULL if none */
	/* file to remove at the end: the control socket; NULL if none */
	const struct named_file *removed;
	bool runs_command, watches;
	struct keeper *files; /* started if root's names have to be changed later */
};
/* Called before anything that was recorded is read. Returns 0, or -errno with a message. */
int privilege_drop__apply(const struct privilege_drop *g);

#endif
