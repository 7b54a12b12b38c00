// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>
#include "operands.h"

/* What the file has for size bytes at a running address; ip: that of the site. Memory that can be
 * written to may have been: only what can't be is as in the file. */
static bool read_file(const struct plan *plan, const struct plan_site *s, uint64_t addr,
		      uint64_t ip, uint64_t *value)
{
	const struct object *o = plan->objects.data[s->object].object;
	uint64_t vaddr = addr - (ip - s->vaddr);
	const struct segment *segment = o ? object__segment_at(o, vaddr) : NULL;
	const uint8_t *bytes;
	size_t avail;

	if (!segment || segment->write)
		return false;
	bytes = object__bytes(o, vaddr, &avail);
	if (!bytes || avail < s->operand.size)
		return false;
	*value = 0;
	memcpy(value, bytes, s->operand.size);
	return true;
}

static bool lacks_operand(const struct plan *plan, const struct wire_event *e, uint64_t size)
{
	uint32_t site = e->site_type & WIRE_SITE_MASK;

	return e->missing & WIRE_NO_VALUE0 && size >= sizeof(struct wire_value) &&
	       site < plan->sites.len && plan->sites.data[site].operand.kind == OPERAND_MEM;
}

const struct wire_event *operands__record(const struct plan *plan, const struct wire_event *e,
					  uint64_t size, struct wire_entry_stack *room)
{
	const struct plan_site *s;
	__u64 *value = room->entry.value; /* where struct wire_value has it as well */
	uint64_t target;

	if (!lacks_operand(plan, e, size) || size > sizeof(*room))
		return e;
	s = &plan->sites.data[e->site_type & WIRE_SITE_MASK];
	memcpy(room, e, size);
	if (!plan->kernel && read_file(plan, s, value[0], value[1], &target)) {
		value[0] = target;
		room->entry.event.missing &= ~WIRE_NO_VALUE0;
	} else {
		value[0] = 0;
	}
	value[1] = 0;
	return &room->entry.event;
}
