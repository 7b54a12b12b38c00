// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arguments of static probes as sys/sdt.h has the compiler write them: SIZE@OPERAND, the operand in
 * the assembler's syntax: x0, w1, sp, 5, [sp, 12], [x0], [x1, x2], [x1, x2, lsl 3].
 */
#include <stdlib.h>
#include "arch/aarch64/aarch64.h"

static bool take(const char **p, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(*p, text, len) != 0)
		return false;
	*p += len;
	return true;
}

static bool take_number(const char **p, int64_t *out)
{
	char *end;

	*p += **p == '#';
	*out = strtoll(*p, &end, 0);
	if (end == *p)
		return false;
	*p = end;
	return true;
}

/* A whole name: x0 to x30, w0 to w30, sp. */
static bool take_register(const char **p, uint8_t *out)
{
	char *end;
	unsigned long n;

	if (take(p, "sp")) {
		*out = A64_SP;
		return true;
	}
	if ((**p != 'x' && **p != 'w') || (*p)[1] < '0' || (*p)[1] > '9')
		return false;
	n = strtoul(*p + 1, &end, 10);
	if (n >= A64_SP)
		return false;
	*out = n;
	*p = end;
	return true;
}

/* After "[": "x0]", "x0, 8]", "x0, x1]", "x0, x1, lsl 3]" */
static bool take_memory(const char **p, struct usdt_argument *out)
{
	int64_t shift = 0;

	out->kind = USDT_MEMORY;
	out->index = REG_NONE;
	out->scale = 1;
	if (!take_register(p, &out->base))
		return false;
	if (take(p, "]"))
		return true;
	if (!take(p, ", ") && !take(p, ","))
		return false;
	if (**p != 'x')
		return take_number(p, &out->disp) && take(p, "]");
	if (!take_register(p, &out->index))
		return false;
	if ((take(p, ", lsl ") || take(p, ",lsl ")) && !take_number(p, &shift))
		return false;
	out->scale = 1 << (shift & 3);
	return shift >= 0 && shift <= 3 && take(p, "]");
}

bool aarch64__usdt_operand(const char **p, struct usdt_argument *out)
{
	if (take(p, "["))
		return take_memory(p, out);
	if (**p == 'x' || **p == 'w' || **p == 's') {
		out->kind = USDT_REGISTER;
		return take_register(p, &out->base);
	}
	out->kind = USDT_CONSTANT;
	return take_number(p, &out->disp);
}
