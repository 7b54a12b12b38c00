// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rights of this process: drops the file capabilities of this program for a while, or gives
 * rights up for good. The kernel keeps capabilities per thread.
 */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "util.h"

struct sets {
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct data[2];
};

static bool read_sets(struct sets *s)
{
	*s = (struct sets){.head.version = _LINUX_CAPABILITY_VERSION_3};
	return !syscall(SYS_capget, &s->head, s->data);
}

static uint64_t effective(const struct sets *s)
{
	return s->data[0].effective | (uint64_t)s->data[1].effective << 32;
}

static void set_effective(struct sets *s, uint64_t set)
{
	s->data[0].effective = set;
	s->data[1].effective = set >> 32;
	syscall(SYS_capset, &s->head, s->data);
}

/*
 * capabilities(7), "Transformation of capabilities during execve()": a process that isn't root has
 * the file's capabilities and the ambient ones. The ambient ones are passed to every program that
 * the user runs.
 */
static uint64_t ambient(void)
{
	uint64_t set = 0;

	for (unsigned cap = 0; cap < 64; cap++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) == 1)
			set |= 1ull << cap;
	return set;
}

uid_t rights__user(void)
{
	static uid_t user;
	static bool known;

	if (!known)
		user = geteuid();
	known = true;
	return user;
}

struct rights rights__own(void)
{
	static uint64_t own;
	static bool known; /* the set at start; later all are dropped */
	struct sets s;
	struct rights r = {0};

	if (!known)
		own = ambient();
	known = true;
	if (!rights__user() || !read_sets(&s) || !(effective(&s) & ~own))
		return r;
	r.lowered = true;
	r.effective = effective(&s);
	set_effective(&s, r.effective & own);
	return r;
}

void rights__restore(const struct rights *r)
{
	struct sets s;

	if (r->lowered && read_sets(&s))
		set_effective(&s, r->effective);
}

/* ---- for good ---- */

/* Without CAP_SETPCAP the bounding set stays; then only no_new_privs keeps an exec from gaining
 * anything. */
static void lower_bounds(uint64_t keep)
{
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (unsigned cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(keep >> cap & 1))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

/*
 * A user that no other process has. A process with the same user may signal, trace and slow down
 * this one: with "nobody", other services could, and often the very program that is traced. No
 * account has these numbers, and systemd gives them to nobody (systemd's UIDS-GIDS.md: from
 * 1879048192 to 2147352575 they are unused); a PID has at most 22 bits.
 */
#define FIRST_USER 0x7b000000u

/* Returns -EINVAL if this user namespace doesn't have it. */
static int become_other_user(void)
{
	uid_t user = FIRST_USER + (uid_t)getpid();

	return setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user)
		       ? -errno
		       : 0;
}

/* Leaves the user root. No other user has a right, by its number, that matters to others. */
static int leave_root(void)
{
	int err;

	if (geteuid() && getuid())
		return 0;
	prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	err = become_other_user();
	prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	/* root of an inner user namespace, or one that can't change users any more */
	return err == -EINVAL || err == -EPERM ? 0 : err;
}

static int keep_sets(uint64_t kept)
{
	struct sets s = {.head.version = _LINUX_CAPABILITY_VERSION_3,
			 .data = {{.effective = kept, .permitted = kept},
				  {.effective = kept >> 32, .permitted = kept >> 32}}};

	return syscall(SYS_capset, &s.head, s.data) ? -errno : 0;
}

static void raise_effective(void)
{
	struct sets s;

	if (read_sets(&s))
		set_effective(&s, s.data[0].permitted | (uint64_t)s.data[1].permitted << 32);
}

int rights__keep(uint64_t kept, bool user)
{
	int err;

	rights__user();
	raise_effective();
	lower_bounds(kept);
	err = user ? 0 : leave_root();
	if (!err)
		err = keep_sets(kept);
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	/* Keeps other processes from reading its memory; what /proc has of it belongs to root. */
	if (!err && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		err = -errno;
	return err;
}
