// SPDX-License-Identifier: BSD-2-Clause
/* Whether the options of a tracing verb are complete and agree with each other. */
#include <errno.h>
#include "wants.h"

static int usage_of(const struct args *a)
{
	const char *name = args__record_name(a);

	if (!a->operands.len)
		return err__set(EINVAL, "no function to trace; see bbtrace %s --help",
				a->verb->name);
	if (a->user && !a->command)
		return err__set(EINVAL, "-u NAME runs CMD as that user: give a command after --");
	if ((a->armor || a->max_size) && !name)
		return err__set(EINVAL, "--armor and --max-size are for a trace file: -o FILE "
					"without -F, -c and --last, or --record FILE");
	if (a->max_size && !strcmp(name, "-"))
		return err__set(EINVAL, "--max-size needs a file that can be renamed: -o FILE");
	if (a->record && !strcmp(a->record, a->output ? a->output : "-"))
		return err__set(EINVAL,
				"--record %s: the trace itself goes there; give another file",
				a->record);
	if (a->command && a->filters.pids.len)
		return err__set(EINVAL, "-p and -- CMD exclude each other");
	if (a->attach && !mechanism__exists(a->attach))
		return err__set(EINVAL, "unknown attach mechanism '%s'; bbtrace doctor lists them",
				a->attach);
	return 0;
}

/* --engine inline: what it doesn't do. */
static const char *not_inline(const struct args *a)
{
	const struct probe_filters *f = &a->filters;
	const struct {
		bool given;
		const char *what;
	} rows[] = {
		{a->verb->bit == VERB_KERNEL, "kernel functions"},
		{f->pids.len, "-p"},
		{f->tids.len, "--tid"},
		{f->comms.len, "--comm"},
		{f->uids.len, "--uid"},
		{f->cgroup, "--cgroup"},
		{a->stack, "-k"},
		{a->once || a->retire, "--once and --retire"},
		{a->last, "--last"},
		{a->returns == RETURNS_PROBE, "--returns probe"},
		{a->attach, "--attach"},
		{a->paused, "--paused"},
		{a->max_overhead, "--max-overhead"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given)
			return rows[i].what;
	return NULL;
}

static int check_engine(const struct args *a)
{
	const char *what = a->engine == ENGINE_INLINE ? not_inline(a) : NULL;

	if (what)
		return err__set(EINVAL, "--engine inline: not with %s; use --engine probe", what);
	if (a->engine == ENGINE_INLINE && !a->command)
		return err__set(EINVAL,
				"--engine inline traces a command of its own: give it after --");
	return 0;
}

int trace__check(struct args *a)
{
	int err = usage_of(a);

	if (!err)
		err = check_engine(a);
	if (err)
		return err;
	err = returns__settle(a);
	if (!err)
		wants__settle(a);
	return err;
}
