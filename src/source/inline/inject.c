// SPDX-License-Identifier: BSD-2-Clause
/* System calls that a stopped thread is made to execute. */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "source/inline/tracer.h"

/* ---- room for the code ---- */

#define TRIES 8

/* Of a supervisor that was killed. */
static bool is_errand(const uint8_t *bytes, const struct errand_code *code)
{
	return !memcmp(bytes, code->bytes, 16);
}

static bool is_zero(const uint8_t *bytes)
{
	for (size_t i = 0; i < ERRAND_MAX; i++)
		if (bytes[i])
			return false;
	return true;
}

static bool is_executed(const struct thread *of, uint64_t at)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(of->tracer, &i)))
		if (t->process == of->process && t->state == THREAD_STOPPED &&
		    thread__get(t, TRACEE_PC) - at < ERRAND_MAX)
			return true;
	return false;
}

/* What fills the last page of a mapping of code. */
static uint64_t room_in(const struct thread *t, const struct map *m, const struct errand_code *code)
{
	uint8_t bytes[ERRAND_MAX];

	for (uint64_t n = 1; n <= TRIES && n * ERRAND_MAX < m->end - m->start; n++) {
		uint64_t at = m->end - n * ERRAND_MAX;

		if (!space__read(t->process->space, at, bytes, sizeof(bytes)))
			return 0;
		if (is_zero(bytes))
			return at;
		if (!is_errand(bytes, code))
			return 0;
		if (!is_executed(t, at))
			return at;
	}
	return 0;
}

static uint64_t find_room(const struct thread *t, const struct errand_code *code)
{
	map_vec maps = {0};
	const struct map *m;
	uint64_t found = 0;

	if (maps__read(t->process->pid, &maps))
		return 0;
	vec__each (m, &maps)
		if (m->exec && m->path && !strcmp(m->path, "[vdso]"))
			found = room_in(t, m, code);
	vec__each (m, &maps)
		if (!found && m->exec && m->ino)
			found = room_in(t, m, code);
	maps__free(&maps);
	return found;
}

/* ---- the errand ---- */

/* A system call that its program is to answer resets the handler of SIGSYS if that is blocked. */
#define ALL_BUT_SIGSYS (~(1ull << (SIGSYS - 1)))

bool thread__send(struct thread *t, uint64_t addr, const struct errand_code *code)
{
	if (!space__write(t->process->space, addr, code->bytes, code->len))
		return false;
	t->tracer->tracee->send(t->regs, addr);
	t->known = t->changed = true;
	return !thread__store_regs(t);
}

/* Until it has returned from that call, at end, or its program was to answer it, which an older
 * kernel does not say before; else only what can't be blocked comes meanwhile. 0; -ESRCH: it is
 * gone; -ETIMEDOUT: it has waited in the kernel for too long, or is frozen: unless it is late now,
 * it has not called. */
static int run(struct thread *t, const struct errand *e, uint64_t at, uint64_t end, int64_t *result)
{
	struct __ptrace_syscall_info info;
	unsigned tries = 0;

	while (tries++ < 100) {
		int status = thread__resume_wait(t, PTRACE_SYSCALL, 0);

		if (status == STATUS_LATE && t->state != THREAD_STOPPED)
			thread__is_late(t, e, at, end);
		if (status == STATUS_LATE && (t->late.is || thread__get(t, TRACEE_PC) == at))
			return -ETIMEDOUT;
		if (!status)
			return -ESRCH;
		if (status == STATUS_LATE)
			continue;
		if (thread__is_dispatched(t, status)) {
			*result = -EPERM;
			return 0;
		}
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			thread__put_off(t, status);
			continue;
		}
		if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof(info), &info) <= 0)
			return -ESRCH;
		if (info.op == PTRACE_SYSCALL_INFO_EXIT && info.instruction_pointer == end) {
			*result = info.exit.rval;
			return 0;
		}
	}
	return -ESRCH;
}

/* Where the errand goes, and its code. */
static int prepare(const struct thread *t, const struct errand *e, uint64_t *at,
		   struct errand_code *code)
{
	const struct arch_tracee *arch = t->tracer->tracee;

	if (arch->errand(e, 0, code))
		return -EFAULT;
	*at = find_room(t, code);
	return *at ? arch->errand(e, *at, code) : -EFAULT;
}

/* Of Go's own code: it may have little room, and keeps nothing below the stack pointer. */
static bool is_small(const struct thread *t, uint64_t pc)
{
	const struct space *s = t->process->space;
	const struct loaded *l = space__copies_at(s, pc);

	l = l ? l : space__object_at(s, pc);
	return l && l->object->go;
}

int64_t thread__call(struct thread *t, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		     uint64_t e, uint64_t f)
{
	struct errand errand = {
		.calls = true, .number = (uint64_t)number, .args = {a, b, c, d, e, f}};
	static const uint8_t nothing[ERRAND_MAX];
	struct errand_code code;
	int64_t result = -ESRCH;
	uint64_t at;
	int err;

	if (!thread__may_call(t))
		return -EPERM;
	if (t->late.is || thread__load_regs(t) || !thread__mask(t, &errand.mask))
		return -ESRCH;
	memcpy(t->late.before, t->regs, sizeof(t->regs));
	errand.then = thread__get(t, TRACEE_PC);
	errand.small_stack = is_small(t, errand.then);
	if (prepare(t, &errand, &at, &code))
		return -EFAULT;
	thread__stop_dispatch(t, &t->late.dispatch);
	if (!thread__send(t, at, &code) || !thread__set_mask(t, ALL_BUT_SIGSYS | errand.mask))
		return -ESRCH;
	err = run(t, &errand, at, at + code.called, &result);
	if (t->late.is)
		return err;
	thread__resume_dispatch(t, &t->late.dispatch);
	thread__set_mask(t, errand.mask);
	memcpy(t->regs, t->late.before, sizeof(t->regs));
	t->known = t->changed = true;
	if (!thread__store_regs(t))
		space__swap(t->process->space, at, code.bytes, nothing, code.len);
	return err ? err : result;
}
