// SPDX-License-Identifier: BSD-2-Clause
/*
 * The replay of random programs' random runs under each placement emits what the processor did.
 * Where events are missing, or a branch is unknown, a mark replaces the missing steps, and all
 * other steps are still right.
 *
 * CASES=1000000: the number of cases (MATRIX=whole: 3000). SEED=n: only that case, with its
 * program. KIND=2: only cases of that kind.
 */
#include "random_compare.h"
#include "random_refusals.h"
#include "tap.h"

/* ---- a case ---- */

static const struct mode {
	const char *name;
	enum plan_placement placement;
	unsigned events;
} modes[] = {
	{"full", PLACEMENT_FULL, PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN},
	{"implied", PLACEMENT_IMPLIED, PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN},
	{"witness", PLACEMENT_WITNESS, PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN},
	{"full, no returns", PLACEMENT_FULL, PLAN_ENTRY | PLAN_BRANCH},
	{"implied, no returns", PLACEMENT_IMPLIED, PLAN_ENTRY | PLAN_BRANCH},
	{"witness, no returns", PLACEMENT_WITNESS, PLAN_ENTRY | PLAN_BRANCH},
	{"full, return probes", PLACEMENT_FULL, PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN | BY_PROBE},
	{"implied, return probes", PLACEMENT_IMPLIED,
	 PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN | BY_PROBE},
	{"calls", PLACEMENT_WITNESS, PLAN_ENTRY | PLAN_RETURN},
	{"calls, return probes", PLACEMENT_WITNESS, PLAN_ENTRY | PLAN_RETURN | BY_PROBE},
	{"witness, return probes", PLACEMENT_WITNESS,
	 PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN | BY_PROBE},
};

struct test_case {
	struct choices shape, path, cut;
	struct program program;
	struct run run;
	struct cuts cuts;
	struct growth growth;
	enum kind { WHOLE, CUT, GROWING, REFUSED } kind;
	uint64_t random;  /* REFUSED: which witnesses are */
	unsigned without; /* what is left out of its program */
};

static void pick_cuts(struct choices *c, struct cuts *cuts)
{
	uint64_t end = 10 * LENGTH;

	*cuts = (struct cuts){0};
	if (rarely(c, 3))
		cuts->begin = pick(c, end);
	for (unsigned i = 0; i < CUTS; i++)
		if (rarely(c, 3)) {
			cuts->from[i] = pick(c, end);
			cuts->to[i] = cuts->from[i] + 10 * (1 + pick(c, 10));
		}
}

static void pick_growth(struct choices *c, const struct program *p, struct growth *growth)
{
	uint64_t end = 10 * LENGTH;

	growth->kept = 1 + pick(c, p->functions);
	growth->from = pick(c, end);
	growth->to = growth->from + pick(c, 200);
	growth->random = pick(c, 1000);
	growth->removes = pick(c, 2);
	if (!may_grow(p, growth->kept))
		growth->kept = 0;
}

/* What the choices mean. */
static void make_case(struct test_case *t)
{
	t->shape.at = t->path.at = t->cut.at = 0;
	t->path.over = false;
	run__free(&t->run);
	t->run = (struct run){0};
	make_program(&t->shape, &t->program, t->without);
	walk(&t->program, &t->path, &t->run);
	t->cuts = (struct cuts){0};
	t->growth = (struct growth){0};
	if (t->kind == CUT)
		pick_cuts(&t->cut, &t->cuts);
	else if (t->kind == GROWING)
		pick_growth(&t->cut, &t->program, &t->growth);
}

static void case__free(struct test_case *t)
{
	vec__free(&t->shape.list);
	vec__free(&t->path.list);
	vec__free(&t->cut.list);
	run__free(&t->run);
}

/* ---- the verdict ---- */

static void start_lost(const struct test_case *t, bool *lost)
{
	const struct did *d;

	lost[0] = true;
	vec__each (d, &t->run.did)
		if (d->type == STEP_ENTRY &&
		    (d->time < t->cuts.begin || (t->growth.kept && d->f >= t->growth.kept &&
						 growth__hides(&t->growth, d->time))))
			lost[d->call] = true;
}

/* Are depths and calls known exactly? */
static bool is_exact(const struct test_case *t, const struct mode *mode, const struct plan *plan)
{
	if (!(mode->events & BY_PROBE))
		return t->run.nested && !t->run.tailed_out &&
		       (!t->run.helped || mode->events & PLAN_RETURN);
	for (uint32_t f = 0; f < plan->functions.len; f++)
		if (plan__return_refusal(plan, f))
			return false;
	return t->run.nested;
}

