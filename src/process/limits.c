// SPDX-License-Identifier: BSD-2-Clause
/* What the limits of a process leave it, from /proc and the control groups' files. */
#include <stdlib.h>
#include <unistd.h>
#include "process/process.h"

/* Returns the number after name in a file, or its first word; UINT64_MAX if there is none
 * ("max"). */
static uint64_t number_in(const char *path, const char *name)
{
	autofree char *text = NULL;
	const char *at;

	if (file__read(path, 1 << 16, &text, NULL))
		return UINT64_MAX;
	at = strstr(text, name);
	at = at ? at + strlen(name) : "";
	at += strspn(at, " \t");
	return *at >= '0' && *at <= '9' ? strtoull(at, NULL, 10) : UINT64_MAX;
}

uint64_t memory__available(void)
{
	uint64_t kib = number_in("/proc/meminfo", "MemAvailable:");

	return kib == UINT64_MAX ? kib : kib * 1024;
}

/* ---- address space ---- */

uint64_t process__address_room(uint32_t tid)
{
	autofree char *limits = xasprintf("/proc/%u/limits", tid);
	autofree char *statm = xasprintf("/proc/%u/statm", tid);
	uint64_t limit = number_in(limits, "Max address space"), pages = number_in(statm, "");
	uint64_t used = (pages == UINT64_MAX ? 0 : pages) * (uint64_t)sysconf(_SC_PAGESIZE);

	return limit == UINT64_MAX ? limit : limit - min_of(limit, used);
}

/* ---- control groups ---- */

/* Names of the files of both versions: cgroup-v2.rst, cgroup-v1/memory.rst. */
struct cgroup_files {
	const char *controller; /* in /proc/PID/cgroup, with its colons */
	const char *mount, *limit, *usage, *caches;
};
static const struct cgroup_files versions[] = {
	{"0::", "/sys/fs/cgroup", "memory.max", "memory.current", "\ninactive_file"},
	{"0::", "/sys/fs/cgroup/unified", "memory.max", "memory.current", "\ninactive_file"},
	{":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	 "\ntotal_inactive_file"},
};

/* Returns what this group's own limit leaves. Pages of files that were not used lately are given up
 * before anything fails. */
static uint64_t left_in_group(const struct cgroup_files *v, const char *path)
{
	autofree char *limit_file = xasprintf("%s%s/%s", v->mount, path, v->limit);
	autofree char *usage_file = xasprintf("%s%s/%s", v->mount, path, v->usage);
	autofree char *stat_file = xasprintf("%s%s/memory.stat", v->mount, path);
	uint64_t limit = number_in(limit_file, ""), used, caches;

	if (limit == UINT64_MAX)
		return limit;
	used = number_in(usage_file, "");
	if (used == UINT64_MAX)
		return UINT64_MAX;
	caches = number_in(stat_file, v->caches);
	used -= min_of(used, caches == UINT64_MAX ? 0 : caches);
	return limit - min_of(limit, used);
}

/* Each limit holds for all groups below it. */
static uint64_t left_in(const struct cgroup_files *v, char *path)
{
	uint64_t left = left_in_group(v, "");

	for (char *end; (end = strrchr(path, '/')); *end = 0)
		left = min_of(left, left_in_group(v, path));
	return left;
}

uint64_t process__memory_room(uint32_t pid)
{
	autofree char *name = xasprintf("/proc/%u/cgroup", pid), *text = NULL;
	uint64_t left = UINT64_MAX;

	if (file__read(name, 1 << 16, &text, NULL))
		return left;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		const char *at = strstr(text, versions[i].controller);
		autofree char *path = NULL;

		if (!at)
			continue;
		at += strlen(versions[i].controller);
		path = xstrndup(at, strcspn(at, "\n"));
		/* "/..": a group that can't be seen from here */
		if (!strncmp(path, "/..", 3))
			continue;
		left = min_of(left, left_in(&versions[i], path));
	}
	return left;
}
