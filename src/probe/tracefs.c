// SPDX-License-Identifier: BSD-2-Clause
/* tracefs: the private mount, definitions, and sweeping up after killed tracers. See tracefs.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "session.h"
#include "tracefs.h"

static const struct {
	const char *file, *event, *option;
} kinds[] = {
	[TRACEFS_UPROBE] = {"uprobe_events", "user", "CONFIG_UPROBE_EVENTS"},
	[TRACEFS_KPROBE] = {"kprobe_events", "kernel", "CONFIG_KPROBE_EVENTS"},
};

/* Without the right to mount one: that which is there for all. */
static int open_mounted(void)
{
	int root = open("/sys/kernel/tracing", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (root >= 0 && !fstatfs(root, &fs) && fs.f_type == TRACEFS_MAGIC)
		return root;
	if (root >= 0)
		close(root);
	return err__set(EPERM, "tracefs needs CAP_SYS_ADMIN, for none is mounted on "
			       "/sys/kernel/tracing");
}

int tracefs__mount(void)
{
	autoclose int fs = syscall(SYS_fsopen, "tracefs", 1 /* FSOPEN_CLOEXEC */);
	int root;

	if (fs < 0)
		return errno == EPERM ? open_mounted()
				      : err__set(errno, "this kernel has no tracefs (%s)",
						 strerror(errno));
	if (syscall(SYS_fsconfig, fs, 6 /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0))
		return err__set(errno, "cannot set up tracefs: %s", strerror(errno));
	root = syscall(SYS_fsmount, fs, 1 /* FSMOUNT_CLOEXEC */, 0);
	if (root < 0)
		return err__set(errno, "cannot mount tracefs: %s", strerror(errno));
	return root;
}

int tracefs__open(int root, enum tracefs_kind kind)
{
	int fd = openat(root, kinds[kind].file, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT && feature__lockdown())
		return err__set(EPERM,
				"the kernel is locked down (confidentiality): tracefs is empty");
	if (errno == ENOENT)
		return err__set(ENOENT, "the kernel was built without %s", kinds[kind].option);
	if (errno == EACCES)
		return err__set(EACCES, "tracefs's %s needs root or CAP_DAC_OVERRIDE",
				kinds[kind].file);
	return err__set(errno, "cannot open %s: %s", kinds[kind].file, strerror(errno));
}

int tracefs__define(int fd, const char *line)
{
	size_t len = strlen(line);

	return write(fd, line, len) == (ssize_t)len ? 0 : -errno;
}

void tracefs__event_name(enum tracefs_kind kind, pid_t pid, char *out, size_t size)
{
	snprintf(out, size, "bbtrace_%d/%s_%d", pid, kinds[kind].event, pid);
}

static int delete_event(int root, enum tracefs_kind kind, pid_t pid)
{
	autoclose int fd = tracefs__open(root, kind);
	char name[64], line[80];

	if (fd < 0)
		return fd;
	tracefs__event_name(kind, pid, name, sizeof(name));
	snprintf(line, sizeof(line), "-:%s\n", name);
	return tracefs__define(fd, line);
}

int tracefs__delete(int root, enum tracefs_kind kind)
{
	return delete_event(root, kind, steady__pid());
}

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

int tracefs__event_id(int root, enum tracefs_kind kind)
{
	autofree char *text = NULL;
	char name[64], path[128];
	int err;

	tracefs__event_name(kind, steady__pid(), name, sizeof(name));
	snprintf(path, sizeof(path), "events/%s/id", name);
	err = read_at(root, path, &text);
	return err ? err : atoi(text);
}

int64_t tracefs__missed(int root)
{
	autofree char *text = NULL;
	char event[64];
	const char *name, *p;
	int64_t sum = 0;
	int err = read_at(root, "kprobe_profile", &text);

	tracefs__event_name(TRACEFS_KPROBE, steady__pid(), event, sizeof(event));
	name = strchr(event, '/') + 1;
	/* a line a probe: event, hits, misses */
	for (p = text; !err && (p = strstr(p, name)); p++) {
		unsigned long long hits, misses;

		/* the number in the name may begin another tracer's */
		if (p[strlen(name)] == ' ' &&
		    sscanf(p + strlen(name), " %llu %llu", &hits, &misses) == 2)
			sum += misses;
	}
	return err ? err : sum;
}

static int sweep_kind(int root, enum tracefs_kind kind)
{
	autofree char *text = NULL;
	int n = 0;

	if (read_at(root, kinds[kind].file, &text))
		return 0;
	for (char *p = text; (p = strstr(p, ":bbtrace_")); p++) {
		pid_t pid = atoi(p + strlen(":bbtrace_"));

		/* another line of the same event is gone with the first: -ENOENT is not counted;
		 * nothing of this bbtrace is defined yet, so its own number was another's */
		if (pid > 0 && (pid == steady__pid() || (kill(pid, 0) && errno == ESRCH)) &&
		    !delete_event(root, kind, pid))
			n++;
	}
	return n;
}

int tracefs__sweep(int root)
{
	return sweep_kind(root, TRACEFS_UPROBE) + sweep_kind(root, TRACEFS_KPROBE);
}