static bool compare(const struct test_case *t, const struct mode *mode, const struct plan *plan,
		    struct comparison *c)
{
	size_t n = c->want->len + 1;
	autofree bool *lost = xcalloc(t->run.calls + 1, 1), *marked = xcalloc(t->run.calls + 1, 1),
		      *reach = xcalloc(n, 1), *next = xcalloc(n, 1);
	autofree size_t *last = xcalloc(t->run.calls + 1, sizeof(*last));
	unsigned with = t->program.with;
	bool full = mode->placement == PLACEMENT_FULL, exact;

	c->lost = lost;
	c->marked = marked;
	c->last = last;
	c->reach = reach;
	c->next = next;
	c->shared = with & WITH_SHARED;
	c->run = &t->run;
	c->growth = &t->growth;
	c->cut = is_cut(&t->cuts) || t->growth.kept;
	c->uncertain = c->cut || with & WITH_REFUSED;
	start_lost(t, lost);
	look_ahead(c);
	if (!compare_all(c, t->run.calls))
		return false;
	if (c->uncertain || with & WITH_SIGNALS)
		return true;
	exact = is_exact(t, mode, plan);
	if ((full || exact) && is_marked(c))
		return false;
	if (!exact)
		return true;
	return compare_exactly(c, t->run.calls) &&
	       (!(mode->events & PLAN_RETURN) || compare_open(c));
}

/* ---- what failed ---- */

static const char *const how_names[HOWS] = {
	[RETURNS] = "ret",   [FALLS] = "-",	    [BRANCHES] = "jcc", [JUMPS] = "jmp",
	[CALLS] = "call",    [SWITCHES] = "switch", [TAIL] = "tail",	[CALLS_POINTER] = "call *",
	[TAIL_IF] = "jtail", [SHARES] = "shares",   [THROWS] = "throw", [TAIL_POINTER] = "tail *",
};

static void show_block(const struct random_plan *r, const struct program *p, unsigned f, unsigned b)
{
	const struct code *e = &p->f[f].code[b];
	uint32_t i = 0;

	printf("#   0x%llx %s", (unsigned long long)start_of(f, b), how_names[e->how]);
	if (e->how == SWITCHES)
		for (i = 0; i < e->nto; i++)
			printf(" 0x%llx", (unsigned long long)start_of(f, e->to[i]));
	else if (e->how == CALLS_POINTER || e->how == TAIL_POINTER)
		printf("0x%llx", (unsigned long long)address_of(p, e->callee));
	else if (target_of(p, f, b))
		printf(" 0x%llx", (unsigned long long)target_of(p, f, b));
	printf("%s%s%s%s; probes:", e->pad ? " pad" : "", e->refused ? " refused" : "",
	       e->incomplete ? " incomplete" : "",
	       b || p->f[f].entry != ENTRY_REFUSED ? "" : " entry refused");
	for (i = 0; i < r->plan->sites.len; i++) {
		const struct plan_site *s = &r->plan->sites.data[i];

		if (s->block == r->block[f][b] && s->probe)
			printf(" %s", s->role == ROLE_WITNESS ? "witness"
				      : s->entry	      ? "entry"
							      : "branch");
	}
	printf("\n");
}

static void show_program(const struct random_plan *r, const struct program *p)
{
	for (unsigned f = 0; f < p->functions; f++) {
		printf("# f%u: frame %u%s%s\n", f, p->f[f].frame, p->f[f].wild ? " wild" : "",
		       p->f[f].helper ? " helper" : "");
		for (unsigned b = 0; b < p->f[f].blocks; b++)
			show_block(r, p, f, b);
	}
}

static void show_want(const did_vec *want)
{
	const struct did *d;

	vec__each (d, want) {
		printf("# want %4llu %*s", (unsigned long long)d->time, d->depth, "");
		if (d->type == STEP_BRANCH)
			printf("B 0x%llx %c 0x%llx\n", (unsigned long long)d->at,
			       d->taken ? 'T' : 'N', (unsigned long long)d->to);
		else
			printf("%c f%u\n", d->type == STEP_ENTRY ? 'E' : 'R', d->f);
	}
}

