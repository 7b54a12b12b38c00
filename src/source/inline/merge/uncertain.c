// SPDX-License-Identifier: BSD-2-Clause
#include "uncertain.h"

void uncertain__receive(struct uncertain *d, const struct notice *notice)
{
	vec__push(&d->turns, (struct uncertain_turn){.position = notice->position,
						     .object = notice->object,
						     .function = notice->function,
						     .logged = notice->type == NOTICE_LOGGED,
						     .within = notice->size,
						     .entries = notice->base});
}

static void close(struct uncertain *d, const struct uncertain_turn *t)
{
	struct uncertain_turn *o;

	vec__each (o, &d->open) {
		if (o->object != t->object || o->function != t->function)
			continue;
		*o = *vec__last(&d->open);
		d->open.len--;
		break;
	}
	d->all &= d->open.len > 0;
}

bool uncertain__at(struct uncertain *d, uint64_t position)
{
	bool turned = false;

	for (; uncertain__next(d) <= position && d->passed < d->turns.len; turned = true) {
		const struct uncertain_turn *t = &d->turns.data[d->passed++];

		if (t->logged) {
			close(d, t);
		} else {
			d->all |= t->within;
			vec__push(&d->open, *t);
		}
	}
	if (d->passed == d->turns.len)
		d->passed = d->turns.len = 0;
	return turned || d->all;
}

/* A thread that has left the handler has a higher stack pointer. */
bool uncertain__within(struct uncertain *d, const struct event *e)
{
	bool inside = d->inside && (e->type == EVENT_ENTRY || e->type == EVENT_BRANCH);

	if (inside && e->sp > d->inside)
		d->inside = 0;
	return inside;
}

void uncertain__see(struct uncertain *d, const struct plan *plan, const struct event *e)
{
	const struct uncertain_turn *o;

	vec__each (o, &d->open) {
		const struct plan_site *s = &plan->sites.data[e->site];

		if (s->object != o->object ||
		    (o->function != NO_FUNCTION && o->function != s->function))
			continue;
		if (o->entries)
			d->inside = max_of(d->inside, e->sp);
		else
			d->all = true;
	}
}

bool uncertain__is_over(const struct uncertain *d)
{
	return !d->open.len;
}

uint64_t uncertain__next(const struct uncertain *d)
{
	return d->passed < d->turns.len ? d->turns.data[d->passed].position : UINT64_MAX;
}

void uncertain__free(struct uncertain *d)
{
	vec__free(&d->turns);
	vec__free(&d->open);
}
