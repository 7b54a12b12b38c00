// SPDX-License-Identifier: BSD-2-Clause
/* x86-64, i386: by the bytes of an instruction, the address that it has as a constant, and whether
 * it may have one or have to do with the stack pointer. */
#include <string.h>
#include "x86.h"

enum {
	OP_MOV = 0x89,
	OP_PUSH = 0x68,
	OP_LEA = 0x8d,
	OP_MOV_REG = 0xb8, /* + register */
	OP_MOV_MEM = 0xc7,
	REX = 0x40,
	REX_R = 4,
	REX_W = 8,
};

static uint64_t last_word(const uint8_t *bytes, size_t len)
{
	int32_t word;

	memcpy(&word, bytes + len - sizeof(word), sizeof(word));
	return (uint64_t)(int64_t)word;
}

/* lea without registers: modrm with mod 0 and rm 5, which on x86-64 is relative to the next
 * instruction. */
static bool is_lea(const uint8_t *op)
{
	return *op == OP_LEA && (op[1] & 0xc7) == 5;
}

static bool has_constant(const uint8_t *op)
{
	return is_lea(op) || (*op & 0xf8) == OP_MOV_REG || *op == OP_MOV_MEM || *op == OP_PUSH;
}

bool x86__might_take(const uint8_t *bytes, size_t len)
{
	bool rex = (*bytes & 0xf0) == REX;
	const uint8_t *op = bytes + rex;

	if (len < 2u + rex)
		return false;
	/* mov of the stack pointer, not of r12 */
	return (*op == OP_MOV && (op[1] & 0x38) == 0x20 && !(rex && *bytes & REX_R)) ||
	       (len >= 5 && has_constant(op));
}

bool x86__constant(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *out)
{
	const uint8_t *op = bytes;
	bool wide;

	if (len < 5)
		return false;
	wide = (*op & 0xf8) == (REX | REX_W);
	op += (*op & 0xf0) == REX;
	if (is_lea(op)) {
		*out = addr + len + last_word(bytes, len);
		return true;
	}
	if ((*op & 0xf8) == OP_MOV_REG && wide && len == 10) {
		memcpy(out, bytes + len - sizeof(*out), sizeof(*out));
		return true;
	}
	*out = last_word(bytes, len);
	return (*op & 0xf8) == OP_MOV_REG || *op == OP_MOV_MEM || *op == OP_PUSH;
}

bool i386__constant(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *out)
{
	(void)addr;
	if (len < 5 || !has_constant(bytes))
		return false;
	*out = (uint32_t)last_word(bytes, len);
	return true;
}
