// SPDX-License-Identifier: BSD-2-Clause
/*
 * Steps through the copies, until a thread is where the original could be, too. Branches are done
 * here; any other instruction by an injected call (src/arch/tracee.h), whose stop is not by a
 * signal. At any moment the thread would continue correctly by itself.
 */
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "text.h"

/* Steps from one look at whether a log waits for its reader to the next; until dead registers may
 * have other values; until any exact place will do; until a log that waits all the same has to drop
 * its records; until the thread stays in the copies. */
#define STEPS_LOOK   64
#define STEPS_SHOWN  500
#define STEPS_STRICT 2000
#define STEPS_HURRY  4000
#define STEPS_MOST   100000

#define BIT(sig) (1ull << ((sig)-1))
/* Its own faults arrive as usual. */
#define FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGSYS) | BIT(SIGTRAP))

#define INSN_MAX  16 /* and a byte more */
#define CODE_READ 256

struct stepper {
	struct thread *t;
	const siginfo_t *sent;
	bool small;    /* its stack may be */
	bool left;     /* it has left the stop that it was in; then: */
	uint64_t mask; /* as it was */
	uint64_t room; /* for two injected calls */
	unsigned used;
	struct {
		uint64_t at; /* 0: nothing was read */
		uint8_t bytes[CODE_READ];
	} code; /* copies don't change */
};

bool thread__resume_log(struct thread *t, int sig)
{
	uint64_t pc = thread__get(t, TRACEE_PC);
	const struct loaded *l = space__copies_at(t->process->space, pc);
	uint32_t resume;

	if (l && sig == SIGSEGV && thread__give_time(t))
		return true;
	if (!l || (sig != SIGSEGV && sig != SIGBUS) ||
	    !copy_image__fault(l->image, (uint32_t)(pc - l->base), &resume))
		return false;
	thread__set(t, TRACEE_PC, l->base + resume);
	return true;
}

/* ---- injected calls ---- */

static bool read_memory(const void *of, uint64_t addr, void *out, size_t n)
{
	const struct thread *t = of;

	return space__read(t->process->space, addr, out, n);
}

/* If the tracer is killed now, the thread does again what it has done since its registers were
 * stored: that has written nothing. */
static bool write_memory(const void *of, uint64_t addr, const void *bytes, size_t n)
{
	struct thread *t = (struct thread *)(uintptr_t)of;

	return !thread__store_regs(t) && space__write(t->process->space, addr, bytes, n);
}

static struct tracee_memory memory_of(const struct thread *t)
{
	return (struct tracee_memory){t, read_memory, write_memory};
}

/* Returns true if this is memory that the thread itself could use without a fault. It is in the
 * page of its stack pointer: a page below may be a guard. */
static bool is_on_stack(struct thread *t, uint64_t addr, size_t n)
{
	uint64_t page = thread__get(t, TRACEE_SP) & -(uint64_t)LOG_PAGE;

	return addr - page < LOG_PAGE && addr - page + n <= LOG_PAGE;
}

/* Returns a place in the thread's log, which is memory of this process, too; NULL if it isn't
 * there. */
static uint8_t *log_at(const struct thread *t, uint64_t addr, size_t n)
{
	const struct area *a = t->area;
	uint64_t at = a ? addr - (a->base + t->slot * a->slot_size) : 0;

	return a && at < a->slot_size && at + n <= a->slot_size
		       ? a->mem + t->slot * a->slot_size + at
		       : NULL;
}

/* Nobody reads words of records after the cursor yet. */
static bool is_of_records(const struct thread *t, uint64_t addr)
{
	return addr - (t->area->base + t->slot * t->area->slot_size) >= LOG_RING_AT;
}

static bool read_safely(const void *of, uint64_t addr, void *out, size_t n)
{
	struct thread *t = (struct thread *)(uintptr_t)of;
	const uint8_t *log = log_at(t, addr, n);

	if (log)
		memcpy(out, log, n);
	return log || (is_on_stack(t, addr, n) && read_memory(t, addr, out, n));
}

static bool write_safely(const void *of, uint64_t addr, const void *bytes, size_t n)
{
	struct thread *t = (struct thread *)(uintptr_t)of;
	uint8_t *log = log_at(t, addr, n);

	if (!log)
		return is_on_stack(t, addr, n) && write_memory(t, addr, bytes, n);
	if (!is_of_records(t, addr) && thread__store_regs(t))
		return false;
	memcpy(log, bytes, n);
	return true;
}

