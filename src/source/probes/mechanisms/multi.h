/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts that uprobe_multi attaches together: multi.c links them, multi_change.c replaces them.
 */
#ifndef BBTRACE_SOURCE_PROBES_MECHANISMS_MULTI_H
#define BBTRACE_SOURCE_PROBES_MECHANISMS_MULTI_H

#include "source/probes/session.h"

/* Sites that the plan has gained have no probe and belong to part 0. */
void multi__fit(struct probe *p);
/* Finds the part's sites that the kernel would refuse, and marks them in the plan. Returns their
 * number. */
size_t multi__find_refused(struct probe *p, uint32_t part);
/* Attaches the part's sites, with the current generation, and return probes on its entries; where
 * all are taken away (park.c), it will be. */
int multi__attach_part(struct probe *p, uint32_t part);

#endif
