// SPDX-License-Identifier: BSD-2-Clause
/* Which processes a probe set is for. See reach.h. */
#include "reach.h"

static void add_processes_of(struct reach *r, const struct probe_filters *f)
{
	const uint32_t *tid;

	r->threads = true;
	vec__each (tid, &f->tids) {
		uint32_t pid = process__of_thread(*tid);

		vec__push(&r->tids, *tid);
		if (pid)
			vec__push(&r->pids, pid);
	}
}

void reach__find(struct reach *r, const struct probe_filters *f)
{
	const uint32_t *pid;

	*r = (struct reach){0};
	if (!f->pids.len && !f->tids.len)
		return;
	r->kind = f->follow ? REACH_DESCENDANTS : REACH_PROCESSES;
	vec__each (pid, &f->pids)
		vec__push(&r->pids, *pid);
	if (!f->pids.len)
		add_processes_of(r, f);
	reach__grow(r);
}

void reach__free(struct reach *r)
{
	vec__free(&r->pids);
	vec__free(&r->tids);
}

bool reach__grow(struct reach *r)
{
	size_t before = r->pids.len;

	/* which thread it was that made a child, nobody knows afterwards */
	if (r->kind == REACH_DESCENDANTS && !r->threads)
		processes__descendants(&r->pids);
	return r->pids.len > before;
}

void reach__threads(const struct reach *r, pid_vec *out)
{
	const uint32_t *tid;

	for (size_t i = 0; i < r->pids.len && !r->threads; i++)
		process__threads(r->pids.data[i], out);
	vec__each (tid, &r->tids)
		vec__push(out, *tid);
}
