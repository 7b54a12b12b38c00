// SPDX-License-Identifier: BSD-2-Clause
/* tracefs: names and definitions of events. See tracefs.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "source/probes/session.h"
#include "tracefs.h"

static const struct {
	const char *file, *event, *option, *pmu;
} kinds[] = {
	[TRACEFS_UPROBE] = {"uprobe_events", "user", "CONFIG_UPROBE_EVENTS",
			    "/sys/bus/event_source/devices/uprobe"},
	[TRACEFS_KPROBE] = {"kprobe_events", "kernel", "CONFIG_KPROBE_EVENTS",
			    "/sys/bus/event_source/devices/kprobe"},
	[TRACEFS_KRETPROBE] = {"kprobe_events", "return", "CONFIG_KPROBE_EVENTS",
			       "/sys/bus/event_source/devices/kprobe"},
};

/* ---- the owner of definitions ---- */

/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
#define INITIAL_PID_NS 0xEFFFFFFCu

struct tracer tracer__own(void)
{
	struct stat st;

	return (struct tracer){.ns = stat("/proc/self/ns/pid", &st) ? INITIAL_PID_NS
								    : (uint32_t)st.st_ino,
			       .pid = shield__pid()};
}

bool tracer__is_neighbour(struct tracer t)
{
	return t.ns == tracer__own().ns;
}

bool tracer__sees_all(void)
{
	return tracer__own().ns == INITIAL_PID_NS;
}

static void put_name(enum tracefs_kind kind, struct tracer t, char *out, size_t size)
{
	char id[32];

	if (t.ns == INITIAL_PID_NS)
		snprintf(id, sizeof(id), "%d", t.pid);
	else
		snprintf(id, sizeof(id), "%d_%u", t.pid, t.ns);
	snprintf(out, size, "bbtrace_%s/%s_%s", id, kinds[kind].event, id);
}

void tracefs__event_name(enum tracefs_kind kind, pid_t pid, char *out, size_t size)
{
	put_name(kind, (struct tracer){.ns = tracer__own().ns, .pid = pid}, out, size);
}

#define GROUP ":bbtrace_"

const char *tracefs__next_tracer(const char *text, struct tracer *t)
{
	char *end;

	while ((text = strstr(text, GROUP))) {
		text += strlen(GROUP);
		t->pid = strtol(text, &end, 10);
		t->ns = *end == '_' ? strtoul(end + 1, &end, 10) : INITIAL_PID_NS;
		if (t->pid > 0 && *end == '/')
			return end;
	}
	return NULL;
}

/*
 * Each tracer locks its own byte of the file. The lock is visible in all namespaces. Processes that
 * share the tracer's open file (shield.c, the child that deletes) hold it, too, and it is released
 * when the last of them ends.
 */
static struct flock lock_of(struct tracer t, short type)
{
	return (struct flock){.l_type = type,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)t.ns << 22 | t.pid, /* PID_MAX_LIMIT */
			      .l_len = 1};
}

int tracefs__lock(int fd, struct tracer t, bool wait)
{
	struct flock lock = lock_of(t, F_WRLCK);

	return fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) ? -errno : 0;
}

void tracefs__unlock(int fd, struct tracer t)
{
	struct flock lock = lock_of(t, F_UNLCK);

	fcntl(fd, F_OFD_SETLK, &lock);
}

/* No tracer has this one. */
static const struct tracer closings;

/* ---- the definition files ---- */

static int read_at(int root, const char *path, char **text)
{
	autoclose int fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	char *proc;
	int err;

	if (fd < 0)
		return err__set(errno, "cannot open tracefs's %s: %s", path, strerror(errno));
	proc = xasprintf("/proc/self/fd/%d", fd);
	err = file__read(proc, 256u << 20, text, NULL);
	free(proc);
	return err;
}

int tracefs__mount(void)
{
	return kernel_fs__open(KERNEL_TRACEFS);
}

static int refuse_access(enum tracefs_kind kind)
{
	return err__set(EACCES, "tracefs's %s needs root or CAP_DAC_OVERRIDE", kinds[kind].file);
}

