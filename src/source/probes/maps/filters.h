/* SPDX-License-Identifier: BSD-2-Clause */
/* The filters' maps: which processes the BPF programs trace (bpf/who.h). */
#ifndef BBTRACE_SOURCE_PROBES_MAPS_FILTERS_H
#define BBTRACE_SOURCE_PROBES_MAPS_FILTERS_H

#include "source/probes/session.h"

struct bpf_map;

/* Sets a map's size before it is created; the kernel has none of size 0. */
void map__set_most(struct bpf_map *map, size_t entries);

/* Before loading. */
void filters__size(struct probe *p);
/* After loading. Errors: -errno, with a message. */
int filters__fill(struct probe *p);
/* Children of traced processes, which pass as well. */
void filters__add_children(struct probe *p, const uint32_t *pids, size_t n);

#endif
