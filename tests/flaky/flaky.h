/* SPDX-License-Identifier: BSD-2-Clause */
/* Of the flaky programs: PROGRAM SEED exits with 0, or with 1 if its bug showed. The branch that
 * the bug is about is on the line marked PLANTED. All else varies by seed, too. */
#ifndef FLAKY_H
#define FLAKY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state;

static inline void seed(int argc, char **argv)
{
	random_state = (argc > 1 ? strtoull(argv[1], NULL, 0) : 1) * 0x9e3779b97f4a7c15u + 12345;
}

static inline uint32_t roll(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 33) % n;
}

/* Branches that have nothing to do with any failure. */
static unsigned chatter;
static __attribute__((noinline)) void weather(void)
{
	if (roll(2))
		chatter += 3;
	if (roll(5) == 0)
		chatter ^= 0x55;
	for (unsigned i = roll(6); i; i--)
		chatter += roll(3) ? i : 1;
	switch (roll(7)) {
	case 0:
		chatter += 9;
		break;
	case 1:
		chatter *= 3;
		break;
	case 2:
		chatter -= 4;
		break;
	case 3:
		chatter |= 8;
		break;
	case 4:
		chatter /= 3;
		break;
	}
	if (roll(30) == 0)
		chatter = ~chatter;
}

#endif
