// SPDX-License-Identifier: BSD-2-Clause
/* System calls that fail at places of the kernel that its source tells: failing NAME... makes
 * them. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int fds[2];
static char page[8192] __attribute__((aligned(4096)));

static long fail(const char *name)
{
	static struct timespec too_many = {0, 1000000000};
	int fd;

#define CASE(n) if (!strcmp(name, n))
	CASE("epoll_create1") return syscall(SYS_epoll_create1, 0x55);
	CASE("dup3-same") return syscall(SYS_dup3, fds[0], fds[0], 0);
	CASE("dup3-flags") return syscall(SYS_dup3, fds[0], 9, 0x55);
	CASE("lseek-pipe") return syscall(SYS_lseek, fds[0], 0, SEEK_SET);
	CASE("lseek-whence") return syscall(SYS_lseek, fds[0], 0, 99);
	CASE("eventfd2") return syscall(SYS_eventfd2, 0, 0x1000);
	CASE("inotify_init1") return syscall(SYS_inotify_init1, 0x55);
	CASE("memfd_create") return syscall(SYS_memfd_create, "x", 0x8000);
	CASE("getrandom") return syscall(SYS_getrandom, page, 1, 0x100);
	CASE("mprotect") return syscall(SYS_mprotect, page + 1, 4096, PROT_READ);
	CASE("mmap-length")
	return syscall(SYS_mmap, NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CASE("mmap-offset")
	return syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 5);
	CASE("clock_nanosleep")
	return syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &too_many, NULL);
	CASE("nanosleep") return syscall(SYS_nanosleep, &too_many, NULL);
	CASE("unlink") return syscall(SYS_unlink, "/tmp/folder");
	CASE("setsockopt")
	{
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		return syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_REUSEADDR, page, -1);
	}
	CASE("mount")
	return setuid(1000) ? 1 : syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, NULL);
	CASE("pipe2") return syscall(SYS_pipe2, page, 1);
	CASE("socket") return syscall(SYS_socket, AF_UNIX, 0x100, 0);
	CASE("read") return syscall(SYS_read, fds[1], page, 1);
	CASE("write") return syscall(SYS_write, fds[0], page, 1);
	CASE("ftruncate") return syscall(SYS_ftruncate, fds[0], -1L);
	CASE("kill") return syscall(SYS_kill, getpid(), 99);
	CASE("setpriority") return syscall(SYS_setpriority, 99, 0, 0);
	CASE("timerfd_create") return syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0x55);
	CASE("rt_sigprocmask") return syscall(SYS_rt_sigprocmask, 0, NULL, NULL, 4);
	CASE("openat")
	return syscall(SYS_openat, AT_FDCWD, "/tmp/file", O_CREAT | O_EXCL | O_RDWR, 0600);
	CASE("fallocate") return syscall(SYS_fallocate, open("/tmp/file", O_RDWR), 0, 0L, 0L);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc < 2 || pipe(fds))
		return 2;
	mkdir("/tmp/folder", 0700);
	close(open("/tmp/file", O_CREAT | O_RDWR, 0600));
	for (int i = 1; i < argc; i++) {
		long result = fail(argv[i]);

		if (result == -1)
			continue;
		fprintf(stderr, "%s: %ld\n", argv[i], result);
		return 2;
	}
	return 0;
}
