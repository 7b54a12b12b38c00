// SPDX-License-Identifier: BSD-2-Clause
/*
 * The format slow: what slow calls of a function do that others don't, and where they wait. Calls
 * of which each branch went the same ways, however often, are of one kind.
 */
#include <stdlib.h>
#include "output/base/paint.h"
#include "output/base/src.h"
#include "output/base/totals.h"
#include "output/output.h"

#define KINDS_SHOWN 8
#define WAYS_SHOWN  3
#define WAITS_SHOWN 5
#define KINDS_MOST  20000 /* further kinds are one */

typedef VEC(uint64_t) way_vec; /* site << 1 | taken */

struct kind {
	uint32_t function;
	way_vec ways; /* ascending */
	uint64_t calls, timed, ns, max;
	uint64_t off, waited; /* ns on no CPU; the number of calls of which it is known */
};

struct wait {
	uint32_t function, site; /* NO_SITE: before any branch */
	const char *callee;	 /* of a call; NULL if not known */
	uint64_t times, ns;
};

struct open_call {
	uint64_t call;
	uint32_t function, last; /* the last branch: NO_SITE if there is none */
	const char *callee;	 /* that it called; NULL if it is no call, or not known */
	bool unsure;		 /* a part of its path isn't known */
	uint64_t hash;		 /* of .ways, in any order */
	way_vec ways;
	struct map64 seen;
};
typedef VEC(struct open_call) open_vec;

struct slow {
	VEC(open_vec) threads;
	struct map64 thread_of; /* key of a thread -> 1 + index */
	VEC(struct kind) kinds;
	struct map64 kind_of; /* hash -> 1 + index */
	VEC(struct wait) waits;
	struct map64 wait_of;
	uint64_t *unsure;  /* by function: calls of which a part isn't known */
	uint64_t *unended; /* by function: calls that had not ended */
	size_t nfunctions;
	uint64_t more_kinds; /* calls of further kinds */
};

/* ---- calls ---- */

static open_vec *calls_of(struct slow *w, const struct step *s)
{
	uint64_t key = s->goroutine ? s->goroutine << 1 | 1 : (uint64_t)s->tid << 1;
	uint64_t *index = map64__put(&w->thread_of, key);

	if (!*index) {
		(void)vec__add(&w->threads);
		*index = w->threads.len;
	}
	return &w->threads.data[*index - 1];
}

static void drop(open_vec *v, size_t len)
{
	while (v->len > len) {
		struct open_call *c = vec__last(v);

		vec__free(&c->ways);
		map64__free(&c->seen);
		v->len--;
	}
}

/* Returns the call, now the innermost one; NULL if its entry wasn't seen. */
static struct open_call *find(open_vec *v, uint64_t call)
{
	size_t i = v->len;

	while (i && v->data[i - 1].call != call)
		i--;
	if (!i)
		return NULL;
	drop(v, i);
	return vec__last(v);
}

static void take_way(struct open_call *c, uint64_t way)
{
	uint64_t *seen = map64__put(&c->seen, way);

	if (*seen)
		return;
	*seen = 1;
	c->hash += map64__hash(&way, sizeof(way));
	vec__push(&c->ways, way);
}

