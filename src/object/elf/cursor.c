// SPDX-License-Identifier: BSD-2-Clause
/* Reads the numbers and encoded pointers of .eh_frame and .gcc_except_table, within bounds. Pure.
 */
#include <dwarf.h>
#include <string.h>
#include "cursor.h"

uint64_t cursor__uint(struct cursor *c, unsigned size)
{
	uint64_t v = 0;

	if (c->bad || (size_t)(c->end - c->p) < size) {
		c->bad = true;
		return 0;
	}
	memcpy(&v, c->p, size);
	c->p += size;
	return v;
}

uint64_t cursor__leb(struct cursor *c, bool is_signed)
{
	uint64_t v = 0, byte;
	unsigned shift = 0;

	do {
		byte = cursor__uint(c, 1);
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64)
		v |= ~0ull << shift;
	return v;
}

uint64_t cursor__format(struct cursor *c, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		return cursor__uint(c, c->word == 4 ? 4 : 8);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor__uint(c, 8);
	case DW_EH_PE_uleb128:
		return cursor__leb(c, false);
	case DW_EH_PE_sleb128:
		return cursor__leb(c, true);
	case DW_EH_PE_udata2:
		return cursor__uint(c, 2);
	case DW_EH_PE_sdata2:
		return (int64_t)(int16_t)cursor__uint(c, 2);
	case DW_EH_PE_udata4:
		return cursor__uint(c, 4);
	case DW_EH_PE_sdata4:
		return (int64_t)(int32_t)cursor__uint(c, 4);
	}
	c->bad = true;
	return 0;
}

/* Addresses of 32 bits wrap around. */
static uint64_t sum(const struct cursor *c, uint64_t a, uint64_t b)
{
	return c->word == 4 ? (uint32_t)(a + b) : a + b;
}

uint64_t cursor__pointer(struct cursor *c, uint8_t encoding, uint64_t base)
{
	uint64_t at = c->vaddr + (c->p - c->start), v = cursor__format(c, encoding);

	if (encoding & DW_EH_PE_indirect)
		return NO_ADDRESS;
	if (!v)
		return 0; /* a null pointer is null in every encoding */
	switch (encoding & 0x70) {
	case 0:
		return sum(c, v, 0);
	case DW_EH_PE_pcrel:
		return sum(c, at, v);
	case DW_EH_PE_funcrel:
		return sum(c, base, v);
	}
	c->bad = true;
	return 0;
}
