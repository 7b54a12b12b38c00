// SPDX-License-Identifier: BSD-2-Clause
/*
 * `counting FILE [FUNC...]`: what counting each function's edges takes, with a probe on each site
 * and with as few and as cheap ones as tell the same: sites, probes, estimated cost, counts that
 * stay unknown. Without FUNC: all functions of the file, in one line. The estimate is the
 * planner's: executions per call of the function times the cost of the hits.
 */
#include "plan/placement/cost.h"
#include "plan/plan_private.h"
#include "plan/placement/frequency_private.h"
#include "resolve/resolve.h"

struct figures {
	unsigned sites, probes, stepped, unknown;
	double cost;
};

static void add_up(const struct plan *p, const struct plan_options *options, struct figures *f)
{
	const struct cost_row *row = cost__row(p->arch, false, NULL);
	struct frequency frequency;
	struct plan_flow flow;
	const struct plan_site *s;

	plan_flow__init(&flow, p);
	frequency__estimate(&frequency, &flow, options);
	vec__each (s, &p->sites) {
		f->sites += s->role != ROLE_WITNESS;
		if (s->probe != PROBE_COUNT)
			continue;
		f->probes++;
		f->stepped += s->traps != 1;
		f->cost += frequency.of[s->block] *
			   row->cost[s->traps == 1 ? COST_EMULATED : COST_STEPPED];
	}
	f->unknown = p->skipped;
	frequency__free(&frequency);
	plan_flow__free(&flow);
}

static bool measure(const function_vec *functions, bool all, struct figures *f)
{
	struct plan_options options = {
		.events = PLAN_ENTRY | PLAN_BRANCH, .placement = PLACEMENT_COUNT, .count_all = all};
	struct plan *p;

	*f = (struct figures){0};
	if (plan__build(functions, &options, &p)) {
		fprintf(stderr, "counting: %s\n", err__text());
		return false;
	}
	add_up(p, &options, f);
	plan__free(p);
	return true;
}

static bool show(struct object *o, const char *name)
{
	function_vec functions = {0};
	struct figures all, few;
	struct spec spec;
	bool good;

	if (spec__parse(name, false, &spec))
		return false;
	good = !object__resolve(o, &spec, &functions) && measure(&functions, true, &all) &&
	       measure(&functions, false, &few);
	if (good)
		printf("%-24s %6u sites; all: %6u probes, %6u stepped; few: %6u, %6u stepped; cost "
		       "%5.2f %%; %u and %u unknown\n",
		       name, all.sites, all.probes, all.stepped, few.probes, few.stepped,
		       100 * few.cost / all.cost, all.unknown, few.unknown);
	spec__free(&spec);
	functions__free(&functions);
	return good;
}

int main(int argc, char **argv)
{
	struct object *o;
	bool good = true;

	if (argc < 2 || object__open(argv[1], &o)) {
		fprintf(stderr, "counting FILE [FUNC...]\n");
		return 2;
	}
	for (int i = 2; i < argc; i++)
		good &= show(o, argv[i]);
	if (argc == 2)
		good = show(o, "*");
	return !good;
}
