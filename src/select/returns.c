// SPDX-License-Identifier: BSD-2-Clause
/* --returns: how returns are recorded, and whether return probes can be used. */
#include <errno.h>
#include "returns.h"
#include "cli/request.h"

int returns__settle(struct request *req)
{
	bool wanted = req->record.events & PLAN_RETURN;

	if (!req->how.returns_given)
		return 0;
	if (req->how.returns == RETURNS_NONE && wanted && req->record.events_given)
		return err__set(EINVAL, "--returns none contradicts -e return");
	if (req->how.returns == RETURNS_NONE)
		req->record.events &= ~PLAN_RETURN;
	else if (!wanted)
		return err__set(EINVAL,
				"--returns says how returns are recorded, but -e leaves them out");
	if (req->how.returns == RETURNS_PROBE && req->verb->bit == VERB_KERNEL)
		return err__set(EINVAL,
				"--returns probe is for programs and libraries; the kernel's "
				"functions have probes at their rets");
	return 0;
}

int returns__check_probes(const struct plan *plan)
{
	uint32_t n = 0, refused = 0, first = 0;
	const struct plan_object *o;

	vec__each (o, &plan->objects)
		if (!o->kernel && o->object->go)
			return err__set(
				ENOTSUP,
				"%s is a Go program, which moves its stacks: a return probe "
				"would crash it; use --returns ret",
				o->path);
	for (uint32_t i = 0; i < plan->functions.len; i++) {
		if (plan__is_kernel_function(plan, i) ||
		    plan->functions.data[i].flags & (FUNCTION_HELPER | FUNCTION_RANGE))
			continue;
		n++;
		if (!plan__return_refusal(plan, i))
			continue;
		first = refused++ ? first : i;
		note_verbose("%s: no return probe: %s", plan->functions.data[i].name,
			     return_refusal_text[plan__return_refusal(plan, i)]);
	}
	if (n && refused == n)
		return err__set(ENOTSUP, "no return probe on %s%s: %s; use --returns ret",
				plan->functions.data[first].name, n > 1 ? " and the others" : "",
				return_refusal_text[plan__return_refusal(plan, first)]);
	if (refused)
		note("no return probe on %s%s: their returns are not shown; -v shows why",
		     plan->functions.data[first].name, refused > 1 ? " and others" : "");
	note("return probes replace return addresses: a program ends where an exception passes "
	     "through a traced function, or where a seccomp filter doesn't expect them; returns "
	     "of calls nested deeper than 64 are not seen");
	return 0;
}
