// SPDX-License-Identifier: BSD-2-Clause
/*
 * The shield: attaches and detaches in a separate process, which shares everything with bbtrace but
 * its signals. If SIGKILL ends a process in the system call that places or removes uprobes, the
 * kernel leaves breakpoints after: to remove them it accesses the traced process's pages, which
 * fails with a fatal signal pending (mm/gup.c, __get_user_pages(); kernel/events/uprobes.c: "failed
 * to unregister, leaking uprobe"). Files of an ended process are closed without such a signal, so
 * the last of the two processes closes bbtrace's links safely.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "source/probes/session.h"

#define STACK_SIZE (1u << 20)

static struct {
	int (*fn)(struct probe *p);
	struct probe *p;
	int err;
	pid_t owner; /* bbtrace itself, while the shield process runs */
	sigset_t mask;
} work;

pid_t shield__pid(void)
{
	return work.owner ? work.owner : getpid();
}

bool shield__is_orphan(void)
{
	return work.owner && getpid() != work.owner && getppid() != work.owner;
}

/* In its own process group, since kill -9 may be sent to bbtrace's group. */
static int work_on(void *unused)
{
	setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN); /* in the terminal's background, but printing progress */
	sigprocmask(SIG_SETMASK, &work.mask, NULL);
	work.err = work.fn(work.p);
	_exit(0);
}

/* errno is shared, so no call of the owner may fail meanwhile. Signal handlers run here, in the
 * owner. */
static void wait_for(pid_t pid, const sigset_t *set)
{
	sigset_t one;
	int sig;

	while (!waitpid(pid, NULL, WNOHANG)) {
		if (sigwait(set, &sig) || sig == SIGCHLD)
			continue;
		sigemptyset(&one);
		sigaddset(&one, sig);
		raise(sig);
		sigprocmask(SIG_UNBLOCK, &one, NULL);
		sigprocmask(SIG_BLOCK, &one, NULL);
	}
}

static void block_signals(sigset_t *set)
{
	static const int signals[] = {SIGCHLD, SIGINT,	SIGTERM, SIGHUP,   SIGQUIT, SIGALRM,
				      SIGPIPE, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT};

	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(set, signals[i]);
	sigprocmask(SIG_BLOCK, set, &work.mask);
}

int shield__run(int (*fn)(struct probe *p), struct probe *p)
{
	void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	struct sigaction child = {.sa_handler = SIG_DFL}, before;
	sigset_t set;
	pid_t pid;

	if (stack == MAP_FAILED)
		return fn(p);
	work.fn = fn;
	work.p = p;
	work.owner = getpid();
	work.err = -EIO;
	block_signals(&set);
	sigaction(SIGCHLD, &child, &before);
	pid = clone(work_on, (char *)stack + STACK_SIZE, CLONE_VM | CLONE_FILES | SIGCHLD, NULL);
	if (pid > 0)
		wait_for(pid, &set);
	sigaction(SIGCHLD, &before, NULL);
	work.owner = 0;
	sigprocmask(SIG_SETMASK, &work.mask, NULL);
	munmap(stack, STACK_SIZE);
	return pid > 0 ? work.err : fn(p);
}
