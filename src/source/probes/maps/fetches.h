/* SPDX-License-Identifier: BSD-2-Clause */
/* fetches: values in memory that the BPF program loads. Private to src/source/probes. */
#ifndef BBTRACE_SOURCE_PROBES_MAPS_FETCHES_H
#define BBTRACE_SOURCE_PROBES_MAPS_FETCHES_H

#include "source/probes/session.h"

/* Before the program is loaded, and after that. */
void fetches__size(struct probe *p);
int fetches__fill(struct probe *p);
/* How a value is loaded; without steps: where it is. */
struct wire_fetch fetch__of(const struct plan *plan, const struct plan_value *v);

#endif