static int refuse_option(enum tracefs_kind kind)
{
	return err__set(ENOENT, "the kernel was built without %s", kinds[kind].option);
}

int tracefs__open_file(int root, enum tracefs_kind kind)
{
	int fd = openat(root, kinds[kind].file, O_RDWR | O_APPEND | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		return refuse_option(kind);
	if (errno == EACCES)
		return refuse_access(kind);
	if (errno == EROFS)
		return err__set(EROFS, "tracefs is mounted read-only: mount -o remount,rw %s",
				kernel_fs__place(KERNEL_TRACEFS));
	return err__set(errno, "cannot open %s: %s", kinds[kind].file, strerror(errno));
}

/* Checks without mounting. kernel/events/core.c, perf_tp_register(): the PMU depends on the same
 * option. */
static int predict(enum tracefs_kind kind)
{
	int err = kernel_fs__can_mount(KERNEL_TRACEFS);

	if (err)
		return err;
	if (access(kinds[kind].pmu, F_OK))
		return refuse_option(kind);
	return geteuid() && privileges__missing(PRIVILEGE_DAC_OVERRIDE) ? refuse_access(kind) : 0;
}

/* Whether this could be defined. Mounts nothing. Returns 0, or -errno with the message set. */
static int check_kind(enum tracefs_kind kind)
{
	autoclose int root = kernel_fs__find(KERNEL_TRACEFS);
	autoclose int fd = -1;

	if (root == -ENOENT)
		return predict(kind);
	if (root < 0)
		return root;
	fd = tracefs__open_file(root, kind);
	return fd < 0 ? fd : 0;
}

static int open_locked(int root, enum tracefs_kind kind)
{
	int fd = tracefs__open_file(root, kind),
	    err = fd < 0 ? 0 : tracefs__lock(fd, tracer__own(), true);

	if (!err)
		return fd;
	close(fd);
	return err__set(-err, "cannot lock tracefs's %s: %s", kinds[kind].file, strerror(-err));
}

#define CLOSINGS_S 60

/* Opened while this process may open it, for the next closing: a lock belongs to an open file, and
 * ends with the last descriptor of that. */
static int spare = -1;

static int take_spare(void)
{
	int fd = spare;

	spare = -1;
	return fd;
}

int tracefs__open(int root, enum tracefs_kind kind)
{
	static int own[] = {-1, -1}; /* open from the first definition until the process ends */

	if (own[kind] < 0)
		own[kind] = open_locked(root, kind);
	if (kind == TRACEFS_UPROBE && spare < 0)
		spare = tracefs__open_file(root, kind);
	return own[kind] < 0 ? own[kind] : fcntl(own[kind], F_DUPFD_CLOEXEC, 0);
}

static bool lock_closings(int fd, short type)
{
	struct flock lock = lock_of(closings, type);

	return !fcntl(fd, F_OFD_SETLK, &lock);
}

int tracefs__begin_closing(int root)
{
	int fd = take_spare();

	if (fd < 0)
		fd = tracefs__open_file(root, TRACEFS_UPROBE);
	if (fd >= 0 && lock_closings(fd, F_RDLCK))
		return fd;
	if (fd >= 0)
		close(fd);
	err__clear();
	return -1;
}

int tracefs__await_closings(int root)
{
	autoclose int fd = tracefs__open_file(root, TRACEFS_UPROBE);
	uint64_t end = now_ns(CLOCK_MONOTONIC) + CLOSINGS_S * 1000000000ull;

	err__clear();
	while (fd >= 0 && !lock_closings(fd, F_WRLCK) && (errno == EAGAIN || errno == EACCES)) {
		if (now_ns(CLOCK_MONOTONIC) > end)
			return err__set(EBUSY,
					"another bbtrace has been detaching from programs for %d "
					"seconds: end it, or try again later",
					CLOSINGS_S);
		usleep(10000);
	}
	return 0;
}

int tracefs__read(int root, enum tracefs_kind kind, char **text)
{
	return read_at(root, kinds[kind].file, text);
}

int tracefs__define(int fd, const char *line)
{
	size_t len = strlen(line);

	return write(fd, line, len) == (ssize_t)len ? 0 : -errno;
}

static int undefine(int fd, enum tracefs_kind kind, struct tracer t)
{
	char name[64], line[80];

	put_name(kind, t, name, sizeof(name));
	snprintf(line, sizeof(line), "-:%s\n", name);
	return tracefs__define(fd, line);
}

int tracefs__undefine(int fd, enum tracefs_kind kind, struct tracer t)
{
	int err = undefine(fd, kind, t), returns;

	if (kind != TRACEFS_KPROBE)
		return err;
	returns = undefine(fd, TRACEFS_KRETPROBE, t);
	return err == -ENOENT || returns == -EBUSY ? returns : err;
}

/* A definition of an event is named by all that follows its name: the address, which the kernel
 * shows hashed, and its arguments. */
static char *find_definition(const char *text, const char *event, uint64_t addr)
{
	autofree char *argument = xasprintf(" at=\\0x%llx:x64", (unsigned long long)addr);
	size_t len = strlen(event);
	const char *line, *end, *name;

	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		name = memchr(line, ':', end - line);
		if (!name || strncmp(name + 1, event, len) || name[1 + len] != ' ' ||
		    end - line < (ptrdiff_t)strlen(argument) ||
		    strncmp(end - strlen(argument), argument, strlen(argument)))
			continue;
		return xasprintf("-:%.*s\n", (int)(end - name - 1), name + 1);
	}
	return NULL;
}

