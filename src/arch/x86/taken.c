// SPDX-License-Identifier: BSD-2-Clause
/* x86-64, i386: the outcome of a conditional branch by the values of what it reads. */
#include "x86.h"

enum { CF = 1, PF = 4, ZF = 0x40, SF = 0x80, OF = 0x800 };

/* Intel SDM volume 1, appendix B: the low bit of a condition code inverts the condition. */
static bool holds(uint8_t cc, uint16_t flags)
{
	bool less = !(flags & SF) != !(flags & OF);
	bool truth[8] = {
		flags & OF, flags & CF, flags & ZF, flags & (CF | ZF),
		flags & SF, flags & PF, less,	    less || flags & ZF,
	};

	return truth[cc >> 1 & 7] != (cc & 1);
}

bool x86__taken(uint8_t kind, uint16_t cond, const uint64_t reads[2])
{
	uint64_t flags = reads[0], counter = reads[1];

	if (kind != BRANCH_LOOP)
		return holds(cond, flags);
	if (cond & X86_LOOP_ADDR32)
		counter = (uint32_t)counter;
	switch (X86_LOOPNE | (cond & 3)) {
	case X86_JRCXZ:
		return counter == 0;
	case X86_LOOPE:
		return counter != 1 && flags & ZF;
	case X86_LOOPNE:
		return counter != 1 && !(flags & ZF);
	default:
		return counter != 1;
	}
}

/* Signed conditions give no bound on an unsigned value. */
bool x86__bound(uint16_t cond, bool is_taken, bool swapped, uint64_t n, uint64_t *max)
{
	if (swapped)
		return false; /* detail only reads comparisons of x with a constant */
	switch (is_taken ? cond : cond ^ 1) {
	case 2: /* b */
		*max = n - 1;
		return n > 0;
	case 4: /* e */
	case 6: /* be */
		*max = n;
		return true;
	default:
		return false;
	}
}