/* All but faults are blocked; a signal that is sent as one is would end the process if it was. */
static bool leave(struct stepper *st)
{
	uint64_t waits = st->sent ? BIT(st->sent->si_signo) : 0;

	st->left = true;
	if (!thread__set_mask(st->t, ~FAULTS | st->mask))
		return false;
	if (waits & ~FAULTS)
		thread__send_anew(st->t, st->sent->si_signo);
	return true;
}

/* Sends it to the code. The code that it has just been in stays unchanged. Returns false if that
 * can't be. */
static bool send(struct stepper *st, const struct injected *e, uint64_t *at,
		 struct injected_code *code)
{
	struct thread *t = st->t;

	*at = st->room + (st->used++ & 1) * INJECTED_MAX;
	return !t->tracer->tracee->injected(e, *at, code) && thread__send(t, *at, code) &&
	       (st->left || leave(st));
}

/* It waits in the kernel for longer than others can. If it has given that up, it is where it
 * was. */
static enum step_out stop_waiting(struct thread *t, const struct injected *e, uint64_t at,
				  uint64_t done)
{
	if (t->state != THREAD_STOPPED) {
		thread__is_late(t, e, at, done);
		return OUT_GONE;
	}
	return thread__get(t, TRACEE_PC) == at ? OUT_WAITS : OUT_DONE;
}

static enum step_out run(struct thread *t, const struct injected *injected, uint64_t at,
			 uint64_t done)
{
	for (;;) {
		int status = thread__resume_wait(t, PTRACE_SYSEMU, 0);
		int event = status >> 16;
		siginfo_t si;

		if (!status)
			return OUT_GONE;
		if (status == STATUS_LATE) {
			enum step_out how = stop_waiting(t, injected, at, done);

			if (how != OUT_DONE)
				return how;
			continue;
		}
		if (event && event != PTRACE_EVENT_STOP) {
			vec__push(&t->tracer->deferred, (struct stop){t->tid, status, 0});
			return OUT_GONE;
		}
		if (!event && WSTOPSIG(status) == (SIGTRAP | 0x80))
			return thread__get(t, TRACEE_PC) == done ? OUT_DONE : OUT_GONE;
		if (!event && ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
			return OUT_GONE;
		/* nor was it executed if its program is to answer it */
		if (!event && siginfo__is_dispatch(&si) && thread__get(t, TRACEE_PC) == done)
			return OUT_DONE;
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
	struct injected e = {.bytes = bytes,
			     .len = insn->len,
			     .from = insn->addr,
			     .mask = st->mask,
			     .small_stack = st->small};
	struct injected_code code;
	enum step_out how;
	siginfo_t si;
	uint64_t at;

	e.then = insn->addr + insn->len;
	if (!send(st, &e, &at, &code))
		return OUT_GONE;
	how = run(t, &e, at, at + code.done);
	if (how == OUT_DONE) {
		t->changed = true;
		return t->tracer->tracee->return_from(t->regs, &e, &memory) ? OUT_DONE : OUT_GONE;
	}
	if (how != OUT_FAULT && how != OUT_WAITS)
		return how;
	thread__set(t, TRACEE_PC, insn->addr);
	if (how == OUT_WAITS)
		return thread__resume_log(t, SIGBUS) ? OUT_DONE : OUT_WAITS;
	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si))
		return OUT_GONE;
	return thread__resume_log(t, si.si_signo) ? OUT_DONE : OUT_FAULT;
}

/* ---- steps ---- */

/* Returns the code at pc; NULL if it can't be read. */
static const uint8_t *code_at(struct stepper *st, uint64_t pc)
{
	size_t n = CODE_READ;

	if (st->code.at && pc - st->code.at <= CODE_READ - INSN_MAX)
		return st->code.bytes + (pc - st->code.at);
	/* towards the end of the mapping less */
	if (!space__read(st->t->process->space, pc, st->code.bytes, n)) {
		n = INSN_MAX;
		st->code.at = 0;
		return space__read(st->t->process->space, pc, st->code.bytes, n) ? st->code.bytes
										 : NULL;
	}
	st->code.at = pc;
	return st->code.bytes;
}

