// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory that bbtrace may not open for writing is opened by its process, and the descriptor is
 * fetched (memory.c).
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include "target.h"

/* A number that nobody knows is written to room, and read in the file. */
static bool is_memory_of(const struct space *s, int fd, uint64_t room)
{
	static const uint64_t nothing;
	uint64_t number, seen = 0;
	struct statfs fs;
	struct stat st;
	bool is;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number) || fstat(fd, &st) ||
	    !S_ISREG(st.st_mode) || fstatfs(fd, &fs) || fs.f_type != PROC_SUPER_MAGIC ||
	    (fcntl(fd, F_GETFL) & (O_ACCMODE | O_PATH)) != O_RDWR ||
	    !space__write(s, room, &number, sizeof(number)))
		return false;
	is = pread(fd, &seen, sizeof(seen), (off_t)room) == sizeof(seen) && seen == number;
	return space__write(s, room, &nothing, sizeof(nothing)) && is;
}

static void take_memory(struct thread *t, int number, uint64_t room, struct fetched *file)
{
	struct space *s = t->process->space;
	int fd = thread__fetch(t, number, file);

	s->writes = fd >= 0 && is_memory_of(s, fd, room);
	if (s->writes) {
		close(s->mem);
		s->mem = fd;
	} else {
		util__close(&fd);
	}
}

void thread__open_memory(struct thread *t)
{
	struct space *s = t->process->space;
	struct fetched file = {.number = -1};

	if (s->writes || s->mem < 0 || !t->process->opens)
		return;
	thread__open(t, "/proc/self/mem", O_RDWR | O_CLOEXEC, take_memory, &file);
	thread__close_fetched(t, &file);
}
