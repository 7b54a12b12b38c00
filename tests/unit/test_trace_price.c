// SPDX-License-Identifier: BSD-2-Clause
/*
 * What tracing cost each call of random programs' random runs, with a made clock: each hit takes as
 * long as its kind does, code that is slow or in no plan takes long, and quick code no time at all.
 * So each sample of a price must be exact, and a call's duration less what tracing took of it must
 * be exactly the time that the program itself took.
 *
 * CASES=1000000: the number of cases. SEED=n: only that case.
 */
#include "random_growth.h"
#include "trace/replay.h"
#include "tap.h"

enum kind { WHOLE, CUT, GROWING, KINDS };

#define ALL (PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN)
static const struct mode {
	const char *name;
	enum plan_placement placement;
	unsigned events;
	bool learns; /* prices are known from samples only */
} modes[] = {
	{"full", PLACEMENT_FULL, ALL},
	{"implied", PLACEMENT_IMPLIED, ALL},
	{"witness", PLACEMENT_WITNESS, ALL},
	{"entries and returns", PLACEMENT_FULL, PLAN_ENTRY | PLAN_RETURN},
	{"full, learning", PLACEMENT_FULL, ALL, true},
	{"witness, learning", PLACEMENT_WITNESS, ALL, true},
	{"entries and returns, learning", PLACEMENT_FULL, PLAN_ENTRY | PLAN_RETURN, true},
};

struct test_case {
	uint64_t seed;
	enum kind kind;
	struct choices shape, path, cut;
	struct program program;
	struct run run;
	struct cuts cuts;
	struct growth growth;
};

/* What the clock said at a record, and how much of it was the program's own time. */
struct moment_time {
	uint64_t time, own;
};

struct check {
	const struct test_case *c;
	const struct mode *mode;
	const struct recording *events;
	struct moment_time *times; /* by record */
	size_t at;		   /* the record being fed */
	struct trace *t;
	const char *fault;
};

static unsigned long samples[ARRAY_SIZE(modes)], nets[ARRAY_SIZE(modes)];

static uint64_t hash(uint64_t seed, uint64_t n)
{
	n = (seed * 0x9e3779b97f4a7c15ull + n + 1) * 0xbf58476d1ce4e5b9ull;
	return (n ^ n >> 29) * 0x94d049bb133111ebull >> 33;
}

/* ---- costs ---- */

/* Where prices are learned, siblings have the same. */
static uint64_t cost_of(const struct mode *mode, enum hit_kind kind)
{
	static const uint16_t costs[HIT_KINDS] = {
		[HIT_ONE_TRAP] = 500,
		[HIT_TWO_TRAPS] = 9000,
		[HIT_ENTRY_ONE] = 550,
		[HIT_ENTRY_TWO] = 9100,
	};

	return costs[mode->learns ? min_of(kind, hit_kind__sibling(kind)) : kind];
}

static uint8_t quick_of(const struct test_case *c, unsigned f, unsigned b)
{
	uint64_t n = hash(c->seed, f * BLOCKS + b);

	return n % 3 && !c->program.f[f].helper ? n % 12 + 1 : 0;
}

static void price_plan(const struct test_case *c, const struct mode *mode, struct random_plan *r)
{
	struct plan_site *s;

	for (unsigned f = 0; f < c->program.functions; f++)
		for (unsigned b = 0; b < c->program.f[f].blocks; b++)
			if (r->block[f][b] < r->plan->blocks.len)
				r->plan->blocks.data[r->block[f][b]].quick = quick_of(c, f, b);
	vec__each (s, &r->plan->sites) {
		s->traps = 1 + hash(c->seed, s->vaddr) % 2;
		if (!(mode->events & PLAN_BRANCH) && s->role == ROLE_BRANCH && !s->entry &&
		    s->kind != BRANCH_RET && !r->plan->blocks.data[s->block].leaves)
			s->probe = PROBE_NONE;
	}
}

struct pricing {
	const struct test_case *c;
	const struct mode *mode;
};

static void price(const void *ctx, struct random_plan *r)
{
	const struct pricing *k = ctx;

	price_plan(k->c, k->mode, r);
}

/* ---- the clock ---- */

/* A signal whose handler is not traced is not noticed: handlers take no time. */
static bool is_slow(const struct test_case *c, const struct moment *m)
{
	if (m->type == AT_SIGNAL || m->context)
		return false;
	if (m->type == AT_START)
		return !quick_of(c, m->f, m->b) && !is_entry_branch(&c->program, m->f, m->b);
	return c->program.f[m->f].code[m->b].how != FALLS &&
	       m->target - CODE >= FUNCTIONS * BLOCKS * BLOCK_SIZE;
}

