// SPDX-License-Identifier: BSD-2-Clause
/* Answers the system calls by which libdw opens the files of split units. Runs in the sandbox, as a
 * handler of SIGSYS. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include "sandbox_files.h"
#include "util/util.h"

static struct sandbox_file *known;
static size_t nknown;

/* ---- system calls in a signal's context ---- */

#if defined(__x86_64__)
static greg_t *argument(ucontext_t *u, unsigned i)
{
	static const int regs[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10};

	return &u->uc_mcontext.gregs[regs[i]];
}

static void set_result(ucontext_t *u, long result)
{
	u->uc_mcontext.gregs[REG_RAX] = result;
}
#elif defined(__aarch64__)
static unsigned long long *argument(ucontext_t *u, unsigned i)
{
	return &u->uc_mcontext.regs[i];
}

static void set_result(ucontext_t *u, long result)
{
	u->uc_mcontext.regs[0] = result;
}
#elif defined(__riscv)
static unsigned long *argument(ucontext_t *u, unsigned i)
{
	return &u->uc_mcontext.__gregs[REG_A0 + i];
}

static void set_result(ucontext_t *u, long result)
{
	u->uc_mcontext.__gregs[REG_A0] = result;
}
#endif

static void *pointer(ucontext_t *u, unsigned i)
{
	return (void *)(uintptr_t)*argument(u, i);
}

/* ---- answers ---- */

static long open_known(const char *path)
{
	for (size_t i = 0; i < nknown; i++) {
		int fd = known[i].fd;

		if (fd < 0 || strcmp(known[i].path, path) != 0)
			continue;
		known[i].fd = -1;
		return fd;
	}
	return -EPERM;
}

static long read_link(const char *path, char *to, size_t size)
{
	static const char folder[] = "/proc/self/fd/";
	size_t len = min_of(size, sizeof(SANDBOX_PATH) - 1);

	if (strncmp(path, folder, sizeof(folder) - 1) != 0)
		return -EINVAL; /* it is no link */
	memcpy(to, SANDBOX_PATH, len);
	return len;
}

static void on_call(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	long result = -EPERM;

	switch (info->si_syscall) {
#ifdef __NR_open
	case __NR_open:
		result = open_known(pointer(u, 0));
		break;
#endif
#ifdef __NR_readlink
	case __NR_readlink:
		result = read_link(pointer(u, 0), pointer(u, 1), *argument(u, 2));
		break;
#endif
	case __NR_openat:
		result = open_known(pointer(u, 1));
		break;
	case __NR_readlinkat:
		result = read_link(pointer(u, 1), pointer(u, 2), *argument(u, 3));
		break;
	}
	set_result(u, result);
}

void sandbox_files__answer(struct sandbox_file *files, size_t n)
{
	struct sigaction sa = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};
	sigset_t set;

	known = files;
	nknown = n;
	sigaction(SIGSYS, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
