// SPDX-License-Identifier: BSD-2-Clause
/* AArch64: which instructions set the flags, for what conditional branches test. */
#include "arch/aarch64/aarch64.h"

/* These always set all flags: DDI 0487, C6.2. */
static const struct match setters[] = {
	{0x3f800000, 0x31000000}, /* adds, subs of an immediate */
	{0x7f800000, 0x72000000}, /* ands of an immediate */
	{0x3f000000, 0x2b000000}, /* adds, subs of a register */
	{0x7f000000, 0x6a000000}, /* ands, bics */
	{0x3fe0fc00, 0x3a000000}, /* adcs, sbcs */
	{0x5f20fc00, 0x1e202000}, /* fcmp */
};

enum flags_effect aarch64__flags_effect(const uint8_t *bytes, size_t len, uint8_t kind,
					uint16_t cond)
{
	uint32_t word;

	if (!aarch64__word(bytes, len, 0, &word))
		return FLAGS_UNKNOWN;
	if (cond & A64_NO_FLAGS || aarch64__branch_row(word))
		return FLAGS_KEPT;
	if (match__find(setters, ARRAY_SIZE(setters), word))
		return FLAGS_SET;
	return aarch64__writes(word).flags ? FLAGS_UNKNOWN : FLAGS_KEPT;
}
