// SPDX-License-Identifier: BSD-2-Clause
/*
 * leftovers: deletes the definitions of killed tracers. When a bbtrace is killed, the kernel closes
 * its files, but its definitions stay, disarmed, with a reference to the traced file. The next run
 * deletes them, but never those of a live tracer: tracefs.h says why.
 *
 * A tracer is dead if no process holds its lock and no process that may be it is still exiting: the
 * lock is released with the first of its files, the event maybe with the last. Definitions of
 * processes that aren't visible here are left to a bbtrace that sees them.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "source/probes/session.h"
#include "tracefs.h"

/* The time for exiting traced processes to release inherited events, which are not in any process's
 * files. */
#define SETTLE_US 100000

/* include/linux/sched.h */
#define PF_EXITING 0x4u

/* /proc/PID/stat, proc_pid_stat(5). If the lock is not held, a process that isn't exiting is
 * another one with the same PID, unless it is an old bbtrace. */
static bool may_be_tracer(const char *stat)
{
	const char *name = strchr(stat, '('), *end = strrchr(stat, ')');
	char own[16] = "", state = 'X';
	unsigned flags = PF_EXITING;

	prctl(PR_GET_NAME, own);
	if (!name || !end || sscanf(end, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
		return true;
	return state == 'Z' || state == 'X' || flags & PF_EXITING ||
	       ((size_t)(end - name - 1) == strlen(own) && !strncmp(name + 1, own, strlen(own)));
}

static bool is_process(pid_t pid)
{
	autofree char *path = xasprintf("/proc/%d/stat", pid);
	autofree char *stat = NULL;

	if (kill(pid, 0) && errno == ESRCH)
		return false;
	return file__read(path, 4096, &stat, NULL) || may_be_tracer(stat);
}

/* Returns true if this process has that PID in that namespace. NSpid: the innermost is last. */
static bool goes_by(const char *proc, struct tracer t)
{
	autofree char *ns = xasprintf("/proc/%s/ns/pid", proc);
	autofree char *path = xasprintf("/proc/%s/status", proc);
	autofree char *status = NULL;
	const char *line, *last;
	struct stat st;

	if (stat(ns, &st) || st.st_ino != t.ns || file__read(path, 1u << 16, &status, NULL))
		return false; /* ended meanwhile: is_gone() has checked that nothing is hidden */
	line = strstr(status, "\nNSpid:");
	if (!line)
		return true;
	last = line += strlen("\nNSpid:");
	for (; *line != '\n' && *line; line++)
		if (isspace((unsigned char)*line))
			last = line;
	return atoi(last) == t.pid;
}

static bool is_inner_process(struct tracer t)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	bool found = !proc;

	while (!found && (e = readdir(proc)))
		found = isdigit((unsigned char)*e->d_name) && goes_by(e->d_name, t);
	if (proc)
		closedir(proc);
	return found;
}

static bool is_gone(struct tracer t)
{
	if (tracer__is_neighbour(t))
		return !is_process(t.pid);
	return tracer__sees_all() && !privileges__missing(PRIVILEGE_SYS_PTRACE) &&
	       !is_inner_process(t);
}

static bool delete_leftover(int fd, enum tracefs_kind kind, struct tracer t)
{
	bool deleted;

	if (tracefs__lock(fd, t, false))
		return false;
	if (kind == TRACEFS_UPROBE && is_gone(t))
		usleep(SETTLE_US);
	deleted = is_gone(t) && !tracefs__undefine(fd, kind, t);
	tracefs__unlock(fd, t);
	return deleted;
}

/* A tracer that was looked at: of many probes that two of them define at the same time, each other
 * one is. */
struct seen {
	struct tracer t;
	bool deleted;
};
typedef VEC(struct seen) seen_vec;

static bool is_deleted(seen_vec *all, int fd, enum tracefs_kind kind, struct tracer t)
{
	struct seen *s;

	vec__each (s, all)
		if (s->t.pid == t.pid && s->t.ns == t.ns)
			return s->deleted;
	vec__push(all, (struct seen){t, delete_leftover(fd, kind, t)});
	return vec__last(all)->deleted;
}

/* Deletes each event of theirs, which has all of its definitions. Returns the number of these. */
static int sweep_kind(int root, enum tracefs_kind kind)
{
	autofree char *text = NULL;
	autoclose int fd = -1;
	struct tracer t = {0};
	seen_vec all = {0};
	const char *at;
	int n = 0;

	if (tracefs__read(root, kind, &text) || !tracefs__next_tracer(text, &t))
		return 0;
	fd = tracefs__open_file(root, kind);
	for (at = text; fd >= 0 && (at = tracefs__next_tracer(at, &t));)
		n += is_deleted(&all, fd, kind, t);
	vec__free(&all);
	return n;
}

int leftovers__handle(int root, const struct plan *plan)
{
	int n = sweep_kind(root, TRACEFS_UPROBE) + sweep_kind(root, TRACEFS_KPROBE);

	if (n)
		note_verbose("deleted %d probe definitions that killed tracers left behind", n);
	return closings__await(root, plan);
}

int leftovers__handle_mounted(const struct plan *plan)
{
	autoclose int root = kernel_fs__find(KERNEL_TRACEFS);

	if (root >= 0)
		return leftovers__handle(root, plan);
	err__clear();
	return 0;
}
