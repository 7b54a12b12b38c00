// SPDX-License-Identifier: BSD-2-Clause
/* Capabilities: which are missing, and sets of them. */
#include <errno.h>
#include <stdlib.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "source/probes/session.h"

static const struct {
	uint64_t bit;
	const char *name;
} capabilities[] = {
	{PRIVILEGE_BPF, "CAP_BPF"},
	{PRIVILEGE_PERFMON, "CAP_PERFMON"},
	{PRIVILEGE_SYSLOG, "CAP_SYSLOG"},
	{PRIVILEGE_SYS_PTRACE, "CAP_SYS_PTRACE"},
	{PRIVILEGE_SYS_ADMIN, "CAP_SYS_ADMIN"},
	{PRIVILEGE_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
	{PRIVILEGE_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
	{PRIVILEGE_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE"},
	{PRIVILEGE_FOWNER, "CAP_FOWNER"},
	{PRIVILEGE_KILL, "CAP_KILL"},
	{PRIVILEGE_SETUID, "CAP_SETUID"},
	{PRIVILEGE_SETGID, "CAP_SETGID"},
};

/* The caller's sets; empty if they can't be read. */
void privileges__read_sets(uint64_t *effective, uint64_t *permitted)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {0};

	if (syscall(SYS_capget, &h, d))
		memset(d, 0, sizeof(d));
	*effective = d[0].effective | (uint64_t)d[1].effective << 32;
	*permitted = d[0].permitted | (uint64_t)d[1].permitted << 32;
}

/* Clears the inheritable set. */
int privileges__write_sets(uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {
		{.effective = effective, .permitted = permitted},
		{.effective = effective >> 32, .permitted = permitted >> 32}};

	return syscall(SYS_capset, &h, d) ? -errno : 0;
}

/* Capabilities that only count in the initial user namespace. */
#define OUTERMOST                                                                                  \
	(PRIVILEGE_BPF | PRIVILEGE_PERFMON | PRIVILEGE_SYSLOG | PRIVILEGE_SYS_ADMIN |              \
	 PRIVILEGE_CHECKPOINT_RESTORE)
/* include/linux/proc_ns.h: PROC_USER_INIT_INO */
#define INITIAL_USER_NS 0xEFFFFFFDu

static bool in_inner_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/user", &st) && st.st_ino != INITIAL_USER_NS;
}

uint64_t privileges__missing(uint64_t wanted)
{
	uint64_t have, permitted;

	privileges__read_sets(&have, &permitted);
	if (in_inner_namespace())
		have &= ~OUTERMOST;
	if (have & PRIVILEGE_SYS_ADMIN) /* include/linux/capability.h: bpf_capable() and others */
		have |= PRIVILEGE_BPF | PRIVILEGE_PERFMON | PRIVILEGE_CHECKPOINT_RESTORE;
	if (have & PRIVILEGE_DAC_OVERRIDE)
		have |= PRIVILEGE_DAC_READ_SEARCH;
	return wanted & ~have;
}

static void put_names(struct str *s, uint64_t set)
{
	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++) {
		if (!(set & capabilities[i].bit))
			continue;
		set &= ~capabilities[i].bit;
		str__printf(s, "%s%s", !s->len ? "" : set ? ", " : " and ", capabilities[i].name);
	}
}

int privileges__check(uint64_t wanted, const char *what)
{
	uint64_t missing = privileges__missing(wanted);
	autofree struct str s = {0};

	if (!missing)
		return 0;
	put_names(&s, missing);
	return err__set(EPERM, "%s needs %s%s", what, s.data,
			in_inner_namespace() ? " of the initial user namespace" : "");
}

void privileges__none(void)
{
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	privileges__write_sets(0, 0);
}

/* The capability, or the older one that it was split from, whichever is permitted. */
uint64_t privileges__one_of(uint64_t permitted, uint64_t wanted)
{
	return permitted & (permitted & wanted ? wanted : PRIVILEGE_SYS_ADMIN);
}

int privileges__keep_tracing(void)
{
	uint64_t effective, permitted, kept;
	int err;

	privileges__read_sets(&effective, &permitted);
	kept = permitted & (PRIVILEGE_SYS_PTRACE | PRIVILEGE_DAC_READ_SEARCH | PRIVILEGE_KILL);
	err = rights__keep(kept | privileges__one_of(permitted, PRIVILEGE_CHECKPOINT_RESTORE),
			   false);
	return err ? err : rights__forbid(FORBID_EXEC | FORBID_NETWORK);
}

bool privileges__perf_needs_admin(void)
{
	autofree char *level = NULL;

	return !file__read("/proc/sys/kernel/perf_event_paranoid", 64, &level, NULL) &&
	       atoi(level) > 2;
}

void privileges__note(const char *who, uint64_t kept)
{
	struct str s = {0};

	put_names(&s, kept);
	note_verbose("%s: %s", who, s.len ? s.data : "none");
	str__free(&s);
}
