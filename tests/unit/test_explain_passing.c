// SPDX-License-Identifier: BSD-2-Clause
/* Which ways a run that passes has gone, kept by place. */
#include <stdlib.h>
#include "explain/passing.h"
#include "tap.h"

static struct plan_site sites[3000];
static struct plan_object objects[2];
static struct plan plan;

static void make_plan(const char *first, const char *second)
{
	objects[0].path = (char *)first;
	objects[1].path = (char *)second;
	for (size_t i = 0; i < ARRAY_SIZE(sites); i++)
		sites[i] = (struct plan_site){
			.vaddr = 0x1000 + i / 2 * 4, .object = i % 2, .kind = BRANCH_JCC};
	plan.sites.data = sites;
	plan.sites.len = ARRAY_SIZE(sites);
	plan.objects.data = objects;
	plan.objects.len = ARRAY_SIZE(objects);
}

static unsigned went(const struct passing *p, uint32_t site)
{
	unsigned way = 4;

	return passing__went(p, &plan, site, &way) ? way : 5;
}

static unsigned count_wrong(const struct passing *p, unsigned swapped)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < ARRAY_SIZE(sites); i++)
		n += went(p, i) != (i ^ swapped) % 4;
	return n;
}

int main(void)
{
	struct passing *p = calloc(1, sizeof(*p));
	const char *name = NULL;

	make_plan("/one", "/two");
	is(went(NULL, 0), 5, "without such a run nothing is known");
	is(went(p, 0), 5, "nor before it has passed");
	for (uint32_t i = 0; i < ARRAY_SIZE(sites); i++) {
		if (i % 4 & WENT_TAKEN)
			passing__note(p, &plan, i, true);
		if (i % 4 & WENT_ON)
			passing__note(p, &plan, i, false);
	}
	p->complete = true;
	is(count_wrong(p, 0), 0, "each branch's ways");
	is(p->n, ARRAY_SIZE(sites) / 4 * 3, "those that were executed");
	is_str(passing__words(p, &plan, 1, false, &name), "the passing run went the other way",
	       "in words");
	is_str(name, "other", "and as a name");
	is_str(passing__words(p, &plan, 1, true, &name), "the passing run went the same way",
	       "the same way");
	is_str(passing__words(p, &plan, 3, true, &name), "the passing run went both ways",
	       "both ways");
	is_str(passing__words(p, &plan, 4, true, &name), "the passing run didn't come here",
	       "a place that it did not reach");
	make_plan("/two", "/one");
	is(count_wrong(p, 1), 0, "in a plan whose objects have another order");
	p->n = PASSING_SLOTS;
	sites[0].vaddr = 0x999;
	passing__note(p, &plan, 0, true);
	is(went(p, 1), 5, "what isn't complete is not compared");
	free(p);
	return tap__done();
}
