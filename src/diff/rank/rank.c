// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdlib.h>
#include "plan/join/join.h"
#include "predicate.h"

#define EQUAL	      1e-9
#define UNKNOWN_PLACE 2.0
/* A verdict is within this many steps of the run's end: exit handlers execute some, too. */
#define END_STEPS 20
/* What precedes a verdict is considered the cause rather than chance if it gives this many nats
 * more than the best of as many branches would by chance. */
#define MARGIN 1.5

void rank__init(struct rank *r, const struct outcomes *o)
{
	*r = (struct rank){.outcomes = o};
}

void rank__free(struct rank *r)
{
	struct rank_samples *s;
	struct rank_traced *t;

	vec__each (s, &r->samples)
		vec__free(&s->of);
	vec__each (t, &r->traced)
		vec__free(&t->bits);
	vec__free(&r->samples);
	vec__free(&r->traced);
	vec__free(&r->runs);
	vec__free(&r->rows);
}

/* ---- runs ---- */

static void set_bit(struct rank_traced *t, uint32_t function)
{
	while (t->bits.len <= function / 8)
		vec__push(&t->bits, 0);
	t->bits.data[function / 8] |= 1 << function % 8;
}

static bool has_bit(const struct rank_traced *t, uint32_t function)
{
	return function / 8 < t->bits.len && t->bits.data[function / 8] >> function % 8 & 1;
}

/* Most runs trace the same functions. */
static size_t traced_of(struct rank *r, const struct rank_about *about)
{
	struct rank_traced t = {0};

	for (size_t i = 0; i < about->nfunctions; i++)
		set_bit(&t, about->functions[i]);
	for (size_t i = 0; i < r->traced.len; i++)
		if (r->traced.data[i].bits.len == t.bits.len &&
		    !memcmp(r->traced.data[i].bits.data, t.bits.data, t.bits.len)) {
			vec__free(&t.bits);
			return i;
		}
	vec__push(&r->traced, t);
	return r->traced.len - 1;
}

static void put_sample(struct rank *r, uint32_t outcome, struct rank_sample s)
{
	while (r->samples.len <= outcome)
		vec__add(&r->samples);
	vec__push(&r->samples.data[outcome].of, s);
}

void rank__add(struct rank *r, const struct paths *p, const struct rank_about *about)
{
	struct rank_run run = {about->fails, about->events, p->steps, traced_of(r, about)};
	struct rank_sample s = {.run = r->runs.len};

	for (uint32_t i = 0; i < p->counts.len; i++) {
		s.n = p->counts.data[i];
		s.first = min_of(p->first.data[i], (uint64_t)UINT32_MAX);
		if (s.n)
			put_sample(r, i, s);
	}
	s.n = COUNT_UNKNOWN;
	s.first = 0;
	for (size_t i = 0; i < about->nunknown; i++)
		put_sample(r, about->unknown_outcomes[i], s);
	r->bounds |= about->bounds;
	r->total[about->fails]++;
	vec__push(&r->runs, run);
}

/* ---- outcomes of a site ---- */

struct member {
	uint32_t site, function; /* site NO_SITE: an entry */
	uint32_t outcome;
};

/* What each run did at a site, or at an entry. */
struct tally {
	bool traced;
	uint64_t n;	  /* of the outcome; COUNT_UNKNOWN: not known */
	uint64_t site;	  /* of all outcomes */
	uint32_t first;	  /* of the outcome */
	uint32_t arrived; /* the site's first; 0: not known */
};

struct finder {
	struct rank *rank;
	const bool *functions;
	struct logs logs;
	double all; /* the nats that can be had */
	VEC(struct member) members;
	struct tally *tallies; /* by run */
	struct run_value *values;
	size_t nvalues;
	size_t of[RANK_SETS];
};

/* Returns and gaps show nothing that branches don't. */
static void gather_members(struct finder *f)
{
	const struct outcomes *o = f->rank->outcomes;

	for (uint32_t i = 0; i < f->rank->samples.len; i++) {
		const struct outcome *row = &o->rows.data[i];
		struct member m = {row->site, outcomes__function(o, row->function), i};

		if (row->type != OUTCOME_BRANCH && row->type != OUTCOME_ENTRY)
			continue;
		if (row->type == OUTCOME_BRANCH && outcomes__is_changed(o, row->function))
			continue;
		if (f->functions &&
		    !(row->function < o->plan->functions.len && f->functions[row->function]))
			continue;
		vec__push(&f->members, m);
	}
}

