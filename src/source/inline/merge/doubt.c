// SPDX-License-Identifier: BSD-2-Clause
#include "doubt.h"

void doubt__hear(struct doubt *d, const struct say *say)
{
	vec__push(&d->turns, (struct doubt_turn){.position = say->position,
						 .object = say->object,
						 .function = say->function,
						 .covered = say->type == SAY_COVERED,
						 .within = say->size,
						 .entries = say->base});
}

static void close(struct doubt *d, const struct doubt_turn *t)
{
	struct doubt_turn *o;

	vec__each (o, &d->open) {
		if (o->object != t->object || o->function != t->function)
			continue;
		*o = *vec__last(&d->open);
		d->open.len--;
		break;
	}
	d->all &= d->open.len > 0;
}

bool doubt__at(struct doubt *d, uint64_t position)
{
	bool turned = false;

	for (; doubt__next(d) <= position && d->passed < d->turns.len; turned = true) {
		const struct doubt_turn *t = &d->turns.data[d->passed++];

		if (t->covered) {
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

/* Whoever has left it has a higher stack pointer. */
bool doubt__within(struct doubt *d, const struct event *e)
{
	bool inside = d->inside && (e->type == EVENT_ENTRY || e->type == EVENT_BRANCH);

	if (inside && e->sp > d->inside)
		d->inside = 0;
	return inside;
}

void doubt__see(struct doubt *d, const struct plan *plan, const struct event *e)
{
	const struct doubt_turn *o;

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

bool doubt__is_over(const struct doubt *d)
{
	return !d->open.len;
}

uint64_t doubt__next(const struct doubt *d)
{
	return d->passed < d->turns.len ? d->turns.data[d->passed].position : UINT64_MAX;
}

void doubt__free(struct doubt *d)
{
	vec__free(&d->turns);
	vec__free(&d->open);
}
