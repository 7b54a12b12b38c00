// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arguments of static probes as sys/sdt.h has the compiler write them: SIZE@OPERAND, the operand in
 * the assembler's AT&T syntax: %rax, $5, -8(%rbp), 16(%rax,%rbx,8), (%rdi).
 */
#include <stdlib.h>
#include "x86.h"

/* The other names of the general registers, by number. */
static const char *const names[16][5] = {
	{"eax", "ax", "al"},	  {"ecx", "cx", "cl"},	    {"edx", "dx", "dl"},
	{"ebx", "bx", "bl"},	  {"esp", "sp", "spl"},	    {"ebp", "bp", "bpl"},
	{"esi", "si", "sil"},	  {"edi", "di", "dil"},	    {"r8d", "r8w", "r8b"},
	{"r9d", "r9w", "r9b"},	  {"r10d", "r10w", "r10b"}, {"r11d", "r11w", "r11b"},
	{"r12d", "r12w", "r12b"}, {"r13d", "r13w", "r13b"}, {"r14d", "r14w", "r14b"},
	{"r15d", "r15w", "r15b"},
};

static bool is_name(const char *text, size_t len, const char *name)
{
	return name && strlen(name) == len && !memcmp(text, name, len);
}

/* Takes "%NAME". */
static bool take_register(const char **p, uint8_t *out)
{
	const char *name = *p + 1;
	size_t len;

	if (**p != '%')
		return false;
	len = strcspn(name, " ,)");
	for (uint8_t r = 0; r < ARRAY_SIZE(names); r++) {
		bool is = is_name(name, len, x86_reg_names[r]);

		for (size_t i = 0; !is && i < ARRAY_SIZE(names[r]); i++)
			is = is_name(name, len, names[r][i]);
		if (is) {
			*out = r;
			*p = name + len;
			return true;
		}
	}
	return false;
}

static bool take_number(const char **p, int64_t *out)
{
	char *end;

	*out = strtoll(*p, &end, 0);
	if (end == *p)
		return false;
	*p = end;
	return true;
}

/* "(%rax,%rbx,8)" */
static bool take_memory(const char **p, struct usdt_argument *out)
{
	int64_t scale = 1;

	++*p;
	out->kind = USDT_MEMORY;
	out->base = out->index = REG_NONE;
	out->scale = 1;
	if (**p != ',' && !take_register(p, &out->base))
		return false;
	if (**p == ',') {
		++*p;
		if (!take_register(p, &out->index))
			return false;
		if (**p == ',' && (++*p, !take_number(p, &scale)))
			return false;
	}
	out->scale = scale;
	return (scale == 1 || scale == 2 || scale == 4 || scale == 8) && *(*p)++ == ')';
}

bool x86__usdt_operand(const char **p, struct usdt_argument *out)
{
	if (**p == '$') {
		++*p;
		out->kind = USDT_CONSTANT;
		return take_number(p, &out->disp);
	}
	if (**p == '%') {
		out->kind = USDT_REGISTER;
		return take_register(p, &out->base);
	}
	if (**p != '(' && !take_number(p, &out->disp))
		return false;
	return **p == '(' && take_memory(p, out);
}