/* What most of the log is made of: that is faster by far, and its thread stays in its stop. */
static bool emulate(struct thread *t, const uint8_t *bytes)
{
	struct tracee_memory memory = {t, read_safely, write_safely};

	if (!t->tracer->tracee->emulate(t->regs, bytes, INSN_MAX, &memory))
		return false;
	t->changed = true;
	return true;
}

/* Returns OUT_LATER if it can't be stepped. */
static enum step_out step(struct stepper *st, const struct loaded *l)
{
	struct thread *t = st->t;
	struct tracee_memory memory = memory_of(t);
	uint64_t pc = thread__get(t, TRACEE_PC);
	const uint8_t *bytes = code_at(st, pc);
	struct insn insn;

	if (!bytes || t->tracer->arch->decode(bytes, INSN_MAX, pc, false, &insn))
		return OUT_LATER;
	if (insn.flow == FLOW_BRANCH) {
		if (!t->tracer->tracee->branch(t->regs, &insn, &memory))
			return OUT_LATER;
		t->changed = true;
		return OUT_DONE;
	}
	if (emulate(t, bytes))
		return OUT_DONE;
	if (!st->left && !thread__mask(t, &st->mask))
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
	struct injected e = {
		.mask = st->mask, .then = thread__get(t, TRACEE_PC), .small_stack = st->small};
	struct injected_code code;
	siginfo_t si;
	uint64_t at;

	e.then = copy ? copy : e.then;
	memcpy(there, t->regs, sizeof(there));
	if (!send(st, &e, &at, &code) || !thread__set_mask(t, (~FAULTS | st->mask) & ~BIT(sig)))
		return OUT_GONE;
	if (BIT(sig) & FAULTS)
		thread__send_anew(t, sig);
	while ((status = thread__resume_wait(t, PTRACE_SYSEMU, 0)) && status >> 8 != sig &&
	       status >> 8 != (SIGTRAP | 0x80)) {
		if (status == STATUS_LATE && t->state != THREAD_STOPPED) {
			thread__is_late(t, &e, at, at + code.done);
			return OUT_GONE;
		}
		if (status == STATUS_LATE)
			continue;
		if (thread__is_dispatched(t, status))
			break;
		thread__put_off(t, status);
	}
	if (!status)
		return OUT_GONE;
	memcpy(t->regs, there, sizeof(there));
	t->known = t->changed = true;
	if (status >> 8 != sig || thread__is_dispatched(t, status))
		return OUT_LATER;
	if (sig >= SIGRTMIN && !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) &&
	    si.si_code != SENT_ANEW)
		vec__push(&t->held, si);
	ptrace(PTRACE_SETSIGINFO, t->tid, 0, st->sent);
	return OUT_DONE;
}

static enum step_out finish(struct stepper *st, enum step_out how, uint64_t copy)
{
	if (!st->left || how == OUT_GONE)
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
		thread__send_anew(st->t, st->sent->si_signo);
	return how;
}

/*
 * Returns true if it may be moved from here to the original. Not before a kept instruction: that
 * has no log in the original; a few steps later it is there. A handler of Go's runtime may make the
 * thread call a function that returns there much later, in another thread: then it has to be at a
 * springboard, and each loop has one. Handlers and core files show dead registers, too, with the
 * values of the original.
 */
static bool may_leave(const struct loaded *l, uint64_t pc, unsigned steps, uint64_t *original)
{
	uint32_t offset = (uint32_t)(pc - l->base);
	uint64_t vaddr;

	if (pc - l->base >= l->image->code.len || !copy_image__original(l->image, offset, &vaddr))
		return false;
	*original = vaddr + l->bias;
	if (l->object->go)
		return copy_image__has_spring(l->image, vaddr);
	if (steps < STEPS_SHOWN && !copy_image__is_shown(l->image, offset))
		return false;
	return steps >= STEPS_STRICT ||
	       (copy_image__is_intact(l->image, vaddr) && !copy_image__is_live(l->image, vaddr));
}

/* At a pc that Go's runtime doesn't know, its handlers leave the thread alone. */
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
	/* WAITS: its instruction can't be executed now, the state is that of before */
	if (how == OUT_WAITS || how == OUT_LATER)
		how = leave_at_once(&st, copy);
	return finish(&st, how, *copy);
}