static void show_got(const struct replayed *got, size_t where)
{
	for (size_t k = 0; k < got->steps.len; k++) {
		const struct step *s = &got->steps.data[k];

		printf("# %s %4llu %*s", k == where ? "HERE" : " got",
		       (unsigned long long)(s->timed ? s->time : 0), s->depth, "");
		if (s->type == STEP_BRANCH)
			printf("B 0x%llx %c 0x%llx\n", (unsigned long long)s->at.vaddr,
			       s->taken ? 'T' : 'N',
			       (unsigned long long)(s->to.object ? s->to.vaddr
								 : s->to.addr - BIAS));
		else if (s->type == STEP_LOST)
			printf("lost %llu\n", (unsigned long long)s->count);
		else if (s->type == STEP_UNKNOWN)
			printf("unknown%s\n", k >= got->finish ? " (at the end)" : "");
		else
			printf("%c f%u\n", s->type == STEP_ENTRY ? 'E' : 'R', s->function);
	}
}

static void show_events(const struct recording *r, const struct cuts *c)
{
	const struct record *e;

	vec__each (e, &r->records)
		printf("# event %4llu %s site %u sp %llx%s\n", (unsigned long long)e->e.time,
		       e->e.type == EVENT_ENTRY	   ? "entry"
		       : e->e.type == EVENT_RETURN ? "return"
		       : e->e.type == EVENT_SIGNAL ? "signal"
						   : "branch",
		       e->e.site, (unsigned long long)e->e.sp,
		       e->e.time < c->begin    ? " not seen"
		       : is_lost(c, e->e.time) ? " lost"
					       : "");
}

/* ---- one case under one placement ---- */

/* Without branches nothing is marked as unknown, and no branch shows where a witness has no room.
 */
static bool is_for_calls(const struct test_case *t)
{
	for (unsigned f = 0; f < t->program.functions; f++)
		for (unsigned b = 0; b < t->program.f[f].blocks; b++) {
			const struct code *e = &t->program.f[f].code[b];

			if (e->room == 2 && (e->how == FALLS || e->pad))
				return false;
		}
	return t->kind != GROWING && !(t->program.with & WITH_REFUSED);
}

/*
 * Return probes can't follow a change of stacks: the kernel takes their calls for left. A jump out
 * of the plan that comes back, or has no probe, looks like one within it.
 */
static bool is_for(const struct mode *mode, const struct test_case *t)
{
	unsigned with = t->program.with;

	if (!(mode->events & PLAN_BRANCH) && !is_for_calls(t))
		return false;
	return !(mode->events & BY_PROBE) ||
	       (!(with & WITH_STACKS) && !(with & WITH_REFUSED && with & WITH_TAILS) &&
		!t->run.helped && t->kind != GROWING);
}

/* False: the case failed. */
static bool try_mode(const struct test_case *t, const struct mode *mode, bool show)
{
	struct random_plan r;
	struct recording events = {0};
	struct replayed got = {0};
	did_vec want = {0};
	struct comparison c = {.want = &want, .got = &got};
	bool good;

	if (!is_for(mode, t))
		return true;
	if (t->kind == REFUSED && t->program.with & WITH_REFUSED)
		make_refused_plan(&r, &t->program, mode->placement, mode->events, t->random);
	else
		make_plan(&r, &t->program, mode->placement, mode->events);
	if (t->growth.kept) {
		struct grown g = {0};

		if (!make_grown(&g, &t->program, mode->placement, mode->events, &t->growth, NULL,
				NULL)) {
			plan__free(r.plan);
			grown__free(&g);
			return true;
		}
		record_grown(&events, &g, &t->growth, &t->run);
		replay_grown(&g, &t->growth, mode->events, &events,
			     t->run.moments.len ? vec__last(&t->run.moments)->time : 0, &got);
		grown__free(&g);
	} else {
		record(&events, &r, &t->run);
		replay(r.plan, mode->events, &events, &t->cuts, &got);
	}
	expect(r.plan, &t->run, &events, &t->cuts, mode->events, &want);
	good = compare(t, mode, r.plan, &c);
	if (show && !good) {
		printf("# %s: %s\n", mode->name, c.fault);
		show_program(&r, &t->program);
		show_events(&events, &t->cuts);
		show_want(&want);
		show_got(&got, c.where);
	}
	vec__free(&events.records);
	vec__free(&events.told);
	vec__free(&events.instances);
	vec__free(&got.steps);
	vec__free(&want);
	plan__free(r.plan);
	return good;
}

/* ---- shrinking ---- */

static void replace(struct choices *to, const struct choices *from)
{
	const uint16_t *v;

	to->list.len = 0;
	vec__each (v, &from->list)
		vec__push(&to->list, *v);
}

static bool still_fails(struct test_case *t, const struct mode *mode)
{
	make_case(t);
	return !try_mode(t, mode, false);
}

