// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counts steps by function and by site; stack.c tracks the calls. At the end the tree's
 * values are summed up.
 */
#include "stack.h"

#define STRING(x)  STRING_(x)
#define STRING_(x) #x

void stats__plan_extended(struct stats *p)
{
	size_t nfunctions = p->plan->functions.len, nsites = p->plan->sites.len;

	p->functions = xextend(p->functions, p->nfunctions, nfunctions, sizeof(*p->functions));
	p->sites = xextend(p->sites, p->nsites, nsites, sizeof(*p->sites));
	p->named = xextend(p->named, p->nnamed, p->plan->named.len, sizeof(*p->named));
	p->nnamed = p->plan->named.len;
	p->nfunctions = nfunctions;
	p->nsites = nsites;
}

void stats__init(struct stats *p, const struct plan *plan)
{
	*p = (struct stats){.plan = plan, .priv = xcalloc(1, sizeof(*p->priv))};
	p->priv->other = NO_NODE;
	stats__plan_extended(p);
}

void stats__free(struct stats *p)
{
	struct stats_mark *mark;

	if (!p->priv)
		return;
	for (size_t i = 0; i < p->nfunctions; i++)
		map64__free(&p->functions[i].time.buckets);
	for (size_t i = 0; i < p->nsites; i++)
		vec__free(&p->sites[i].targets);
	samples__free(p);
	stack__free_all(p->priv);
	map64__free(&p->priv->threads);
	map64__free(&p->priv->nodes);
	map64__free(&p->priv->edges);
	map64__free(&p->priv->targets);
	map64__free(&p->priv->marks);
	free(p->named);
	free(p->untraced);
	vec__each (mark, &p->marks)
		free(mark->text);
	vec__free(&p->marks);
	vec__free(&p->nodes);
	vec__free(&p->threads);
	vec__free(&p->calls);
	free(p->functions);
	free(p->sites);
	free(p->priv);
	p->priv = NULL;
}

/* ---- sites ---- */

/* Returns the target's index, or targets.len if it is new. */
static size_t find_target(struct stats *p, uint32_t site, const struct location *to)
{
	struct stats_site *ps = &p->sites[site];
	uint64_t *slot = map64__put(&p->priv->targets,
				    stats__hash(site, to->object ? to->vaddr : to->addr, 0));
	size_t i;

	if (*slot && location__same(&ps->targets.data[*slot - 1].to, to))
		return *slot - 1;
	for (i = 0; i < ps->targets.len && !location__same(&ps->targets.data[i].to, to); i++)
		;
	if (i < STATS_TARGETS)
		*slot = i + 1;
	return i;
}

/* to is NULL if not known. */
static void count_target(struct stats *p, uint32_t site, const struct location *to, uint64_t n)
{
	struct stats_site *ps = &p->sites[site];
	size_t i;

	if (!to) {
		ps->unknown_target += n;
		return;
	}
	i = find_target(p, site, to);
	if (i == STATS_TARGETS) {
		ps->more += n;
		return;
	}
	if (i == ps->targets.len)
		vec__push(&ps->targets, (struct stats_target){.to = *to});
	ps->targets.data[i].count += n;
}

static bool is_indirect(uint8_t kind)
{
	return kind == BRANCH_IJMP || kind == BRANCH_ICALL || kind == BRANCH_RET;
}

void stats__branch(struct stats *p, uint32_t site, bool was_taken, const struct location *to,
		   uint64_t n)
{
	const struct plan_site *s = &p->plan->sites.data[site];
	struct stats_function *fn = &p->functions[s->function];
	struct stats_site *ps = &p->sites[site];
	bool conditional = s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP;
	bool taken = !conditional || was_taken;

	fn->branches += n;
	if (conditional) {
		fn->conditional += n;
		fn->taken += taken ? n : 0;
	}
	*(taken ? &ps->taken : &ps->not_taken) += n;
	if (is_indirect(s->kind))
		count_target(p, site, to, n);
}

/* ---- steps ---- */

static void note_time(struct stats *p, const struct step *s)
{
	uint64_t start = s->type == STEP_RETURN && s->has_duration && s->duration <= s->time
				 ? s->time - s->duration
				 : s->time;

	if (!s->timed)
		return;
	p->first = p->last ? min_of(p->first, start) : start;
	p->last = max_of(p->last, s->time);
}

static bool of_plan(const struct stats *p, const struct step *s)
{
	return s->function < p->plan->functions.len && s->site < p->plan->sites.len;
}

static void add_mark(struct stats *p, const struct step *s)
{
	uint64_t *slot = map64__put(&p->priv->marks, map64__hash(s->text, strlen(s->text)));
	int64_t number = (int64_t)s->count;
	struct stats_mark *m;

	if (!*slot) {
		vec__push(&p->marks, (struct stats_mark){.text = xstrdup(s->text),
							 .least = INT64_MAX,
							 .most = INT64_MIN});
		*slot = p->marks.len;
	}
	m = &p->marks.data[*slot - 1];
	m->count++;
	if (!s->pid) /* by bbtrace ctl: it has none */
		return;
	m->numbered++;
	m->least = min_of(m->least, number);
	m->most = max_of(m->most, number);
}

