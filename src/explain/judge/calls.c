// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "explain/judge/calls.h"

static void free_results(struct item *it)
{
	struct verdict **v;

	vec__each (v, &it->results)
		verdict__free(*v);
	vec__free(&it->results);
}

void call__forget(struct call *c, const char *why)
{
	struct item *it;

	vec__each (it, &c->items)
		free_results(it);
	c->items.len = 0;
	c->cut = why;
}

void call__free(struct call *c)
{
	call__forget(c, NULL);
	vec__free(&c->items);
	free(c);
}

static const char farther_back[] =
	"what it depends on is farther back than the branches that are kept";

struct call *call__copy(const struct call *c, size_t most)
{
	size_t n = min_of(c->items.len, most), first = c->items.len - n;
	struct call *copy = xmalloc(sizeof(*copy));

	*copy = *c;
	copy->items.data = xcalloc(n, sizeof(*copy->items.data));
	copy->items.len = copy->items.cap = n;
	copy->cut = first ? farther_back : c->cut;
	for (size_t i = 0; i < n; i++) {
		const struct item *from = &c->items.data[first + i];
		struct item *to = &copy->items.data[i];

		*to = *from;
		to->results = (verdict_vec){0};
		for (size_t k = 0; k < from->results.len; k++)
			vec__push(&to->results, verdict__share(from->results.data[k]));
	}
	return copy;
}

void call__drop_half(struct call *c)
{
	size_t half = c->items.len / 2;

	for (size_t i = 0; i < half; i++)
		free_results(&c->items.data[i]);
	memmove(c->items.data, c->items.data + half,
		(c->items.len - half) * sizeof(*c->items.data));
	c->items.len -= half;
	c->cut = farther_back;
}
