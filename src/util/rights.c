// SPDX-License-Identifier: BSD-2-Clause
/* Temporarily drops the file capabilities of this program. The kernel keeps capabilities per
 * thread. */
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

/* capabilities(7), "Transformation of capabilities during execve()": a process that isn't root has
 * the file's capabilities and the ambient ones. The ambient ones go to every program that the user
 * runs. */
static uint64_t ambient(void)
{
	uint64_t set = 0;

	for (unsigned cap = 0; cap < 64; cap++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) == 1)
			set |= 1ull << cap;
	return set;
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
	if (!geteuid() || !read_sets(&s) || !(effective(&s) & ~own))
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
