// SPDX-License-Identifier: BSD-2-Clause
/* Runs a function in a forked process with bounded memory and time and almost no rights, and
 * returns its output. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sandbox.h"
#include "util/filter.h"

#define MEMORY	     (1ull << 30) /* beyond what this process already uses */
#define ANSWER_LIMIT (256u << 20)
#define PATIENCE     5 /* seconds of wall time, plus three per second of CPU time */

/* ---- in the child: limits ---- */

#define NOT_CONFINED 3 /* the status of a child that kept a right which it should have lost */

static bool set_limit(int what, rlim_t limit)
{
	return !setrlimit(what, &(struct rlimit){limit, limit});
}

/* proc_pid_statm(5): the first number is the size, in pages. */
static void limit_memory(uint64_t mapped)
{
	autofree char *text = NULL;
	unsigned long pages;

	if (file__read("/proc/self/statm", 4096, &text, NULL) || sscanf(text, "%lu", &pages) != 1)
		_exit(1);
	if (!set_limit(RLIMIT_AS, (rlim_t)pages * sysconf(_SC_PAGESIZE) + mapped + MEMORY))
		_exit(NOT_CONFINED);
}

/* A crash of the child has no side effects: no handlers, no core dump, no atexit functions. */
static void isolate(pid_t parent)
{
	static const int signals[] = {SIGSEGV, SIGBUS,	SIGFPE,	 SIGILL,  SIGABRT, SIGINT,
				      SIGTERM, SIGPIPE, SIGALRM, SIGXCPU, SIGCHLD};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

void sandbox__give_up(void)
{
	_exit(1);
}

/* Closes all other descriptors, also the standard streams: only the answer remains writable. */
static void close_others(const struct sandbox *s, int out)
{
	size_t n = s->nfds + s->nfiles;
	int *keep = xcalloc(n + 1, sizeof(*keep));

	memcpy(keep, s->fds, s->nfds * sizeof(*keep));
	for (size_t i = 0; i < s->nfiles; i++)
		keep[s->nfds + i] = s->files[i].fd;
	keep[n] = out;
	fd__close_others(keep, n + 1);
	free(keep);
}

/* ---- in the child: rights ---- */

#define ALLOW(call)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), RETURN(SECCOMP_RET_ALLOW)
#define TRAP(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), RETURN(SECCOMP_RET_TRAP)

/* Allows what a parser needs: reading, memory, exit. The calls that open files are answered by
 * sandbox_files.c. */
static bool filter_calls(void)
{
	static struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		ALLOW(read),
		ALLOW(pread64),
		ALLOW(write),
		ALLOW(lseek),
		ALLOW(fstat),
		ALLOW(newfstatat), /* used by glibc's fstat(3) */
		ALLOW(close),
		ALLOW(mmap),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(mprotect),
		ALLOW(madvise),
		ALLOW(brk),
		ALLOW(futex),
		ALLOW(sched_yield),
		ALLOW(clock_gettime),
		ALLOW(getrandom),
		ALLOW(rt_sigreturn),
		ALLOW(rt_sigprocmask),
		ALLOW(sigaltstack), /* used by sanitizers at exit */
		ALLOW(exit),
		ALLOW(exit_group),
#ifdef __NR_open
		TRAP(open),
#endif
#ifdef __NR_readlink
		TRAP(readlink),
#endif
		TRAP(openat),
		TRAP(readlinkat),
		RETURN(SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = {ARRAY_SIZE(filter), filter};

	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Nothing is parsed with more rights than these. */
static void give_up_rights(const struct sandbox *s)
{
	sandbox_files__answer(s->files, s->nfiles);
	if (rights__keep(0, false))
		_exit(NOT_CONFINED);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* A change of the user clears it. */
	if (!set_limit(RLIMIT_NOFILE, 0) || !set_limit(RLIMIT_FSIZE, 0) ||
	    !set_limit(RLIMIT_CORE, 0) || !filter_calls())
		_exit(NOT_CONFINED);
}

static int answer_fd;

void sandbox__write(const void *bytes, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = write(answer_fd, (const char *)bytes + done, len - done);
		if (n <= 0)
			_exit(1);
		done += n;
	}
}

static void __attribute__((noreturn)) be_copy(const struct sandbox *s, pid_t parent, int out)
{
	struct str answer = {0};

	isolate(parent);
	limit_memory(s->mapped);
	if (!set_limit(RLIMIT_CPU, s->seconds))
		_exit(NOT_CONFINED);
	close_others(s, out);
	atexit(sandbox__give_up); /* functions run in reverse order of registration */
	give_up_rights(s);
	answer_fd = out;
	s->fn(s->ctx, &answer);
	sandbox__write(answer.data, answer.len);
	_exit(0);
}

/* ---- in the parent ---- */

static bool may_be_read(int in, uint64_t deadline)
{
	struct pollfd p = {in, POLLIN, 0};
	uint64_t now;

	while ((now = now_ns(CLOCK_MONOTONIC)) < deadline) {
		int n = poll(&p, 1, (int)min_of((deadline - now) / 1000000 + 1, 1000u));

		if (n)
			return n > 0 || errno == EINTR;
	}
	return false;
}

/* Returns false if the child wrote too much, or took too long. */
static bool read_answer(const struct sandbox *s, int in, uint64_t deadline, struct str *answer)
{
	char chunk[65536];
	ssize_t n = 1;

	while (n && may_be_read(in, deadline)) {
		n = read(in, chunk, sizeof(chunk));
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		if (n > 0 && s->take) {
			if (!s->take(s->take_ctx, chunk, n))
				return false;
			continue;
		}
		if (n > 0 && answer->len + n > ANSWER_LIMIT)
			return false;
		if (n > 0)
			str__put(answer, chunk, n);
	}
	return !n;
}

/* Returns the child's exit status; -1 if it was killed. */
static int status_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int sandbox__run(const struct sandbox *s, struct str *answer)
{
	uint64_t deadline = now_ns(CLOCK_MONOTONIC) + (3ull * s->seconds + PATIENCE) * 1000000000u;
	pid_t parent = getpid(), pid;
	int ends[2], status;
	bool good;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) || fcntl(ends[1], F_SETFL, 0))
		return err__set(errno, "can't make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		be_copy(s, parent, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err__set(errno, "can't start a process: %s", strerror(errno));
	}
	good = read_answer(s, ends[0], deadline, answer);
	close(ends[0]);
	/* This kills a child that closed the pipe and still runs; one that is exiting keeps its
	 * status. */
	kill(pid, SIGKILL);
	status = status_of(pid);
	if (!status && good)
		return 0;
	str__free(answer);
	if (status == NOT_CONFINED)
		return err__set(EPERM,
				"it is not read, since the process that would read it could "
				"not give up its rights: that needs a kernel with "
				"CONFIG_SECCOMP_FILTER, and a container that allows seccomp");
	return err__set(EIO, "it is damaged, or takes too much memory or time to read");
}
