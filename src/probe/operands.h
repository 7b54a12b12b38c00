/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * operands: the targets of branches through memory that the kernel side could not read, since the
 * page wasn't there yet: a table of the program's file that is used for the first time.
 */
#ifndef BBTRACE_PROBE_OPERANDS_H
#define BBTRACE_PROBE_OPERANDS_H

#include <linux/types.h>
#include "plan/plan.h"
#include "../bpf/wire.h"

/*
 * The record (size bytes), its value 0 read from the file where it lies in what nobody writes to:
 * itself, or room, filled. Where it stays unknown, value 0 and 1 are 0.
 */
const struct wire_event *operands__record(const struct plan *plan, const struct wire_event *e,
					  uint64_t size, struct wire_entry_stack *room);

#endif
