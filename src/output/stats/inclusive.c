// SPDX-License-Identifier: BSD-2-Clause
/*
 * Inclusive time of a function: the time of its calls from entry to return, except those within
 * another timed call of it. Whether an outer call is timed shows only when it returns: until then
 * the inner calls count, and then it takes their time back.
 */
#include "stack.h"

static void count(struct stats *p, const struct credit *c, int sign)
{
	p->functions[c->function].total += sign * c->ns;
	stats_net__add(&p->functions[c->function].net, &c->net, sign);
	if (c->edge == NO_EDGE)
		return;
	p->calls.data[c->edge].ns += sign * c->ns;
	p->calls.data[c->edge].off += sign * c->net.off;
	p->calls.data[c->edge].branches += sign * c->branches;
}

/* Returns the nearest outer open call of c's function; NULL if there is none. */
static const struct open_call *outside_of(const struct stack *st, const struct open_call *c)
{
	for (size_t i = st->live.len; i-- > 0;) {
		const struct open_call *o = &st->live.data[i];

		if (o->function == c->function && o->id < c->id)
			return o;
	}
	return NULL;
}

static void keep(struct stack *st, struct credit c)
{
	struct credit *at;
	size_t i = st->credits.len;

	while (i > 0 && st->credits.data[i - 1].within > c.within)
		i--;
	for (size_t k = i; k-- > 0 && st->credits.data[k].within == c.within;) {
		at = &st->credits.data[k];
		if (at->function != c.function || at->edge != c.edge)
			continue;
		at->ns += c.ns;
		at->branches += c.branches;
		stats_net__add(&at->net, &c.net, 1);
		return;
	}
	vec__push(&st->credits, c);
	at = &st->credits.data[i];
	memmove(at + 1, at, (st->credits.len - 1 - i) * sizeof(*at));
	*at = c;
}

static struct credit take(struct stack *st, size_t i)
{
	struct credit *at = &st->credits.data[i], c = *at;

	memmove(at, at + 1, (st->credits.len - 1 - i) * sizeof(*at));
	st->credits.len--;
	return c;
}

/* Takes back the credits of calls that started after c, thus within it. */
static void take_back(struct stats *p, struct stack *st, const struct open_call *c)
{
	for (size_t i = st->credits.len; i-- > 0 && st->credits.data[i].within >= c->id;) {
		struct credit credit;

		if (st->credits.data[i].function != c->function)
			continue;
		credit = take(st, i);
		count(p, &credit, -1);
	}
}

void inclusive__add(struct stats *p, struct stack *st, const struct open_call *c, uint64_t ns,
		    const struct stats_net *net)
{
	const struct open_call *outside = c->recursive ? outside_of(st, c) : NULL;
	struct credit credit = {.function = c->function,
				.edge = c->edge,
				.ns = ns,
				.branches = c->inner.branches,
				.net = *net};

	take_back(p, st, c);
	count(p, &credit, 1);
	if (!outside)
		return;
	credit.within = outside->id;
	keep(st, credit);
}

/* Returns the index of a credit within exactly that call; credits.len if there is none. */
static size_t find(const struct stack *st, uint64_t within)
{
	size_t i = st->credits.len;

	while (i-- > 0 && st->credits.data[i].within >= within)
		if (st->credits.data[i].within == within)
			return i;
	return st->credits.len;
}

void inclusive__hand_on(struct stack *st, const struct open_call *c)
{
	const struct open_call *outside = c->recursive ? outside_of(st, c) : NULL;
	size_t i;

	while ((i = find(st, c->id)) < st->credits.len) {
		struct credit credit = take(st, i);

		if (!outside)
			continue;
		credit.within = outside->id;
		keep(st, credit);
	}
}
