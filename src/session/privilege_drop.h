/* SPDX-License-Identifier: BSD-2-Clause */
/* giving_up: what a live trace no longer needs once its probes are attached. */
#ifndef BBTRACE_GIVING_UP_H
#define BBTRACE_GIVING_UP_H

#include "pipeline/file_keeper.h"
#include "pipeline/record.h"

struct giving_up {
	const struct args *args;
	const struct plan *plan;
	struct probe *probe;
	struct recorder *recorder;	  /* NULL: none */
	const struct named_file *removed; /* at the end: the control socket; NULL: none */
	bool runs_command, watches;
	struct keeper *files; /* is started if root's names have to be changed later */
};
/* Before anything that was recorded is read. 0, or -errno with a message. */
int giving_up__do(const struct giving_up *g);

#endif
