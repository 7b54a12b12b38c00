// SPDX-License-Identifier: BSD-2-Clause
/* Arguments and results by their types. */
#include <errno.h>
#include "kernel/kernel.h"
#include "select/requirements.h"
#include "typed_values.h"

static void ask_kernel(void *ctx, const struct object *o, const struct type_query *queries,
		       size_t n, const struct type_names *members, struct types *out)
{
	kernel__prototypes(o, ctx, queries, n, members, out);
}

/* True for the C library, which has another path in a chroot or where it was copied. */
static bool is_libc(const struct object *o)
{
	const struct symbol *s;
	bool starts = false, has_version = false;

	vec__each (s, &o->symbols) {
		starts |= s->exported && !strcmp(s->name, "__libc_start_main");
		has_version |= s->exported && !strcmp(s->name, "gnu_get_libc_version");
	}
	return starts && has_version;
}

static void report_conditions(const struct request *req, const struct plan *plan)
{
	uint32_t judged = 0, others = 0, first = 0;
	size_t n;

	for (uint32_t i = 0; req->record.conditions.len && i < plan->functions.len; i++) {
		const struct plan_function *f = &plan->functions.data[i];

		if (f->flags & (FUNCTION_HELPER | FUNCTION_RANGE | FUNCTION_REMOVED))
			continue;
		if (plan__conditions(plan, i, &n))
			judged++;
		else if (!others++)
			first = i;
	}
	if (others)
		note_verbose(
			"--if applies to %u function%s; %s%s don't have all that it names: they "
			"are shown with their callers, or always if nothing traced calls them",
			judged, judged == 1 ? "" : "s", plan->functions.data[first].name,
			others == 1 ? "" : " and others");
}

void typed_values__report(const struct request *req, const struct plan *plan,
			  const struct plan_values_result *r)
{
	const struct plan_function *f = plan->functions.data;

	if (!req->record.typed)
		return;
	if (r->untyped == 1)
		note("%s: its types are not known: its arguments are shown as registers",
		     f[r->first_untyped].name);
	else if (r->untyped)
		note("%s and %u more: their types are not known: their arguments are shown as "
		     "registers",
		     f[r->first_untyped].name, r->untyped - 1);
	report_conditions(req, plan);
	if (!r->unfetched)
		return;
	note("%s: has more than %d values in memory: the rest is not recorded",
	     f[r->first_unfetched].name, VALUES_FETCHED);
}

int typed_values__plan(const struct request *req, struct plan *plan, const char *btf,
		       struct plan_values_result *out)
{
	enum requirements_typed typed = requirements__typed(req);
	struct plan_values_options o = {
		.no_memory = typed == TYPED_REGISTERS,
		.recorded = requirements__reported_regs(req, plan),
		.expressions = req->record.expressions.len ? &req->record.expressions : NULL,
		.conditions = &req->record.conditions,
		.kernel = ask_kernel,
		.ctx = (void *)btf,
		.is_libc = is_libc};
	int err;

	*out = (struct plan_values_result){0};
	if (typed == TYPED_NONE || plan->placement == PLACEMENT_COUNT)
		return 0;
	err = plan__add_values(plan, &o, out);
	if (!err)
		err = plan__add_conditions(plan, &req->record.conditions);
	if (err) {
		autofree char *why = xstrdup(err__text());

		return err__usage("%s", why);
	}
	return 0;
}
