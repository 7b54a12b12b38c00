/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that are assembled, planned and copied. */
#ifndef COPY_FIXTURE_H
#define COPY_FIXTURE_H

#include "code_graph_fixture.h"
#include "copy/copy.h"

static struct copies *copies;

/* Assembles another program. */
static bool assemble_anew(const char *source)
{
	copies__free(copies);
	copies = NULL;
	plan__free(plan);
	plan = NULL;
	if (object)
		object__free(object);
	object = NULL;
	return assemble(source);
}

/* Plans some of its functions, and copies them. */
static bool plan_and_copy(const char *const *names, unsigned events,
			  const struct log_options *options)
{
	plan = plan_of(object, names, events);
	return plan && !copies__make(plan, options, &copies);
}

static enum copy_refusal refusal(const char *name)
{
	const struct plan_function *f = function(name);

	return f >= plan->functions.data && f < vec__end(&plan->functions)
		       ? copies->refusals.data[f - plan->functions.data]
		       : COPY_REFUSALS;
}

#endif
