// SPDX-License-Identifier: BSD-2-Clause
/* Preloaded: when the program EQUAL_GATED exits, writes what it sees of itself to the file that
 * EQUAL_SEEN names: descriptors, mapped files, signals, limits. The first process of the program
 * writes its number to the file EQUAL_GATE, and begins when EQUAL_GATE.go is there: a tracer can be
 * attached to it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pid_t first;

static int is_gated(void)
{
	const char *gated = getenv("EQUAL_GATED");
	char exe[4096];
	ssize_t n = gated ? readlink("/proc/self/exe", exe, sizeof(exe) - 1) : -1;

	return n >= 0 && (exe[n] = 0, !strcmp(exe, gated));
}

static void wait_at_gate(void)
{
	const char *gate = getenv("EQUAL_GATE");
	char path[4096];
	int fd = gate ? open(gate, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%d\n", getpid());
	close(fd);
	snprintf(path, sizeof(path), "%s.go", gate);
	while (access(path, F_OK))
		usleep(10000);
}

__attribute__((constructor)) static void begin(void)
{
	if (!is_gated())
		return;
	first = getpid();
	wait_at_gate();
}

/* The kind, for what has a number of its own: "pipe:[123]". */
static void put_descriptors(FILE *out, DIR *d, int own)
{
	struct dirent *e;

	while ((e = readdir(d))) {
		char path[64], to[4096];
		int fd = atoi(e->d_name), flags = fcntl(fd, F_GETFD), status = fcntl(fd, F_GETFL);
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (e->d_name[0] == '.' || fd == own || fd == dirfd(d) ||
		    (n = readlink(path, to, sizeof(to) - 1)) < 0)
			continue;
		to[n] = 0;
		to[strcspn(to, "[")] = 0;
		fprintf(out, "fd %d %s %x %x\n", fd, to, flags, status);
	}
}

static void put_lines(FILE *out, const char *path, const char *const *names)
{
	char line[8192];
	FILE *in = fopen(path, "re");

	while (in && fgets(line, sizeof(line), in))
		for (const char *const *name = names; *name; name++)
			if (!strncmp(line, *name, strlen(*name)))
				fputs(line, out);
	if (in)
		fclose(in);
}

static unsigned count_threads(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) ? 0 : (unsigned)st.st_nlink - 2;
}

/* A thread that was joined is counted until the kernel is done with it. */
static void await_joined(void)
{
	unsigned count = count_threads();

	for (int quiet = 0; count > 1 && quiet < 20; quiet++) {
		usleep(10000);
		if (count_threads() == count)
			continue;
		count = count_threads();
		quiet = 0;
	}
}

/* Not where they are, nor anonymous memory: logs and copies are among that. */
static void put_maps(FILE *out)
{
	char line[8192], mode[8], path[4096];
	unsigned long offset;
	FILE *in = fopen("/proc/self/maps", "re");

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "%*s %7s %lx %*s %*s %4095[^\n]", mode, &offset, path) == 3 &&
		    path[0] == '/' && !strstr(path, "(deleted)"))
			fprintf(out, "map %s %lx %s\n", mode, offset, path);
	if (in)
		fclose(in);
}

__attribute__((destructor)) static void end(void)
{
	static const char *const status[] = {"SigBlk", "SigIgn",  "SigCgt",	"SigPnd",  "ShdPnd",
					     "Uid",    "Groups",  "NoNewPrivs", "Seccomp", "CapEff",
					     "Umask",  "Cpus_al", "Threads",	NULL};
	static const char *const all[] = {"", NULL};
	const char *name = getenv("EQUAL_SEEN");
	FILE *out = name && getpid() == first ? fopen(name, "we") : NULL;
	DIR *d = out ? opendir("/proc/self/fd") : NULL;

	if (!d)
		return;
	await_joined();
	put_descriptors(out, d, fileno(out));
	put_maps(out);
	put_lines(out, "/proc/self/status", status);
	put_lines(out, "/proc/self/limits", all);
	closedir(d);
	fclose(out);
}