/* What the program takes from this moment to the next one. */
static uint64_t own_time(const struct test_case *c, size_t moment)
{
	return is_slow(c, &c->run.moments.data[moment])
		       ? 100000 + hash(c->seed, moment + 1000) % 1000000
		       : 0;
}

static enum hit_kind hit_kind_of(const struct plan *p, const struct grown *g, uint32_t site)
{
	for (uint32_t i = 0; g && i < g->next.plan->sites.len; i++)
		if (g->id[i] == site)
			return plan__hit_kind(g->next.plan, i, false);
	return plan__hit_kind(p, site, false);
}

/* g: the plan grows; else NULL */
static void set_clock(struct check *k, struct recording *events, const struct plan *p,
		      const struct grown *g)
{
	uint64_t time = 1000, own = 0;
	size_t moment = 0;

	k->times = xcalloc(events->records.len + 1, sizeof(*k->times));
	for (size_t i = 0; i < events->records.len; i++) {
		struct record *r = &events->records.data[i];

		for (; moment < r->moment; moment++) {
			time += own_time(k->c, moment);
			own += own_time(k->c, moment);
		}
		k->times[i] = (struct moment_time){time, own};
		r->e.time = time;
		if (r->e.type != EVENT_SIGNAL)
			time += cost_of(k->mode, hit_kind_of(p, g, r->e.site));
	}
}

/* ---- the verdict ---- */

static void check_net(struct check *k, const struct step *s)
{
	uint64_t net = s->duration - s->tracing, own;
	size_t i = 0;

	while (k->times[i].time != s->time - s->duration ||
	       k->events->records.data[i].e.type != EVENT_ENTRY)
		i++;
	own = k->times[k->at].own - k->times[i].own;
	/* there is noise only where a dearer kind's price stands in */
	if (net > own ? net - own > s->noise : own - net > s->noise)
		k->fault = "a call's net time is not what the program took";
	nets[k->mode - modes]++;
}

static int check_step(void *ctx, const struct step *s)
{
	struct check *k = ctx;

	if (s->type != STEP_RETURN || !s->has_duration)
		return 0;
	if (s->has_tracing)
		check_net(k, s);
	else if (k->c->kind == WHOLE && !k->mode->learns)
		k->fault = "a call's net time is not known";
	return 0;
}

static void check_samples(struct check *k)
{
	for (unsigned kind = 0; kind < HIT_KINDS; kind++) {
		const struct kind_price *p = &k->t->prices.of[kind];
		uint64_t cost = cost_of(k->mode, kind);

		for (unsigned i = 0; i < p->n; i++)
			if (p->ns[i] != cost)
				k->fault = "a sample isn't what the hit cost";
		if (p->known && (p->price.usual != cost || p->price.high != cost))
			k->fault = "a price isn't what the hit costs";
	}
}

/* A sample fills a batch, or is left out. */
static unsigned count_progress(const struct trace *t)
{
	unsigned n = 0;

	for (unsigned kind = 0; kind < HIT_KINDS; kind++)
		n += t->prices.of[kind].n + t->prices.of[kind].skip;
	return n;
}

/* ---- the replay ---- */

static void begin_prices(struct check *k)
{
	for (unsigned kind = 0; kind < HIT_RETURN && !k->mode->learns; kind++)
		for (unsigned i = 0; i < BATCH_FIRST; i++)
			prices__sample(&k->t->prices, kind, cost_of(k->mode, kind));
}

static void feed_all(struct check *k, struct grown *g)
{
	const struct test_case *c = k->c;
	struct losses losses = {0};
	unsigned grows = 0, before;

	for (k->at = 0; k->at < k->events->records.len && !k->fault; k->at++) {
		struct record *r = &k->events->records.data[k->at];
		uint64_t moment = c->run.moments.data[r->moment].time;

		if (g)
			grow_until(k->t, g, &c->growth, moment, &grows);
		if (is_missing(&losses, k->t, &c->cuts, r, moment))
			continue;
		r->e.entry = r->e.type == EVENT_ENTRY ? &r->entry : NULL;
		before = count_progress(k->t);
		trace__feed(k->t, &r->e);
		samples[k->mode - modes] += count_progress(k->t) != before;
		check_samples(k);
	}
}

static void replay_priced(struct check *k, const struct plan *p, struct grown *g)
{
	static const struct resolver resolver = {NULL, resolve};
	struct trace_options options = {.events = k->mode->events};

	k->t = trace__new(p, &options, &resolver, check_step, k);
	begin_prices(k);
	feed_all(k, g);
	trace__free(k->t);
}

/* ---- a case ---- */

