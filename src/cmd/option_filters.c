// SPDX-License-Identifier: BSD-2-Clause
/* The options that filter: lists of processes, threads, users and names. */
#include <errno.h>
#include <pwd.h>
#include "option_values.h"

static int add_pid(struct args *a, const char *part)
{
	uint32_t pid = 0;
	int err = value__u32(part, &pid);

	if (err && strspn(part, "0123456789") != strlen(part))
		return err__set(EINVAL, "'%s' is not a PID; pidof(1) has that of a program", part);
	if (!err && !pid)
		return err__set(EINVAL, "0 is not a valid PID");
	vec__push(&a->filters.pids, pid);
	return err;
}

static int add_tid(struct args *a, const char *part)
{
	uint32_t tid = 0;
	int err = value__u32(part, &tid);

	vec__push(&a->filters.tids, tid);
	return err;
}

static int add_uid(struct args *a, const char *part)
{
	const struct passwd *pw = getpwnam(part);
	uint32_t uid = 0;
	int err = pw ? (uid = pw->pw_uid, 0) : value__u32(part, &uid);

	vec__push(&a->filters.uids, uid);
	return err ? err__set(EINVAL, "no such user: '%s'", part) : 0;
}

static int add_comm(struct args *a, const char *part)
{
	vec__push(&a->filters.comms, xstrdup(part));
	return 0;
}

int filter__set_pid(struct args *a, const char *v)
{
	return value__each(a, v, add_pid);
}

int filter__set_tid(struct args *a, const char *v)
{
	return value__each(a, v, add_tid);
}

int filter__set_uid(struct args *a, const char *v)
{
	return value__each(a, v, add_uid);
}

int filter__set_comm(struct args *a, const char *v)
{
	return value__each(a, v, add_comm);
}
