// SPDX-License-Identifier: BSD-2-Clause
/*
 * The counts that follow from what few probes count, in random programs' random runs, are what
 * happened: counting begins anywhere, and the thread may be killed anywhere.
 *
 * CASES=1000000: the number of cases. SEED=n: only that case, with its program.
 */
#include "random_walk.h"
#include "tap.h"

struct count_case {
	struct choices shape, path;
	struct program program;
	struct run run;
	struct random_plan r;
	size_t begin, end; /* the moments that are counted */
	struct plan_counts truth, counts;
	bool roomy; /* each block has an instruction that can carry a probe */
	const char *fault;
};

/* ---- where the thread is ---- */

/* What the thread has begun, innermost last. */
struct open {
	enum { ARRIVES, INSIDE, HANDLES } how;
	unsigned f, b;
	size_t over; /* HANDLES: the moment when the handler is over */
};

struct whereabouts {
	VEC(struct open) list;
	unsigned contexts;
};

static uint32_t block_of(const struct count_case *t, unsigned f, unsigned b)
{
	return t->program.f[f].helper ? NO_BLOCK : t->r.block[f][b];
}

/* Is this the way to another block, other than by a call? */
static void note_arrival(struct whereabouts *w, const struct count_case *t, const struct moment *m)
{
	uint8_t how = t->program.f[m->f].code[m->b].how;
	uint64_t index = (m->target - CODE) / BLOCK_SIZE;
	unsigned f = index / BLOCKS, b = index % BLOCKS;

	if (how == FALLS) {
		f = m->f + (m->b + 1 == t->program.f[m->f].blocks);
		b = f == m->f ? m->b + 1 : 0;
	} else if (how == RETURNS || how == CALLS || how == CALLS_POINTER || how == THROWS ||
		   m->target - CODE >= sizeof(t->r.bytes)) {
		return;
	}
	if (block_of(t, m->f, m->b) != NO_BLOCK && f < t->program.functions &&
	    block_of(t, f, b) != NO_BLOCK)
		vec__push(&w->list, (struct open){ARRIVES, f, b, 0});
}

static void pop(struct whereabouts *w, int how)
{
	if (w->list.len && (int)vec__last(&w->list)->how == how)
		w->list.len--;
}

static void follow(struct whereabouts *w, const struct count_case *t, size_t i)
{
	const struct moment *m = &t->run.moments.data[i];

	while (w->list.len && vec__last(&w->list)->how == HANDLES && vec__last(&w->list)->over <= i)
		w->list.len--;
	switch (m->type) {
	case AT_START:
		pop(w, ARRIVES);
		vec__push(&w->list, (struct open){INSIDE, m->f, m->b, 0});
		return;
	case AT_BRANCH:
		pop(w, INSIDE);
		note_arrival(w, t, m);
		return;
	case AT_SIGNAL:
		w->contexts++;
		vec__push(&w->list, (struct open){HANDLES, 0, 0,
						  w->contexts < t->run.over.len
							  ? t->run.over.data[w->contexts]
							  : SIZE_MAX});
		return;
	case AT_LEAVE: /* in no block of the plan */
		return;
	}
}

static void add_cuts(struct count_case *t, const struct whereabouts *w, int64_t came)
{
	const struct open *o;

	vec__each (o, &w->list)
		if (o->how != HANDLES && block_of(t, o->f, o->b) != NO_BLOCK)
			vec__push(&t->counts.cuts,
				  (struct plan_cut){
					  .vaddr = o->how == ARRIVES
							   ? start_of(o->f, o->b)
							   : site_of(&t->program, o->f, o->b),
					  .came = came});
}

/* ---- what happened, and what probes see of it ---- */

static void happen(struct count_case *t, const struct moment *m)
{
	const struct plan *p = t->r.plan;
	uint32_t block = block_of(t, m->f, m->b);
	uint64_t branch = site_of(&t->program, m->f, m->b);

	if (m->type == AT_SIGNAL || m->type == AT_LEAVE || block == NO_BLOCK)
		return;
	t->truth.blocks[block] += (m->type == AT_BRANCH) == (branch == p->blocks.data[block].start);
	for (uint32_t i = 0; i < p->sites.len; i++) {
		const struct plan_site *s = &p->sites.data[i];
		bool two = s->kind == BRANCH_JCC;

		if (s->block != block || (m->type == AT_BRANCH) != (s->vaddr >= branch))
			continue;
		if (two && !m->taken)
			t->truth.sites[i].not_taken++;
		else
			t->truth.sites[i].taken++;
		if (s->role == ROLE_BRANCH && s->kind == BRANCH_IJMP) {
			size_t cuts = t->truth.cuts.len;

			plan_counts__jumped(&t->truth, p, i,
					    m->target - CODE < sizeof(t->r.bytes) ? 0 : UINT32_MAX,
					    m->target, 1);
			if (s->probe != PROBE_COUNT) /* nobody sees it */
				t->truth.cuts.len = cuts;
		}
	}
}

