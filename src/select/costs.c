// SPDX-License-Identifier: BSD-2-Clause
/*
 * costs: the file of what hits cost on this machine. Root's file counts for all users, who may read
 * it; a user who traces by capabilities alone has a file of their own, which takes precedence. If a
 * file can't be used, the trace continues with the usual costs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "plan/placement/cost.h"
#include "costs.h"

#define SYSTEM_FOLDER "/var/lib/bbtrace"
#define FILE_NAME     "costs"

/* Returns the folder of this user's file; NULL if there is none. Under sudo this is root's
 * folder, not that of the user who called sudo. */
static char *own_folder(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (!rights__user())
		return xstrdup(SYSTEM_FOLDER);
	if (state && *state == '/')
		return xasprintf("%s/bbtrace", state);
	return home && *home == '/' ? xasprintf("%s/.local/state/bbtrace", home) : NULL;
}

static void this_machine(const struct arch *arch, struct machine_costs *out)
{
	struct utsname u;

	*out = (struct machine_costs){0};
	if (!uname(&u))
		snprintf(out->kernel, sizeof(out->kernel), "%s", u.release);
	if (arch->this_machine)
		arch->this_machine(&out->machine);
}

const struct cost_row *costs__usual(const struct arch *arch)
{
	struct machine_costs here;

	this_machine(arch, &here);
	return here.machine.is_virtual && arch->virtual_costs ? arch->virtual_costs : arch->costs;
}

/* ---- reading ---- */

/* Fails unless only its owner may write the file, and the owner is root or this user. */
static int check_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return err__set(errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err__set(EINVAL, "it is not a file");
	if (st.st_uid && st.st_uid != rights__user())
		return err__set(EPERM, "it belongs to user %u", st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err__set(EPERM, "others may write it");
	return 0;
}

/* Returns 0; -ENOENT if there is no file; else -errno with a message. */
static int read_file(const char *path, const struct arch *arch, struct machine_costs *out)
{
	autofree char *text = NULL;
	size_t len;
	with_own_rights;
	autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int err;

	if (fd < 0)
		return err__set(errno == ENOTDIR ? ENOENT : errno, "%s", strerror(errno));
	err = check_file(fd);
	if (err)
		return err;
	err = fd__read(fd, path, COSTS_FILE_MAX, &text, &len);
	return err ? err : costs_text__parse(text, len, arch, out);
}

static bool is_usable(const char *path, const struct arch *arch, struct machine_costs *out)
{
	struct machine_costs here;
	int err = read_file(path, arch, out);

	if (err && err != -ENOENT)
		note("%s is ignored: %s; bbtrace doctor --calibrate measures again, or remove it",
		     path, err__text());
	err__clear();
	if (err)
		return false;
	this_machine(arch, &here);
	if (costs__are_of(out, here.kernel, &here.machine))
		return true;
	note_verbose(
		"%s is ignored: it was measured with another kernel or machine (Linux %s, %s); "
		"bbtrace doctor --calibrate measures again",
		path, out->kernel, out->machine.cpu);
	return false;
}

/* Adds the usual costs of what was not measured. */
static void add_usual(const struct cost_row *usual, struct cost_row *rows)
{
	size_t n = 0, i;

	while (rows[n].mechanism)
		n++;
	for (; usual->mechanism && n < COSTS_ROWS - 1; usual++) {
		for (i = 0; i < n && strcmp(rows[i].mechanism, usual->mechanism); i++)
			;
		if (i == n)
			rows[n++] = *usual;
	}
}

static void say(const struct arch *arch, const struct cost_row *rows, const char *from)
{
	struct str s = {0};

	for (; rows->mechanism; rows++)
		for (unsigned class = 0; class < COST_CLASSES; class ++)
			if (rows->cost[class])
				str__printf(&s, "%s%s %s %u ns", s.len ? ", " : "", rows->mechanism,
					    cost__class_name(arch, class), rows->cost[class]);
	note_verbose("costs of hits, %s: %s", from, s.data);
	str__free(&s);
}

/* Returns the file to use: this user's, else root's. */
static char *usable_file(const struct arch *arch, struct machine_costs *out)
{
	autofree char *folder = own_folder();
	char *path = folder ? xasprintf("%s/" FILE_NAME, folder) : NULL;

	if (path && is_usable(path, arch, out))
		return path;
	free(path);
	path = rights__user() ? xstrdup(SYSTEM_FOLDER "/" FILE_NAME) : NULL;
	if (path && is_usable(path, arch, out))
		return path;
	free(path);
	return NULL;
}

const struct cost_row *costs__known(const struct arch *arch)
{
	static struct machine_costs measured;
	const struct cost_row *usual = costs__usual(arch);
	autofree char *path = usual ? usable_file(arch, &measured) : NULL;
	autofree char *from = NULL;

	if (!usual)
		return NULL;
	if (path) {
		add_usual(usual, measured.rows);
		from = xasprintf("measured (%s)", path);
	}
	say(arch, path ? measured.rows : usual,
	    path			   ? from
	    : usual == arch->virtual_costs ? "assumed for a virtual machine (bbtrace doctor "
					     "--calibrate measures them)"
					   : "assumed (bbtrace doctor --calibrate measures them)");
	return path ? measured.rows : usual;
}

/* ---- writing ---- */

static int cannot_write(const char *path)
{
	return err__set(errno, "cannot write %s: %s", path, strerror(errno));
}

static int write_text(int fd, const struct str *text)
{
	return !fd__write(fd, text->data, text->len) || fchmod(fd, 0644) || fsync(fd) ? -1 : 0;
}

/* Replaces the file by rename(2), so that readers see the old one or the new one, never a part. */
static int replace_file(const char *path, const struct str *text)
{
	autofree char *temporary = xasprintf("%s.XXXXXX", path);
	autoclose int fd = mkostemp(temporary, O_CLOEXEC);
	int err;

	if (fd < 0)
		return cannot_write(path);
	if (!write_text(fd, text) && !rename(temporary, path))
		return 0;
	err = cannot_write(path);
	unlink(temporary);
	return err;
}

int costs__keep(const struct arch *arch, const struct cost_row *rows, char **path)
{
	autofree char *folder = own_folder();
	struct machine_costs c;
	CLEANUP(str__free) struct str text = {0};
	with_own_rights;
	int err;

	if (!folder)
		return err__set(ENOENT, "neither HOME nor XDG_STATE_HOME is set");
	err = folder__make(folder, rights__user() ? 0700 : 0755);
	if (err)
		return err__set(-err, "cannot make %s: %s", folder, strerror(-err));
	this_machine(arch, &c);
	for (size_t i = 0; rows[i].mechanism && i < COSTS_ROWS - 1; i++)
		c.rows[i] = rows[i];
	costs_text__put(&text, arch, &c);
	*path = xasprintf("%s/" FILE_NAME, folder);
	return replace_file(*path, &text);
}
