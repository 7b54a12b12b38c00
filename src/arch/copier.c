// SPDX-License-Identifier: BSD-2-Clause
/* The buffer that copies and logs are emitted to: any architecture's. */
#include "arch/arch.h"

uint32_t code_buffer__label(struct code_buffer *c)
{
	vec__add(&c->labels);
	return c->labels.len - 1;
}

void code_buffer__set(struct code_buffer *c, uint32_t label, bool cold)
{
	const struct code_part *part = cold ? &c->cold : &c->hot;

	c->labels.data[label] = (struct code_label){true, cold, part->bytes.len};
}

void code_part__put(struct code_part *p, const void *bytes, size_t n)
{
	if (!n)
		return;
	vec__reserve(&p->bytes, p->bytes.len + n);
	memcpy(p->bytes.data + p->bytes.len, bytes, n);
	p->bytes.len += n;
}

void code_part__fix(struct code_part *p, bool to_label, uint64_t to, uint8_t following)
{
	static const uint8_t distance[4];

	vec__push(&p->fixups, (struct code_fixup){p->bytes.len, following, to_label, to});
	code_part__put(p, distance, sizeof(distance));
}

static void free_part(struct code_part *p)
{
	vec__free(&p->bytes);
	vec__free(&p->fixups);
}

void code_buffer__free(struct code_buffer *c)
{
	free_part(&c->hot);
	free_part(&c->cold);
	vec__free(&c->labels);
	vec__free(&c->faults);
	vec__free(&c->times);
}
