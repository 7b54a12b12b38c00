// SPDX-License-Identifier: BSD-2-Clause
/* The state of an alignment: the next item of each side, and how it is passed. */
#include "diff/align.h"

static bool is_left_out(const struct outcomes *o, const struct path_item *i)
{
	const struct outcome *r = &o->rows.data[i->outcome];

	return r->type == OUTCOME_BRANCH && outcomes__is_changed(o, r->function);
}

const struct path_item *aligning__peek(const struct aligning *a, struct path_cursor *c)
{
	const struct path_item *i;

	while ((i = path_cursor__peek(c)) && is_left_out(a->d->outcomes, i))
		path_cursor__skip(c);
	return i;
}

const struct outcome *aligning__outcome(const struct aligning *a, const struct path_item *i)
{
	return &a->d->outcomes->rows.data[i->outcome];
}

int64_t aligning__frame_of(const struct aligning *a, const struct path_item *i)
{
	return (int64_t)i->depth - (aligning__outcome(a, i)->type == OUTCOME_ENTRY);
}

void aligning__pass(struct aligning *a, int side)
{
	const struct path_item *i = aligning__peek(a, &a->at[side]);
	const struct outcome *o = aligning__outcome(a, i);

	if (a->parting) {
		a->parting->own[side] += o->type == OUTCOME_BRANCH;
		a->parting->calls[side] += o->type == OUTCOME_ENTRY;
	}
	path_cursor__skip(&a->at[side]);
}
