// SPDX-License-Identifier: BSD-2-Clause
/* Runs a function in a copy of the process, with bounded memory and time, and hands back what it
 * writes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "apart.h"

#define SECONDS	     2
#define MEMORY	     (4ull << 30) /* beyond what this process has already */
#define ANSWER_LIMIT (256u << 20)

/* ---- in the copy ---- */

void apart__allow(unsigned seconds)
{
	struct rusage used = {0};
	struct rlimit limit = {0};

	getrusage(RUSAGE_SELF, &used);
	/* the kernel counts whole seconds */
	limit.rlim_cur = limit.rlim_max = used.ru_utime.tv_sec + used.ru_stime.tv_sec + 2 + seconds;
	setrlimit(RLIMIT_CPU, &limit);
}

/* proc_pid_statm(5): the sixth number is data and stack, in pages. */
static void limit_memory(void)
{
	autofree char *text = NULL;
	struct rlimit limit = {0};
	unsigned long pages;

	if (file__read("/proc/self/statm", 4096, &text, NULL) ||
	    sscanf(text, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
		return;
	limit.rlim_cur = limit.rlim_max = (rlim_t)pages * sysconf(_SC_PAGESIZE) + MEMORY;
	setrlimit(RLIMIT_DATA, &limit);
}

/* A crash here is nobody's business: no handler, no core dump. */
static void be_alone(pid_t parent)
{
	static const int signals[] = {SIGSEGV, SIGBUS,	SIGFPE,	 SIGILL,  SIGABRT, SIGINT,
				      SIGTERM, SIGPIPE, SIGALRM, SIGXCPU, SIGCHLD};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

static void write_all(int fd, const struct str *s)
{
	size_t done = 0;
	ssize_t n;

	while (done < s->len) {
		n = write(fd, s->data + done, s->len - done);
		if (n <= 0)
			_exit(1);
		done += n;
	}
}

static void __attribute__((noreturn)) be_copy(apart_fn fn, void *ctx, pid_t parent, int out)
{
	struct str answer = {0};

	be_alone(parent);
	limit_memory();
	apart__allow(SECONDS);
	fn(ctx, &answer);
	write_all(out, &answer);
	_exit(0);
}

/* ---- here ---- */

/* False: it said too much. */
static bool read_answer(int in, struct str *answer)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(in, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0 && answer->len + n > ANSWER_LIMIT)
			return false;
		if (n > 0)
			str__put(answer, chunk, n);
	}
	return n == 0;
}

static bool ended_well(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

int apart__run(apart_fn fn, void *ctx, struct str *answer)
{
	pid_t parent = getpid(), pid;
	int ends[2];
	bool good;

	if (pipe2(ends, O_CLOEXEC))
		return err__set(errno, "can't make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		be_copy(fn, ctx, parent, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err__set(errno, "can't start a process: %s", strerror(errno));
	}
	good = read_answer(ends[0], answer);
	close(ends[0]);
	if (!good)
		kill(pid, SIGKILL);
	if (ended_well(pid) && good)
		return 0;
	str__clear(answer);
	return err__set(EIO, "reading it ended in a crash, or took too much memory or time");
}
