// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "counted.h"

/* A target of an indirect branch, and its count since the last report. */
struct way {
	uint32_t site, pid;
	uint64_t target;
	uint64_t count;
};

struct counted {
	const struct plan *plan;
	const struct copies *copies;
	struct rings *rings;
	uint64_t *sums, *reported; /* by counter */
	bool held;		   /* the sums stay as they are */
	struct site_count *sites;  /* by site: of records, since that was reported last */
	VEC(struct way) ways;
	struct map64 way_of; /* hash of site, pid and target → 1 + the last such way */
	const struct source_sink *sink;
};

struct counted *counted__new(const struct plan *plan, const struct copies *copies,
			     struct rings *rings)
{
	struct counted *c = xcalloc(1, sizeof(*c));

	*c = (struct counted){.plan = plan, .copies = copies, .rings = rings, .held = true};
	c->sums = xcalloc(copies->counted.len + 1, sizeof(*c->sums));
	c->reported = xcalloc(copies->counted.len + 1, sizeof(*c->reported));
	c->sites = xcalloc(plan->sites.len + 1, sizeof(*c->sites));
	return c;
}

void counted__free(struct counted *c)
{
	if (!c)
		return;
	vec__free(&c->ways);
	map64__free(&c->way_of);
	free(c->sums);
	free(c->reported);
	free(c->sites);
	free(c);
}

/* ---- records of sites ---- */

static bool is_conditional(const struct plan_site *s)
{
	return s->role == ROLE_BRANCH && (s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP);
}

static void count_site(struct counted *c, const struct event *e)
{
	struct site_count *n = &c->sites[e->site];

	if (is_conditional(&c->plan->sites.data[e->site]) && !e->taken)
		n->not_taken++;
	else
		n->taken++;
}

static int report_sites(struct counted *c, const struct source_sink *sink)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < c->plan->sites.len; i++) {
		const struct count n = {
			.site = i, .taken = c->sites[i].taken, .not_taken = c->sites[i].not_taken};

		c->sites[i] = (struct site_count){0};
		if (n.taken || n.not_taken)
			err = sink->counted(sink->ctx, &n);
	}
	return err;
}

/* ---- indirect branches ---- */

static bool is_way(const struct way *w, const struct way *other)
{
	return w->site == other->site && w->pid == other->pid && w->target == other->target;
}

/* Returns true if its targets are reported. */
static bool has_targets(const struct plan *plan, uint32_t site)
{
	const struct plan_site *s = &plan->sites.data[site];

	return s->kind != BRANCH_RET || plan->counts_all;
}

static void count_way(struct counted *c, const struct event *e)
{
	struct way way = {.site = e->site, .pid = e->pid, .target = e->target, .count = 1};
	const uint64_t key[] = {way.site, way.pid, way.target};
	uint64_t *at = map64__put(&c->way_of, map64__hash(key, sizeof(key)));

	/* others with the same hash get a row each time */
	if (*at && is_way(&c->ways.data[*at - 1], &way)) {
		c->ways.data[*at - 1].count++;
		return;
	}
	vec__push(&c->ways, way);
	*at = c->ways.len;
}

static int report_way(const struct way *w, const struct source_sink *sink)
{
	const struct count n = {.site = w->site,
				.taken = w->count,
				.has_target = true,
				.pid = w->pid,
				.target = w->target};

	return sink->counted(sink->ctx, &n);
}

static int report_ways(struct counted *c, const struct source_sink *sink)
{
	const struct way *w;
	int err = 0;

	vec__each (w, &c->ways) {
		if (!err)
			err = report_way(w, sink);
	}
	c->ways.len = 0;
	map64__free(&c->way_of);
	return err;
}

static int see_event(void *ctx, const struct event *e)
{
	struct counted *c = ctx;
	bool of_site = e->type == EVENT_BRANCH || e->type == EVENT_ENTRY;

	if (!of_site || c->plan->sites.data[e->site].probe != PROBE_INLINE_COUNT)
		return c->sink->event(c->sink->ctx, e);
	count_site(c, e);
	if (has_targets(c->plan, e->site) && e->has_target)
		count_way(c, e);
	return 0;
}

/* ---- the rest ---- */

static int see_sideband(void *ctx, const struct sideband_event *e)
{
	struct counted *c = ctx;
	bool ends = e->type == SIDEBAND_EXEC || (e->type == SIDEBAND_EXIT && e->pid == e->tid);
	int err = ends ? report_ways(c, c->sink) : 0;

	return err ? err : c->sink->sideband(c->sink->ctx, e);
}

static int see_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	const struct source_sink *sink = ((struct counted *)ctx)->sink;

	return sink->lost(sink->ctx, pid, tid, count);
}

static void see_missed(void *ctx, const struct missed *m)
{
	const struct source_sink *sink = ((struct counted *)ctx)->sink;

	sink->missed(sink->ctx, m);
}

static int see_counted(void *ctx, const struct count *n)
{
	const struct source_sink *sink = ((struct counted *)ctx)->sink;

	return sink->counted(sink->ctx, n);
}

struct source_sink counted__sink(struct counted *c, const struct source_sink *sink)
{
	c->sink = sink;
	return (struct source_sink){c, see_event, see_sideband, see_lost, see_missed, see_counted};
}

void counted__hold(struct counted *c)
{
	if (!c->held)
		rings__count(c->rings, c->sums);
	c->held = true;
}

void counted__go_on(struct counted *c)
{
	uint32_t n = c->copies->counted.len;
	autofree uint64_t *now = xcalloc(n + 1, sizeof(*now));

	if (!c->held)
		return;
	c->held = false;
	rings__count(c->rings, now);
	for (uint32_t i = 0; i < n; i++) {
		c->reported[i] += now[i] - c->sums[i];
		c->sums[i] = now[i];
	}
}

int counted__report(struct counted *c, const struct source_sink *sink)
{
	int err = 0;

	if (!c->held)
		rings__count(c->rings, c->sums);
	for (uint32_t i = 0; !err && i < c->copies->counted.len; i++) {
		const struct copy_counter *counter = &c->copies->counted.data[i];
		uint64_t n = c->sums[i] - c->reported[i];
		struct count count = {.site = counter->site,
				      .taken = counter->not_taken ? 0 : n,
				      .not_taken = counter->not_taken ? n : 0};

		c->reported[i] = c->sums[i];
		if (n)
			err = sink->counted(sink->ctx, &count);
	}
	if (!err)
		err = report_sites(c, sink);
	return err ? err : report_ways(c, sink);
}
