// SPDX-License-Identifier: BSD-2-Clause
/* One stopped thread: its registers and memory, and how it goes on. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "source/inline/tracer.h"

/* ---- registers ---- */

int thread__load_regs(struct thread *t)
{
	struct iovec block = {t->regs, sizeof(t->regs)};

	if (t->known)
		return 0;
	if (ptrace(PTRACE_GETREGSET, t->tid, NT_PRSTATUS, &block)) {
		memset(t->regs, 0, sizeof(t->regs));
		return -errno;
	}
	if (block.iov_len != t->tracer->tracee->size)
		return -ENOEXEC;
	t->known = true;
	t->changed = false;
	return 0;
}

int thread__store_regs(struct thread *t)
{
	struct iovec block = {t->regs, t->tracer->tracee->size};

	if (!t->known || !t->changed)
		return 0;
	t->changed = false;
	return ptrace(PTRACE_SETREGSET, t->tid, NT_PRSTATUS, &block) ? -errno : 0;
}

uint64_t thread__get(struct thread *t, enum tracee_reg reg)
{
	return thread__load_regs(t) ? 0 : t->tracer->tracee->get(t->regs, reg);
}

void thread__set(struct thread *t, enum tracee_reg reg, uint64_t value)
{
	if (thread__load_regs(t) || t->tracer->tracee->get(t->regs, reg) == value)
		return;
	t->tracer->tracee->set(t->regs, reg, value);
	t->changed = true;
}

/* ---- running ---- */

int thread__resume(struct thread *t, int request, int sig)
{
	thread__store_regs(t);
	t->known = false;
	t->state = request == PTRACE_LISTEN ? THREAD_LISTENING : THREAD_RUNNING;
	return ptrace(request, t->tid, 0, (long)sig) ? -errno : 0;
}

int thread__resume_wait(struct thread *t, int request, int sig)
{
	int status = 0, err = thread__resume(t, request, sig);
	pid_t got;

	if (err)
		return 0;
	do
		got = waitpid(t->tid, &status, __WALL);
	while (got < 0 && errno == EINTR);
	if (got != t->tid)
		return 0;
	/* of the program that another thread has executed: nothing is left of this one */
	if (!WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXEC) {
		vec__push(&t->tracer->deferred, (struct stop){t->tid, status, 0});
		return 0;
	}
	t->state = THREAD_STOPPED;
	return status;
}

/* ---- signals that have to wait ---- */

/* Those of its own faults come as ever; a blocked SIGTRAP of a step would end the process. */
#define FAULTS                                                                                     \
	(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGILL - 1) |                     \
	 1ull << (SIGFPE - 1) | 1ull << (SIGSYS - 1))
#define TRAPS (1ull << (SIGTRAP - 1))

bool thread__block(struct thread *t, bool all, uint64_t *before)
{
	uint64_t blocked;

	if (ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(*before), before))
		return false;
	blocked = all ? ~0ull : (~FAULTS | *before) & ~TRAPS;
	return !ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(blocked), &blocked);
}

void thread__unblock(struct thread *t, uint64_t before)
{
	ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(before), &before);
}

void thread__put_off(struct thread *t, int status)
{
	int sig = WSTOPSIG(status);

	if (status >> 16 == PTRACE_EVENT_STOP)
		t->regroups |= sig != SIGTRAP;
	else if (!(status >> 16) && sig < 64)
		t->put_off |= 1ull << sig;
}

void thread__send_put_off(struct thread *t)
{
	for (int sig = 1; t->put_off && sig < 64; sig++)
		if (t->put_off >> sig & 1)
			syscall(SYS_tgkill, t->process->pid, t->tid, sig);
	t->put_off = 0;
}

void thread__go_on(struct thread *t, int sig)
{
	const struct space *s = t->process->space;
	bool watched = t->in_exec || t->maps || t->frames.len || (s && s->loading);

	thread__send_put_off(t);
	thread__resume(t, watched ? PTRACE_SYSCALL : PTRACE_CONT, sig);
	/* it stops with its process then */
	if (t->regroups)
		ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	t->regroups = false;
}

/* ---- memory ---- */

int thread__open_memory(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	return open(path, O_RDWR | O_CLOEXEC);
}

bool space__read(const struct space *s, uint64_t addr, void *out, size_t n)
{
	return pread(s->mem, out, n, (off_t)addr) == (ssize_t)n;
}

bool space__write(const struct space *s, uint64_t addr, const void *bytes, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t more =
			pwrite(s->mem, (const char *)bytes + done, n - done, (off_t)(addr + done));

		if (more <= 0)
			return false;
		done += (size_t)more;
	}
	return true;
}

/* ---- waiting ---- */

bool tracer__next(struct tracer *s, struct stop *out)
{
	*out = (struct stop){0};
	if (s->deferred.len) {
		*out = s->deferred.data[0];
		s->deferred.len--;
		memmove(s->deferred.data, s->deferred.data + 1,
			s->deferred.len * sizeof(*s->deferred.data));
		return true;
	}
	do
		out->tid = waitpid(-1, &out->status, __WALL | WNOHANG);
	while (out->tid < 0 && errno == EINTR);
	return out->tid > 0;
}
