// SPDX-License-Identifier: BSD-2-Clause
#include "util.h"

uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}
