// SPDX-License-Identifier: BSD-2-Clause
/*
 * Steps through the copies, until a thread is where the original could be, too. Branches are done
 * here; any other instruction by an errand (src/arch/tracee.h), whose stop is not by a signal. At
 * any moment the thread would go on rightly by itself.
 */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "source/inline/tracer.h"

/* The C library names it where the kernel has it. Where it hasn't, there are no copies either. */
#ifndef PT_SYSEMU
#define PTRACE_SYSEMU 31
#endif

/* Steps from one look at whether a log waits for its reader to the next; until any exact place will
 * do; until a log that waits all the same has to drop its records; until the thread stays in the
 * copies. */
#define STEPS_LOOK   64
#define STEPS_STRICT 2000
#define STEPS_HURRY  4000
#define STEPS_MOST   100000

#define BIT(sig) (1ull << ((sig)-1))
/* Those of its own faults come as ever. */
#define FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGSYS) | BIT(SIGTRAP))

struct stepper {
	struct thread *t;
	const siginfo_t *sent;
	bool small;    /* its stack may be */
	bool away;     /* it has left the stop that it was in; then: */
	uint64_t mask; /* as it was */
	uint64_t room; /* for two errands */
	unsigned used;
};

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

/* ---- a signal that waits ---- */

/* What it says is kept here; if nobody is here any more, it comes all the same. */
#define SENT_ANEW (-1000)

static void send_anew(struct thread *t, int sig)
{
	siginfo_t si = {.si_signo = sig, .si_code = SENT_ANEW};

	syscall(SYS_rt_tgsigqueueinfo, t->process->pid, t->tid, sig, &si);
}

/* Others of the same number may have been queued before it: each says what the one before it was to
 * say. */
void thread__take_held(struct thread *t, siginfo_t *si)
{
	siginfo_t came = *si;

	for (size_t i = 0; i < t->held.len; i++) {
		if (t->held.data[i].si_signo != came.si_signo)
			continue;
		*si = t->held.data[i];
		ptrace(PTRACE_SETSIGINFO, t->tid, 0, si);
		t->held.len--;
		memmove(t->held.data + i, t->held.data + i + 1,
			(t->held.len - i) * sizeof(*t->held.data));
		/* those that aren't queued came as one */
		if (came.si_signo >= SIGRTMIN && came.si_code != SENT_ANEW)
			vec__push(&t->held, came);
		return;
	}
}

/* ---- errands ---- */

static bool read_memory(const void *space, uint64_t addr, void *out, size_t n)
{
	return space__read(space, addr, out, n);
}

static bool write_memory(const void *space, uint64_t addr, const void *bytes, size_t n)
{
	return space__write(space, addr, bytes, n);
}

static struct tracee_memory memory_of(const struct thread *t)
{
	return (struct tracee_memory){t->process->space, read_memory, write_memory};
}

/* All but faults are blocked; a signal that is sent as one is would end the process if it was. */
static bool leave(struct stepper *st)
{
	uint64_t waits = st->sent ? BIT(st->sent->si_signo) : 0;

	st->away = true;
	if (!thread__set_mask(st->t, ~FAULTS | st->mask))
		return false;
	if (waits & ~FAULTS)
		send_anew(st->t, st->sent->si_signo);
	return true;
}

/* Sends it off. The code that it has just been in stays as it is. False: that can't be. */
static bool send(struct stepper *st, const struct errand *e, uint64_t *at, struct errand_code *code)
{
	struct thread *t = st->t;

	*at = st->room + (st->used++ & 1) * ERRAND_MAX;
	return !t->tracer->tracee->errand(e, *at, code) && thread__send(t, *at, code) &&
	       (st->away || leave(st));
}

static enum step_out run(struct thread *t, uint64_t done)
{
	for (;;) {
		int status = thread__resume_wait(t, PTRACE_SYSEMU, 0);
		int event = status >> 16;
		siginfo_t si;

		if (!status)
			return OUT_GONE;
		if (event && event != PTRACE_EVENT_STOP) {
			vec__push(&t->tracer->deferred, (struct stop){t->tid, status, 0});
			return OUT_GONE;
		}
		if (!event && WSTOPSIG(status) == (SIGTRAP | 0x80))
			return thread__get(t, TRACEE_PC) == done ? OUT_DONE : OUT_GONE;
		if (!event && ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
			return OUT_GONE;
		/* of a program that steps itself: not one of its own instructions */
		if (!event && siginfo__is_step(&si))
			continue;
		if (!event && siginfo__is_fault(&si))
			return OUT_FAULT;
		thread__put_off(t, status);
	}
}

static enum step_out execute(struct stepper *st, const struct insn *insn, const uint8_t *bytes)
{
	struct thread *t = st->t;
	struct tracee_memory memory = memory_of(t);
	struct errand e = {.bytes = bytes,
			   .len = insn->len,
			   .from = insn->addr,
			   .mask = st->mask,
			   .small_stack = st->small};
	struct errand_code code;
	enum step_out how;
	siginfo_t si;
	uint64_t at;

