// SPDX-License-Identifier: BSD-2-Clause
#include <unistd.h>
#include "counting.h"
#include "session/process/interrupt.h"
#include "pipeline/counts/tally.h"

#define PATIENCE_MS 100
/* ns between two looks at sites that may retire; doubled while none does */
#define LOOK_FIRST 20000000
#define LOOK_LAST  1000000000

struct counting counting__begin(const struct request *request, struct plan *plan,
				struct source *source, struct live *live, struct output *output)
{
	return (struct counting){.request = request,
				 .plan = plan,
				 .source = source,
				 .live = live,
				 .output = output,
				 .next = now_ns(CLOCK_MONOTONIC) + request->record.interval_ns,
				 .retire = retire__begin(request, plan),
				 .patience = LOOK_FIRST};
}

int counting__patience_ms(const struct counting *c, uint64_t now)
{
	uint64_t left;

	if (!c->request)
		return PATIENCE_MS;
	left = c->request->record.interval_ns ? c->next - min_of(now, c->next) : UINT64_MAX;
	if (c->retire.hits)
		left = min_of(left, c->next_look - min_of(now, c->next_look));
	return min_of(left / 1000000 + 1, (uint64_t)PATIENCE_MS);
}

/* ---- counts at intervals ---- */

static bool is_due(struct counting *c, uint64_t now)
{
	bool asked = counts_asked_for;

	if (asked)
		process_ends__rest(c->ends);
	counts_asked_for = 0;
	if (!c->request->record.interval_ns || now < c->next)
		return asked;
	while (c->next <= now)
		c->next += c->request->record.interval_ns;
	return true;
}

static int print(struct counting *c, uint64_t now)
{
	source__misses(c->source, &c->live->sink);
	show__give_counts(&c->live->show);
	if (c->request->record.reset)
		show__reset_counts(&c->live->show);
	return output__interval(c->output, now, show__totals(&c->live->show));
}

static int look(struct counting *c)
{
	uint64_t rounds = c->retire.rounds;
	int err = retire__tick(&c->retire, c->plan, c->source, c->live->show.tally);

	c->patience = c->retire.rounds > rounds ? LOOK_FIRST
						: min_of(2 * c->patience, (uint64_t)LOOK_LAST);
	c->next_look = now_ns(CLOCK_MONOTONIC) + c->patience;
	return err;
}

int counting__tick(struct counting *c)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	bool prints, looks;
	int err;

	if (!c->request)
		return 0;
	prints = is_due(c, now) && c->output->format->interval;
	looks = c->retire.hits && now >= c->next_look;
	if (!prints && !looks)
		return 0;
	err = source__counts(c->source, &c->live->sink);
	if (!err && looks)
		err = look(c);
	return err || !prints ? err : print(c, now);
}

void counting__end(struct counting *c)
{
	retire__end(&c->retire);
}

void counting__report(const struct counting *c)
{
	uint64_t twice = c->request ? source__facts(c->source).counted_twice : 0;

	if (twice)
		note("%llu hits may have been counted twice, while probes were replaced: too many threads "
		     "hit them at that time",
		     (unsigned long long)twice);
	if (c->request)
		retire__report(&c->retire, c->plan, c->live->show.tally);
}

/* ---- threads in the middle of their path ---- */

/* A thread that waits in a system call is at a place from which no count is derived. */
void counting__note_cut(struct counting *c)
{
	autofree pid_vec all = {0};
	struct source_facts facts;
	const pid_vec *pids;
	const uint32_t *pid;
	size_t n = 0;

	if (!c->request)
		return;
	facts = source__facts(c->source);
	pids = facts.processes;
	if (!pids->len)
		processes__all(&all);
	vec__each (pid, pids->len ? pids : &all)
		n += *pid == (uint32_t)getpid() ? 0 : process__running(*pid);
	tally__cut(c->live->show.tally, n + facts.unseen_ends);
}
