/* SPDX-License-Identifier: BSD-2-Clause */
/* Sideband events: forks, execs, exits, names and executable mappings of all processes, from perf's
 * dummy event. */
#ifndef BBTRACE_SOURCE_PROBES_STREAM_SIDEBAND_H
#define BBTRACE_SOURCE_PROBES_STREAM_SIDEBAND_H

#include "source/probes/maps/scope.h"

struct sideband;
int sideband__open(struct sideband **out);
void sideband__close(struct sideband *s);
/* Limits later events to the processes in the scope, and all their descendants if that is set. */
void sideband__limit(struct sideband *s, const struct scope *scope, bool descendants);
/* The processes that those in the scope have forked and that are not in it. */
uint64_t sideband__left_children(const struct sideband *s);
/* Collects everything that the kernel has written up to now, sorted by time. */
void sideband__collect(struct sideband *s);
/* Drops everything that happened up to now. */
void sideband__forget(struct sideband *s);
/* Returns the oldest collected event with time <= until, NULL if there is none. Valid until the
 * next collect. */
const struct sideband_event *sideband__next(struct sideband *s, uint64_t until);

#endif
