// SPDX-License-Identifier: BSD-2-Clause
/*
 * Handlers that were called where their thread could continue in the original: their frames only
 * matter because the thread has to continue in its copy. So a frame is searched for when it is
 * first needed: mostly when the handler returns, and then the kernel is made to return to the copy
 * at once.
 */
#include <sys/syscall.h>
#include "text.h"

#define AWAITED_MOST 8	/* of handlers that were left */
#define PAGES_MOST   16 /* of a handler's stack */

/* The registers are those that the handler's frame will have. */
void thread__await_return(struct thread *t, uint64_t copy)
{
	struct awaited a = {thread__get(t, TRACEE_PC), copy, thread__get(t, TRACEE_SP)};

	if (t->awaited.len == AWAITED_MOST) {
		t->awaited.len--;
		memmove(t->awaited.data, t->awaited.data + 1, t->awaited.len * sizeof(a));
	}
	vec__push(&t->awaited, a);
}

static bool is_of(const struct thread *t, uint64_t at, const struct awaited *a)
{
	const struct arch_tracee *arch = t->tracer->tracee;
	uint8_t frame[1024];
	uint64_t pc, sp;

	return arch->frame_size <= sizeof(frame) &&
	       space__read(t->process->space, at, frame, arch->frame_size) &&
	       arch->frame(frame, &pc, &sp) && pc == a->original && sp == a->sp;
}

/* Returns 0 if it isn't on this stack. */
static uint64_t find_frame(const struct thread *t, const struct awaited *a)
{
	uint64_t words[LOG_PAGE / 8], at = t->call_sp & -(uint64_t)LOG_PAGE;

	for (unsigned page = 0; page < PAGES_MOST; page++, at += LOG_PAGE) {
		if (!space__read(t->process->space, at, words, sizeof(words)))
			break;
		for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
			uint64_t frame = at + i * 8 - t->tracer->tracee->frame_pc;

			if (words[i] == a->original && is_of(t, frame, a))
				return frame;
		}
	}
	return 0;
}

/* A handler is about to return by this frame: to the copy, if that is still the place to be. */
static void return_to_copy(struct thread *t, uint64_t frame, uint64_t original, uint64_t copy)
{
	struct space *s = t->process->space;
	const struct loaded *l = space__object_at(s, original);

	if (t->tracer->disarmed || !l || !copy || !space__copies_at(s, copy) ||
	    !loaded__may_enter(t->tracer, l, original - l->bias) ||
	    restore__is_at(s, t->tracer, original))
		return;
	space__write(s, frame + t->tracer->tracee->frame_pc, &copy, sizeof(copy));
}

static void see_return(struct thread *t)
{
	uint64_t frame = t->call_sp - t->tracer->tracee->returned;

	for (size_t i = t->awaited.len; i-- > 0;) {
		const struct awaited a = t->awaited.data[i];

		if (!is_of(t, frame, &a))
			continue;
		/* those after it were left */
		t->awaited.len = i;
		return_to_copy(t, frame, a.original, a.copy);
		return;
	}
}

void thread__see_awaited(struct thread *t)
{
	if (t->call == SYS_rt_sigreturn) {
		see_return(t);
		return;
	}
	/* If one isn't found, its handler was left, or never called. */
	for (size_t i = 0; i < t->awaited.len; i++) {
		const struct awaited a = t->awaited.data[i];
		uint64_t frame = find_frame(t, &a);

		if (frame)
			signals__track(t, frame, a.original, a.copy);
	}
	t->awaited.len = 0;
}