	e.then = insn->addr + insn->len;
	if (!send(st, &e, &at, &code))
		return OUT_GONE;
	how = run(t, at + code.done);
	if (how == OUT_DONE) {
		t->changed = true;
		return t->tracer->tracee->return_from(t->regs, &e, &memory) ? OUT_DONE : OUT_GONE;
	}
	if (how != OUT_FAULT)
		return how;
	thread__set(t, TRACEE_PC, insn->addr);
	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
		return OUT_GONE;
	return thread__resume_log(t, si.si_signo) ? OUT_DONE : OUT_FAULT;
}

/* ---- steps ---- */

/* OUT_LATER: it can't be. */
static enum step_out step(struct stepper *st, const struct loaded *l)
{
	struct thread *t = st->t;
	struct tracee_memory memory = memory_of(t);
	uint64_t pc = thread__get(t, TRACEE_PC);
	uint8_t bytes[16];
	struct insn insn;

	if (!space__read(t->process->space, pc, bytes, sizeof(bytes)) ||
	    t->tracer->arch->decode(bytes, sizeof(bytes), pc, false, &insn))
		return OUT_LATER;
	if (insn.flow == FLOW_BRANCH) {
		t->changed = true;
		return t->tracer->tracee->branch(t->regs, &insn, &memory) ? OUT_DONE : OUT_LATER;
	}
	if (!st->away && !thread__mask(t, &st->mask))
		return OUT_GONE;
	st->room = l->base + l->size - LOG_PAGE;
	st->small = l->object->go;
	return execute(st, &insn, bytes);
}

/* Stops by the signal that was sent; then it is where it was taken to. */
static enum step_out arrive(struct stepper *st, uint64_t copy)
{
	struct thread *t = st->t;
	int sig = st->sent->si_signo, status;
	uint8_t there[TRACEE_REGS_MAX];
	struct errand e = {
		.mask = st->mask, .then = thread__get(t, TRACEE_PC), .small_stack = st->small};
	struct errand_code code;
	siginfo_t si;
	uint64_t at;

	e.then = copy ? copy : e.then;
	memcpy(there, t->regs, sizeof(there));
	if (!send(st, &e, &at, &code) || !thread__set_mask(t, (~FAULTS | st->mask) & ~BIT(sig)))
		return OUT_GONE;
	if (BIT(sig) & FAULTS)
		send_anew(t, sig);
	while ((status = thread__resume_wait(t, PTRACE_SYSEMU, 0)) && status >> 8 != sig &&
	       status >> 8 != (SIGTRAP | 0x80))
		thread__put_off(t, status);
	if (!status)
		return OUT_GONE;
	memcpy(t->regs, there, sizeof(there));
	t->known = t->changed = true;
	if (status >> 8 != sig)
		return OUT_LATER;
	if (sig >= SIGRTMIN && !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) &&
	    si.si_code != SENT_ANEW)
		vec__push(&t->held, si);
	return OUT_DONE;
}

static enum step_out finish(struct stepper *st, enum step_out how, uint64_t copy)
{
	if (!st->away || how == OUT_GONE)
		return how;
	if (how == OUT_DONE && st->sent)
		how = arrive(st, copy);
	if (how == OUT_GONE)
		return how;
	thread__set_mask(st->t, st->mask);
	if (!st->sent || how == OUT_DONE)
		return how;
	vec__push(&st->t->held, *st->sent);
	if (how == OUT_FAULT && BIT(st->sent->si_signo) & FAULTS)
		send_anew(st->t, st->sent->si_signo);
	return how;
}

/* Is this a place from which it may be taken to the original? One before a kept instruction isn't:
 * that has no log in the original; a few steps on it is there. A handler of Go's runtime may make
 * the thread call a function that returns there much later, in another thread: only a springboard
 * will do, and each loop has one. */
static bool may_leave(const struct loaded *l, uint64_t pc, unsigned steps, uint64_t *original)
{
	uint64_t vaddr;

	if (pc - l->base >= l->image->code.len ||
	    !copy_image__original(l->image, (uint32_t)(pc - l->base), &vaddr))
		return false;
	*original = vaddr + l->bias;
	if (l->object->go)
		return copy_image__has_spring(l->image, vaddr);
	return steps >= STEPS_STRICT ||
	       (copy_image__is_intact(l->image, vaddr) && !copy_image__is_live(l->image, vaddr));
}

/* Where Go's runtime doesn't know the pc its handlers leave the thread alone. */
static enum step_out leave_at_once(struct stepper *st, uint64_t *copy)
{
	const struct loaded *l =
		space__detour_at(st->t->process->space, thread__get(st->t, TRACEE_PC));

	if (!st->sent || !l || !l->object->go)
		*copy = signals__leave_at_once(st->t);
	return OUT_DONE;
}

enum step_out thread__step_out(struct thread *t, const siginfo_t *sent, uint64_t *copy)
{
	struct stepper st = {.t = t, .sent = sent};
	enum step_out how = OUT_DONE;

	*copy = 0;
	for (unsigned steps = 0; how == OUT_DONE && steps < STEPS_MOST; steps++) {
		uint64_t pc = thread__get(t, TRACEE_PC), original;
		const struct loaded *l = space__detour_at(t->process->space, pc);

		if (!l)
			break;
		if (may_leave(l, pc, steps, &original)) {
			*copy = pc;
			thread__set(t, TRACEE_PC, original);
			break;
		}
		if (sent && steps % STEPS_LOOK == STEPS_LOOK - 1)
			thread__await_reader(t);
		if (steps == STEPS_HURRY)
			thread__hurry(t);
		how = step(&st, l);
	}
	if (how == OUT_LATER)
		how = leave_at_once(&st, copy);
	return finish(&st, how, *copy);
}
