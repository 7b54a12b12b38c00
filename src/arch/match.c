// SPDX-License-Identifier: BSD-2-Clause
/*
 * Looks up instruction words in tables of masks and values.
 */
#include "arch/match.h"

const struct match *match__find(const struct match *rows, size_t n, uint32_t word)
{
	for (const struct match *m = rows; m < rows + n; m++)
		if ((word & m->mask) == m->value)
			return m;
	return NULL;
}
