// SPDX-License-Identifier: BSD-2-Clause
/* System calls that a stopped thread is made to execute. */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "source/inline/tracer.h"

/* The vDSO has an instruction that enters the kernel. */
static uint64_t find_enter(const struct tracer *s, const struct space *space, pid_t pid)
{
	autofree char *text = NULL, *code = NULL;
	map_vec maps = {0};
	uint64_t found = 0;
	const struct map *m;
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (file__read(path, 64u << 20, &text, NULL) || maps__parse(text, &maps))
		return 0;
	vec__each (m, &maps) {
		const char *at;

		n = m->end - m->start;
		if (!m->exec || !m->path || strcmp(m->path, "[vdso]") != 0 || n > 1u << 20)
			continue;
		code = xmalloc(n);
		at = space__read(space, m->start, code, n)
			     ? memmem(code, n, s->tracee->enter, s->tracee->enter_len)
			     : NULL;
		if (at)
			found = m->start + (uint64_t)(at - code);
		break;
	}
	maps__free(&maps);
	return found;
}

/* Where the thread can enter the kernel; *old: what was overwritten for that. */
static uint64_t prepare(struct thread *t, uint8_t old[16], bool *overwritten)
{
	const struct arch_tracee *a = t->tracer->tracee;
	struct space *s = t->process->space;
	uint64_t pc = thread__get(t, TRACEE_PC);
	uint8_t now[16];

	*overwritten = false;
	if (!s->enter)
		s->enter = find_enter(t->tracer, s, t->process->pid);
	if (s->enter && space__read(s, s->enter, now, a->enter_len) &&
	    !memcmp(now, a->enter, a->enter_len))
		return s->enter;
	if (!space__read(s, pc, old, a->enter_len) || !space__write(s, pc, a->enter, a->enter_len))
		return 0;
	*overwritten = true;
	return pc;
}

/* Until it has returned from that call; only what can't be blocked comes meanwhile. False: it is
 * gone. */
static bool run(struct thread *t, uint64_t behind, int64_t *result)
{
	struct __ptrace_syscall_info info;
	unsigned tries = 0;

	while (tries++ < 100) {
		int status = thread__resume_wait(t, PTRACE_SYSCALL, 0);

		if (!status)
			return false;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			thread__put_off(t, status);
			continue;
		}
		if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof(info), &info) <= 0)
			return false;
		if (info.op == PTRACE_SYSCALL_INFO_EXIT && info.instruction_pointer == behind) {
			*result = info.exit.rval;
			return true;
		}
	}
	return false;
}

int64_t thread__call(struct thread *t, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		     uint64_t e, uint64_t f)
{
	const struct arch_tracee *arch = t->tracer->tracee;
	uint64_t args[] = {a, b, c, d, e, f}, mask, at;
	uint8_t before[TRACEE_REGS_MAX], old[16];
	int64_t result = -ESRCH;
	bool overwritten;

	if (thread__load_regs(t))
		return -ESRCH;
	memcpy(before, t->regs, sizeof(before));
	at = prepare(t, old, &overwritten);
	if (!at)
		return -EFAULT;
	if (!thread__block(t, true, &mask))
		return -ESRCH;
	arch->call(t->regs, at, (uint64_t)number, args);
	t->changed = true;
	if (!run(t, at + arch->enter_len, &result))
		result = -ESRCH;
	if (overwritten)
		space__write(t->process->space, at, old, arch->enter_len);
	thread__unblock(t, mask);
	memcpy(t->regs, before, sizeof(before));
	t->known = t->changed = true;
	/* at once: if the supervisor is killed, the thread goes on with these */
	thread__store_regs(t);
	return result;
}