static int by_site(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->outcome < y->outcome ? -1 : x->outcome > y->outcome;
}

/* A run that didn't trace the function, or has no such events, shows nothing about it. */
static void clear_tallies(struct finder *f, const struct member *m)
{
	unsigned event = m->site == NO_SITE ? PLAN_ENTRY : PLAN_BRANCH;

	for (size_t i = 0; i < f->rank->runs.len; i++) {
		const struct rank_run *run = &f->rank->runs.data[i];

		f->tallies[i] = (struct tally){
			.traced = run->events & event &&
				  has_bit(&f->rank->traced.data[run->traced], m->function)};
	}
}

static uint32_t earlier(uint32_t a, uint32_t b)
{
	return !a || (b && b < a) ? b : a;
}

static void add_to_site(struct finder *f, uint32_t outcome)
{
	const struct rank_samples *samples = &f->rank->samples.data[outcome];
	const struct rank_sample *s;

	vec__each (s, &samples->of) {
		count__add(&f->tallies[s->run].site, s->n);
		f->tallies[s->run].arrived = earlier(f->tallies[s->run].arrived, s->first);
	}
}

/* The counts of this outcome; of entries, of all that are the same. */
static void set_outcome(struct finder *f, const struct member *m, size_t n)
{
	for (size_t i = 0; i < f->rank->runs.len; i++) {
		f->tallies[i].n = f->tallies[i].traced ? 0 : COUNT_UNKNOWN;
		f->tallies[i].first = 0;
	}
	for (size_t k = 0; k < n; k++) {
		const struct rank_samples *samples = &f->rank->samples.data[m[k].outcome];
		const struct rank_sample *s;

		vec__each (s, &samples->of) {
			count__add(&f->tallies[s->run].n, s->n);
			f->tallies[s->run].first = earlier(f->tallies[s->run].first, s->first);
		}
	}
}

/* ---- rows ---- */

static void gather_values(struct finder *f, bool shares)
{
	const struct rank *r = f->rank;

	f->nvalues = 0;
	f->of[RANK_PASS] = f->of[RANK_FAIL] = 0;
	for (size_t i = 0; i < r->runs.len; i++) {
		const struct tally *t = &f->tallies[i];
		bool fails = r->runs.data[i].fails;

		if (t->n == COUNT_UNKNOWN)
			continue;
		f->of[fails]++;
		if (!shares || (t->site && t->site != COUNT_UNKNOWN))
			f->values[f->nvalues++] = (struct run_value){t->n, t->site, i, fails};
	}
	values__sort(f->values, f->nvalues, shares);
}

static bool is_conditional(const struct outcomes *o, uint32_t outcome)
{
	const struct outcome *row = &o->rows.data[outcome];

	return row->type == OUTCOME_BRANCH &&
	       plan_site__is_conditional(&o->plan->sites.data[row->site]);
}

/* Returns true if it can have several outcomes, whatever was before. A ret returns to its call. */
static bool is_decision(const struct outcomes *o, uint32_t outcome)
{
	const struct outcome *row = &o->rows.data[outcome];
	unsigned kind;

	if (row->type != OUTCOME_BRANCH)
		return false;
	kind = o->plan->sites.data[row->site].kind;
	return is_conditional(o, outcome) || kind == BRANCH_IJMP || kind == BRANCH_ICALL;
}

/* Liblit's Increase > 0: of the runs that reach the site, those of which it is true fail more
 * often. */
static bool increases(const struct finder *f, bool never)
{
	size_t come[RANK_SETS] = {0}, in[RANK_SETS] = {0};

	for (size_t i = 0; i < f->rank->runs.len; i++) {
		const struct tally *t = &f->tallies[i];
		bool fails = f->rank->runs.data[i].fails;

		if (t->n == COUNT_UNKNOWN || !t->site)
			continue;
		come[fails]++;
		in[fails] += never ? !t->n : !!t->n;
	}
	return in[RANK_FAIL] * (come[RANK_PASS] + come[RANK_FAIL]) >
	       come[RANK_FAIL] * (in[RANK_PASS] + in[RANK_FAIL]);
}

static bool is_true_of(const struct rank_row *row, const struct tally *t)
{
	switch (row->how) {
	case RANK_NEVER:
		return !t->n;
	case RANK_AT_LEAST:
		return t->n >= row->count;
	case RANK_AT_MOST:
	case RANK_SHARE_AT_MOST:
		return t->site;
	default:
		return t->n;
	}
}

