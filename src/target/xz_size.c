// SPDX-License-Identifier: BSD-2-Clause
/*
 * How large an .xz stream says it is when unpacked (The .xz File Format, 2.1.2 and 4): asked before
 * libdw unpacks .gnu_debugdata whole, whatever its size. Pure.
 */
#include "elf_file.h"

#define FOOTER 12

static bool read_number(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
	unsigned shift;

	*out = 0;
	for (shift = 0; *p < end && shift < 63; shift += 7) {
		*out |= (uint64_t)(**p & 0x7f) << shift;
		if (!(*(*p)++ & 0x80))
			return true;
	}
	return false;
}

bool xz__unpacked_size(const uint8_t *bytes, uint64_t len, uint64_t *size)
{
	const uint8_t *footer = bytes + len - FOOTER, *p;
	uint64_t index, n, packed, unpacked;
	uint32_t backward;

	if (len < 2 * FOOTER || memcmp(footer + 10, "YZ", 2))
		return false;
	memcpy(&backward, footer + 4, sizeof(backward));
	index = ((uint64_t)backward + 1) * 4;
	if (index > len - FOOTER)
		return false;
	p = footer - index;
	if (*p++ != 0 || !read_number(&p, footer, &n))
		return false;
	for (*size = 0; n; n--) {
		if (!read_number(&p, footer, &packed) || !read_number(&p, footer, &unpacked) ||
		    *size > UINT64_MAX - unpacked)
			return false;
		*size += unpacked;
	}
	return true;
}
