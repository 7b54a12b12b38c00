// SPDX-License-Identifier: BSD-2-Clause
/*
 * A debugger's breakpoints as a yardstick: a breakpoint at each site of a program, by ptrace. At a
 * hit it reads the registers (a tracer needs them), restores the instruction, steps over it, and
 * sets the breakpoint again; less would be incorrect. One thread, and the program only, not its
 * libraries.
 *
 *   int3 FILE OFFSET[=COOKIE[:WORD]],... -- CMD ARG...
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct site {
	uint64_t offset, addr;
	long word; /* what was there */
};

static struct site *sites;
static size_t nsites;
static unsigned long long hits;

static void die(const char *what)
{
	fprintf(stderr, "int3: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int by_addr(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void parse_sites(const char *list)
{
	char *end;

	sites = calloc(strlen(list) + 1, sizeof(*sites));
	for (; *list; list = *end ? end + 1 : end) {
		sites[nsites++].offset = strtoull(list, &end, 0);
		if (end == list) {
			errno = EINVAL;
			die(list);
		}
		end += strcspn(end, ","); /* its cookie and word */
	}
}

/* The running address of each site, from the process's maps; false: it doesn't map the file. */
static int place(pid_t pid, ino_t ino)
{
	unsigned long long start, end, at, inode;
	char path[64], line[4400], exec;
	size_t placed = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %*c%*c%c%*c %llx %*s %llu", &start, &end, &exec, &at,
			   &inode) != 5 ||
		    exec != 'x' || inode != ino)
			continue;
		for (size_t i = 0; i < nsites; i++)
			if (sites[i].offset >= at && sites[i].offset - at < end - start) {
				sites[i].addr = start + sites[i].offset - at;
				placed++;
			}
	}
	if (maps)
		fclose(maps);
	return placed == nsites;
}

static void set(pid_t pid, const struct site *s)
{
	if (ptrace(PTRACE_POKETEXT, pid, s->addr, (s->word & ~0xffl) | 0xcc))
		die("PTRACE_POKETEXT");
}

static void set_all(pid_t pid)
{
	qsort(sites, nsites, sizeof(*sites), by_addr);
	for (size_t i = 0; i < nsites; i++)
		sites[i].word = ptrace(PTRACE_PEEKTEXT, pid, sites[i].addr, 0);
	for (size_t i = 0; i < nsites; i++)
		set(pid, &sites[i]);
}

/* Only the first byte is ours: a neighbour's breakpoint, if it lies in the same word, stays. */
static void put_back(pid_t pid, const struct site *s)
{
	long now = ptrace(PTRACE_PEEKTEXT, pid, s->addr, 0);

	ptrace(PTRACE_POKETEXT, pid, s->addr, (now & ~0xffl) | (s->word & 0xff));
}

static void set_again(pid_t pid, const struct site *s)
{
	long now = ptrace(PTRACE_PEEKTEXT, pid, s->addr, 0);

	ptrace(PTRACE_POKETEXT, pid, s->addr, (now & ~0xffl) | 0xcc);
}

/* A stop at one of the sites; the signal to deliver otherwise. */
static int at_stop(pid_t pid, int sig, int *status)
{
	struct user_regs_struct regs;
	struct site key, *s;

	if (sig != SIGTRAP || ptrace(PTRACE_GETREGS, pid, 0, &regs))
		return sig;
	key.addr = regs.rip - 1;
	s = bsearch(&key, sites, nsites, sizeof(*sites), by_addr);
	if (!s)
		return sig;
	hits++;
	regs.rip--;
	if (ptrace(PTRACE_SETREGS, pid, 0, &regs))
		die("PTRACE_SETREGS");
	put_back(pid, s);
	if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) || waitpid(pid, status, 0) != pid)
		die("PTRACE_SINGLESTEP");
	if (WIFSTOPPED(*status))
		set_again(pid, s);
	return 0;
}

static int trace(pid_t pid, ino_t ino)
{
	int status, sig = 0, placed = 0;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL))
		die("PTRACE_SETOPTIONS");
	for (;;) {
		if (ptrace(PTRACE_CONT, pid, 0, sig) || waitpid(pid, &status, 0) != pid)
			die("PTRACE_CONT");
		sig = 0;
		if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC) {
			placed = place(pid, ino);
			if (placed)
				set_all(pid);
		} else if (WIFSTOPPED(status)) {
			sig = placed ? at_stop(pid, WSTOPSIG(status), &status) : WSTOPSIG(status);
		}
		if (WIFEXITED(status))
			return placed ? WEXITSTATUS(status) : 1;
		if (WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
	}
}

int main(int argc, char **argv)
{
	struct stat st;
	int status;
	pid_t pid;

	if (argc < 5 || strcmp(argv[3], "--")) {
		fprintf(stderr, "usage: int3 FILE OFFSET,... -- CMD ARG...\n");
		return 2;
	}
	if (stat(argv[1], &st))
		die(argv[1]);
	parse_sites(argv[2]);
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execvp(argv[4], argv + 4);
		die(argv[4]);
	}
	status = trace(pid, st.st_ino);
	fprintf(stderr, "int3: %llu hits\n", hits);
	return status;
}
