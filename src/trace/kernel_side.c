// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel side of a thread: its calls in the kernel. The kernel has its own stack, so these
 * calls are kept apart from those of the thread's program. In the steps they are nested in the
 * program's innermost open call.
 */
#include <stdlib.h>
#include "calls.h"

static struct thread *make(struct thread *th)
{
	struct thread *side = th->kernel_side;

	if (!side) {
		side = th->kernel_side = xcalloc(1, sizeof(*side));
		side->user_side = th;
	}
	return side;
}

/* Makes the open calls in the kernel dormant: an event in the program shows that the thread has
 * left the kernel. Calls in the handler of that event's own trap resume at their next event. */
static struct thread *back_in_program(struct thread *th)
{
	struct thread *kernel = th->kernel_side;

	if (kernel && calls__depth(kernel))
		calls__suspend_below(kernel, UINT64_MAX);
	return th->other ? th->other : th;
}

struct thread *kernel_side__of(struct trace *t, struct thread *th, uint32_t site)
{
	return plan__is_kernel_site(t->plan, site) ? make(th) : back_in_program(th);
}

struct thread *kernel_side__if_any(struct thread *th)
{
	if (th->user_side)
		return th;
	/* The thread that runs the goroutine has the kernel side. */
	th = th->goroutine ? th->other : th;
	return th ? th->kernel_side : NULL;
}

struct thread *kernel_side__innermost(struct thread *th)
{
	struct thread *current = th->other ? th->other : th;

	if (th->kernel_side && (calls__depth(th->kernel_side) || !current->seen))
		return th->kernel_side;
	return current;
}

void kernel_side__move(struct thread *to, struct thread *from)
{
	struct thread *side = make(to), *old = from->kernel_side;

	calls__copy(side, old);
	side->seen |= old->seen;
	old->calls.len = old->ndormant = 0;
}
