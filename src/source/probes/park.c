// SPDX-License-Identifier: BSD-2-Clause
/* Probes that are removed while nothing is recorded, and put back: then what is traced costs
 * nothing. The filters, the tables and the programs stay loaded. */
#include "source/probes/mechanisms/multi.h"

/* ---- the source's operations ---- */

/* Those that need a capability to be attached again stay, unless it was kept for that. */
static bool can_park(const struct probe *p, const struct attachment *a)
{
	return a->mechanism && (a->mechanism->quick || p->options->parks);
}

/* Once. */
static void report_staying(struct probe *p, const struct attachment *a)
{
	if (!a->mechanism || can_park(p, a) || p->reported_staying)
		return;
	p->reported_staying = true;
	note("probes by %s stay while recording is stopped, and each hit costs a trap: --paused "
	     "and the options that switch recording take them away",
	     a->mechanism->name);
}

int probe__park(struct source *s)
{
	struct probe *p = (struct probe *)s;
	int err = 0;

	if (p->parked)
		return 0;
	report_staying(p, &p->programs);
	report_staying(p, &p->kernel);
	probe__keep_misses(p);
	if (p->marks.links.len)
		err = shield__run(markers__park, p);
	if (!err && can_park(p, &p->kernel))
		err = p->kernel.mechanism->park(p);
	if (!err && can_park(p, &p->programs))
		err = shield__run(p->programs.mechanism->park, p);
	p->parked = !err;
	return err;
}

int probe__unpark(struct source *s)
{
	struct probe *p = (struct probe *)s;
	int err = 0;

	if (!p->parked)
		return 0;
	p->parked = false;
	if (p->options->markers)
		err = shield__run(markers__unpark, p);
	if (!err && can_park(p, &p->kernel))
		err = p->kernel.mechanism->unpark(p);
	if (!err && can_park(p, &p->programs))
		err = shield__run(p->programs.mechanism->unpark, p);
	p->parked = err;
	return err;
}
