// SPDX-License-Identifier: BSD-2-Clause
/* See event_keeper.h. A request is a thread's number. */
#include <errno.h>
#include "event_keeper.h"

struct job {
	struct probe *p;
	uint64_t capabilities;
};

static int answer(void *ctx, int32_t tid)
{
	int fd = tid > 0 ? uprobe_event__open(((struct job *)ctx)->p, tid) : (errno = EINVAL, -1);

	return fd < 0 ? err__set(errno, "cannot open the event: %s", strerror(errno)) : fd;
}

static int give_up(void *ctx)
{
	int err = rights__keep(((struct job *)ctx)->capabilities, false);

	return err ? err : rights__forbid(FORBID_EXEC | FORBID_TRACING | FORBID_NETWORK);
}

int event_keeper__start(struct probe *p, uint64_t capabilities)
{
	struct job j = {p, capabilities};
	const struct keeper_job job = {
		.name = "bbtrace-keeper",
		.ctx = &j,
		.give_up = give_up,
		.answer = answer,
		.kept = {-1, -1},
	};

	return keeper__start(&p->keeper, &job);
}

int event_keeper__open(const struct probe *p, pid_t tid)
{
	int fd = keeper__ask(&p->keeper, tid);

	errno = -min_of(fd, 0);
	return fd;
}