static void see(struct count_case *t)
{
	const struct plan *p = t->r.plan;
	struct plan_cut *cut;

	for (uint32_t i = 0; i < p->sites.len; i++) {
		const struct plan_site *s = &p->sites.data[i];

		if (s->probe != PROBE_COUNT)
			continue;
		t->counts.sites[i] = t->truth.sites[i];
		t->counts.targets[i] = t->truth.targets[i];
		for (uint32_t k = 0; s->kind == BRANCH_IJMP && k < p->blocks.data[s->block].ntable;
		     k++)
			t->counts.table[p->blocks.data[s->block].table + k] =
				t->truth.table[p->blocks.data[s->block].table + k];
	}
	/* targets that no table has */
	vec__each (cut, &t->truth.cuts)
		vec__push(&t->counts.cuts, *cut);
}

static void count(struct count_case *t)
{
	struct whereabouts w = {0};

	for (size_t i = 0; i < t->end; i++) {
		if (i == t->begin)
			add_cuts(t, &w, 1);
		if (i >= t->begin)
			happen(t, &t->run.moments.data[i]);
		follow(&w, t, i);
	}
	if (t->begin >= t->end)
		add_cuts(t, &w, 1);
	add_cuts(t, &w, -1);
	vec__free(&w.list);
	see(t);
}

/* ---- the verdict ---- */

static bool is_wrong(uint64_t got, uint64_t want)
{
	return got != COUNT_UNKNOWN && got != want;
}

static const char *find_wrong(const struct count_case *t)
{
	const struct plan *p = t->r.plan;

	for (uint32_t i = 0; i < p->sites.len; i++) {
		const struct plan_site *s = &p->sites.data[i];
		const struct site_count *got = &t->counts.sites[i], *want = &t->truth.sites[i];
		bool unknown = got->taken == COUNT_UNKNOWN || got->not_taken == COUNT_UNKNOWN;

		if (p->functions.data[s->function].flags & FUNCTION_HELPER)
			continue;
		if (is_wrong(got->taken, want->taken) || is_wrong(got->not_taken, want->not_taken))
			return "a site's count is wrong";
		for (uint32_t k = 0; s->kind == BRANCH_IJMP && k < p->blocks.data[s->block].ntable;
		     k++)
			unknown |= t->counts.table[p->blocks.data[s->block].table + k] ==
				   COUNT_UNKNOWN;
		/* of an unresolved jump the other targets may be unknown alone */
		if (s->role != ROLE_WITNESS && unknown != s->unsolved &&
		    (unknown || !p->blocks.data[s->block].unresolved))
			return "not the sites whose counts are unknown are marked as unsolved";
	}
	for (uint32_t i = 0; i < p->blocks.len; i++)
		if (is_wrong(t->counts.blocks[i], t->truth.blocks[i]))
			return "a block's count is wrong";
	for (uint32_t i = 0; i < p->table.len; i++)
		if (is_wrong(t->counts.table[i], t->truth.table[i]))
			return "a table's count is wrong";
	return t->counts.residue ? "the counts contradict each other" : NULL;
}

static bool is_helper(const struct plan *p, uint32_t function)
{
	return p->functions.data[function].flags & FUNCTION_HELPER;
}

static unsigned count_unknown(const struct plan *p, const struct plan_counts *c)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < p->blocks.len; i++) {
		const struct plan_block *b = &p->blocks.data[i];

		if (is_helper(p, b->function))
			continue;
		n += c->blocks[i] == COUNT_UNKNOWN;
		for (uint32_t k = 0; k < b->ntable; k++)
			n += c->table[b->table + k] == COUNT_UNKNOWN;
	}
	for (uint32_t i = 0; i < p->sites.len; i++)
		n += !is_helper(p, p->sites.data[i].function) &&
		     (c->sites[i].taken == COUNT_UNKNOWN || c->sites[i].not_taken == COUNT_UNKNOWN);
	return n;
}

static unsigned solve_nothing(const struct plan *p)
{
	struct plan_counts c;
	unsigned n;

	plan_counts__init(&c, p);
	plan_counts__solve(&c, p);
	n = count_unknown(p, &c);
	plan_counts__free(&c);
	return n;
}

