// SPDX-License-Identifier: BSD-2-Clause
/* Drops the privileges that are no longer needed; those for reading names and files of new
 * processes are kept. Root's files that are written later are open, or the keepers write them. */
#include "privilege_drop.h"

/* Starts a keeper if names have to be changed in folders where only root, or a user for whom
 * root writes, may do so. */
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

/* Returns the system calls to forbid. With watchpoints, CMD's exec is awaited by ptrace(2);
 * debuginfod's servers may be asked later. */
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

	/* root's own files, when this process is no longer root */
	if (names_files || !rights__user())
		keep |= PRIVILEGE_DAC_READ_SEARCH;
	if (names_files)
		keep |= PRIVILEGE_CHECKPOINT_RESTORE;
	if (g->runs_command)
		keep |= PRIVILEGE_KILL;
	if (g->runs_command && g->watches) /* they are set after its exec */
		keep |= PRIVILEGE_PERFMON | PRIVILEGE_BPF | PRIVILEGE_SYS_ADMIN;
	if (rights__user() && source__facts(g->source).definitions)
		keep |= PRIVILEGE_DAC_OVERRIDE;
	return keep;
}

int privilege_drop__apply(const struct privilege_drop *g)
{
	int err = keep_files(g);

	return err ? err : source__drop_privileges(g->source, kept(g), forbidden_calls(g));
}
