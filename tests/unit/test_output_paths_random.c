// SPDX-License-Identifier: BSD-2-Clause
/*
 * The paths of random programs' random runs, under each placement, are those of the run: counted
 * from what the processor did, by the program's own blocks, without the plan. Where the replay
 * marks anything as unknown, or calls are left by throws, signals and switches of stacks, no path
 * counts that didn't run.
 *
 * CASES=1000000: the number of cases. SEED=n: only that case.
 */
#include "random_replay.h"
#include "output/paths/paths.h"
#include "tap.h"

#define NODES	(FUNCTIONS * BLOCKS)
#define NOWHERE UINT32_MAX
#define LEAVES	(UINT32_MAX - 1)

struct tally {
	VEC(char *) keys;
	VEC(uint64_t) counts;
};

static uint64_t *tally__at(struct tally *t, const char *key)
{
	for (size_t i = 0; i < t->keys.len; i++)
		if (!strcmp(t->keys.data[i], key))
			return &t->counts.data[i];
	vec__push(&t->keys, xstrdup(key));
	vec__push(&t->counts, 0);
	return vec__last(&t->counts);
}

static void tally__free(struct tally *t)
{
	for (size_t i = 0; i < t->keys.len; i++)
		free(t->keys.data[i]);
	vec__free(&t->keys);
	vec__free(&t->counts);
}

/* ---- the definition: an edge to a block that the search from the entry has open ends a path ----
 */

struct edges {
	const struct program *p;
	unsigned f;
	bool known[NODES][NODES], back[NODES][NODES];
	uint8_t state[NODES];
};

static uint32_t node_at(unsigned f, unsigned b)
{
	return f * BLOCKS + b;
}

static bool is_entry(uint32_t node)
{
	return node % BLOCKS == 0;
}

static void search(struct edges *e, uint32_t node);

static void follow(struct edges *e, uint32_t from, uint32_t to)
{
	if (is_entry(to) && to != node_at(e->f, 0))
		return;
	e->known[from][to] = true;
	if (!e->state[to])
		search(e, to);
	else if (e->state[to] == 1 || is_entry(to))
		e->back[from][to] = true;
}

static void search(struct edges *e, uint32_t node)
{
	unsigned f = node / BLOCKS, b = node % BLOCKS;
	const struct code *c = &e->p->f[f].code[b];

	e->state[node] = 1;
	switch (c->how) {
	case BRANCHES:
	case JUMPS:
		follow(e, node, node_at(f, c->to[0]));
		break;
	case TAIL:
	case TAIL_IF:
		if (c->callee < e->p->functions)
			follow(e, node, node_at(c->callee, 0));
		break;
	case SHARES:
		follow(e, node, node_at(c->callee, c->to[0]));
		break;
	case SWITCHES:
		for (unsigned i = 0; i + c->incomplete < c->nto; i++)
			follow(e, node, node_at(f, c->to[i]));
		break;
	default:
		break;
	}
	if (c->how == FALLS || c->how == BRANCHES || c->how == TAIL_IF || c->how == CALLS ||
	    c->how == CALLS_POINTER)
		follow(e, node, b + 1 < e->p->f[f].blocks ? node + 1 : node_at(f + 1, 0));
	e->state[node] = 2;
}

static void find_edges(struct edges *e, const struct program *p, unsigned f)
{
	*e = (struct edges){.p = p, .f = f};
	for (unsigned b = 0; b < p->f[f].blocks; b++)
		if (!e->state[node_at(f, b)])
			search(e, node_at(f, b));
}

/* ---- what ran ---- */

struct running {
	struct str key;
	const struct edges *e;
	bool known, behind;
	uint32_t at; /* NOWHERE; LEAVES: its key tells how it ended */
};

static void begin(struct running *r, char how, uint32_t at)
{
	str__clear(&r->key);
	str__printf(&r->key, "f%u %c%u:", r->e->f, how, at);
	r->known = true;
	r->at = at;
	r->behind = false;
}

static void end(struct running *r, struct tally *t)
{
	if (r->known)
		++*tally__at(t, r->key.data);
	r->known = false;
}

/* unknown: by a jump whose target isn't known. */
static void go_to(struct running *r, struct tally *t, uint32_t to, bool unknown)
{
	uint32_t from = r->at;

	r->behind = false;
	r->at = to;
	if (to >= NODES || (is_entry(to) && to != node_at(r->e->f, 0))) {
		str__puts(&r->key, " J");
		r->at = LEAVES;
	} else if (!r->e->state[to]) {
		r->known = false; /* code of another function, which no known edge leads to */
	} else if (r->e->back[from][to] || (unknown && !r->e->known[from][to])) {
		str__printf(&r->key, " L%u", to);
		end(r, t);
		begin(r, 'l', to);
	}
}

