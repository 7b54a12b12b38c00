/* SPDX-License-Identifier: BSD-2-Clause */
/* jit_names: names of code that processes generate. See jit_names.c. */
#ifndef BBTRACE_PIPELINE_JIT_NAMES_H
#define BBTRACE_PIPELINE_JIT_NAMES_H

#include "event/event.h"
#include "process/process.h"

/*
 * For each frame of a program's call stack, of an entry or a named event, that is generated code:
 * calls fn with a mapping for it, unless spaces has it already. Returns 0, or what fn returns.
 */
int jit_names__map(struct perf_maps *maps, struct spaces *spaces, const struct event *e,
		   int (*fn)(void *ctx, const struct sideband_event *e), void *ctx);
/* Returns the name if the path is that of such a mapping; else NULL. */
const char *jit_names__name(const char *path);

#endif
