// SPDX-License-Identifier: BSD-2-Clause
/* The estimate of how long attaching takes, by the code before a site, by its function, and by the
 * symbols of its module. */
#include <elf.h>
#include "plan/plan.h"
#include "tap.h"

static struct object kernel = {.kind = OBJECT_KERNEL};
static struct object module = {.kind = OBJECT_MODULE};
static struct range ranges[] = {{0x1000, 0x400, NULL}, {0x9000, 0x400, NULL}};

/* A function in the kernel, one like it in a module: an entry and two branches each. */
static void make(struct plan *p)
{
	static const uint64_t at[] = {0, 0x40, 0x200};

	vec__push(&p->objects, (struct plan_object){.object = &kernel, .kernel = true});
	vec__push(&p->objects, (struct plan_object){.object = &module, .kernel = true});
	for (uint32_t f = 0; f < 2; f++) {
		vec__push(&p->functions,
			  (struct plan_function){.object = f, .ranges = &ranges[f], .nranges = 1});
		for (uint32_t i = 0; i < 3; i++)
			vec__push(&p->sites, (struct plan_site){.vaddr = ranges[f].vaddr + at[i],
								.object = f,
								.function = f,
								.entry = !i,
								.probe = 1});
	}
}

int main(void)
{
	struct plan p = {.arch = arch__by_machine(EM_X86_64)};
	uint64_t all = 0, late;

	make(&p);
	ok(plan__site_work(&p, 2) > plan__site_work(&p, 1),
	   "a site further into its function takes longer");
	ok(plan__site_work(&p, 1) > plan__site_work(&p, 0),
	   "an entry, which is ftrace's, takes less than a site behind it");
	is(plan__site_work(&p, 4), plan__site_work(&p, 1),
	   "in a module of few symbols a site takes as long as in the kernel");
	module.listed = 13000;
	ok(plan__site_work(&p, 4) > 20 * plan__site_work(&p, 1),
	   "in a module of many symbols a site takes far longer");
	is(plan__site_work(&p, 3), plan__site_work(&p, 0),
	   "in a module of many symbols an entry takes no longer");
	ranges[0].size *= 4;
	late = plan__site_work(&p, 2);
	ranges[0].size /= 4;
	ok(late > plan__site_work(&p, 2), "in a larger function a site takes longer");
	for (uint32_t i = 0; i < p.sites.len; i++)
		all += plan__site_work(&p, i);
	is(plan__attach_work(&p), all, "the work of a plan is the sum of its sites'");
	p.sites.data[4].probe = PROBE_COUNT;
	is(plan__attach_work(&p), all, "a probe that counts takes as much work as another one");
	p.sites.data[4].probe = 0;
	is(plan__attach_work(&p), all - plan__site_work(&p, 4),
	   "a site without probe takes no work");
	p.objects.data[0].kernel = p.objects.data[1].kernel = false;
	is(plan__attach_work(&p), 5, "a program's probes count as one each");
	vec__free(&p.objects);
	vec__free(&p.functions);
	vec__free(&p.sites);
	return tap__done();
}