static void fall(struct running *r, struct tally *t, const struct program *p)
{
	for (;;) {
		unsigned f = r->at / BLOCKS, b = r->at % BLOCKS;

		if (r->at >= NODES ||
		    !(p->f[f].code[b].how == FALLS || (r->behind && p->f[f].code[b].how != THROWS)))
			return;
		go_to(r, t, b + 1 < p->f[f].blocks ? r->at + 1 : node_at(f + 1, 0), false);
	}
}

/* Is the target of an indirect jump the function's own, or in its table? */
static bool is_known(const struct running *r, const struct code *c, uint32_t node, uint32_t to)
{
	if (to < NODES && (!is_entry(to) || to == node_at(r->e->f, 0)))
		return true;
	for (unsigned i = 0; c->how == SWITCHES && i + c->incomplete < c->nto; i++)
		if (node_at(node / BLOCKS, c->to[i]) == to)
			return true;
	return false;
}

static void pass_branch(struct running *r, struct tally *t, const struct program *p,
			const struct did *d)
{
	uint32_t node = (d->at - CODE) / BLOCK_SIZE, to = (d->to - CODE) / BLOCK_SIZE;
	const struct code *c = &p->f[node / BLOCKS].code[node % BLOCKS];

	fall(r, t, p);
	if (r->at != node || r->behind)
		r->known = false;
	r->at = node;
	if (d->to - CODE >= NODES * BLOCK_SIZE)
		to = LEAVES;
	switch (c->how) {
	case BRANCHES:
	case TAIL_IF:
		str__printf(&r->key, " %u%c", node, d->taken ? '+' : '-');
		break;
	case SWITCHES:
	case TAIL_POINTER:
		str__printf(&r->key, " %u>%d", node, is_known(r, c, node, to) ? (int)to : -1);
		break;
	case CALLS:
	case CALLS_POINTER:
	case THROWS:
		r->behind = true;
		return;
	case RETURNS:
		str__puts(&r->key, " R");
		r->at = LEAVES;
		return;
	}
	go_to(r, t, to, c->how == SWITCHES || c->how == TAIL_POINTER);
}

static void count_run(const struct program *p, const struct run *run, struct tally *t)
{
	struct running *calls = xcalloc(run->calls + 1, sizeof(*calls));
	struct edges *edges = xcalloc(FUNCTIONS, sizeof(*edges));
	const struct did *d;

	for (unsigned f = 0; f < p->functions; f++)
		find_edges(&edges[f], p, f);
	vec__each (d, &run->did) {
		struct running *r = &calls[d->call];

		if (d->type == STEP_ENTRY && !r->e) {
			r->e = &edges[d->f];
			begin(r, 'e', node_at(d->f, 0));
		} else if (d->type == STEP_BRANCH && r->e) {
			pass_branch(r, t, p, d);
		} else if (d->type == STEP_RETURN && r->e) {
			fall(r, t, p);
			if (r->at == LEAVES)
				end(r, t);
		}
	}
	for (unsigned i = 0; i <= run->calls; i++) {
		/* it has jumped elsewhere, and that has not returned yet */
		if (calls[i].at == LEAVES && calls[i].key.len &&
		    calls[i].key.data[calls[i].key.len - 1] == 'J')
			end(&calls[i], t);
		str__free(&calls[i].key);
	}
	free(calls);
	free(edges);
}

/* ---- what was counted ---- */

static void put_key(struct path_counts *p, const struct path_row *row, struct str *s)
{
	path_parts parts = {0};
	const struct path_part *part;
	struct path_end e;

	path__parts(p, row, &parts, &e);
	str__printf(s, "f%u %c%u:", row->function, row->is_entry ? 'e' : 'l',
		    (unsigned)((p->plan->blocks.data[row->start].start - CODE) / BLOCK_SIZE));
	vec__each (part, &parts) {
		const struct plan_site *ps = &p->plan->sites.data[part->site];
		unsigned node = (ps->vaddr - CODE) / BLOCK_SIZE;

		if (ps->kind == BRANCH_JCC)
			str__printf(s, " %u%c", node, part->way == WAY_TAKEN ? '+' : '-');
		else if (ps->kind == BRANCH_IJMP && part->way == WAY_OUT)
			str__printf(s, " %u>-1", node);
		else if (ps->kind == BRANCH_IJMP)
			str__printf(
				s, " %u>%d", node,
				(int)((p->plan->blocks.data[WAY_BLOCK(part->way)].start - CODE) /
				      BLOCK_SIZE));
	}
	if (e.edge == PATH_LOOPS)
		str__printf(s, " L%u",
			    (unsigned)((p->plan->blocks.data[e.to].start - CODE) / BLOCK_SIZE));
	else
		str__puts(s, e.site != NO_SITE && p->plan->sites.data[e.site].kind == BRANCH_RET
				     ? " R"
				     : " J");
	vec__free(&parts);
}

