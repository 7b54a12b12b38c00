// SPDX-License-Identifier: BSD-2-Clause
/*
 * Closing tracefs events and deleting their definitions. Both take long and change nothing any more
 * once bbtrace has taken its last record, so a silent child does it, unnoticed:
 *
 * - Closing a uprobe event waits for six grace periods, 80 to 200 ms. Until then its breakpoints
 * and its definitions, with a reference to each traced file, still exist. A running process would
 * continue to pay for them, and a file system of their own couldn't be unmounted.
 * - Deleting hundreds of kprobe definitions takes seconds. They are disarmed before.
 *
 * A kernel that still has a uprobe keeps its copy of the instruction, even if the file is rewritten
 * in place (kernel/events/uprobes.c, prepare_uprobe()). So a bbtrace that attaches to a file that
 * has just changed waits for the events that are being closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/session.h"
#include "tracefs.h"
#include "bbtrace.skel.h"

typedef VEC(int) fd_vec;

static bool has(const fd_vec *v, int wanted)
{
	const int *fd;

	vec__each (fd, v)
		if (*fd == wanted)
			return true;
	return false;
}

/* In the child: keeps only these open, and can't be heard nor signaled by a terminal. One of them
 * may be a standard stream that bbtrace was started without. */
static void become_daemon(fd_vec *keep)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (int i = 0; i <= STDERR_FILENO; i++) {
		if (has(keep, i))
			continue;
		dup2(null, i);
		vec__push(keep, i);
	}
	fd__close_others(keep->data, keep->len);
}

/* ---- uprobes ---- */

#define PATIENCE_US 5000000

/*
 * An exiting task releases its inherited event asynchronously. A definition that is deleted before
 * that would be used after free: the kernel checks only the last definition of an event
 * (kernel/trace/trace_uprobe.c, unregister_trace_uprobe()). True: no user but our own is left.
 */
static bool is_unused(struct probe *p)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int program = bpf_program__fd(p->skel->progs.count_users);

	if (!probe__inherits(p) || !p->programs.links.len)
		return true;
	p->skel->bss->event_fd = p->programs.event_fd;
	for (unsigned waited = 0; waited < PATIENCE_US; waited += 1000) {
		if (!bpf_prog_test_run_opts(program, &run) && p->skel->bss->event_users == 1)
			return true;
		usleep(1000);
	}
	note_verbose("definitions are left for a later run to delete: tasks still use them");
	return false;
}

/* fd: of the definitions, -1: there are none. */
static void close_event(struct probe *p, int fd, struct tracer own)
{
	bool unused = is_unused(p);

	attachment__drop_links(&p->programs, 0);
	if (unused && fd >= 0)
		tracefs__undefine(fd, TRACEFS_UPROBE, own);
}

static bool is_on_root(const struct plan *plan)
{
	const struct plan_object *o;
	struct stat root;

	if (stat("/", &root))
		return false;
	vec__each (o, &plan->objects)
		if (!o->kernel && o->object->dev != root.st_dev)
			return false;
	return true;
}

/* CMD has nearly always ended. The end of an inner PID namespace could kill the child. */
static bool may_close_later(const struct probe *p, int fd)
{
	return fd >= 0 && p->programs.links.len && p->options->filters.command &&
	       tracer__sees_all() && is_on_root(p->plan);
}

/* Begins when bbtrace has closed its own descriptors: end has a reader only here. */
static void __attribute__((noreturn))
close_in_background(struct probe *p, int fd, int closing, const int end[2], struct tracer own)
{
	fd_vec keep = {0};
	const struct attached *a;
	char byte;

	vec__each (a, &p->programs.links)
		vec__push(&keep, bpf_link__fd(a->link));
	vec__push(&keep, p->programs.event_fd);
	if (probe__inherits(p))
		vec__push(&keep, bpf_program__fd(p->skel->progs.count_users));
	vec__push(&keep, fd);
	vec__push(&keep, closing);
	vec__push(&keep, end[0]);
	become_daemon(&keep);
	while (read(end[0], &byte, 1) < 0 && errno == EINTR)
		;
	close_event(p, fd, own);
	_exit(0);
}

/* Returns false if it has to be closed now. */
static bool close_later(struct probe *p, int fd, struct tracer own)
{
	autoclose int closing = tracefs__begin_closing(p->programs.tracefs);
	int end[2];
	pid_t pid;

	if (closing < 0 || pipe2(end, O_CLOEXEC))
		return false;
	fflush(NULL);
	pid = fork();
	if (!pid)
		close_in_background(p, fd, closing, end, own);
	close(end[0]);
	if (pid > 0)
		attachment__drop_links(&p->programs, 0);
	close(end[1]);
	return pid > 0;
}

static void close_events(struct probe *p)
{
	const int *fd;

	vec__each (fd, &p->programs.events)
		close(*fd);
	p->programs.events.len = 0;
}

/* While nothing is recorded, the definitions stay; without the event no probe is armed. */
int uprobe_event__park(struct probe *p)
{
	close_events(p);
	attachment__drop_links(&p->programs, 0);
	return 0;
}

int kprobe_event__park(struct probe *p)
{
	attachment__drop_links(&p->kernel, 0);
	return 0;
}

void uprobe_event__detach(struct probe *p)
{
	autoclose int fd = -1;

	close_events(p);
	if (p->programs.tracefs >= 0)
		fd = tracefs__open(p->programs.tracefs, TRACEFS_UPROBE);
	if (!may_close_later(p, fd) || !close_later(p, fd, tracer__own()))
		close_event(p, fd, tracer__own());
	if (p->programs.tracefs >= 0)
		close(p->programs.tracefs);
}

/* ---- kprobes ---- */

static void __attribute__((noreturn)) delete_in_background(int fd, struct tracer own)
{
	fd_vec keep = {0};

	vec__push(&keep, fd);
	become_daemon(&keep);
	/* -EBUSY until the tracer has closed the events */
	for (int i = 0; i < 600 && tracefs__undefine(fd, TRACEFS_KPROBE, own) == -EBUSY; i++)
		usleep(50000);
	_exit(0);
}

/* Returns when the child has closed its descriptors of the event: closing it here then disarms the
 * probes. */
static void leave_definitions(int fd)
{
	struct tracer own = tracer__own();
	int end[2];
	char byte;

	fflush(NULL);
	if (pipe2(end, O_CLOEXEC))
		return;
	if (!fork())
		delete_in_background(fd, own);
	close(end[1]);
	while (read(end[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(end[0]);
}

void kprobe_event__detach(struct probe *p)
{
	int fd;

	if (p->kernel.tracefs < 0)
		return;
	fd = tracefs__open(p->kernel.tracefs, TRACEFS_KPROBE);
	if (fd >= 0)
		leave_definitions(fd);
	attachment__drop_links(&p->kernel, 0);
	if (fd >= 0)
		close(fd);
	close(p->kernel.tracefs);
}

/* ---- events that others are closing ---- */

#define JUST_S 10 /* longer than any event takes to be closed */

static bool has_just_changed(const struct object *o)
{
	struct stat st;

	return stat(o->attach_path, &st) || time(NULL) - st.st_ctim.tv_sec < JUST_S;
}

int closings__await(int root, const struct plan *plan)
{
	bool changed = false;
	const struct plan_object *o;

	vec__each (o, &plan->objects)
		changed |= !o->kernel && has_just_changed(o->object);
	return changed ? tracefs__await_closings(root) : 0;
}