int tracefs__remove(int root, enum tracefs_kind kind, uint64_t addr)
{
	autoclose int fd = tracefs__open(root, kind == TRACEFS_KRETPROBE ? TRACEFS_KPROBE : kind);
	autofree char *text = NULL;
	autofree char *line = NULL;
	char event[64];

	if (fd < 0 || tracefs__read(root, kind, &text))
		return -EIO;
	tracefs__event_name(kind, shield__pid(), event, sizeof(event));
	line = find_definition(text, event, addr);
	return line ? tracefs__define(fd, line) : -ENOENT;
}

void tracefs__remove_all(int root, enum tracefs_kind kind, const uint64_t *addresses, size_t n)
{
	autoclose int fd = tracefs__open(root, kind);
	autofree char *text = NULL;
	char event[64];

	if (fd < 0 || tracefs__read(root, kind, &text))
		return;
	tracefs__event_name(kind, shield__pid(), event, sizeof(event));
	for (size_t i = 0; i < n; i++) {
		autofree char *line = find_definition(text, event, addresses[i]);

		if (line)
			tracefs__define(fd, line);
	}
}

int tracefs__delete(int root, enum tracefs_kind kind)
{
	autoclose int fd = tracefs__open(root, kind);

	return fd < 0 ? fd : tracefs__undefine(fd, kind, tracer__own());
}

int tracefs__event_id(int root, enum tracefs_kind kind)
{
	autofree char *text = NULL;
	char name[64], path[128];
	int err;

	tracefs__event_name(kind, shield__pid(), name, sizeof(name));
	snprintf(path, sizeof(path), "events/%s/id", name);
	err = read_at(root, path, &text);
	return err ? err : atoi(text);
}

int tracefs__misses(int root, missed_fn fn, void *ctx)
{
	autofree char *profile = NULL;
	autofree char *definitions = NULL;
	char event[64];
	int err = read_at(root, "kprobe_profile", &profile);

	if (!err)
		err = read_at(root, kinds[TRACEFS_KPROBE].file, &definitions);
	tracefs__event_name(TRACEFS_KPROBE, shield__pid(), event, sizeof(event));
	return err ? err : kprobe_profile__read(profile, definitions, event, fn, ctx);
}

/* ---- as features of this machine ---- */

int feature__tracefs_uprobes(void)
{
	return check_kind(TRACEFS_UPROBE);
}

int feature__tracefs_kprobes(void)
{
	return check_kind(TRACEFS_KPROBE);
}
