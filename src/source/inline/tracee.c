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

bool thread__mask(struct thread *t, uint64_t *out)
{
	return !ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(*out), out);
}

bool thread__set_mask(struct thread *t, uint64_t mask)
{
	return !ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(mask), &mask);
}

void thread__put_off(struct thread *t, int status)
{
	int sig = WSTOPSIG(status);

	if (status >> 16 == PTRACE_EVENT_STOP)
		t->regroups |= sig != SIGTRAP;
	else if (!(status >> 16) && sig < 64 &&
		 !thread__stopped_for_gs(t, status, thread__has_own_gs(t)))
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
	/* regroups: it stops with its process then */
	if (t->regroups || thread__stops_soon(t))
		ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	t->regroups = false;
	thread__resume(t, watched ? PTRACE_SYSCALL : PTRACE_CONT, sig);
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

bool thread__has_shadow_stack(pid_t tid)
{
	autofree char *features = thread__status((uint32_t)tid, "x86_Thread_features");

	return features && strstr(features, "shstk");
}

/* ---- waiting ---- */

void thread__take_stop(struct thread *t)
{
	struct stop stop = {.tid = t->tid};

	/* it may have been killed meanwhile */
	if (waitpid(t->tid, &stop.status, __WALL | WNOHANG) == t->tid && !WIFSTOPPED(stop.status))
		vec__push(&t->tracer->deferred, stop);
}

static pid_t wait_for(pid_t pid, int *status)
{
	pid_t got;

	do
		got = waitpid(pid, status, __WALL | WNOHANG);
	while (got < 0 && errno == EINTR);
	return got;
}

/* What a thread has stopped by, and is still to be waited for; 0: nothing. */
static pid_t peek(int *sig)
{
	siginfo_t si = {0};
	int err;

	do
		err = waitid(P_ALL, 0, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL);
	while (err && errno == EINTR);
	*sig = si.si_code == CLD_TRAPPED || si.si_code == CLD_STOPPED ? si.si_status : 0;
	return err ? 0 : si.si_pid;
}

/* A signal is not taken from its thread, but when that goes on: if the supervisor is killed before,
 * the thread still has it. */
bool tracer__next(struct tracer *s, struct stop *out)
{
	int sig;

	*out = (struct stop){0};
	if (s->deferred.len) {
		*out = s->deferred.data[0];
		s->deferred.len--;
		memmove(s->deferred.data, s->deferred.data + 1,
			s->deferred.len * sizeof(*s->deferred.data));
		return true;
	}
	out->tid = peek(&sig);
	if (out->tid > 0 && sig > 0 && sig < 128 && tracer__thread(s, out->tid)) {
		out->status = sig << 8 | 0x7f;
		return true;
	}
	return out->tid > 0 && (out->tid = wait_for(out->tid, &out->status)) > 0;
}
