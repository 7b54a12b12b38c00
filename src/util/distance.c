// SPDX-License-Identifier: BSD-2-Clause
#include "util/util.h"

unsigned str__distance(const char *a, size_t a_len, const char *b, size_t b_len, unsigned limit)
{
	unsigned row[DISTANCE_MAX_LEN + 1], diagonal, above, best;
	size_t i, j;

	if (a_len > DISTANCE_MAX_LEN || b_len > DISTANCE_MAX_LEN || a_len > b_len + limit ||
	    b_len > a_len + limit)
		return limit + 1;
	for (j = 0; j <= b_len; j++)
		row[j] = j;
	for (i = 1; i <= a_len; i++) {
		diagonal = row[0];
		best = row[0] = i;
		for (j = 1; j <= b_len; j++) {
			above = row[j];
			row[j] = min_of(min_of(above, row[j - 1]) + 1,
					diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
			best = min_of(best, row[j]);
		}
		if (best > limit)
			return limit + 1;
	}
	return row[b_len];
}
