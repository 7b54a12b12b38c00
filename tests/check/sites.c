// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where bbtrace would put its probes: `sites FILE` plans every function of an ELF file with all
 * events and prints the address of each probe, then "unresolved N", the indirect jumps whose
 * targets it does not know. For tests/check/starts.py, which asks objdump whether an instruction
 * starts there.
 */
#include <errno.h>
#include <stdio.h>
#include "plan/plan.h"
#include "resolve/resolve.h"

static unsigned long long unresolved;

static void print_plan(const struct plan *plan)
{
	const struct plan_function *f;
	const struct plan_site *s;

	vec__each (s, &plan->sites)
		if (s->probe)
			printf("%llx\n", (unsigned long long)s->vaddr + s->probe_at);
	vec__each (f, &plan->functions)
		unresolved += f->unresolved;
}

/* More than can be traced at once are planned as bbtrace list does it. */
static int print_sites(const function_vec *functions)
{
	struct plan_options options = {.events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN};
	CLEANUP(plan__free_at) struct plan *plan = NULL;
	int err = plan__build(functions, &options, &plan);

	if (err == -E2BIG) {
		options = (struct plan_options){.events = PLAN_BRANCH, .batch = 8 << 20};
		err = plan__build(functions, &options, &plan);
	}
	if (err)
		return err;
	print_plan(plan);
	return 0;
}

static void free_object(struct object **o)
{
	object__free(*o);
}

static int print_object(const char *path)
{
	CLEANUP(free_object) struct object *o = NULL;
	CLEANUP(functions__free) function_vec functions = {0};
	CLEANUP(spec__free) struct spec all = {0};
	int err = object__open(path, &o);

	if (err)
		return err;
	err = spec__parse("*", false, &all);
	if (err)
		return err;
	err = object__resolve(o, &all, &functions);
	return err ? err : print_sites(&functions);
}

int main(int argc, char **argv)
{
	int err = argc == 2 ? print_object(argv[1]) : err__set(EINVAL, "usage: sites FILE");

	if (err)
		fprintf(stderr, "%s\n", err__text());
	else
		printf("unresolved %llu\n", unresolved);
	return err ? 1 : 0;
}
