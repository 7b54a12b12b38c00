// SPDX-License-Identifier: BSD-2-Clause
/*
 * CMD with watchpoints: traced with ptrace(2) until they are set. At the exec stop the kernel has
 * mapped the program and ld.so, before the first instruction; for a library, each system call of
 * ld.so is awaited. A watchpoint is set as soon as the code of its object is mapped, which ld.so
 * does before it writes to the data.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "session/process/child.h"
#include "watch_exec.h"

int watch_exec__prepare(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD))
		return err__set(errno,
				"cannot stop the command where it starts: %s; -p watches "
				"one that runs",
				strerror(errno));
	return 0;
}

/* Waits for the next stop. Returns false if the process has ended, which its parent notes later. */
static bool wait_for_stop(pid_t pid, int *status)
{
	siginfo_t si;

	/* leaves the end to child__ended() */
	if (waitid(P_PID, pid, &si, WEXITED | WSTOPPED | WNOWAIT) || si.si_code == CLD_EXITED ||
	    si.si_code == CLD_KILLED || si.si_code == CLD_DUMPED)
		return false;
	return waitpid(pid, status, __WALL) == pid && WIFSTOPPED(*status);
}

enum stop { STOP_EXEC, STOP_SYSCALL, STOP_OTHER };

static enum stop stop_of(int status)
{
	if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		return STOP_EXEC;
	return WSTOPSIG(status) == (SIGTRAP | 0x80) ? STOP_SYSCALL : STOP_OTHER;
}

/* Returns the signal that the process is about to get; 0 if none. */
static int signal_of(int status)
{
	return stop_of(status) == STOP_OTHER && status >> 16 == 0 ? WSTOPSIG(status) : 0;
}

/* The state of CMD's start. */
struct start {
	pid_t pid;
	uint64_t loader; /* the file in which it begins: ld.so, or a static program */
	struct __ptrace_syscall_info at;
	bool maps; /* the system call is one with which ld.so maps an object */
};

static bool is_mapping(uint64_t number)
{
	return number == SYS_mmap || number == SYS_mprotect || number == SYS_munmap;
}

/* Looks at where CMD has stopped. */
static void look(struct start *s)
{
	memset(&s->at, 0, sizeof(s->at));
	ptrace(PTRACE_GET_SYSCALL_INFO, s->pid, sizeof(s->at), &s->at);
	if (s->at.op == PTRACE_SYSCALL_INFO_ENTRY)
		s->maps = is_mapping(s->at.entry.nr);
}

/* True while the thread is in the file in which it began. */
static bool is_loading(struct start *s)
{
	uint64_t ip = s->at.instruction_pointer;
	map_vec maps = {0};
	const struct map *m;
	bool in = false;

	if (maps__read(s->pid, &maps))
		return false;
	vec__each (m, &maps) {
		if (ip < m->start || ip >= m->end)
			continue;
		s->loader = s->loader ? s->loader : m->ino;
		in = m->ino == s->loader;
	}
	maps__free(&maps);
	return in;
}

static int refuse(const struct watchpoints *w, const struct child *c)
{
	const struct watchpoint *i;

	vec__each (i, &w->all)
		if (i->object)
			return err__set(ENOENT,
					"cannot watch %s: %s has not mapped %s when it starts; -p "
					"watches a process that has",
					i->name, c->name, i->object->path);
	return 0;
}

/* Called at the exec stop: continues until all objects are mapped completely, which is when
 * ld.so makes another system call. */
static int wait_for_objects(struct watchpoints *w, struct source *source, const struct child *c)
{
	struct start s = {.pid = c->pid};
	bool waits = true;
	int status = 0, err;

	look(&s);
	while (is_loading(&s)) {
		if (ptrace(PTRACE_SYSCALL, c->pid, NULL, signal_of(status)) ||
		    !wait_for_stop(c->pid, &status))
			break;
		if (stop_of(status) != STOP_SYSCALL)
			continue;
		look(&s);
		if (!waits && !s.maps)
			return 0;
		err = waits && s.maps ? watchpoints__begin_in(w, source, c->pid, &waits) : 0;
		if (err)
			return err;
	}
	return waits ? refuse(w, c) : 0;
}

static int begin(struct watchpoints *w, struct source *s, const struct child *c)
{
	bool waits;
	int err = watchpoints__begin_in(w, s, c->pid, &waits);

	if (!err && waits)
		err = wait_for_objects(w, s, c);
	if (!err)
		watchpoints__note_values(w, s, c->pid);
	return err;
}

int watch_exec__begin(struct watchpoints *w, struct source *s, const struct child *c)
{
	int status = 0, err = 0;

	while (stop_of(status) != STOP_EXEC) {
		if (status && ptrace(PTRACE_CONT, c->pid, NULL, signal_of(status)))
			break;
		if (!wait_for_stop(c->pid, &status))
			return 0;
	}
	err = begin(w, s, c);
	if (err)
		kill(c->pid, SIGKILL);
	ptrace(PTRACE_DETACH, c->pid, NULL, NULL);
	return err;
}