/* Are all numbers different, and none too high? */
static bool numbers_are_right(struct path_counts *p)
{
	for (size_t i = 0; i < p->rows.len; i++) {
		const struct path_row *a = &p->rows.data[i], *b;

		if (a->number > acyclic__paths(p->ways, a->function) && a->number)
			return false;
		for (b = a + 1; b < vec__end(&p->rows); b++)
			if (a->number && a->number == b->number && a->function == b->function)
				return false;
	}
	return true;
}

static struct {
	uint64_t exact, paths;
} compared;

/* How often it ran. Where calls aren't told apart exactly, a jump back to the entry may look like
 * another call. */
static uint64_t times_of(struct tally *want, const char *key, bool exactly)
{
	autofree char *other = xstrdup(key);
	char *how = strchr(other, ' ') + 1;

	*how = *how == 'e' ? 'l' : 'e';
	return *tally__at(want, key) + (exactly ? 0 : *tally__at(want, other));
}

static bool compare(struct path_counts *p, struct tally *want, bool exactly)
{
	bool good = numbers_are_right(p);
	struct str key = {0};
	uint64_t all = 0, ran = 0;
	const struct path_row *r;

	vec__each (r, &p->rows) {
		uint64_t n;

		str__clear(&key);
		put_key(p, r, &key);
		n = times_of(want, key.data, exactly);
		if (r->count > n || r->timed > r->count || r->near > r->timed) {
			printf("# %s: %llu, ran %llu\n", key.data, (unsigned long long)r->count,
			       (unsigned long long)n);
			good = false;
		}
		all += r->count;
	}
	for (size_t i = 0; i < want->counts.len; i++)
		ran += want->counts.data[i];
	if (exactly && all != ran) {
		printf("# %llu paths, ran %llu\n", (unsigned long long)all,
		       (unsigned long long)ran);
		good = false;
	}
	for (size_t i = 0; !good && i < want->keys.len; i++)
		printf("# ran: %s: %llu\n", want->keys.data[i],
		       (unsigned long long)want->counts.data[i]);
	compared.exact += exactly;
	compared.paths += exactly ? all : 0;
	str__free(&key);
	return good;
}

static bool is_marked(const struct replayed *got)
{
	const struct step *s;

	vec__each (s, &got->steps)
		if (s->type == STEP_UNKNOWN || s->type == STEP_LOST)
			return true;
	return false;
}

static bool try_placement(const struct program *p, const struct run *run, struct tally *want,
			  enum plan_placement placement, bool ends)
{
	const unsigned events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN;
	struct plan_options options = {.events = events, .placement = placement, .path_ends = ends};
	const struct cuts none = {0};
	struct recording events_of = {0};
	struct replayed got = {0};
	struct path_counts counts;
	struct random_plan r;
	const struct step *s;
	bool good;

	lay_out(&r, p, events);
	plan__index(r.plan);
	placement__place(r.plan, &options);
	plan__index(r.plan);
	record(&events_of, &r, run);
	replay(r.plan, events, &events_of, &none, &got);
	path_counts__init(&counts, r.plan);
	vec__each (s, &got.steps)
		path_counts__step(&counts, s);
	path_counts__end(&counts);
	good = compare(&counts, want,
		       run->nested && !run->tailed_out && !run->helped && !is_marked(&got));
	path_counts__free(&counts);
	vec__free(&events_of.records);
	vec__free(&events_of.told);
	vec__free(&events_of.instances);
	vec__free(&got.steps);
	plan__free(r.plan);
	return good;
}

static bool try_case(uint64_t seed)
{
	struct choices shape = {.random = seed * 2654435761u + 1},
		       path = {.random = seed * 40503 + 3};
	struct tally want = {0};
	struct program program;
	struct run run = {0};
	bool good;

	make_program(&shape, &program, 0);
	walk(&program, &path, &run);
	count_run(&program, &run, &want);
	good = try_placement(&program, &run, &want, PLACEMENT_FULL, false) &&
	       try_placement(&program, &run, &want, PLACEMENT_IMPLIED, true) &&
	       try_placement(&program, &run, &want, PLACEMENT_WITNESS, false) &&
	       try_placement(&program, &run, &want, PLACEMENT_WITNESS, true);
	if (!good)
		printf("# SEED=%llu\n", (unsigned long long)seed);
	tally__free(&want);
	run__free(&run);
	vec__free(&shape.list);
	vec__free(&path.list);
	return good;
}

int main(void)
{
	const char *cases = getenv("CASES"), *seed = getenv("SEED");
	uint64_t i = seed ? strtoull(seed, NULL, 0) : 0;
	uint64_t n = seed ? i + 1 : cases ? strtoull(cases, NULL, 0) : 3000;
	bool good = true;

	for (; good && i < n; i++)
		good = try_case(i);
	ok(good, "the paths of random programs are those that ran");
	if (!seed)
		ok(compared.exact > n && compared.paths > 10 * n,
		   "most were compared exactly: %llu runs, %llu paths",
		   (unsigned long long)compared.exact, (unsigned long long)compared.paths);
	return tap__done();
}
