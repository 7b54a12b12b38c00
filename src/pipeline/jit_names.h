/* SPDX-License-Identifier: BSD-2-Clause */
/* jit_names: names of code that processes generate. See jit_names.c. */
#ifndef BBTRACE_PIPELINE_JIT_NAMES_H
#define BBTRACE_PIPELINE_JIT_NAMES_H

#include "event/event.h"
#include "process/process.h"

/* Calls fn with a mapping for each frame of a program's call stack, an entry's or a named event's,
 * that is generated code, unless spaces has it already. 0, or what fn returns. */
int jit_names__map(struct perf_maps *maps, struct spaces *spaces, const struct event *e,
		   int (*fn)(void *ctx, const struct sideband_event *e), void *ctx);
/* Its name, if such a mapping has this path; else NULL. */
const char *jit_names__name(const char *path);

#endif
