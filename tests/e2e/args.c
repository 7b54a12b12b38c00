// SPDX-License-Identifier: BSD-2-Clause
/* Calls functions of libc with arguments of many types, each a known number of times. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <libgen.h>
#include <poll.h>
#include <regex.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	char buf[128] = "a,b;c", *end, *p;
	int numbers[] = {3, 1, 2}, fds[2], key = 2;
	struct rlimit limit;
	struct stat st;
	regex_t regex;
	FILE *f;

	alarm(60);
	srand(77), srandom(4000000000u), rand(), random();
	atoi("-12"), atol("123456789012"), strtol("-0x1f", &end, 16), strtoul("77", NULL, 8);
	abs(-3), labs(-5);
	toupper('q'), tolower('Q'), a64l("zz"), l64a(1234567);
	setenv("BB_NAME", "a \"value\"\n", 1), getenv("BB_NAME"), unsetenv("BB_NAME");
	umask(022), access("/etc/passwd", R_OK), access("/nonexistent", W_OK | X_OK);
	mkdir("folder", 0755), chmod("folder", 0700), rmdir("folder");
	f = fopen("file", "w+");
	setvbuf(f, NULL, _IOFBF, 4096), fputs("some text", f), fputc('x', f), ungetc('y', f);
	fseek(f, -2, SEEK_END), ftell(f), fflush(f), fclose(f);
	link("file", "other"), symlink("file", "third"), readlink("third", buf, sizeof(buf));
	rename("other", "fourth"), unlink("fourth"), unlink("third"), truncate("file", 3);
	fds[0] = open("file", O_RDWR | O_CREAT, 0644);
	write(fds[0], "written", 7), lseek(fds[0], -3, SEEK_CUR), read(fds[0], buf, 2);
	ftruncate(fds[0], 1 << 20), fsync(fds[0]), fchmod(fds[0], 0600), dup2(fds[0], 77);
	dup(77), isatty(0), close(77), close(-1), fstat(fds[0], &st), unlink("file");
	pipe(fds), poll(NULL, 0, 0), kill(getpid(), 0), usleep(1), raise(SIGCONT);
	strcpy(buf, "a,b;c");
	strtok(buf, ",;"), strtok(NULL, ",;"), p = strdup("a copy of this"), free(p);
	free(strndup("cut here", 3)), basename(strcpy(buf, "/a/bc")), dirname(buf);
	free(calloc(3, 77)), free(realloc(malloc(10), 1000));
	qsort(numbers, 3, sizeof(int), order), bsearch(&key, numbers, 3, sizeof(int), order);
	p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(p, 4096, PROT_READ | PROT_WRITE), madvise(p, 8192, MADV_DONTNEED), munmap(p, 8192);
	getrlimit(RLIMIT_NOFILE, &limit), setrlimit(RLIMIT_CORE, &limit);
	getpriority(PRIO_PROCESS, 0), sysconf(_SC_PAGESIZE), pathconf("/", _PC_NAME_MAX);
	fnmatch("*.c", "args.c", FNM_PATHNAME), shutdown(-1, SHUT_WR), listen(-1, 5);
	regcomp(&regex, "^a.*b$", REG_EXTENDED | REG_NOSUB), regexec(&regex, "axxb", 0, NULL, 0);
	abs(atoi("5")), getuid(), nice(0), sleep(0), lldiv(7, 2), ffsll(8), isalnum('x'),
		putenv("BB=1");
	clearenv(), remove("nothing"), chdir("/"), fcntl(0, F_GETFD), ioctl(-1, 1, 2);
	send(-1, "x", 1, MSG_PEEK), recv(-1, buf, 3, 0), socket(-1, 2, 3),
		getsockopt(-1, 1, 2, NULL, NULL);
	waitpid(-1, NULL, WNOHANG), setpgid(-1, 5), getpgid(0), siginterrupt(SIGUSR2, 1),
		ecvt(1.5, 3, fds, fds + 1);
	gethostname(buf, sizeof(buf)), sigignore(SIGUSR2), hcreate(5);
	return 0;
}
