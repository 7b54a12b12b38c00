// SPDX-License-Identifier: BSD-2-Clause
/* Which processes share their memory. */
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "space.h"

bool processes__share_memory(pid_t a, pid_t b)
{
	return !syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);
}

/* Otherwise a child that shares its parent's memory would seem to have its own. */
bool processes__can_be_compared(void)
{
	return processes__share_memory(getpid(), getpid());
}

uint32_t process__sharer(const struct tracer *s, pid_t pid)
{
	pid_vec all = {0};
	uint32_t *other, found = 0;

	processes__all(&all);
	vec__each (other, &all)
		if (!found && *other != (uint32_t)pid &&
		    !(s && tracer__process(s, (pid_t)*other)) &&
		    processes__share_memory(pid, (pid_t)*other))
			found = *other;
	vec__free(&all);
	return found;
}

bool process__has_strays(const struct tracer *s, const struct process *p)
{
	pid_vec tids = {0};
	bool found = false;
	uint32_t *tid;

	process__threads((uint32_t)p->pid, &tids);
	vec__each (tid, &tids)
		found |= !tracer__thread(s, (pid_t)*tid);
	vec__free(&tids);
	return found || process__sharer(s, p->pid);
}
