// SPDX-License-Identifier: BSD-2-Clause
/* The bodies of a sample profile: a function, or a function that is inlined at a place of another.
 */
#include "sample_profile.h"

uint32_t sample_profile__body(struct sample_profile *p, const struct profile_spot *call,
			      uint32_t name)
{
	uint64_t key = map64__hash(call, sizeof(*call)) ^ map64__hash(&name, sizeof(name)), *known;

	for (;; key++) {
		const struct profile_body *b;

		known = map64__put(&p->by_place, key);
		if (!*known)
			break;
		b = &p->bodies.data[*known - 1];
		if (b->parent == call->body && b->offset == call->offset &&
		    b->discriminator == call->discriminator && b->name == name)
			return *known - 1;
	}
	vec__push(&p->bodies, (struct profile_body){.parent = call->body,
						    .offset = call->offset,
						    .discriminator = call->discriminator,
						    .name = name});
	*known = p->bodies.len;
	return *known - 1;
}
