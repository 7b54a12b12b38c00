// SPDX-License-Identifier: BSD-2-Clause
/*
 * Drops the privileges that are no longer needed: those for reading new processes' names and files
 * are kept. What of root's files is written later is open, or is the keepers'.
 */
#include "privilege_drop.h"

/* Names in folders are root's, or of whom root may write for: a process of its own keeps that. */
static int keep_files(const struct privilege_drop *g)
{
	struct kept_files f = {.path = request__record_name(g->request), .removed = g->removed};
	int err;

	f.place = g->recorder ? recorder__rotates(g->recorder, &f.current) : NULL;
	if (rights__user() || (!f.place && !f.removed))
		return 0;
	err = file_keeper__start(g->files, &f);
	if (!err && f.place)
		recorder__use_keeper(g->recorder, g->files);
	return err;
}

/* CMD's exec is awaited by ptrace(2) with watchpoints; debuginfod's servers may be asked later. */
static unsigned forbidden_calls(const struct privilege_drop *g)
{
	return FORBID_EXEC | (g->runs_command && g->watches ? 0 : FORBID_TRACING) |
	       (g->request->what.debuginfod ? 0 : FORBID_NETWORK);
}

static uint64_t kept(const struct privilege_drop *g)
{
	bool names_files =
		plan__sees_programs(g->plan) || request__format(g->request)->wants.source_text;
	uint64_t keep = PRIVILEGE_SYS_PTRACE;

	if (names_files || !rights__user()) /* root's own files, once it is no longer root */
		keep |= PRIVILEGE_DAC_READ_SEARCH;
	if (names_files)
		keep |= PRIVILEGE_CHECKPOINT_RESTORE;
	if (g->runs_command)
		keep |= PRIVILEGE_KILL;
	if (g->runs_command && g->watches) /* set when it has called exec */
		keep |= PRIVILEGE_PERFMON | PRIVILEGE_BPF | PRIVILEGE_SYS_ADMIN;
	if (rights__user() && sources__facts(g->sources).definitions)
		keep |= PRIVILEGE_DAC_OVERRIDE;
	return keep;
}

int privilege_drop__apply(const struct privilege_drop *g)
{
	int err = keep_files(g);

	return err ? err : sources__drop_privileges(g->sources, kept(g), forbidden_calls(g));
}
