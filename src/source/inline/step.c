// SPDX-License-Identifier: BSD-2-Clause
/* Single steps, until a thread is where the original could be, too. */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "source/inline/tracer.h"

/* Steps until any exact place will do; until a log that waits for its reader has to drop its
 * records; until the thread stays in the copies. */
#define STEPS_STRICT 1000
#define STEPS_HURRY  3000
#define STEPS_MOST   100000

bool thread__resume_log(struct thread *t, int sig)
{
	uint64_t pc = thread__get(t, TRACEE_PC);
	const struct loaded *l = space__copies_at(t->process->space, pc);
	uint32_t resume;

	if (!l || (sig != SIGSEGV && sig != SIGBUS) ||
	    !copy_image__fault(l->image, (uint32_t)(pc - l->base), &resume))
		return false;
	thread__set(t, TRACEE_PC, l->base + resume);
	return true;
}

static enum step_out step(struct thread *t)
{
	for (;;) {
		int status = thread__resume_wait(t, PTRACE_SINGLESTEP, 0);
		int sig = WSTOPSIG(status), event = status >> 16;
		siginfo_t si;

		if (!status)
			return OUT_GONE;
		if (event && event != PTRACE_EVENT_STOP) {
			vec__push(&t->tracer->deferred, (struct stop){t->tid, status, 0});
			return OUT_GONE;
		}
		if (!event && ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
			return OUT_GONE;
		if (!event && sig == SIGTRAP && si.si_code > 0 && si.si_code != SI_KERNEL)
			return OUT_DONE;
		if (!event && siginfo__is_fault(&si)) {
			if (thread__resume_log(t, sig))
				continue;
			return OUT_FAULT;
		}
		thread__put_off(t, status);
	}
}

enum step_out thread__step(struct thread *t)
{
	enum step_out how;
	uint64_t before;

	if (!thread__block(t, false, &before))
		return OUT_GONE;
	how = step(t);
	if (how != OUT_GONE)
		thread__unblock(t, before);
	return how;
}

/* Is this a place from which it may be taken to the original? One before a kept instruction isn't:
 * that has no log in the original; a few steps on it is there. */
static bool may_leave(const struct loaded *l, uint64_t pc, unsigned steps, uint64_t *original)
{
	uint64_t vaddr;

	if (!copy_image__original(l->image, (uint32_t)(pc - l->base), &vaddr))
		return false;
	*original = vaddr + l->bias;
	return steps >= STEPS_STRICT ||
	       (copy_image__is_intact(l->image, vaddr) && !copy_image__is_live(l->image, vaddr));
}

enum step_out thread__step_out(struct thread *t, uint64_t *copy, unsigned *steps)
{
	enum step_out how = OUT_DONE;
	uint64_t before = 0;

	*copy = 0;
	for (*steps = 0; how == OUT_DONE; ++*steps) {
		uint64_t pc = thread__get(t, TRACEE_PC), original;
		const struct loaded *l = space__copies_at(t->process->space, pc);

		if (!l || *steps == STEPS_MOST)
			break;
		if (may_leave(l, pc, *steps, &original)) {
			*copy = pc;
			thread__set(t, TRACEE_PC, original);
			break;
		}
		if (*steps == STEPS_HURRY)
			thread__hurry(t);
		if (!*steps && !thread__block(t, false, &before))
			return OUT_GONE;
		how = step(t);
	}
	if (*steps && how != OUT_GONE)
		thread__unblock(t, before);
	return how;
}
