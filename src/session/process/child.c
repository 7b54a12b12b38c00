// SPDX-License-Identifier: BSD-2-Clause
/* CMD: a child that waits on a pipe until the probes are attached, then executes the command. If
 * bbtrace ends earlier, the child ends, too. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "child.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/request.h"
#include "interrupt.h"

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Returns a remedy for names that a shell would have treated: "./prog 1" it would split,
 * "NAME=1" set. */
static char *remedy_of_shell_words(const char *name)
{
	autofree char *first = xstrndup(name, strcspn(name, " "));

	if (strcspn(name, "=") < strcspn(name, "/ ") && strchr(name, '='))
		return xstrdup("; write env before it");
	if (strchr(name, ' ') && command__exists(first))
		return xasprintf("; without quotes, %s is the command", first);
	return NULL;
}

/* Returns the next step for the user, or "". */
static char *remedy(const char *name, int err)
{
	char *words = err == ENOENT ? remedy_of_shell_words(name) : NULL;
	struct stat st;

	if (words)
		return words;
	if (!strchr(name, '/'))
		return is_program(name) ? xasprintf("; did you mean ./%s?", name) : xstrdup("");
	if (err == EACCES && !stat(name, &st) && !(st.st_mode & 0111))
		return xstrdup("; chmod +x makes it executable");
	return xstrdup("");
}

static int cannot_run(const char *name, int err, int *status)
{
	autofree char *hint = remedy(name, err);

	*status = err == ENOENT || err == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	return err__set(err, "cannot run %s: %s%s", *name ? name : "''",
			*status == EXIT_NOT_FOUND ? "no such command" : strerror(err), hint);
}

int child__check(const char *name, int *status)
{
	autofree char *path = NULL;
	int err = command__look_up(name, &path);

	return err ? cannot_run(name, err, status) : 0;
}

/* Reports a failed exec. The command itself was found before: ENOENT means that its interpreter
 * is missing. */
static int cannot_exec(const char *name, int err, int *status)
{
	*status = EXIT_NOT_EXECUTABLE;
	return err__set(err, "cannot run %s: %s", name,
			err == ENOENT ? "its interpreter does not exist" : strerror(err));
}

static int become(const struct passwd *pw)
{
	if (initgroups(pw->pw_name, pw->pw_gid) || setgid(pw->pw_gid) || setuid(pw->pw_uid))
		return -errno;
	setenv("HOME", pw->pw_dir, 1);
	setenv("USER", pw->pw_name, 1);
	setenv("LOGNAME", pw->pw_name, 1);
	setenv("SHELL", *pw->pw_shell ? pw->pw_shell : "/bin/sh", 1);
	/* by exec root regains all capabilities, and a program that gains some loses its perf
	 * events */
	if (pw->pw_uid)
		privileges__none();
	return 0;
}

static void __attribute__((noreturn))
wait_and_exec(int go, int failed, char **command, const struct passwd *pw)
{
	int err = pw ? -become(pw) : 0;
	char byte;

	/* end of file without a byte: bbtrace has ended */
	if (read(go, &byte, 1) != 1)
		_exit(1);
	if (!err) {
		execvp(command[0], command);
		err = errno;
	}
	if (write(failed, &err, sizeof(err)) < 0)
		_exit(1);
	_exit(EXIT_NOT_FOUND);
}

/* Fails unless the caller may change the user: by capabilities of bbtrace's file, anybody could
 * become any other user, and root. */
static int may_change_user(void)
{
	with_own_rights;

	return privileges__check(PRIVILEGE_SETUID | PRIVILEGE_SETGID, "-u NAME");
}

int child__prepare(struct child *c, char **command, const char *user, int *status)
{
	struct passwd *pw = NULL;
	/* a mistake is reported before anything is probed */
	int go[2], failed[2], err = child__check(command[0], status);

	*c = (struct child){.name = command[0], .go = -1, .failed = -1};
	if (err)
		return err;
	*status = EXIT_CANNOT;
	if (user && !(pw = getpwnam(user)))
		return err__set(ENOENT, "no such user: '%s'", user);
	if (user && (err = may_change_user()))
		return err__prefix(err, "cannot run %s as %s", command[0], user);
	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		return err__set(errno, "cannot make a pipe: %s", strerror(errno));
	fflush(NULL);
	c->pid = fork();
	if (c->pid < 0)
		return err__set(errno, "cannot fork: %s", strerror(errno));
	if (!c->pid) {
		close(go[1]);
		close(failed[0]);
		wait_and_exec(go[0], failed[1], command, pw);
	}
	close(go[0]);
	close(failed[1]);
	c->go = go[1];
	c->failed = failed[0];
	return 0;
}

int child__start(struct child *c, int *status)
{
	int err = 0;
	ssize_t n;

	n = write(c->go, "", 1);
	close(c->go);
	c->go = -1;
	/* closed by a successful exec, else has its errno */
	if (n == 1)
		n = read(c->failed, &err, sizeof(err));
	close(c->failed);
	c->failed = -1;
	return n == sizeof(err) ? cannot_exec(c->name, err, status) : 0;
}

bool child__ended(struct child *c, bool wait)
{
	int status;

	if (c->ended || !c->pid)
		return c->ended;
	while (waitpid(c->pid, &status, wait ? 0 : WNOHANG) == c->pid) {
		c->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		c->status = c->signal ? 128 + c->signal : WEXITSTATUS(status);
		c->ended = true;
		break;
	}
	return c->ended;
}

/* A tracer may see the end of CMD before its parent can. */
void child__report_signal(struct child *c)
{
	if (child__ended(c, false) && c->signal && c->signal != SIGINT && c->signal != SIGPIPE)
		note("%s was killed by signal %d (%s)", c->name, c->signal, strsignal(c->signal));
}

/* True for a job in the foreground of a terminal, which the shell takes back when bbtrace ends. */
static bool has_terminal(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (tcgetpgrp(fd) == getpgrp())
			return true;
	return false;
}

/* Waits for a CMD that ends soon, so that its status is returned, as without -t. */
static bool ends_soon(struct child *c)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + CHILD_LEFT_S * 1000000000ull;

	while (!child__ended(c, false)) {
		if (interrupted || now_ns(CLOCK_MONOTONIC) > end)
			return false;
		usleep(10000);
	}
	return true;
}

bool child__leave(struct child *c)
{
	if (!c->pid || ends_soon(c) || interrupted)
		return false;
	if (has_terminal()) {
		note("%s still runs (PID %d) and has the terminal: waiting for it", c->name,
		     (int)c->pid);
		return false;
	}
	note("%s still runs (PID %d), no longer traced: left alone, with status %d", c->name,
	     (int)c->pid, EXIT_LEFT);
	return true;
}

void child__cancel(struct child *c)
{
	if (c->go >= 0)
		close(c->go);
	if (c->failed >= 0)
		close(c->failed);
	if (c->pid > 0 && !c->ended && c->go >= 0)
		child__ended(c, true);
	c->go = c->failed = -1;
}
