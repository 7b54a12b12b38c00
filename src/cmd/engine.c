// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include "engine.h"
#include "wants.h"

/* How many functions there are of each kind. */
static void tell_copies(const struct copies *c, const struct plan *p)
{
	autofree bool *copied = xcalloc(p->functions.len + 1, sizeof(*copied));
	unsigned inlined = 0, refused[COPY_REFUSALS] = {0};
	const struct plan_site *s;

	vec__each (s, &p->sites)
		copied[s->function] |= s->probe == PROBE_INLINE || s->probe == PROBE_INLINE_COUNT;
	for (uint32_t i = 0; i < p->functions.len; i++) {
		uint8_t why = i < c->refusals.len ? c->refusals.data[i] : COPY_OK;

		inlined += copied[i];
		refused[why]++;
		if (why)
			note_verbose("%s keeps its probes: %s", p->functions.data[i].name,
				     copy_refusal_text[why]);
	}
	note_verbose("%u functions are copied", inlined);
	for (int i = COPY_OK + 1; i < COPY_REFUSALS; i++)
		if (refused[i])
			note_verbose("%u are not: %s", refused[i], copy_refusal_text[i]);
}

int engine__copy(struct engine_state *e, const struct args *a, struct plan *plan)
{
	int err;

	if (a->engine != ENGINE_INLINE)
		return 0;
	if (!plan__has_programs(plan))
		return err__usage("--engine inline is for programs and libraries");
	if (!plan->arch->copier || !plan->arch->ticks)
		return err__set(ENOTSUP,
				"--engine inline can't copy functions of this machine; use "
				"--engine probe");
	e->log = (struct log_options){.regs = wants__log_regs(a, plan->arch),
				      .timed = wants__log_times(a)};
	err = copies__make(plan, &e->log, &e->copies);
	if (!err && note__level() >= NOTE_VERBOSE)
		tell_copies(e->copies, plan);
	return err;
}

int engine__start(struct engine_state *e, const struct args *a, const struct plan *plan,
		  pid_t command)
{
	struct inline_options o = {.plan = plan,
				   .copies = e->copies,
				   .log = e->log,
				   .command = command,
				   .follow = a->filters.follow,
				   .drop_privileges = privileges__keep_tracing};

	return e->copies ? inliner__open(&o, &e->inliner) : 0;
}

void engine__close(struct engine_state *e)
{
	inliner__close(e->inliner);
	copies__free(e->copies);
}
