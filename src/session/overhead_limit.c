// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ends a trace that takes more than a share of the traced processes' CPU time. The kernel reports
 * the time that they used, the replay the part that tracing took. Events arrive late, so one
 * verdict may be too low and the next too high: only two in a row count.
 */
#include <stdlib.h>
#include <time.h>
#include "overhead_limit.h"

#define EVERY 20000000 /* ns: the shortest time between two looks */

unsigned overhead_limit__percent(uint64_t tracing, uint64_t cpu)
{
	return cpu ? min_of(tracing, cpu) * 100 / cpu : 0;
}

bool overhead_limit__judge(struct overhead_limit *b, uint64_t tracing, uint64_t cpu)
{
	b->percent = overhead_limit__percent(tracing, cpu);
	b->over = b->percent > b->most ? b->over + 1 : 0;
	return b->over >= 2;
}

/* ---- the processes ---- */

/* Returns the CPU time of all threads of a process, also those that have ended; 0 if the process
 * has ended. */
static uint64_t cpu_of(uint32_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static struct overhead_look *look_of(struct overhead_limit *b, uint32_t pid)
{
	uint64_t *index = map64__put(&b->index, pid);

	if (!*index) {
		vec__push(&b->looks, (struct overhead_look){.pid = pid});
		*index = b->looks.len;
	}
	return &b->looks.data[*index - 1];
}

void overhead_limit__look(struct overhead_limit *b, struct overhead_look now, uint64_t *tracing,
			  uint64_t *cpu)
{
	struct overhead_look *last = look_of(b, now.pid);

	if (!now.cpu)
		return;
	/* new, or another process with this PID */
	if (!last->cpu || now.cpu < last->cpu || now.tracing < last->tracing) {
		*last = now;
		return;
	}
	*cpu += now.cpu - last->cpu;
	*tracing += now.tracing - last->tracing;
}

struct looks {
	VEC(struct overhead_look) now;
};

/* Adds what probes, and copies in its threads, have cost a process. */
static void add_look(void *ctx, uint32_t pid, uint64_t tracing)
{
	struct looks *l = ctx;
	struct overhead_look *now;

	vec__each (now, &l->now)
		if (now->pid == pid) {
			now->tracing += tracing;
			return;
		}
	if (pid)
		vec__push(&l->now, (struct overhead_look){
					   .pid = pid, .cpu = cpu_of(pid), .tracing = tracing});
}

/* Returns the cost of lost events: as much as that of others. */
static uint64_t cost_of_lost(struct overhead_limit *b, const struct trace_totals *t)
{
	uint64_t lost = t->lost - b->lost;

	b->lost = t->lost;
	return t->hits ? lost * (t->tracing / t->hits) : 0;
}

bool overhead_limit__tick(struct overhead_limit *b, const struct trace *t, uint64_t time)
{
	uint64_t tracing = 0, cpu = 0;
	struct overhead_look *now;
	struct looks l = {0};
	bool verdict;

	if (!b->most || time < b->next)
		return false;
	b->next = time + EVERY;
	trace__each_cost(t, add_look, &l);
	if (b->source)
		source__each_cost(b->source, add_look, &l);
	vec__each (now, &l.now)
		overhead_limit__look(b, *now, &tracing, &cpu);
	verdict = cpu >= VERDICT_CPU;
	for (size_t i = 0; verdict && i < l.now.len; i++)
		if (l.now.data[i].cpu)
			*look_of(b, l.now.data[i].pid) = l.now.data[i];
	vec__free(&l.now);
	if (!verdict)
		return false;
	return overhead_limit__judge(b, tracing + cost_of_lost(b, trace__totals(t)), cpu);
}

/* ---- the report ---- */

struct site_cost {
	uint32_t site;
	uint64_t hits, ns;
};

static int by_cost(const void *a, const void *b)
{
	const struct site_cost *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static void put_site(struct str *s, const struct plan *plan, const struct site_cost *c,
		     uint64_t all)
{
	const struct plan_site *site = &plan->sites.data[c->site];
	const struct plan_function *f = &plan->functions.data[site->function];
	uint64_t offset = site->vaddr - plan__start(f);

	str__shown(s, f->name);
	if (site->entry)
		str__puts(s, " entry");
	else
		str__printf(s, "+0x%llx %s", (unsigned long long)offset,
			    site->mnemonic ? site->mnemonic : "witness");
	str__printf(s, " %llu hits x %.1fus = %.0fms (%llu %%)", (unsigned long long)c->hits,
		    (double)c->ns / c->hits / 1e3, c->ns / 1e6,
		    (unsigned long long)(all ? 100 * c->ns / all : 0));
}

void overhead_limit__report(const struct overhead_limit *b, const struct trace *t,
			    const struct plan *plan)
{
	VEC(struct site_cost) costs = {0};
	struct str text = {0};
	uint64_t all = 0;

	for (uint32_t i = 0; i < plan->sites.len; i++) {
		struct site_cost c = {.site = i};

		c.hits = trace__site_hits(t, i, &c.ns);
		all += c.ns;
		if (c.hits)
			vec__push(&costs, c);
	}
	vec__sort(&costs, by_cost);
	note("stopped: tracing took %s%u %% of the traced processes' CPU time, more than "
	     "--max-overhead %u",
	     trace__totals(t)->unpriced ? "at most " : "", b->percent, b->most);
	for (size_t i = 0; i < costs.len && i < 2; i++) {
		str__puts(&text, i ? "; " : "");
		put_site(&text, plan, &costs.data[i], all);
	}
	if (costs.len > 2)
		str__printf(&text, "; and %zu more", costs.len - 2);
	if (costs.len) {
		const uint32_t site = costs.data[0].site;

		note("most expensive: %s", text.data);
		note("cheaper: --exclude %s%s",
		     plan->functions.data[plan->sites.data[site].function].name,
		     plan__is_kernel_site(plan, site)
			     ? ""
			     : ", or -e entry,return --returns probe (see bbtrace doctor --calibrate)");
	}
	if (b->copies)
		note("copies cost what they log or count, and the time that the program waits for its "
		     "events to be read; cheaper: -c, or fewer functions");
	str__free(&text);
	vec__free(&costs);
}

void overhead_limit__free(struct overhead_limit *b)
{
	map64__free(&b->index);
	vec__free(&b->looks);
}
