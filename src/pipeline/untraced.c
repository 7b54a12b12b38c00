// SPDX-License-Identifier: BSD-2-Clause
/* Rows of what could not be traced, kept for the end and for another trace file. */
#include <stdlib.h>
#include "show.h"

static bool is_known(const untraced_vec *all, const struct untraced *row)
{
	const struct untraced *u;

	vec__each (u, all)
		if (u->pid == row->pid && u->object == row->object && u->function == row->function)
			return true;
	return false;
}

void untraced__add(untraced_vec *all, const struct untraced *row)
{
	if (all->len == UNTRACED_SHOWN || is_known(all, row))
		return;
	vec__push(all, *row);
	vec__last(all)->reason = xstrdup(row->reason);
}

int untraced__write(const untraced_vec *all, struct trace_writer *w)
{
	const struct untraced *u;
	int err = 0;

	vec__each (u, all)
		if (!err)
			err = trace_writer__sideband(
				w, &(struct sideband_event){.type = SIDEBAND_UNTRACED,
							    .pid = u->pid,
							    .tid = u->pid,
							    .object = u->object,
							    .function = u->function,
							    .text = u->reason});
	return err;
}

void untraced__free(untraced_vec *all)
{
	struct untraced *u;

	vec__each (u, all)
		free(u->reason);
	vec__free(all);
}
