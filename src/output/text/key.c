// SPDX-License-Identifier: BSD-2-Clause
/* Which lines of text are the same: for folding, and so that they are rendered once. */
#include "text.h"

/* What two steps must have in common, besides their text, to be folded. */
void text__fill_key(uint64_t *to, const struct step *s)
{
	const uint64_t key[FOLD_KEYS] = {
		s->type | (uint64_t)s->timed << 8 | (uint64_t)s->implied << 9 |
			(uint64_t)s->taken << 10 | (uint64_t)s->to_known << 11,
		s->site | (uint64_t)s->function << 32,
		s->pid,
		s->to_known ? (uintptr_t)s->to.object : 0,
		s->to_known ? s->to.object ? s->to.vaddr : s->to.addr : 0,
		s->has_value ? s->value : 0,
	};

	memcpy(to, key, sizeof(key));
}

void text__fill_known_key(const struct output *o, const struct step *s, uint64_t *to)
{
	const struct plan_site *site = &o->plan->sites.data[s->site];
	const uint64_t key[KNOWN_KEYS - FOLD_KEYS] = {
		s->depth | (uint64_t)s->interrupt << 32 | (uint64_t)site->kind << 40 |
			(uint64_t)((struct text *)o->state)->thread_column << 48,
		(uintptr_t)site->mnemonic,
		(uintptr_t)s->at.object,
		(uintptr_t)s->at.symbol,
		s->at.offset,
		s->at.object ? s->at.vaddr : s->at.addr,
		s->to_known ? (uintptr_t)s->to.symbol : 0,
		s->to_known ? s->to.offset : 0,
		s->tested.flags,
		s->tested.value[0],
		s->tested.value[1],
	};

	text__fill_key(to, s);
	memcpy(to + FOLD_KEYS, key, sizeof(key));
}

/* Any number is right; most of a loop's lines have one of their own. */
size_t text__known_slot(const uint64_t *key)
{
	uint64_t mixed = (key[0] ^ key[1] << 12 ^ key[2] << 40 ^ key[4] << 4 ^ key[FOLD_KEYS]) *
			 0x9e3779b97f4a7c15;

	return mixed >> 54;
}