static int by_way(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_of(const struct kind *k, const struct open_call *c)
{
	return k->function == c->function && k->ways.len == c->ways.len &&
	       (!k->ways.len ||
		!memcmp(k->ways.data, c->ways.data, k->ways.len * sizeof(*k->ways.data)));
}

/* Two kinds of one hash: calls of the second one are of further kinds. */
static struct kind *kind_of(struct slow *w, struct open_call *c)
{
	const uint64_t words[] = {c->function, c->hash};
	uint64_t *index = map64__put(&w->kind_of, map64__hash(words, sizeof(words)));
	struct kind *k;

	vec__sort(&c->ways, by_way);
	if (*index) {
		k = &w->kinds.data[*index - 1];
		return is_of(k, c) ? k : NULL;
	}
	if (w->kinds.len == KINDS_MOST)
		return NULL;
	k = vec__add(&w->kinds);
	k->function = c->function;
	vec__append(&k->ways, &c->ways);
	*index = w->kinds.len;
	return k;
}

static void end_call(struct slow *w, struct open_call *c, const struct step *s)
{
	struct kind *k;

	if (c->unsure) {
		w->unsure[c->function]++;
		return;
	}
	k = kind_of(w, c);
	if (!k) {
		w->more_kinds++;
		return;
	}
	k->calls++;
	if (!s->has_duration)
		return;
	k->timed++;
	k->ns += s->duration;
	k->max = max_of(k->max, s->duration);
	if (s->has_off) {
		k->waited++;
		k->off += s->off;
	}
}

static void take_wait(struct slow *w, const open_vec *v, const struct step *s)
{
	const struct open_call *c = v->len ? vec__last(v) : NULL;
	uint64_t key = c ? (uint64_t)c->function << 32 | c->last : 0, *index;

	if (!c || !s->has_off || s->plan->named.data[s->named->which].kind != NAMED_ON_CPU)
		return;
	index = map64__put(&w->wait_of, key);
	if (!*index) {
		vec__push(&w->waits, (struct wait){c->function, c->last, c->callee, 0, 0});
		*index = w->waits.len;
	}
	w->waits.data[*index - 1].times++;
	w->waits.data[*index - 1].ns += s->off;
}

/* The thread ends, or executes another program. */
static void leave(struct slow *w, open_vec *v)
{
	const struct open_call *c;

	vec__each (c, v)
		w->unended[c->function]++;
	drop(v, 0);
}

static void cut(struct slow *w)
{
	open_vec *v;
	struct open_call *c;

	vec__each (v, &w->threads)
		vec__each (c, v)
			c->unsure = true;
}

static bool is_call(const struct step *s)
{
	uint8_t kind = s->plan->sites.data[s->site].kind;

	return kind == BRANCH_CALL || kind == BRANCH_ICALL;
}

static int step(struct output *o, const struct step *s)
{
	struct slow *w = o->state;
	open_vec *v = calls_of(w, s);
	struct open_call *c;

	switch (s->type) {
	case STEP_ENTRY:
		if (!s->caller || !find(v, s->caller))
			drop(v, 0);
		vec__push(v, (struct open_call){
				     .call = s->call, .function = s->function, .last = NO_SITE});
		break;
	case STEP_BRANCH:
		c = find(v, s->call);
		if (!c)
			break;
		c->last = s->site;
		c->callee = is_call(s) && s->to_known ? s->to.symbol : NULL;
		if (plan_site__is_conditional(&s->plan->sites.data[s->site]))
			take_way(c, (uint64_t)s->site << 1 | s->taken);
		break;
	case STEP_RETURN:
		c = find(v, s->call);
		if (c)
			end_call(w, c, s);
		else /* it was entered before, or in the process that has forked this one */
			w->unsure[s->function]++;
		drop(v, c ? v->len - 1 : 0);
		break;
	case STEP_EXIT:
	case STEP_EXEC:
		leave(w, v);
		break;
	case STEP_NAMED:
		take_wait(w, v, s);
		break;
	case STEP_UNKNOWN:
		vec__each (c, v)
			c->unsure = true;
		break;
	case STEP_LOST:
	case STEP_STOP:
		cut(w);
		break;
	default:
		break;
	}
	return 0;
}

/* ---- the report ---- */

/* A function, and its rows in tables that are in order of functions. */
struct spent {
	uint32_t function;
	uint64_t ns;
	size_t kinds, nkinds, waits, nwaits;
};

/* The kinds of a function, and how many of its calls went each way. */
struct report {
	struct output *o;
	const struct kind *kinds; /* by time */
	size_t nkinds;
	const struct wait *awaited; /* by time */
	size_t nawaited;
	struct map64 went; /* way -> calls */
	uint64_t calls, ns, off;
	bool waits; /* time on no CPU was recorded */
};

/* By function, the one with most time first. */
static int by_time(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->calls > y->calls ? -1 : x->calls < y->calls;
}

static int by_wait(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static void gather(struct report *r, const struct slow *w, const struct spent *at)
{
	r->kinds = w->kinds.data ? w->kinds.data + at->kinds : NULL;
	r->nkinds = at->nkinds;
	r->awaited = w->waits.data ? w->waits.data + at->waits : NULL;
	r->nawaited = at->nwaits;
	for (size_t i = 0; i < r->nkinds; i++) {
		const struct kind *k = &r->kinds[i];
		const uint64_t *way;

		r->calls += k->calls;
		r->ns += k->ns;
		r->off += k->off;
		r->waits |= k->waited;
		vec__each (way, &k->ways)
			*map64__put(&r->went, *way) += k->calls;
	}
}

static void put_place(const struct output *o, struct str *s, const struct plan_site *site)
{
	struct plan_frame f;
	uint64_t offset;
	const char *name = plan__name_at(o->plan, site->function, site->vaddr, &offset);

	if (src__own_line(o, site->object, site->vaddr, &f)) {
		str__shown(s, path__base_name(f.file));
		str__printf(s, ":%u ", f.line);
	}
	if (name)
		str__shown(s, name);
	str__printf(s, "+0x%llx", (unsigned long long)offset);
}

/* The ways that fewest other calls went; at least one of the others didn't. */
static void put_ways(const struct report *r, const struct kind *k)
{
	struct str *s = &r->o->buffer;
	uint64_t chosen[WAYS_SHOWN], others[WAYS_SHOWN];
	size_t n = 0;
	const uint64_t *way;

	vec__each (way, &k->ways) {
		uint64_t other = *map64__get(&r->went, *way) - k->calls;
		size_t at = n;

		if (other >= r->calls - k->calls)
			continue;
		while (at && others[at - 1] > other)
			at--;
		if (at == WAYS_SHOWN)
			continue;
		n = min_of(n + 1, (size_t)WAYS_SHOWN);
		for (size_t i = n - 1; i > at; i--) {
			chosen[i] = chosen[i - 1];
			others[i] = others[i - 1];
		}
		chosen[at] = *way;
		others[at] = other;
	}
	if (!n)
		str__puts(s, r->nkinds == 1 ? "all of them"
			     : k->ways.len  ? "no branch that others don't take"
					    : "no branch");
	for (size_t i = 0; i < n; i++) {
		/* what all of its calls and no others do says it all */
		if (i && !others[0] && others[i])
			break;
		str__puts(s, i ? ", " : "");
		put_place(r->o, s, &r->o->plan->sites.data[chosen[i] >> 1]);
		str__puts(s, chosen[i] & 1 ? " taken" : " not taken");
		if (others[i])
			str__printf(s, " (as %llu other%s)", (unsigned long long)others[i],
				    others[i] == 1 ? "" : "s");
	}
}

static void put_number(struct str *s, uint64_t n)
{
	CLEANUP(str__free) struct str cell = {0};

	str__dec(&cell, n);
	put_right(s, cell.data, 9);
}

static void put_ns(struct str *s, bool known, uint64_t ns)
{
	CLEANUP(str__free) struct str cell = {0};

	if (known)
		put_duration(&cell, ns);
	else
		str__putc(&cell, '-');
	put_right(s, cell.data, 10);
}

static void put_kind(const struct report *r, const struct kind *k)
{
	struct str *s = &r->o->buffer;
	unsigned permille = r->ns ? (unsigned __int128)k->ns * 1000 / r->ns : 0;

	put_number(s, k->calls);
	put_ns(s, k->timed, k->ns);
	str__printf(s, " %5u.%u%%", permille / 10, permille % 10);
	put_ns(s, k->timed, k->timed ? k->ns / k->timed : 0);
	put_ns(s, k->timed, k->max);
	if (r->waits)
		put_ns(s, k->waited, k->off);
	str__puts(s, "  ");
	put_ways(r, k);
	str__putc(s, '\n');
}

static void put_wait(const struct report *r, const struct wait *at)
{
	struct str *s = &r->o->buffer;

	str__puts(s, "  waited ");
	put_duration(s, at->ns);
	str__printf(s, " in %llu wait%s ", (unsigned long long)at->times,
		    at->times == 1 ? "" : "s");
	if (at->site == NO_SITE) {
		str__puts(s, "before its first branch");
	} else {
		const struct plan_site *site = &r->o->plan->sites.data[at->site];

		str__puts(s, "after ");
		put_place(r->o, s, site);
		str__printf(s, "  %s", site->mnemonic ? site->mnemonic : "");
		if (at->callee)
			str__putc(s, ' ');
		str__shown(s, at->callee ? at->callee : "");
	}
	str__putc(s, '\n');
}

static void put_function(struct output *o, const struct slow *w, const struct spent *at)
{
	uint32_t function = at->function;
	struct report r = {.o = o};
	struct str *s = &o->buffer;
	uint64_t rest = 0;

	gather(&r, w, at);
	if (r.calls || w->unsure[function] || w->unended[function]) {
		str__shown(s, o->plan->functions.data[function].name);
		str__printf(s, ": %llu%s call%s", (unsigned long long)r.calls, o->more,
			    r.calls == 1 ? "" : "s");
		str__puts(s, ", ");
		put_duration(s, r.ns);
		if (r.waits) {
			str__puts(s, ", of which ");
			put_duration(s, r.off);
			str__puts(s, " on no CPU");
		}
		str__putc(s, '\n');
	}
	if (r.calls)
		str__printf(s,
			    "    calls     total   share       avg       max%s  what only these "
			    "calls do\n",
			    r.waits ? "    no CPU" : "");
	for (size_t i = 0; i < r.nkinds; i++)
		if (i < KINDS_SHOWN)
			put_kind(&r, &r.kinds[i]);
		else
			rest += r.kinds[i].calls;
	if (rest)
		str__printf(s, "  %llu calls of %zu further kinds\n", (unsigned long long)rest,
			    r.nkinds - KINDS_SHOWN);
	if (w->unsure[function])
		str__printf(s, "  %llu calls whose path isn't known in whole\n",
			    (unsigned long long)w->unsure[function]);
	if (w->unended[function])
		str__printf(s, "  %llu call%s that had not ended\n",
			    (unsigned long long)w->unended[function],
			    w->unended[function] == 1 ? "" : "s");
	for (size_t i = 0; i < r.nawaited && i < WAITS_SHOWN; i++)
		put_wait(&r, &r.awaited[i]);
	if (r.calls || w->unsure[function] || w->unended[function])
		str__putc(s, '\n');
	map64__free(&r.went);
}

static int by_spent(const void *a, const void *b)
{
	const struct spent *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int end(struct output *o, const struct trace_totals *t)
{
	struct slow *w = o->state;
	size_t n = o->plan->functions.len;
	autofree struct spent *spent = xcalloc(n + 1, sizeof(*spent));
	CLEANUP(str__free) struct str note = {0};
	const struct wait *wait;
	const struct kind *k;
	open_vec *v;

	vec__each (v, &w->threads)
		leave(w, v);
	vec__sort(&w->kinds, by_time);
	vec__sort(&w->waits, by_wait);
	for (uint32_t f = 0; f < n; f++)
		spent[f].function = f;
	vec__each (k, &w->kinds) {
		struct spent *of = &spent[k->function];

		if (!of->nkinds++)
			of->kinds = k - w->kinds.data;
		of->ns += k->ns;
	}
	vec__each (wait, &w->waits)
		if (!spent[wait->function].nwaits++)
			spent[wait->function].waits = wait - w->waits.data;
	qsort(spent, n, sizeof(*spent), by_spent);
	for (size_t i = 0; i < n; i++)
		put_function(o, w, &spent[i]);
	if (w->more_kinds)
		str__printf(&o->buffer, "%llu calls of kinds beyond %u\n",
			    (unsigned long long)w->more_kinds, KINDS_MOST);
	if (totals__tracing(t, &note))
		str__printf(&o->buffer, "times include %s\n", note.data);
	return 0;
}

/* ---- the format ---- */

static void grow_counts(uint64_t **counts, size_t from, size_t n)
{
	*counts = xrealloc(*counts, n + 1, sizeof(**counts));
	memset(*counts + from, 0, (n + 1 - from) * sizeof(**counts));
}

static void grow(struct output *o)
{
	struct slow *w = o->state;
	size_t n = o->plan->functions.len;

	if (n <= w->nfunctions && w->unsure)
		return;
	grow_counts(&w->unsure, w->nfunctions, n);
	grow_counts(&w->unended, w->nfunctions, n);
	w->nfunctions = n;
}

static int begin(struct output *o)
{
	grow(o);
	return 0;
}

static void release(struct output *o)
{
	struct slow *w = o->state;
	struct kind *k;
	open_vec *v;

	vec__each (v, &w->threads) {
		drop(v, 0);
		vec__free(v);
	}
	vec__each (k, &w->kinds)
		vec__free(&k->ways);
	vec__free(&w->threads);
	vec__free(&w->kinds);
	vec__free(&w->waits);
	map64__free(&w->thread_of);
	map64__free(&w->kind_of);
	map64__free(&w->wait_of);
	free(w->unsure);
	free(w->unended);
}

const struct output_format output_slow = {
	.name = "slow",
	.cuts = true,
	.help = "what slow calls do that others don't, and where they wait",
	.size = sizeof(struct slow),
	.wants = {.events = OUTPUT_STEPS, .durations = true, .lines = true},
	.at_end = true,
	.begin = begin,
	.plan_extended = grow,
	.step = step,
	.end = end,
	.free = release,
};