/* A probe that isn't there for its targets can't be spared. */
static const char *find_spare(const struct count_case *t)
{
	struct plan *p = t->r.plan;
	unsigned unknown = solve_nothing(p);

	for (uint32_t i = 0; i < p->sites.len; i++) {
		struct plan_site *s = &p->sites.data[i];
		bool good;

		if (s->probe != PROBE_COUNT || s->kind == BRANCH_ICALL ||
		    (s->kind == BRANCH_IJMP &&
		     (p->blocks.data[s->block].unresolved || !p->blocks.data[s->block].ntable)))
			continue;
		s->probe = PROBE_NONE;
		good = solve_nothing(p) > unknown;
		s->probe = PROBE_COUNT;
		if (!good)
			return "a probe is not needed";
	}
	return NULL;
}

static void make(struct count_case *t, bool all)
{
	struct plan_options options = {.events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN,
				       .placement = PLACEMENT_COUNT,
				       .count_all = all};

	lay_out(&t->r, &t->program, options.events);
	plan__index(t->r.plan);
	placement__place(t->r.plan, &options);
	plan__index(t->r.plan);
	plan_counts__init(&t->truth, t->r.plan);
	plan_counts__init(&t->counts, t->r.plan);
}

static void show(const struct count_case *t)
{
	const struct plan *p = t->r.plan;

	printf("# moments %zu to %zu of %zu\n", t->begin, t->end, t->run.moments.len);
	for (uint32_t i = 0; i < p->blocks.len; i++) {
		const struct plan_block *b = &p->blocks.data[i];

		printf("# block %u of f%u at 0x%llx: next %d, taken %d, table %u%s%s: %lld, is %lld\n",
		       i, b->function, (unsigned long long)b->start, (int)b->next, (int)b->taken,
		       b->ntable, b->unresolved ? " unresolved" : "", b->abnormal ? " pad" : "",
		       (long long)t->counts.blocks[i], (long long)t->truth.blocks[i]);
		for (uint32_t k = 0; k < p->sites.len; k++) {
			const struct plan_site *s = &p->sites.data[k];

			if (s->block == i)
				printf("#   site %u role %u kind %u probe %u refusal %u: %lld %lld, is %lld %lld\n",
				       k, s->role, s->kind, s->probe, s->refusal,
				       (long long)t->counts.sites[k].taken,
				       (long long)t->counts.sites[k].not_taken,
				       (long long)t->truth.sites[k].taken,
				       (long long)t->truth.sites[k].not_taken);
		}
	}
}

static void forget(struct count_case *t)
{
	plan_counts__free(&t->truth);
	plan_counts__free(&t->counts);
	plan__free(t->r.plan);
}

static bool try_plan(struct count_case *t, bool all, uint64_t seed, uint32_t *skipped)
{
	make(t, all);
	count(t);
	plan_counts__solve(&t->counts, t->r.plan);
	t->fault = find_wrong(t);
	if (!t->fault && !(t->program.with & WITH_REFUSED) && t->roomy &&
	    (t->r.plan->skipped || count_unknown(t->r.plan, &t->counts)))
		t->fault = "a count is unknown although all blocks can carry probes";
	if (!t->fault && !all)
		t->fault = find_spare(t);
	if (t->fault) {
		printf("# SEED=%llu%s: %s\n", (unsigned long long)seed, all ? ", all" : "",
		       t->fault);
		show(t);
	}
	*skipped = t->r.plan->skipped;
	forget(t);
	return !t->fault;
}

static bool try_case(uint64_t seed)
{
	struct count_case t = {.shape.random = seed * 2654435761u + 1,
			       .path.random = seed * 40503 + 3};
	uint32_t few = 0, all = 0;
	bool good;

	make_program(&t.shape, &t.program, 0);
	t.roomy = rarely(&t.shape, 2);
	for (unsigned i = 0; t.roomy && i < FUNCTIONS * BLOCKS; i++)
		t.program.f[i / BLOCKS].code[i % BLOCKS].room %= 2;
	walk(&t.program, &t.path, &t.run);
	t.end = t.run.moments.len;
	if (rarely(&t.path, 2))
		t.end -= pick(&t.path, t.end);
	if (rarely(&t.path, 2))
		t.begin = pick(&t.path, t.end);
	good = try_plan(&t, false, seed, &few) && try_plan(&t, true, seed, &all);
	if (good && few != all) {
		printf("# SEED=%llu: %u are skipped, %u with all probes\n",
		       (unsigned long long)seed, few, all);
		good = false;
	}
	vec__free(&t.shape.list);
	vec__free(&t.path.list);
	run__free(&t.run);
	return good;
}

int main(void)
{
	const char *cases = getenv("CASES"), *seed = getenv("SEED");
	uint64_t n = cases ? strtoull(cases, NULL, 0) : 5000, i = 0;
	bool good = true;

	if (seed) {
		i = strtoull(seed, NULL, 0);
		n = i + 1;
	}
	for (; good && i < n; i++)
		good = try_case(i);
	ok(good, "all counts of random programs follow from what few probes count");
	return tap__done();
}
