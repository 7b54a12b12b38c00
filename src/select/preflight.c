// SPDX-License-Identifier: BSD-2-Clause
/* Checks before tracing: the processes exist, /proc shows them, and privileges suffice. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include "preflight.h"
#include "cli/request.h"

static int check_pids(const struct request *req)
{
	const uint32_t *pid;

	vec__each (pid, &req->who.filters.pids)
		if (kill(*pid, 0) && errno == ESRCH)
			return err__set(ESRCH, "no such process: %u", *pid);
	vec__each (pid, &req->who.filters.tids) /* kill(2) accepts a thread's number */
		if (kill(*pid, 0) && errno == ESRCH)
			return err__set(ESRCH, "no such thread: %u", *pid);
	return 0;
}

/* Fails unless /proc is of this PID namespace: PIDs are looked up there. */
static int check_proc(void)
{
	char self[32];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);

	self[max_of(n, 0)] = 0;
	if (n > 0 && atoi(self) == getpid())
		return 0;
	return err__set(ENOENT,
			n < 0 ? "/proc is not mounted: mount -t proc proc /proc"
			      : "/proc shows another PID namespace than this one: "
				"mount -t proc proc /proc, in a mount namespace of its own");
}

/* Checked first: missing privileges are the most common obstacle. */
static int check_privileges(const struct request *req)
{
	autofree char *mode = xasprintf("bbtrace %s", req->verb->name);

	if (privileges__check(PRIVILEGE_BPF | PRIVILEGE_PERFMON, mode))
		return err__set(EPERM,
				"cannot trace: %s; run with sudo, or as a user with CAP_BPF and "
				"CAP_PERFMON",
				strdupa(err__text()));
	return features__check();
}

int preflight__check(const struct request *req)
{
	int err = check_proc();

	if (err)
		return err;
	err = check_pids(req);
	return err ? err : check_privileges(req);
}
