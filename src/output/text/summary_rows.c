// SPDX-License-Identifier: BSD-2-Clause
#include "summary_rows.h"

static int most_branches_first(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->f->branches != y->f->branches)
		return x->f->branches < y->f->branches ? 1 : -1;
	if (x->f->calls != y->f->calls)
		return x->f->calls < y->f->calls ? 1 : -1;
	return x->plan < y->plan ? -1 : x->plan > y->plan;
}

/* By time without tracing; after these, rows where that isn't known; last, what is below the
 * noise. */
static int by_net(const struct row *x, const struct row *y)
{
	static const uint8_t rank[] = {[NET_KNOWN] = 0, [NET_UNKNOWN] = 1, [NET_NOISE] = 2};
	uint64_t m = 0, n = 0;
	enum net p = stats_net__state(&x->f->net, &m), q = stats_net__state(&y->f->net, &n);

	if (p != q)
		return rank[p] < rank[q] ? -1 : 1;
	return p != NET_KNOWN || m == n ? 0 : m < n ? 1 : -1;
}

static int longest_first(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = by_net(x, y);

	if (order)
		return order;
	if (x->f->total != y->f->total)
		return x->f->total < y->f->total ? 1 : -1;
	if (x->f->calls != y->f->calls)
		return x->f->calls < y->f->calls ? 1 : -1;
	return x->plan < y->plan ? -1 : x->plan > y->plan;
}

/* What a row is sorted by; of times 0 if none is known. */
static uint64_t value_of(const struct row *r, enum summary_order by)
{
	const struct stats_function *f = r->f;
	uint64_t ns = 0;

	switch (by) {
	case ORDER_CALLS:
		return f->calls == COUNT_UNKNOWN ? 0 : f->calls;
	case ORDER_BRANCHES:
		return f->branches;
	case ORDER_NET:
		return stats_net__state(&f->net, &ns) == NET_KNOWN ? ns : 0;
	case ORDER_SELF:
		return f->self;
	case ORDER_MIN:
		return f->time.n ? f->time.min : 0;
	case ORDER_AVG:
		return f->time.sum / max_of(f->time.n, (uint64_t)1);
	case ORDER_P50:
		return f->time.n ? histogram__quantile(&f->time, 500) : 0;
	case ORDER_P99:
		return f->time.n ? histogram__quantile(&f->time, 990) : 0;
	case ORDER_MAX:
		return f->time.max;
	default:
		return f->total;
	}
}

static int by_name(const struct row *x, const struct row *y)
{
	int order = strcmp(x->plan->name, y->plan->name);

	return order ? order : x->plan < y->plan ? -1 : x->plan > y->plan;
}

/* Rows of the same value are sorted by their names. */
static int largest_first(const void *a, const void *b, void *order)
{
	const struct row *x = a, *y = b;
	enum summary_order by = *(const unsigned *)order;
	uint64_t m, n;

	if (by == ORDER_NAME)
		return by_name(x, y);
	m = value_of(x, by);
	n = value_of(y, by);
	return m != n ? m < n ? 1 : -1 : by_name(x, y);
}

void rows__sort(const struct output *o, rows_vec *rows)
{
	unsigned order = o->options.order;

	if (order != ORDER_TIME)
		vec__sort_by(rows, largest_first, &order);
	else
		vec__sort(rows, ((const struct stats *)o->state)->blocks ? most_branches_first
									 : longest_first);
}
