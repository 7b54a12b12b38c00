// SPDX-License-Identifier: BSD-2-Clause
/* The pager, a child whose stdin is our stdout; and the progress line on stderr. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "pager.h"
#include "render.h"

/* Options as git(1) and systemctl(1) set them: quit if it fits one screen, raw colours, no
 * clearing. */
#define LESS_OPTIONS "FRX"

static void exec_pager(const char *command, int in)
{
	dup2(in, STDIN_FILENO);
	setenv("LESS", LESS_OPTIONS, 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static bool is_there(const char *name)
{
	const char *path = getenv("PATH");
	autofree char *copy = xstrdup(path ? path : "/usr/bin:/bin");
	char *save = NULL;

	for (char *p = strtok_r(copy, ":", &save); p; p = strtok_r(NULL, ":", &save)) {
		autofree char *file = xasprintf("%s/%s", p, name);

		if (!access(file, X_OK))
			return true;
	}
	return false;
}

static const char *pager_command(void)
{
	const char *command = getenv("PAGER");

	if (command)
		return command;
	/* on a dumb terminal less(1) warns and waits for a key */
	return is_there("less") && !terminal__is_dumb() ? "less" : "";
}

/* The pager's process, which has bbtrace's original rights, and the write end of its stdin. */
static struct {
	pid_t pid;
	int go, out;
} prepared;

static void __attribute__((noreturn)) await_start(const char *command, int go, int in)
{
	char byte;
	ssize_t n;

	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		exec_pager(command, in);
	_exit(0);
}

void pager__prepare(void)
{
	const char *command = pager_command();
	int data[2], go[2];

	if (!*command || !strcmp(command, "cat") || pipe2(data, O_CLOEXEC))
		return;
	if (pipe2(go, O_CLOEXEC)) {
		close(data[0]);
		close(data[1]);
		return;
	}
	prepared.pid = fork();
	if (!prepared.pid) {
		close(data[1]);
		close(go[1]);
		await_start(command, go[0], data[0]);
	}
	close(data[0]);
	close(go[0]);
	prepared.go = go[1];
	prepared.out = data[1];
}

pid_t pager__start(void)
{
	pid_t pid = prepared.pid;

	if (pid <= 0 || write(prepared.go, "", 1) != 1)
		return 0;
	fflush(stdout);
	dup2(prepared.out, STDOUT_FILENO);
	close(prepared.out);
	close(prepared.go);
	/* Ctrl-C of the terminal is for the pager */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	return pid;
}

void pager__wait(pid_t pager)
{
	int status = 0;

	if (!pager)
		return;
	close(STDOUT_FILENO);
	while (waitpid(pager, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) /* sh(1) did not find it */
		note("the pager '%s' was not found; PAGER= shows the trace without one",
		     pager_command());
}

/* ---- progress ---- */

bool terminal__is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !strcmp(term, "dumb");
}

#define FIRST_NS 1000000000ull /* no progress is shown for work that is shorter */
#define EVERY_NS 200000000ull
#define MANY	 4096 /* from this number of probes on, it is shown earlier */
#define LONG_NS	 10000000000ull
#define CLEAR	 "\r\033[K"

void progress__read(struct progress *p, bool wanted, uint64_t bytes)
{
	*p = (struct progress){
		.shown = wanted && isatty(STDERR_FILENO) && !terminal__is_dumb(),
		.total = bytes,
	};
	p->start = p->last = now_ns(CLOCK_MONOTONIC);
}

void progress__work(struct progress *p, bool wanted, const char *what, uint64_t total)
{
	progress__read(p, wanted, total);
	p->what = what;
}

void progress__attach(struct progress *p, bool wanted, uint64_t probes, uint64_t work)
{
	progress__read(p, wanted, work);
	p->probes = probes;
}

static void show_progress(const struct progress *p, uint64_t now)
{
	double seconds = (now - p->start) / 1e9, rate = p->done / seconds;

	if (p->what)
		fprintf(stderr, CLEAR "bbtrace: %s: %.0f %%, about %.0f s left", p->what,
			min_of(100.0 * p->done / p->total, 99.0),
			p->done < p->total ? (p->total - p->done) / rate : 0.0);
	else if (p->probes)
		fprintf(stderr,
			CLEAR "bbtrace: attaching %llu probes: %.0f %%, %.0f/s, %.0f s left",
			(unsigned long long)p->probes, 100.0 * p->done / p->total,
			p->attached / seconds, (p->total - p->done) / rate);
	else if (p->total && p->done <= p->total)
		fprintf(stderr, CLEAR "bbtrace: %.0f %%, %.1f MB/s, %.0f s left",
			100.0 * p->done / p->total, rate / 1e6, (p->total - p->done) / rate);
	else
		fprintf(stderr, CLEAR "bbtrace: %.1f MB, %.1f MB/s", p->done / 1e6, rate / 1e6);
}

static bool is_due(const struct progress *p, uint64_t now)
{
	if (p->probes && p->last == p->start && p->attached >= MANY)
		return true;
	return now - p->start >= FIRST_NS && now - p->last >= EVERY_NS;
}

/* For a stderr that is a log: prints the estimate once, if it is known and long. */
static void report_estimate(struct progress *p, uint64_t now)
{
	double left = (now - p->start) * 1.0 / p->done * (p->total - min_of(p->done, p->total));

	if (p->estimated || now - p->start < FIRST_NS || left < LONG_NS)
		return;
	p->estimated = true;
	note("attaching %llu probes takes about %.0f s more; Ctrl-C ends it",
	     (unsigned long long)p->probes, left / 1e9);
}

void progress__add(struct progress *p, uint64_t n)
{
	uint64_t now;

	p->done += n;
	if (p->probes && !p->shown && p->done)
		report_estimate(p, now_ns(CLOCK_MONOTONIC));
	if (!p->shown)
		return;
	if (p->probes && p->done >= p->total) {
		progress__end(p);
		return;
	}
	now = now_ns(CLOCK_MONOTONIC);
	if (!is_due(p, now))
		return;
	p->last = now;
	show_progress(p, now);
}

void progress__attached(struct progress *p, uint64_t probes, uint64_t work)
{
	p->attached += probes;
	progress__add(p, work);
}

void progress__end(struct progress *p)
{
	if (p->shown && p->last != p->start)
		fputs(CLEAR, stderr);
	p->shown = false;
}
