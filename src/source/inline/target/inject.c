// SPDX-License-Identifier: BSD-2-Clause
/* System calls that a stopped thread is made to execute. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "target.h"

/* ---- room for the code ---- */

#define TRIES 8

/* An injected call of a supervisor that was killed. */
static bool is_injected(const uint8_t *bytes, const struct injected_code *code)
{
	return !memcmp(bytes, code->bytes, 16);
}

static bool is_zero(const uint8_t *bytes)
{
	for (size_t i = 0; i < INJECTED_MAX; i++)
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
		    thread__get(t, TRACEE_PC) - at < INJECTED_MAX)
			return true;
	return false;
}

static bool is_free(const struct thread *t, uint64_t at)
{
	uint8_t bytes[INJECTED_MAX];

	return space__read(t->process->space, at, bytes, sizeof(bytes)) && is_zero(bytes);
}

/* What fills the last page of a mapping of code. */
static uint64_t room_in(const struct thread *t, const struct map *m,
			const struct injected_code *code)
{
	uint8_t bytes[INJECTED_MAX];

	for (uint64_t n = 1; n <= TRIES && n * INJECTED_MAX < m->end - m->start; n++) {
		uint64_t at = m->end - n * INJECTED_MAX;

		if (!space__read(t->process->space, at, bytes, sizeof(bytes)))
			return 0;
		if (is_zero(bytes))
			return at;
		if (!is_injected(bytes, code))
			return 0;
		if (!is_executed(t, at))
			return at;
	}
	return 0;
}

static uint64_t find_room(const struct thread *t, const struct injected_code *code)
{
	map_vec maps = {0};
	const struct map *m;
	uint64_t found = 0;

	if (t->room && is_free(t, t->room))
		return t->room;
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

/* ---- the injected call ---- */

/* A system call that its program is to answer resets the handler of SIGSYS if that is blocked. */
#define ALL_BUT_SIGSYS (~(1ull << (SIGSYS - 1)))

bool thread__send(struct thread *t, uint64_t addr, const struct injected_code *code)
{
	if (!space__write(t->process->space, addr, code->bytes, code->len))
		return false;
	t->tracer->tracee->send(t->regs, addr);
	t->known = t->changed = true;
	return !thread__store_regs(t);
}

/*
 * Runs the thread until it has returned from that call, at end, or its program was to answer the
 * call, which an older kernel does not report before; else only what can't be blocked can come
 * meanwhile. Returns 0; -ESRCH if it is gone; -ETIMEDOUT if it has waited in the kernel for too
 * long, or is frozen: unless it is late now, it has not made the call.
 */
static int run(struct thread *t, const struct injected *e, uint64_t at, uint64_t end,
	       int64_t *result)
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

/* The arguments of an injected call, and what is done when it has returned. */
struct with_path {
	const char *path;
	thread_opened_fn *opened;
	struct fetched *file;
};

/* Sets where the injected call goes, and its code. */
static int prepare(const struct thread *t, struct injected *e, const struct with_path *with,
		   uint64_t *at, struct injected_code *code)
{
	const size_t path_at = INJECTED_MAX - OPEN_ROOM - OPEN_PATH;
	const struct arch_tracee *arch = t->tracer->tracee;

	if (arch->injected(e, 0, code))
		return -EFAULT;
	*at = find_room(t, code);
	if (with)
		e->args[1] = *at + path_at;
	if (!*at || arch->injected(e, *at, code))
		return -EFAULT;
	if (!with)
		return 0;
	if (code->len > path_at)
		return -EFAULT;
	snprintf((char *)code->bytes + path_at, OPEN_PATH, "%s", with->path);
	code->len = path_at + OPEN_PATH;
	return 0;
}

/* Returns true for Go's own code: it may have little room, and keeps nothing below the stack
 * pointer. */
static bool is_small(const struct thread *t, uint64_t pc)
{
	const struct space *s = t->process->space;
	const struct loaded *l = space__copies_at(s, pc);

	l = l ? l : space__object_at(s, pc);
	return l && l->object->go;
}

static int64_t call(struct thread *t, struct injected injected, const struct with_path *with)
{
	static const uint8_t nothing[INJECTED_MAX];
	struct injected_code code;
	int64_t result = -ESRCH;
	uint64_t at;
	int err;

	if (!t->room && !thread__may_call(t))
		return -EPERM;
	if (t->late.is || thread__load_regs(t) || !thread__mask(t, &injected.mask))
		return -ESRCH;
	thread__restart_call(t);
	memcpy(t->late.before, t->regs, sizeof(t->regs));
	injected.then = thread__get(t, TRACEE_PC);
	injected.small_stack = is_small(t, injected.then);
	if (prepare(t, &injected, with, &at, &code))
		return -EFAULT;
	thread__stop_dispatch(t, &t->late.dispatch);
	if (!thread__send(t, at, &code) || !thread__set_mask(t, ALL_BUT_SIGSYS | injected.mask))
		return -ESRCH;
	err = run(t, &injected, at, at + code.called, &result);
	if (t->late.is)
		return err;
	t->room = at;
	thread__resume_dispatch(t, &t->late.dispatch);
	thread__set_mask(t, injected.mask);
	memcpy(t->regs, t->late.before, sizeof(t->regs));
	t->known = t->changed = true;
	if (with && !err && result >= 0 && result <= INT32_MAX)
		with->opened(t, (int)result, at + INJECTED_MAX - OPEN_ROOM, with->file);
	if (!thread__store_regs(t))
		space__swap(t->process->space, at, code.bytes, nothing, code.len);
	return err ? err : result;
}

int64_t thread__call(struct thread *t, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		     uint64_t e, uint64_t f)
{
	struct injected injected = {
		.calls = true, .number = (uint64_t)number, .args = {a, b, c, d, e, f}};

	return call(t, injected, NULL);
}

void thread__open(struct thread *t, const char *path, int flags, thread_opened_fn *opened,
		  struct fetched *file)
{
	const struct with_path with = {path, opened, file};
	struct injected injected = {.calls = true,
				    .number = SYS_openat,
				    .args = {(uint64_t)AT_FDCWD, 0, (uint64_t)flags}};

	call(t, injected, &with);
}
