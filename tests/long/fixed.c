/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be preloaded: what differs from run to run is the same. A handler of stack overflows reads
 * /proc/self/maps at the start, which has other lines in an emulator and with copies: one line that
 * covers all (the file MAPS) is what it gets. And the time stands still, but for bbtrace: lz4
 * subtracts times, libxml2 seeds its hashes with one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int open_it(const char *name, const char *path, int flags, va_list args)
{
	int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, name);

	return real(strcmp(path, "/proc/self/maps") ? path : MAPS, flags,
		    flags & O_CREAT ? va_arg(args, int) : 0);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int fd;

	va_start(args, flags);
	fd = open_it("open", path, flags, args);
	va_end(args);
	return fd;
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int clock_gettime(clockid_t clock, struct timespec *at)
{
	if (!strncmp(program_invocation_short_name, "bbtrace", 7))
		return syscall(SYS_clock_gettime, clock, at);
	*at = (struct timespec){.tv_sec = 1700000000};
	return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*at = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
	return 0;
}

time_t time(time_t *at)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (at)
		*at = now.tv_sec;
	return now.tv_sec;
}
