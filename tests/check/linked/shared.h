/* SPDX-License-Identifier: BSD-2-Clause */
/* What both files of the C program have: an inline function, and a struct that is passed to it. */
#ifndef LINKED_SHARED_H
#define LINKED_SHARED_H

enum mode { OFF, ON = 3 };
struct request {
	int id;
	const char *name;
};

static inline __attribute__((always_inline)) int clamp(int v, int low)
{
	if (v < low)
		return low;
	return v;
}

int used(const struct request *r, enum mode m, const char *why);
int unused(int n);
int unused_too(int n);
#endif
