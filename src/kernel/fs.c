// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_fs: the file systems that the kernel tells about itself in, tracefs and debugfs: where
 * they are mounted, and what to do where they are not. All of bbtrace comes by here.
 *
 * Unmounting a tracefs can crash the kernel. Under lockdown=confidentiality it is empty, so nothing
 * but its mounts holds it; the last unmount takes it down, and with it the root's inode, which
 * tracefs_fill_super() (fs/tracefs/inode.c) had allocated before it named the operations that free
 * it: tracefs_destroy_inode() takes a list entry out that was never in. HACKING.md says which
 * kernels do. So the lockdown is asked for first, and what is mounted on its usual place stays
 * there. (Mounting it once more isn't harmless either: from Linux 6.12 on a mount without options
 * takes back those that the system had mounted it with.)
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
	const char *places[3]; /* the first one is where it belongs */
	/* not opened where the kernel is locked down; else mounted where it belongs, for good.
	 * The others are mounted nowhere, for the moment. */
	bool fragile;
} filesystems[] = {
	[KERNEL_TRACEFS] = {"tracefs",
			    TRACEFS_MAGIC,
			    {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"},
			    true},
	[KERNEL_DEBUGFS] = {"debugfs", DEBUGFS_MAGIC, {"/sys/kernel/debug"}, false},
};

/* A mount in no one's tree, that ends with its descriptor. */
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

/* Who may mount a tracefs may mount this as well, where it isn't (in containers). It has its own
 * files in it, always, so that its unmount takes nothing down. */
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

/* ---- where it is mounted ---- */

/* Without O_DIRECTORY: looking at debugfs's "tracing" doesn't mount it there (fs/namei.c,
 * follow_automount()). */
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

/* ---- mounting it ---- */

static int explain(enum kernel_fs fs, int err)
{
	const char *type = filesystems[fs].type;

	if (err == -EPERM)
		return err__set(EPERM, "%s needs CAP_SYS_ADMIN, for none is mounted on %s", type,
				filesystems[fs].places[0]);
	if (err == -ENODEV)
		return err__set(ENODEV, "this kernel has no %s", type);
	return err__set(-err, "cannot mount %s: %s", type, strerror(-err));
}

int kernel_fs__can_mount(enum kernel_fs fs)
{
	int err = check_lockdown(fs);
	/* says whether the kernel has it and who asks may; mounts nothing */
	autoclose int context = err ? -1 : fsopen(filesystems[fs].type, FSOPEN_CLOEXEC);

	if (err)
		return err;
	return context < 0 ? explain(fs, -errno) : 0;
}

/* -EBUSY: somebody else was faster. */
static int mount_in_place(enum kernel_fs fs)
{
	const char *place = filesystems[fs].places[0], *type = filesystems[fs].type;

	if (!mount(type, place, type, MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		note_verbose("mounted %s on %s, where it stays", type, place);
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
	/* no such folder (a root without /sys), or none that may be mounted on */
	if (root < 0)
		root = mount_detached(filesystems[fs].type);
	return root < 0 ? explain(fs, root) : root;
}
