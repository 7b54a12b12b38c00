// SPDX-License-Identifier: BSD-2-Clause
/* Which processes a probe set is for. See scope.h. */
#include "scope.h"

static void add_processes_of(struct scope *s, const struct probe_filters *f)
{
	const uint32_t *tid;

	s->threads = true;
	vec__each (tid, &f->tids) {
		uint32_t pid = process__of_thread(*tid);

		vec__push(&s->tids, *tid);
		if (pid)
			vec__push(&s->pids, pid);
	}
}

void scope__find(struct scope *s, const struct probe_filters *f)
{
	const uint32_t *pid;

	*s = (struct scope){0};
	if (!f->pids.len && !f->tids.len)
		return;
	s->kind = f->follow ? SCOPE_DESCENDANTS : SCOPE_PROCESSES;
	vec__each (pid, &f->pids)
		vec__push(&s->pids, *pid);
	if (!f->pids.len)
		add_processes_of(s, f);
	scope__grow(s);
}

void scope__free(struct scope *s)
{
	vec__free(&s->pids);
	vec__free(&s->tids);
}

bool scope__grow(struct scope *s)
{
	size_t before = s->pids.len;

	/* It is not known afterwards which thread forked a child. */
	if (s->kind == SCOPE_DESCENDANTS && !s->threads)
		processes__descendants(&s->pids);
	return s->pids.len > before;
}

void scope__threads(const struct scope *s, pid_vec *out)
{
	const uint32_t *tid;

	for (size_t i = 0; i < s->pids.len && !s->threads; i++)
		process__threads(s->pids.data[i], out);
	vec__each (tid, &s->tids)
		vec__push(out, *tid);
}
