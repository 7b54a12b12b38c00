// SPDX-License-Identifier: BSD-2-Clause
/* What could not be traced, as JSON. */
#include "fields.h"

void untraced__json(const untraced_vec *untraced, const struct plan *plan, struct json *j)
{
	const struct untraced *u;

	if (!untraced || !untraced->len)
		return;
	json__key(j, "untraced");
	json__open_array(j);
	vec__each (u, untraced) {
		json__open_object(j);
		json__member(j, unsigned, "pid", u->pid);
		if (u->object < plan->objects.len)
			json__member(j, string, "object", plan->objects.data[u->object].path);
		if (u->function < plan->functions.len)
			json__member(j, string, "symbol", plan->functions.data[u->function].name);
		json__member(j, string, "reason", u->reason);
		json__close_object(j);
	}
	json__close_array(j);
}
