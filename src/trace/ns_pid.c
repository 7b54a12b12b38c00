// SPDX-License-Identifier: BSD-2-Clause
/* The PIDs that processes have in their own PID namespaces. */
#include "replay.h"

void trace__inner(struct trace *t, uint32_t pid, uint32_t ns_pid)
{
	*map64__put(&t->inner, pid) = ns_pid;
}

uint32_t trace__inner_of(const struct trace *t, uint32_t pid)
{
	const uint64_t *inner = map64__get(&t->inner, pid);

	return inner ? *inner : 0;
}
