// SPDX-License-Identifier: BSD-2-Clause
/* How the state of a thread, or of a goroutine, ends: its open calls are abandoned, it is freed. */
#include <stdlib.h>
#include "calls.h"

void thread__free(struct thread *th)
{
	if (th->kernel_side)
		thread__free(th->kernel_side);
	vec__free(&th->calls);
	map64__free(&th->entered);
	live_filter__free(th->filter);
	free(th);
}

void thread__abandon_side(struct trace *t, struct thread *th)
{
	if (th->seen)
		calls__abandon_all(t, th);
	th->calls.len = th->ndormant = 0;
}

void tasks__abandon(struct trace *t, struct thread *th)
{
	if (th->kernel_side)
		thread__abandon_side(t, th->kernel_side);
	thread__abandon_side(t, th);
}
