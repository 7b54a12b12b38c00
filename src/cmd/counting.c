// SPDX-License-Identifier: BSD-2-Clause
#include <unistd.h>
#include "counting.h"
#include "interrupt.h"
#include "tally.h"

#define PATIENCE_MS 100

struct counting counting__begin(const struct args *args, struct plan *plan, struct sources *sources,
				struct probe *probe, struct live *live, struct output *output)
{
	return (struct counting){.args = args,
				 .plan = plan,
				 .sources = sources,
				 .probe = probe,
				 .live = live,
				 .output = output,
				 .next = now_ns(CLOCK_MONOTONIC) + args->interval_ns};
}

int counting__patience_ms(const struct counting *c, uint64_t now)
{
	uint64_t left;

	if (!c->args || !c->args->interval_ns)
		return PATIENCE_MS;
	left = c->next - min_of(now, c->next);
	return min_of(left / 1000000 + 1, (uint64_t)PATIENCE_MS);
}

/* ---- counts now and then ---- */

static bool is_due(struct counting *c, uint64_t now)
{
	bool asked = counts_asked_for;

	if (asked)
		watch__rest(c->watch);
	counts_asked_for = 0;
	if (!c->args->interval_ns || now < c->next)
		return asked;
	while (c->next <= now)
		c->next += c->args->interval_ns;
	return true;
}

int counting__tick(struct counting *c)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	int err;

	if (!c->args || !is_due(c, now) || !c->output->format->interval)
		return 0;
	err = sources__counts(c->sources, &c->live->sink);
	if (err)
		return err;
	show__give_counts(&c->live->show);
	if (c->args->reset)
		show__reset_counts(&c->live->show);
	return output__interval(c->output, now);
}

/* ---- threads in the middle of their path ---- */

/* What waits in a system call does so at a place of which no count is derived. */
void counting__note_cut(struct counting *c)
{
	autofree pid_vec all = {0};
	const pid_vec *pids;
	const uint32_t *pid;
	size_t n = 0;

	if (!c->args)
		return;
	pids = probe__processes(c->probe);
	if (!pids->len)
		processes__all(&all);
	vec__each (pid, pids->len ? pids : &all)
		n += *pid == (uint32_t)getpid() ? 0 : process__running(*pid);
	tally__cut(c->live->show.tally, n);
}