static void pick_cut(struct test_case *c)
{
	uint64_t end = 10 * LENGTH;

	if (c->kind == CUT) {
		c->cuts.begin = rarely(&c->cut, 3) ? pick(&c->cut, end) : 0;
		for (unsigned i = 0; i < CUTS; i++) {
			c->cuts.from[i] = pick(&c->cut, end);
			c->cuts.to[i] = c->cuts.from[i] + 10 * (1 + pick(&c->cut, 10));
		}
	} else if (c->kind == GROWING) {
		c->growth.kept = 1 + pick(&c->cut, c->program.functions);
		c->growth.from = pick(&c->cut, end);
		c->growth.to = c->growth.from + pick(&c->cut, 200);
		c->growth.random = pick(&c->cut, 1000);
		if (!may_grow(&c->program, c->growth.kept))
			c->growth.kept = 0;
	}
}

static void show(const struct check *k)
{
	static const char *const moments[] = {"start", "branch", "signal"};
	size_t moment = 0;

	for (size_t i = 0; i <= k->at && i < k->events->records.len; i++) {
		const struct record *r = &k->events->records.data[i];

		for (; moment <= r->moment; moment++) {
			const struct moment *m = &k->c->run.moments.data[moment];

			printf("# %s f%u.%u quick %u sp %llx own %llu to %llx\n", moments[m->type],
			       m->f, m->b, quick_of(k->c, m->f, m->b), (unsigned long long)m->sp,
			       (unsigned long long)own_time(k->c, moment),
			       (unsigned long long)m->target);
		}
		printf("#   %llu event %u site %u%s\n", (unsigned long long)r->e.time, r->e.type,
		       r->e.site, r->e.time < k->c->cuts.begin ? " not seen" : "");
	}
}

static bool try_mode(const struct test_case *c, const struct mode *mode)
{
	struct recording events = {0};
	struct check k = {.c = c, .mode = mode, .events = &events};

	if (c->growth.kept) {
		struct grown g = {0};

		const struct pricing pricing = {c, mode};

		if (!make_grown(&g, &c->program, mode->placement, mode->events, &c->growth, price,
				&pricing)) {
			grown__free(&g);
			return true;
		}
		record_grown(&events, &g, &c->growth, &c->run);
		set_clock(&k, &events, g.now.plan, &g);
		replay_priced(&k, g.now.plan, &g);
		grown__free(&g);
	} else {
		struct random_plan r;

		make_plan(&r, &c->program, mode->placement, mode->events);
		price_plan(c, mode, &r);
		record(&events, &r, &c->run);
		set_clock(&k, &events, r.plan, NULL);
		replay_priced(&k, r.plan, NULL);
		plan__free(r.plan);
	}
	if (k.fault && getenv("SEED"))
		show(&k);
	if (k.fault)
		printf("# SEED=%llu, kind %d, %s: %s, at record %zu\n", (unsigned long long)c->seed,
		       c->kind, mode->name, k.fault, k.at);
	free(k.times);
	vec__free(&events.records);
	vec__free(&events.told);
	return !k.fault;
}

static bool try_case(uint64_t seed, enum kind kind)
{
	struct test_case c = {.seed = seed,
			      .kind = kind,
			      .shape.random = seed * 2654435761u + 7,
			      .path.random = seed * 40503 + 11,
			      .cut.random = seed * 69069 + 13};
	bool good = true;

	make_program(&c.shape, &c.program, kind ? WITH_WILD : 0);
	walk(&c.program, &c.path, &c.run);
	pick_cut(&c);
	for (size_t i = 0; good && i < ARRAY_SIZE(modes); i++)
		good = try_mode(&c, &modes[i]);
	vec__free(&c.shape.list);
	vec__free(&c.path.list);
	vec__free(&c.cut.list);
	run__free(&c.run);
	return good;
}

static void try_cases(enum kind kind, const char *what)
{
	const char *cases = getenv("CASES"), *seed = getenv("SEED");
	uint64_t i = seed ? strtoull(seed, NULL, 0) : 0;
	uint64_t n = seed ? i + 1 : cases ? strtoull(cases, NULL, 0) : 1000;
	bool good = true;

	for (; good && i < n; i++)
		good = try_case(i, kind);
	ok(good, "%s", what);
}

int main(void)
{
	try_cases(WHOLE, "each call's net time is the program's own, and each sample the hit's");
	try_cases(CUT, "where events are missing it is, or is not known");
	try_cases(GROWING, "where functions are added while it runs it is, or is not known");
	for (size_t i = 0; i < ARRAY_SIZE(modes) && !getenv("SEED"); i++)
		ok(samples[i] > 300 && nets[i] > 300, "%s: %lu samples, %lu net times",
		   modes[i].name, samples[i], nets[i]);
	return tap__done();
}
