// SPDX-License-Identifier: BSD-2-Clause
#include "util.h"

uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

void str__date(struct str *s, uint64_t realtime, int32_t utc_offset)
{
	time_t t = (time_t)(realtime / 1000000000) + utc_offset;
	unsigned minutes = abs(utc_offset) / 60;
	struct tm tm = {0};
	char text[64];

	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%F %T", &tm);
	str__printf(s, "%s %c%02u%02u", text, utc_offset < 0 ? '-' : '+', minutes / 60 % 100,
		    minutes % 60);
}
