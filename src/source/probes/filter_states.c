// SPDX-License-Identifier: BSD-2-Clause
/* Which filters threads pass that ran already. From then on the BPF programs report changes
 * (bpf/filter_states.h), so this is found after they were attached. */
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "process/process.h"
#include "session.h"
#include "bbtrace.skel.h"

#define OF_THREADS (FILTER_TID | FILTER_COMM | FILTER_UID | FILTER_CGROUP)

/* ---- what is reported ---- */

struct reporter {
	const struct bpf_program *program;
	bool needed;
};

#define REPORTERS 5

static void find_reporters(const struct probe *p, struct reporter out[REPORTERS])
{
	const struct probe_filters *f = &p->options->filters;
	bool some = f->tids.len || f->comms.len || f->uids.len || f->cgroup;
	const struct reporter all[REPORTERS] = {
		{p->skel->progs.on_fork, some},		  {p->skel->progs.on_exec, some},
		{p->skel->progs.on_rename, f->comms.len}, {p->skel->progs.on_setuid, f->uids.len},
		{p->skel->progs.on_cgroup, f->cgroup},
	};

	memcpy(out, all, sizeof(all));
}

static uint64_t missed(void *ctx)
{
	const struct probe *p = ctx;
	uint64_t n = p->skel->bss->filter_states_missed;
	struct reporter reporters[REPORTERS];

	find_reporters(p, reporters);
	for (size_t i = 0; i < ARRAY_SIZE(reporters); i++)
		n += reporters[i].needed ? program__misses(reporters[i].program) : 0;
	return n;
}

/* ---- now ---- */

static bool has(const uint32_t *numbers, size_t n, uint32_t number)
{
	for (size_t i = 0; i < n; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* status escapes some characters, comm doesn't. */
static bool has_comm(const struct probe_filters *f, uint32_t tid)
{
	char path[32], comm[17] = "";
	const char **name;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, comm, sizeof(comm) - 1);
	if (n > 0)
		comm[n - 1] = 0; /* the line's end */
	vec__each (name, &f->comms)
		if (n > 0 && !strncmp(*name, comm, 15))
			return true;
	return false;
}

/* The first one is the real one. */
static bool has_uid(const struct probe_filters *f, uint32_t tid)
{
	autofree char *uids = thread__status(tid, "Uid");

	return uids && has(f->uids.data, f->uids.len, strtoul(uids, NULL, 10));
}

static struct {
	uint32_t tid;
	bool found;
} wanted; /* nftw() takes no context */

static int look_for_thread(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	unsigned tid;
	FILE *f;

	(void)st;
	if (type != FTW_F || strcmp(path + ftw->base, "cgroup.threads"))
		return 0;
	f = fopen(path, "re");
	while (f && !wanted.found && fscanf(f, "%u", &tid) == 1)
		wanted.found = tid == wanted.tid;
	if (f)
		fclose(f);
	return wanted.found;
}

/* By its files: paths in /proc/PID/cgroup are those of another cgroup namespace, or mount. */
static bool is_in_cgroup(const char *path, uint32_t tid)
{
	wanted.tid = tid;
	wanted.found = false;
	nftw(path, look_for_thread, 16, FTW_PHYS | FTW_MOUNT);
	return wanted.found;
}

static uint32_t passed_now(void *ctx, uint32_t pid, uint32_t tid)
{
	const struct probe *p = ctx;
	const struct probe_filters *f = &p->options->filters;
	uint32_t passed = 0;
	uint8_t yes;

	if (has(f->pids.data, f->pids.len, pid))
		passed |= FILTER_PID;
	if (!bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.followed), &pid, &yes))
		passed |= FILTER_FOLLOW;
	if (has(f->tids.data, f->tids.len, tid))
		passed |= FILTER_TID;
	if (f->comms.len && has_comm(f, tid))
		passed |= FILTER_COMM;
	if (f->uids.len && has_uid(f, tid))
		passed |= FILTER_UID;
	if (f->cgroup && is_in_cgroup(f->cgroup, tid))
		passed |= FILTER_CGROUP;
	return passed;
}

struct thread_filters probe__thread_filters(struct source *s)
{
	struct probe *p = (struct probe *)s;
	uint32_t filters = p->skel->rodata->config.filters;

	return (struct thread_filters){
		.needed = filters & OF_THREADS ? filters & (OF_THREADS | FILTER_PID) : 0,
		.suffice = filters & FILTER_FOLLOW,
		.ctx = p,
		.passed = passed_now,
		.missed = missed,
	};
}