/* When the failing runs came there, on average; what they never do is decided at the site. */
static double place_of(const struct finder *f, const struct rank_row *row)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < f->rank->runs.len; i++) {
		const struct rank_run *run = &f->rank->runs.data[i];
		const struct tally *t = &f->tallies[i];
		uint32_t at = t->n ? t->first : t->arrived;

		if (!run->fails || t->n == COUNT_UNKNOWN || !is_true_of(row, t))
			continue;
		if (!at)
			return UNKNOWN_PLACE;
		sum += (double)at / run->steps;
		n++;
	}
	return n ? sum / n : UNKNOWN_PLACE;
}

/* Returns true if each run executes the site once. */
static bool is_once(const struct finder *f)
{
	for (size_t i = 0; i < f->rank->runs.len; i++)
		if (f->tallies[i].n == COUNT_UNKNOWN || f->tallies[i].site != 1)
			return false;
	return true;
}

/* Returns true if the failing runs that do it do it at their end. */
static bool is_last(const struct finder *f)
{
	for (size_t i = 0; i < f->rank->runs.len; i++) {
		const struct rank_run *run = &f->rank->runs.data[i];
		const struct tally *t = &f->tallies[i];

		if (run->fails && t->n && (!t->first || run->steps - t->first > END_STEPS))
			return false;
	}
	return true;
}

static void add_up(const struct finder *f, struct rank_row *row)
{
	for (size_t i = 0; i < f->rank->runs.len; i++) {
		const struct tally *t = &f->tallies[i];
		bool fails = f->rank->runs.data[i].fails;

		if (t->n == COUNT_UNKNOWN)
			continue;
		row->n[fails] += t->n;
		count__add(&row->sites[fails], t->site);
	}
}

static void fill(const struct finder *f, const struct predicate *p, struct rank_row *row)
{
	row->how = p->how;
	row->nats = p->nats;
	row->score = max_of(p->nats / f->all, 0.0);
	for (int set = 0; set < RANK_SETS; set++) {
		row->runs[set] = p->runs[set];
		row->of[set] = f->of[set];
	}
}

/* Finds the predicate of its numbers that gives the most. Returns false if none gives anything. */
static bool evaluate(struct finder *f, uint32_t outcome, struct rank_row *row)
{
	const struct outcomes *o = f->rank->outcomes;
	bool decision = is_decision(o, outcome), thresholds = !f->rank->bounds;
	struct predicate counts, shares = {.nats = -INFINITY};

	*row = (struct rank_row){.outcome = outcome};
	if (thresholds && is_conditional(o, outcome)) {
		gather_values(f, true);
		shares = predicate__of_shares(&f->logs, f->values, f->nvalues, f->of);
		if (isfinite(shares.nats))
			row->share =
				predicate__percent(&shares, f->values, f->nvalues, &row->decimals);
	}
	gather_values(f, false);
	counts = predicate__of_counts(&f->logs, f->values, f->nvalues, f->of, thresholds);
	if (!isfinite(counts.nats) && !isfinite(shares.nats))
		return false;
	if (shares.nats > counts.nats + EQUAL) {
		fill(f, &shares, row);
		row->decides = true;
	} else {
		fill(f, &counts, row);
		row->count = f->values[counts.cut].n;
		/* more of everything is an effect; a loop that runs longer has another share,
		 * too */
		row->decides = decision &&
			       (row->how == RANK_EXECUTED ? increases(f, false)
				: row->how == RANK_NEVER  ? increases(f, true)
							  : counts.nats - shares.nats < 2 * M_LN2);
	}
	row->first = place_of(f, row);
	row->once = decision && is_once(f);
	row->verdict = row->once && is_last(f);
	add_up(f, row);
	return true;
}

/* ---- order ---- */

static int by_number(double a, double b)
{
	return a < b - EQUAL ? -1 : a > b + EQUAL;
}

static int by_rank(const void *a, const void *b)
{
	const struct rank_row *x = a, *y = b;
	int order = by_number(y->score, x->score);

	order = order ? order : y->decides - x->decides;
	order = order ? order : x->first < y->first ? -1 : x->first > y->first;
	order = order ? order : (int)x->how - (int)y->how;
	/* of counts: what each run decides once is most likely its verdict; the rarer a site, the
	 * closer it is to what is special about the runs */
	order = order ? order : x->once - y->once;
	order = order ? order
		      : (x->sites[RANK_PASS] > y->sites[RANK_PASS]) -
				(x->sites[RANK_PASS] < y->sites[RANK_PASS]);
	return order ? order : x->outcome < y->outcome ? -1 : x->outcome > y->outcome;
}

