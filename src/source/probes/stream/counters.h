/* SPDX-License-Identifier: BSD-2-Clause */
/* What probes count in the kernel, if the plan's placement is PLACEMENT_COUNT. */
#ifndef BBTRACE_SOURCE_PROBES_STREAM_COUNTERS_H
#define BBTRACE_SOURCE_PROBES_STREAM_COUNTERS_H

#include "source/probes/session.h"

struct wire_config;
/* Returns for how many sites there is room beyond those of the plan. */
uint32_t counters__more(const struct probe *p);
/* Before the BPF object is loaded: the sizes of the maps, and what the programs need to know. */
void counters__size(struct probe *p, struct wire_config *config);
/* After it. 0, or -errno with a message. */
int counters__open(struct probe *p);
/* Sites have been added to the plan. */
void counters__add_sites(struct probe *p);
void counters__close(struct counters *c);
/* From here on, probes count elsewhere. Returns the time up to which what was counted doesn't
 * change any more. */
uint64_t counters__turn(struct probe *p);
/* Passes on what was added since the last time, up to that. */
int counters__give(struct probe *p, const struct source_sink *sink);
/* The same, after probes were stopped. */
int counters__give_rest(struct probe *p, const struct source_sink *sink);
/* A process's program has ended at this time, by exec or exit: passes on the targets that it
 * counted, before its mappings are forgotten. */
int counters__end_program(struct probe *p, uint32_t pid, uint64_t time,
			  const struct source_sink *sink);
/* Passes on the targets that a process has counted; it may continue. */
int counters__name_targets(struct probe *p, uint32_t pid, const struct source_sink *sink);
/* Notes on what could not be counted. */
void counters__report(const struct probe *p);

#endif
