// SPDX-License-Identifier: BSD-2-Clause
/* Whether a process that runs already can be traced. Nothing was changed in it yet. */
#include <errno.h>
#include <stdarg.h>
#include "tracer.h"

int start_answer__refuse(struct start_answer *a, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(a->text, sizeof(a->text), format, args);
	va_end(args);
	return -err;
}

int thread__check(struct thread *t, struct start_answer *a)
{
	int err = thread__load_regs(t);
	uint32_t filters;
	bool opens;

	if (err == -ENOEXEC)
		return start_answer__refuse(
			a, ENOTSUP,
			"process %d is of another architecture, whose functions can't be copied",
			t->process->pid);
	if (err) /* it was killed */
		return 0;
	if (!thread__filters_allow(t, &filters, &opens))
		return start_answer__refuse(
			a, ENOTSUP,
			"process %d may not map memory (seccomp), or it is not known whether "
			"it may",
			t->process->pid);
	if (thread__has_shadow_stack(t->tid))
		return start_answer__refuse(a, ENOTSUP,
					    "process %d has shadow stacks, which are not supported",
					    t->process->pid);
	t->process->filters = max_of(filters, t->process->filters);
	t->process->opens &= opens;
	if (log_areas__hold(thread__get(t, TRACEE_LOG)))
		return start_answer__refuse(
			a, EBUSY,
			"process %d has logs of a bbtrace that was killed, until it is restarted",
			t->process->pid);
	if (thread__get(t, TRACEE_LOG))
		return start_answer__refuse(
			a, ENOTSUP, "process %d uses the gs segment, which --engine inline needs",
			t->process->pid);
	return 0;
}

/* Returns whether the process has code that sets gs. */
int process__check_code(struct tracer *s, pid_t pid, struct start_answer *a)
{
	map_vec maps = {0};
	bool sets = false;

	if (!maps__read(pid, &maps))
		sets = process__sets_gs(s, pid, &maps);
	maps__free(&maps);
	return sets ? start_answer__refuse(
			      a, ENOTSUP,
			      "process %d has code that sets the gs segment (wrgsbase), which --engine "
			      "inline needs",
			      pid)
		    : 0;
}

int tracer__check(struct tracer *s, struct start_answer *a)
{
	struct thread *t;
	uint32_t other;
	size_t i = 0;
	int err;

	while ((t = tracer__each(s, &i))) {
		if (t->state != THREAD_STOPPED)
			continue;
		err = thread__check(t, a);
		if (err)
			return err;
		if (t->tid != t->process->pid)
			continue;
		err = process__check_code(s, t->tid, a);
		if (err)
			return err;
		/* it would execute what is changed in it */
		other = process__sharer(NULL, t->tid);
		if (other)
			return start_answer__refuse(
				a, ENOTSUP,
				"process %d shares its memory with process %u, which would execute "
				"its copies",
				t->tid, other);
	}
	return 0;
}
