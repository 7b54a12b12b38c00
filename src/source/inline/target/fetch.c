// SPDX-License-Identifier: BSD-2-Clause
/* Descriptors of a process, which it was made to open: the tracer takes one of its own for that
 * file. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "target.h"

#ifndef PIDFD_THREAD /* newer than the C library's headers may be */
#define PIDFD_THREAD O_EXCL
#endif

/* The process's first thread may have ended: then only newer kernels (6.9) find the others' files.
 */
static int get(const struct thread *t, int number)
{
	autoclose int of = (int)syscall(SYS_pidfd_open, t->tid, PIDFD_THREAD);

	if (of < 0)
		of = (int)syscall(SYS_pidfd_open, t->process->pid, 0);
	return of < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, of, number, 0);
}

int thread__fetch(const struct thread *t, int number, struct fetched *out)
{
	int fd = get(t, number);
	struct stat st;

	*out = (struct fetched){.number = fd < 0 && errno == EBADF ? -1 : number};
	if (fd >= 0 && !fstat(fd, &st)) {
		out->dev = st.st_dev;
		out->ino = st.st_ino;
	}
	return fd;
}

/* Threads that run may have closed it, and may have something else of that number by now. */
static bool is_still(const struct thread *t, const struct fetched *f)
{
	struct fetched now;
	autoclose int fd = thread__fetch(t, f->number, &now);

	return fd >= 0 && now.dev == f->dev && now.ino == f->ino;
}

void thread__close_fetched(struct thread *t, const struct fetched *f)
{
	if (f->number >= 0 && (!f->ino || is_still(t, f)))
		thread__call(t, SYS_close, (uint64_t)f->number, 0, 0, 0, 0, 0);
}
