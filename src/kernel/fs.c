// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_fs: tracefs and debugfs: finds where they are mounted, and mounts them if they are not.
 * All of bbtrace opens them here.
 *
 * Unmounting a tracefs can crash the kernel. Under lockdown=confidentiality it is empty, so only
 * its mounts hold it, and the last unmount destroys it. That frees the root's inode, which
 * tracefs_fill_super() (fs/tracefs/inode.c) had allocated before it set the operations that free
 * it: tracefs_destroy_inode() removes a list entry that was never added. docs/internals/kernel.md
 * lists the kernels. So the lockdown is checked first, and a tracefs that bbtrace mounts at its
 * usual place stays mounted. (A second mount isn't harmless either: from Linux 6.12 on, a mount
 * without options resets those that the system mounted it with.)
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "kernel/kernel.h"

static const struct {
	const char *type;
	uint32_t magic;
	const char *places[3]; /* the first one is its usual place */
	/* not opened if the kernel is locked down; else mounted permanently at its usual place. The
	 * others are mounted detached, temporarily. */
	bool fragile;
} filesystems[] = {
	[KERNEL_TRACEFS] = {"tracefs",
			    TRACEFS_MAGIC,
			    {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"},
			    true},
	[KERNEL_DEBUGFS] = {"debugfs", DEBUGFS_MAGIC, {"/sys/kernel/debug"}, false},
};

/* A detached mount, which ends when its descriptor is closed. */
static int mount_detached(const char *type)
{
	autoclose int fs = fsopen(type, FSOPEN_CLOEXEC);
	int root;

	if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -errno;
	root = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	return root < 0 ? -errno : root;
}

/* ---- lockdown ---- */

/* Opens securityfs, or mounts it if it isn't mounted, as in containers: a process that may mount
 * tracefs may mount it. It always has files of its own, so unmounting it is safe. */
static int open_lockdown(void)
{
	int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);
	autoclose int root = fd < 0 ? mount_detached("securityfs") : -1;

	return root < 0 ? fd : openat(root, "lockdown", O_RDONLY | O_CLOEXEC);
}

/* security/lockdown/lockdown.c, lockdown_read(): "none [integrity] confidentiality" */
static bool read_lockdown(void)
{
	autoclose int fd = open_lockdown();
	char text[128];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = 0;
	return strstr(text, "[confidentiality]");
}

bool kernel__is_locked_down(void)
{
	static enum { NOT_ASKED, OPEN, LOCKED } answer;

	if (answer == NOT_ASKED)
		answer = read_lockdown() ? LOCKED : OPEN;
	return answer == LOCKED;
}

/* ---- finding the mount ---- */

/* Without O_DIRECTORY, so that a look at debugfs's "tracing" doesn't trigger the automount there
 * (fs/namei.c, follow_automount()). */
static int open_place(enum kernel_fs fs, const char *place)
{
	int root = open(place, O_PATH | O_CLOEXEC);
	struct statfs st;

	if (root >= 0 && !fstatfs(root, &st) && (uint32_t)st.f_type == filesystems[fs].magic)
		return root;
	if (root >= 0)
		close(root);
	return -1;
}

static int find(enum kernel_fs fs, const char **place)
{
	int root = -1;

	for (const char *const *p = filesystems[fs].places; *p && root < 0; p++) {
		root = open_place(fs, *p);
		*place = root < 0 ? NULL : *p;
	}
	return root;
}

static int check_lockdown(enum kernel_fs fs)
{
	if (!filesystems[fs].fragile || !kernel__is_locked_down())
		return 0;
	return err__set(EPERM, "the kernel is locked down (confidentiality): %s is empty",
			filesystems[fs].type);
}

int kernel_fs__find(enum kernel_fs fs)
{
	const char *place;
	int err = check_lockdown(fs), root = err ? -1 : find(fs, &place);

	if (err)
		return err;
	return root >= 0 ? root
			 : err__set(ENOENT, "%s is not mounted on %s", filesystems[fs].type,
				    filesystems[fs].places[0]);
}

const char *kernel_fs__place(enum kernel_fs fs)
{
	const char *place;
	autoclose int root = find(fs, &place);

	return root < 0 ? NULL : place;
}

/* ---- mounting ---- */

static int explain(enum kernel_fs fs, int err)
{
	const char *type = filesystems[fs].type;

	if (err == -EPERM)
		return err__set(EPERM, "%s needs CAP_SYS_ADMIN, since it is not mounted on %s",
				type, filesystems[fs].places[0]);
	if (err == -ENODEV)
		return err__set(ENODEV, "this kernel has no %s", type);
	return err__set(-err, "cannot mount %s: %s", type, strerror(-err));
}

int kernel_fs__can_mount(enum kernel_fs fs)
{
	int err = check_lockdown(fs);
	/* shows whether the kernel has it and whether we may mount it; mounts nothing */
	autoclose int context = err ? -1 : fsopen(filesystems[fs].type, FSOPEN_CLOEXEC);

	if (err)
		return err;
	return context < 0 ? explain(fs, -errno) : 0;
}

/* -EBUSY: someone else mounted it meanwhile. */
static int mount_in_place(enum kernel_fs fs)
{
	const char *place = filesystems[fs].places[0], *type = filesystems[fs].type;

	if (!mount(type, place, type, MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		note_verbose("mounted %s on %s; it stays mounted", type, place);
	else
		note_verbose("cannot mount %s on %s: %s", type, place, strerror(errno));
	return open_place(fs, place);
}

int kernel_fs__open(enum kernel_fs fs)
{
	const char *place;
	int err = check_lockdown(fs), root = err ? -1 : find(fs, &place);

	if (err)
		return err;
	if (root < 0 && filesystems[fs].fragile)
		root = mount_in_place(fs);
	/* no such directory (a root without /sys), or not usable as a mount point */
	if (root < 0)
		root = mount_detached(filesystems[fs].type);
	return root < 0 ? explain(fs, root) : root;
}