/* The sides of a conditional are one row: the one that gives more. */
static void add_row(struct finder *f, const struct rank_row *row, bool sides)
{
	struct rank_row *last = f->rank->rows.len ? vec__last(&f->rank->rows) : NULL;

	if (!sides || !last ||
	    f->rank->outcomes->rows.data[last->outcome].site !=
		    f->rank->outcomes->rows.data[row->outcome].site)
		vec__push(&f->rank->rows, *row);
	else if (by_rank(row, last) < 0)
		*last = *row;
}

static void find_of_site(struct finder *f, const struct member *m, size_t n)
{
	bool entry = m->site == NO_SITE;
	struct rank_row row;

	clear_tallies(f, m);
	for (size_t i = 0; i < n; i++)
		add_to_site(f, m[i].outcome);
	for (size_t i = 0; i < n; i += entry ? n : 1) {
		set_outcome(f, &m[i], entry ? n : 1);
		if (evaluate(f, m[i].outcome, &row))
			add_row(f, &row, is_conditional(f->rank->outcomes, m[i].outcome));
	}
}

/*
 * The branch by which a run shows that it has failed separates the runs as well as the cause, or
 * better, if the cause doesn't always lead to a failure. If verdicts alone separate them, the best
 * branch before them that can't be chance is put first.
 */
static void put_cause_first(struct rank *r)
{
	struct rank_row *rows = r->rows.data, *found = NULL, cause;
	size_t verdicts = 0, deciding = 0;

	while (verdicts < r->rows.len && rows[verdicts].verdict &&
	       !by_number(rows[verdicts].score, rows[0].score))
		verdicts++;
	for (size_t i = 0; i < r->rows.len; i++)
		deciding += rows[i].decides;
	if (!verdicts || (verdicts < r->rows.len && rows[verdicts].decides &&
			  !by_number(rows[verdicts].score, rows[0].score)))
		return;
	for (size_t i = verdicts; !found && i < r->rows.len; i++)
		if (rows[i].decides && !rows[i].verdict && rows[i].first < rows[0].first &&
		    rows[i].nats > log(deciding) + MARGIN)
			found = &rows[i];
	if (!found)
		return;
	cause = *found;
	memmove(rows + 1, rows, (char *)found - (char *)rows);
	rows[0] = cause;
}

static void count_rows(struct rank *r)
{
	const struct outcomes *o = r->outcomes;
	struct rank_row *row;

	vec__each (row, &r->rows)
		r->complete += row->runs[RANK_FAIL] == r->total[RANK_FAIL] &&
			       !row->runs[RANK_PASS] && row->of[RANK_PASS] == r->total[RANK_PASS];
	for (size_t i = 0; i < o->nfunctions; i++)
		r->changed += o->changed[i] && o->same[i] != i;
}

/* If another build's function is the same, it was traced under either number. */
static void join_traced(struct rank *r)
{
	struct rank_traced *t;

	vec__each (t, &r->traced)
		for (uint32_t i = 0; i < r->outcomes->nfunctions; i++)
			if (has_bit(t, i))
				set_bit(t, r->outcomes->same[i]);
}

void rank__find(struct rank *r, const bool *functions)
{
	struct finder f = {.rank = r, .functions = functions};

	join_traced(r);
	logs__init(&f.logs, r->runs.len);
	f.all = logs__all(&f.logs, r->total);
	f.tallies = xcalloc(r->runs.len + 1, sizeof(*f.tallies));
	f.values = xcalloc(r->runs.len + 1, sizeof(*f.values));
	gather_members(&f);
	vec__sort(&f.members, by_site);
	for (size_t i = 0, next; i < f.members.len; i = next) {
		const struct member *m = &f.members.data[i];

		for (next = i + 1; next < f.members.len; next++)
			if (m->site != f.members.data[next].site ||
			    (m->site == NO_SITE && m->function != f.members.data[next].function))
				break;
		find_of_site(&f, m, next - i);
	}
	vec__sort(&r->rows, by_rank);
	put_cause_first(r);
	count_rows(r);
	free(f.tallies);
	free(f.values);
	vec__free(&f.members);
	logs__free(&f.logs);
}
