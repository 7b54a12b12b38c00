/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the tests of static probes' arguments. The test defines arch. */
#ifndef USDT_FIXTURE_H
#define USDT_FIXTURE_H

#include "arch/arch.h"
#include "tap.h"

static inline void is_argument(const char *text, struct usdt_argument want)
{
	struct usdt_argument got[USDT_ARGUMENTS];

	is(usdt__arguments(arch, text, got), 1, "'%s' is one argument", text);
	ok(got[0].kind == want.kind && got[0].size == want.size &&
		   got[0].is_signed == want.is_signed,
	   "'%s': its kind and size", text);
	if (want.kind == USDT_UNKNOWN)
		return;
	ok(got[0].disp == want.disp && (want.kind == USDT_CONSTANT || got[0].base == want.base),
	   "'%s': its operand", text);
	if (want.kind == USDT_MEMORY)
		ok(got[0].index == want.index &&
			   (want.index == REG_NONE || got[0].scale == want.scale),
		   "'%s': its index", text);
}

#endif
