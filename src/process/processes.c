// SPDX-License-Identifier: BSD-2-Clause
/* Lists processes and threads from /proc. They may change meanwhile: those that have ended are left
 * out, and a caller that needs all of them lists again. */
#include <ctype.h>
#include <dirent.h>
#include <unistd.h>
#include "process/process.h"

/* Appends the numeric entries of a directory. */
static void read_numbers(const char *path, pid_vec *out)
{
	DIR *dir = opendir(path);
	struct dirent *d;

	if (!dir)
		return;
	while ((d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]))
			vec__push(out, (uint32_t)strtoul(d->d_name, NULL, 10));
	closedir(dir);
}

void process__threads(uint32_t pid, pid_vec *out)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	read_numbers(path, out);
}

/* proc(5), /proc/PID/stat: the state comes after the name. 0: there is no such thread. */
static char state_of(uint32_t pid, uint32_t tid)
{
	autofree char *text = NULL;
	const char *name_end;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, tid);
	if (file__read(path, 4096, &text, NULL))
		return 0;
	name_end = strrchr(text, ')');
	return name_end && name_end[1] ? name_end[2] : 0;
}

static bool is_zombie(uint32_t pid, uint32_t tid)
{
	char state = state_of(pid, tid);

	return state == 'Z' || state == 'X';
}

size_t process__sleeping(uint32_t pid, size_t *threads)
{
	autofree pid_vec tids = {0};
	const uint32_t *tid;
	size_t n = 0;

	process__threads(pid, &tids);
	vec__each (tid, &tids) {
		char state = state_of(pid, *tid);

		n += state == 'S' || state == 'D';
	}
	*threads = tids.len;
	return n;
}

bool thread__is_running(uint32_t pid, uint32_t tid)
{
	autofree char *text = NULL;
	char path[64];

	/* fs/proc/base.c, proc_pid_syscall(): "running", or the call's number; -1: none */
	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", pid, tid);
	return (file__read(path, 4096, &text, NULL) || !isdigit((unsigned char)*text)) &&
	       !is_zombie(pid, tid);
}

size_t process__running(uint32_t pid)
{
	autofree pid_vec tids = {0};
	const uint32_t *tid;
	size_t n = 0;

	process__threads(pid, &tids);
	vec__each (tid, &tids)
		n += thread__is_running(pid, *tid);
	return n;
}

void processes__all(pid_vec *out)
{
	read_numbers("/proc", out);
}

char *thread__status(uint32_t tid, const char *name)
{
	autofree char *text = NULL, *line = xasprintf("\n%s:", name);
	char path[32];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	if (file__read(path, 1 << 20, &text, NULL) || !(at = strstr(text, line)))
		return NULL;
	at += strlen(line);
	at += strspn(at, " \t");
	return xstrndup(at, strcspn(at, "\n"));
}

char thread__state(uint32_t tid)
{
	autofree char *state = thread__status(tid, "State");

	return state ? *state : 'X';
}

uint64_t thread__status_number(uint32_t tid, const char *name)
{
	autofree char *value = thread__status(tid, name);

	return value ? strtoull(value, NULL, 10) : 0;
}

/* Documentation/scheduler/sched-stats.rst: the first field. */
uint64_t thread__run_time(uint32_t tid)
{
	autofree char *text = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/schedstat", tid, tid);
	return file__read(path, 256, &text, NULL) ? 0 : strtoull(text, NULL, 10);
}

/* NSpid has its numbers from our namespace to its own. */
uint32_t thread__own_number(uint32_t tid)
{
	autofree char *all = thread__status(tid, "NSpid");
	const char *last = all ? strrchr(all, '\t') : NULL;
	uint32_t own = all ? strtoul(last ? last + 1 : all, NULL, 10) : 0;

	return own ? own : tid;
}

uint32_t process__of_thread(uint32_t tid)
{
	return thread__status_number(tid, "Tgid");
}

char *process__program(uint32_t pid)
{
	char link[32], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return NULL;
	path[n] = 0;
	return path__undeleted(path);
}

#define COMM_MAX 15 /* the kernel cuts names there */

static bool has_name(uint32_t pid, const char *name)
{
	autofree char *path = xasprintf("/proc/%u/comm", pid), *own = NULL, *program = NULL;

	if (pid == (uint32_t)getpid() || file__read(path, 4096, &own, NULL))
		return false;
	own[strcspn(own, "\n")] = 0;
	if (!strcmp(own, name))
		return true;
	if (strlen(name) <= COMM_MAX || strncmp(own, name, COMM_MAX) != 0)
		return false;
	program = process__program(pid);
	return program && !strcmp(path__base_name(program), name);
}

void processes__named(const char *name, pid_vec *out)
{
	autofree pid_vec all = {0};
	const uint32_t *p;

	processes__all(&all);
	vec__each (p, &all)
		if (has_name(*p, name))
			vec__push(out, *p);
}

uint32_t process__parent(uint32_t tid)
{
	return thread__status_number(tid, "PPid");
}

void processes__descendants(pid_vec *pids)
{
	struct map64 inside = {0};
	pid_vec all = {0};
	const uint32_t *pid;
	size_t before;

	vec__each (pid, pids)
		map64__put(&inside, *pid);
	processes__all(&all);
	do {
		before = pids->len;
		vec__each (pid, &all) {
			if (map64__get(&inside, *pid) ||
			    !map64__get(&inside, process__parent(*pid)))
				continue;
			map64__put(&inside, *pid);
			vec__push(pids, *pid);
		}
	} while (pids->len > before);
	map64__free(&inside);
	vec__free(&all);
}
