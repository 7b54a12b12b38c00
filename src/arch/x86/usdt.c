// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arguments of static probes as sys/sdt.h has the compiler write them: SIZE@OPERAND, the operand in
 * the assembler's AT&T syntax: %rax, $5, -8(%rbp), 16(%rax,%rbx,8), (%rdi), symbol+16(%rip).
 */
#include <ctype.h>
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

static size_t symbol_length(const char *text)
{
	size_t n = 0;

	if (isdigit((unsigned char)*text))
		return 0;
	while (isalnum((unsigned char)text[n]) || (text[n] && strchr("_.$", text[n])))
		n++;
	return n;
}

/* A sum of numbers and of at most one symbol: "requests", "total+16", "-8". */
static bool take_sum(const char **p, struct usdt_argument *out)
{
	int64_t number;

	while (true) {
		bool minus = **p == '-';

		*p += **p == '-' || **p == '+';
		if (isdigit((unsigned char)**p)) {
			if (!take_number(p, &number))
				return false;
			out->disp += minus ? -number : number;
		} else {
			if (out->symbol || minus || !(out->symbol_len = symbol_length(*p)))
				return false;
			out->symbol = *p;
			*p += out->symbol_len;
		}
		if (**p != '-' && **p != '+')
			return true;
	}
}

static bool is_scale(int64_t n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

/* "(%rax,%rbx,8)" */
static bool take_registers(const char **p, struct usdt_argument *out)
{
	int64_t scale = 1;

	++*p;
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
	return is_scale(scale) && *(*p)++ == ')';
}

/* A symbol's address takes the place of the base register, which then is the index. */
static bool add_symbol(struct usdt_argument *out)
{
	if (out->base != REG_NONE && out->index != REG_NONE)
		return false;
	if (out->base != REG_NONE) {
		out->index = out->base;
		out->scale = 1;
	}
	out->base = REG_IP;
	return true;
}

static bool take_memory(const char **p, struct usdt_argument *out)
{
	static const char relative[] = "(%rip)";

	out->kind = USDT_MEMORY;
	out->base = out->index = REG_NONE;
	out->scale = 1;
	if (**p != '(' && !take_sum(p, out))
		return false;
	if (!strncmp(*p, relative, strlen(relative))) {
		*p += strlen(relative);
		return out->symbol && add_symbol(out);
	}
	if (**p == '(' ? !take_registers(p, out) : !out->symbol)
		return false;
	return !out->symbol || add_symbol(out);
}

static bool take_constant(const char **p, struct usdt_argument *out)
{
	out->kind = USDT_CONSTANT;
	out->base = out->index = REG_NONE;
	return take_sum(p, out) && (!out->symbol || add_symbol(out));
}

bool x86__usdt_operand(const char **p, struct usdt_argument *out)
{
	if (**p == '$') {
		++*p;
		return take_constant(p, out);
	}
	if (**p == '%') {
		out->kind = USDT_REGISTER;
		return take_register(p, &out->base);
	}
	return take_memory(p, out);
}