/* Without n choices from i on, or with zeros there. */
static bool try_less(struct test_case *t, const struct mode *mode, struct choices *c, size_t i,
		     size_t n, bool zero)
{
	struct choices before = {0};
	bool fails;

	replace(&before, c);
	n = min_of(n, c->list.len - i);
	if (zero) {
		memset(c->list.data + i, 0, n * sizeof(*c->list.data));
	} else {
		memmove(c->list.data + i, c->list.data + i + n,
			(c->list.len - i - n) * sizeof(*c->list.data));
		c->list.len -= n;
	}
	fails = (!zero ||
		 memcmp(c->list.data, before.list.data, c->list.len * sizeof(*c->list.data))) &&
		still_fails(t, mode);
	if (!fails)
		replace(c, &before);
	vec__free(&before.list);
	return fails;
}

static bool shrink_choices(struct test_case *t, const struct mode *mode, struct choices *c)
{
	bool any = false;

	for (size_t n = 64; n; n /= 2)
		for (int zero = 0; zero < 2; zero++)
			for (size_t i = 0; i < c->list.len;)
				if (try_less(t, mode, c, i, n, zero) && !zero)
					any = true;
				else
					i += n;
	return any;
}

static void shrink(struct test_case *t, const struct mode *mode)
{
	bool any = true;

	t->shape.random = t->path.random = t->cut.random = 0;
	for (unsigned round = 0; any && round < 10; round++) {
		any = shrink_choices(t, mode, &t->cut);
		any |= shrink_choices(t, mode, &t->path);
		any |= shrink_choices(t, mode, &t->shape);
	}
	make_case(t);
}

/* ---- all cases under all placements ---- */

static bool try_case(uint64_t seed, enum kind kind)
{
	struct test_case t = {.shape.random = seed * 2654435761u + 1,
			      .path.random = seed * 40503 + 3,
			      .cut.random = kind ? seed * 69069 + 5 : 0,
			      .random = seed,
			      .kind = kind,
			      /* behind a loss nothing but the stack pointer tells calls apart */
			      .without = kind == CUT || kind == GROWING ? WITH_WILD : 0};
	bool good = true;

	make_case(&t);
	for (size_t i = 0; good && i < ARRAY_SIZE(modes); i++) {
		good = try_mode(&t, &modes[i], false);
		if (good)
			continue;
		printf("# SEED=%llu, kind %d\n", (unsigned long long)seed, kind);
		shrink(&t, &modes[i]);
		try_mode(&t, &modes[i], true);
	}
	case__free(&t);
	return good;
}

/* Cases that few others are like. */
static const struct {
	enum kind kind;
	uint64_t seed;
} rare[] = {
	{WHOLE, 30908},	  /* the unwinder lands in a caller whose function runs again further in */
	{WHOLE, 36692},	  /* the way to a call's caller would pass another entry */
	{WHOLE, 44659},	  /* of calls that were jumped out of, an outer one is given up */
	{CUT, 35799},	  /* likewise, with return probes that wait */
	{GROWING, 42143}, /* control falls through out of the plan, and jumps back into it */
	{CUT,
	 26512}, /* a call whose end was lost, and then the entry of another one in its place */
	{CUT, 47654},	  /* likewise, and its return probe tells another caller */
	{CUT, 57134},	  /* likewise, and it comes back to its entry, which tells its caller */
	{GROWING, 58608}, /* a jump by a pointer into a function that is being added */
	{GROWING, 16179}, /* a function falls through into one that is being added */
	{GROWING, 29168}, /* a ret loses its probe, and the trace ends */
};

static void try_cases(enum kind kind, const char *what)
{
	const char *only = getenv("KIND");
	const char *cases = getenv("CASES"), *seed = getenv("SEED");
	uint64_t n = cases ? strtoull(cases, NULL, 0) : runs_whole() ? 3000 : 1200, i = 0;
	bool good = true;

	if (only && strtoull(only, NULL, 0) != kind)
		return;
	if (seed) {
		i = strtoull(seed, NULL, 0);
		n = i + 1;
	}
	for (; good && i < n; i++)
		good = try_case(i, kind);
	for (i = 0; good && !seed && i < ARRAY_SIZE(rare); i++)
		good = rare[i].kind != kind || try_case(rare[i].seed, kind);
	ok(good, "%s", what);
}

int main(void)
{
	try_cases(WHOLE, "a random program's steps are what it did, under each placement");
	try_cases(CUT, "where events are missing, a mark stands for what is missing");
	try_cases(
		GROWING,
		"where functions are added while it runs, steps are what it did, or a mark stands for them");
	try_cases(
		REFUSED,
		"where the kernel refuses probes, others tell the steps, or a mark stands for them");
	return tap__done();
}