void stats__step(struct stats *p, const struct step *s)
{
	if (s->type == STEP_MARK && s->text)
		add_mark(p, s);
	if (step__is_global(s))
		return;
	note_time(p, s);
	if (s->type == STEP_NAMED && !p->plan->functions.len)
		samples__add(p, s);
	if (s->type == STEP_NAMED)
		p->named[s->named->which] += s->named->count;
	if (!of_plan(p, s))
		return;
	if (s->type == STEP_ENTRY) {
		stack__entry(p, s);
	} else if (s->type == STEP_RETURN) {
		stack__return(p, s);
	} else if (s->type == STEP_BRANCH) {
		stats__branch(p, s->site, s->taken, s->to_known ? &s->to : NULL, 1);
		stack__branch(p, s);
	}
}

void stats__run(struct stats *p, const struct passed_run *run)
{
	stack__run(p, run);
}

static void add_up(struct stats_node *nodes, size_t n)
{
	uint64_t net;

	for (size_t i = 0; i < n; i++) {
		nodes[i].ns = nodes[i].self;
		nodes[i].net = stats_net__state(&nodes[i].self_net, &net) == NET_KNOWN ? net : 0;
		nodes[i].count = nodes[i].calls;
	}
	/* a node follows its parent */
	for (size_t i = n; i-- > 0;) {
		if (nodes[i].parent == NO_NODE)
			continue;
		nodes[nodes[i].parent].ns += nodes[i].ns;
		nodes[nodes[i].parent].net += nodes[i].net;
		nodes[nodes[i].parent].count += nodes[i].count;
	}
}

void stats__end(struct stats *p)
{
	p->open = p->priv->seen - p->priv->returned;
	add_up(p->nodes.data, p->nodes.len);
	stats__forget_zeros(p);
}

/* ---- threads of one name together ---- */

/* Roots are looked up by name, as if they were functions called at no node: a hash, then compared.
 */
static uint64_t key_of(const struct stats *p, const struct stats_node *n, uint32_t parent)
{
	uint64_t name[2] = {0};

	if (n->parent != NO_NODE)
		return (uint64_t)parent << 32 | n->function;
	memcpy(name, p->threads.data[n->thread].comm, 15);
	return stats__hash(name[0], name[1], 0) | 1ull << 63;
}

static bool same_node(const struct stats *p, const struct stats_node *a, const struct stats_node *b)
{
	return a->parent == b->parent && a->function == b->function &&
	       (a->parent != NO_NODE || !strcmp(stats__name(p, a), stats__name(p, b)));
}

void stats__by_name(const struct stats *p, stats_nodes *out)
{
	autofree uint32_t *become = xcalloc(p->nodes.len, sizeof(*become));
	struct map64 known = {0};

	*out = (stats_nodes){0};
	for (size_t i = 0; i < p->nodes.len; i++) {
		struct stats_node n = p->nodes.data[i];
		uint64_t *slot;

		n.parent = n.parent == NO_NODE ? NO_NODE : become[n.parent];
		slot = map64__put(&known, key_of(p, &n, n.parent));
		if (!*slot || !same_node(p, &out->data[*slot - 1], &n)) {
			vec__push(out, n);
			*slot = out->len;
		} else {
			struct stats_node *m = &out->data[*slot - 1];

			m->calls += n.calls;
			m->timed += n.timed;
			m->self += n.self;
			stats_net__add(&m->self_net, &n.self_net, 1);
			m->time += n.time;
		}
		become[i] = *slot - 1;
	}
	map64__free(&known);
	add_up(out->data, out->len);
}

/* ---- text ---- */

const char *stats__name(const struct stats *p, const struct stats_node *node)
{
	switch (node->function) {
	case STATS_THREAD:
		return p->threads.data[node->thread].comm[0] ? p->threads.data[node->thread].comm
							     : "[no name]";
	case STATS_UNSEEN:
		return "[entered unseen]";
	case STATS_OFF_CPU:
		return "[off-CPU]";
	case STATS_DEEPER:
		return "[deeper calls]";
	default:
		if (stats__is_site(node))
			return stats__name(p, &p->nodes.data[node->parent]);
		if (node->function >= STATS_SAMPLED)
			return samples__name(p, node->function);
		return p->plan->functions.data[node->function].name;
	}
}

bool stats__missing(const struct stats *p, const struct trace_totals *t, struct str *s)
{
	const struct {
		uint64_t count;
		const char *what, *plural, *text, *bound;
	} rows[] = {
		{t->skipped, "branch", "es", "that could not be probed"},
		{t->lost, "event", "s", "lost", t->at_least ? "at least " : ""},
		{t->missed, "hit", "s", "missed, of all processes", "at most "},
		{t->unknown, "path", "s", "unknown"},
		{t->untraced, "process", "es", "not fully traced"},
		{p->no_returns ? 0 : p->open, "call", "s", "without return, not timed"},
		{p->unseen, "call", "s", "whose entry was not seen, not timed"},
		{p->deeper, "call", "s",
		 "deeper than " STRING(STATS_DEPTH) " levels, counted together"},
		{p->other, "call", "s", "in more different stacks than are kept, counted together"},
	};
	const char *between = "";
	size_t start = s->len;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!rows[i].count)
			continue;
		str__puts(s, between);
		str__puts(s, rows[i].bound ? rows[i].bound : "");
		str__dec(s, rows[i].count);
		str__printf(s, " %s%s %s", rows[i].what, rows[i].count == 1 ? "" : rows[i].plural,
			    rows[i].text);
		between = "; ";
	}
	if (totals__are_low(t))
		str__printf(s, "%severy count may be too low", between);
	return s->len > start;
}
