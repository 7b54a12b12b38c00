// SPDX-License-Identifier: BSD-2-Clause
#include "target_sums.h"

void target_sums__add(struct target_sums *s, const struct counted_target *t)
{
	uint64_t key = ((t->to.object ? t->to.vaddr : t->to.addr) * 0x9e3779b97f4a7c15ull) ^
		       (uint64_t)t->site << 32;
	struct counted_target *old;
	uint64_t *slot;

	/* equal keys of different places are chained by probing */
	for (;; key++) {
		slot = map64__put(&s->by_place, key);
		old = *slot ? &s->rows.data[*slot - 1] : NULL;
		if (!old || (old->site == t->site && location__same(&old->to, &t->to)))
			break;
	}
	if (old) {
		old->count += t->count;
		return;
	}
	vec__push(&s->rows, *t);
	*slot = s->rows.len;
}

void target_sums__clear(struct target_sums *s)
{
	vec__free(&s->rows);
	map64__free(&s->by_place);
	*s = (struct target_sums){0};
}
