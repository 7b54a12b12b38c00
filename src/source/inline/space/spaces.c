// SPDX-License-Identifier: BSD-2-Clause
/* Address spaces: made, forked and dropped. */
#include <unistd.h>
#include "space.h"

struct space *space__new(const struct tracer *tracer, struct process *p)
{
	struct space *s = xcalloc(1, sizeof(*s));

	s->tracer = tracer;
	space__open_memory(s, p);
	return s;
}

struct space *space__fork(const struct space *from, struct process *p)
{
	struct space *s = space__new(from->tracer, p);
	struct area *const *a;
	struct loaded *l;

	s->other = from->other;
	s->loading = from->loading;
	s->untimed = from->untimed;
	s->debug_slot = from->debug_slot;
	s->watch = from->watch;
	s->debug_state = from->debug_state;
	vec__append(&s->loaded, &from->loaded);
	vec__each (l, &s->loaded)
		loaded__copy_states(l);
	vec__append(&s->restored_functions, &from->restored_functions);
	vec__append(&s->inherited, &from->areas);
	vec__append(&s->inherited, &from->inherited);
	vec__each (a, &s->inherited)
		(*a)->refs++;
	return s;
}

void space__drop(struct tracer *tracer, struct space *s)
{
	struct area *const *a;
	struct loaded *l;

	if (!s || --s->refs)
		return;
	vec__each (l, &s->loaded)
		loaded__free_states(l);
	vec__each (a, &s->areas)
		area__drop(tracer, *a);
	vec__each (a, &s->inherited)
		area__drop(tracer, *a);
	vec__free(&s->areas);
	vec__free(&s->inherited);
	vec__free(&s->loaded);
	vec__free(&s->restored_functions);
	if (s->mem >= 0)
		close(s->mem);
	free(s);
}
