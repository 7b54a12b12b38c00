// SPDX-License-Identifier: BSD-2-Clause
/* x86-64: injected calls. All registers that a system call changes, or takes, are kept on the stack
 * below the red zone, and so are the flags. */
#include <errno.h>
#include "assembler.h"

enum { SYS_SIGPROCMASK = 14, SET_MASK = 2, MASK_SIZE = 8 };

/* rcx, r11 and rax: changed by any system call */
const uint8_t x86_injected_kept[X86_INJECTED_KEPT] = {
	X86_RAX, X86_RCX, X86_RDX, X86_RSI, X86_RDI, X86_R8, X86_R9, X86_R10, X86_R11,
};
static const uint8_t arguments[] = {X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9};

static void put_constant(struct code_part *p, uint8_t reg, uint64_t value)
{
	asm__put(p, 0x48 | reg >> 3, 0xb8 | (reg & 7)); /* movabs */
	code_part__put(p, &value, sizeof(value));
}

static void put_number(struct code_part *p, uint8_t reg, uint32_t value)
{
	if (reg >= X86_R8)
		asm__put(p, 0x41);
	asm__put(p, 0xb8 | (reg & 7)); /* mov $value,%reg: 32 bits, zero-extended */
	code_part__put(p, &value, sizeof(value));
}

static void put_call(struct code_part *p, uint64_t number)
{
	put_number(p, X86_RAX, number);
	asm__put(p, 0x0f, 0x05); /* syscall */
}

static void keep(struct code_part *p, int32_t zone)
{
	struct operand down = asm__at(X86_RSP, -zone);

	asm__mem(p, ASM_LEA, 64, X86_RSP, &down);
	for (size_t i = X86_INJECTED_KEPT; i-- > 0;)
		asm__push(p, x86_injected_kept[i]);
	asm__put(p, 0x9c); /* pushf */
}

static void restore(struct code_part *p, int32_t zone)
{
	struct operand up = asm__at(X86_RSP, zone);

	asm__put(p, 0x9d); /* popf */
	for (size_t i = 0; i < X86_INJECTED_KEPT; i++)
		asm__pop(p, x86_injected_kept[i]);
	asm__mem(p, ASM_LEA, 64, X86_RSP, &up);
}

/* Twice: if the thread has stopped at the first one, that isn't executed, not even if the tracer is
 * killed then. */
static uint32_t put_mask(struct code_part *p, uint32_t label)
{
	uint32_t first;

	put_number(p, X86_RDI, SET_MASK);
	asm__put(p, 0x48, 0x8d, 0x35); /* lea mask(%rip),%rsi */
	code_part__fix(p, true, label, 0);
	put_number(p, X86_RDX, 0);
	put_number(p, X86_R10, MASK_SIZE);
	put_call(p, SYS_SIGPROCMASK);
	first = p->bytes.len;
	put_call(p, SYS_SIGPROCMASK);
	return first;
}

static int emit(struct code_buffer *c, const struct injected *e, struct injected_code *out)
{
	struct code_part *p = &c->hot;
	uint32_t mask = code_buffer__label(c);
	int32_t zone = e->small_stack ? X86_SMALL_ZONE : X86_RED_ZONE;

	if (e->len && x86__displace(c, e->bytes, e->len, e->from, true))
		return -ENOTSUP;
	keep(p, zone);
	if (e->calls) {
		for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
			put_constant(p, arguments[i], e->args[i]);
		put_call(p, e->number);
		out->called = p->bytes.len;
	}
	out->done = put_mask(p, mask);
	restore(p, zone);
	asm__put(p, 0xff, 0x25, 0, 0, 0, 0); /* jmp *0(%rip) */
	code_part__put(p, &e->then, sizeof(e->then));
	code_buffer__set(c, mask, false);
	code_part__put(p, &e->mask, sizeof(e->mask));
	return 0;
}

bool x86__fix(const struct code_buffer *c, uint64_t at, uint8_t *bytes)
{
	const struct code_fixup *f;

	vec__each (f, &c->hot.fixups) {
		uint64_t to = f->to_label ? at + c->labels.data[f->to].offset : f->to;
		int64_t distance = to - (at + f->at + 4 + f->following);
		int32_t d = (int32_t)distance;

		if (d != distance)
			return false;
		memcpy(bytes + f->at, &d, sizeof(d));
	}
	return true;
}

int x86__injected(const struct injected *e, uint64_t at, struct injected_code *out)
{
	struct code_buffer c = {0};
	int err;

	*out = (struct injected_code){0};
	err = emit(&c, e, out);
	out->len = c.hot.bytes.len;
	if (!err && out->len > sizeof(out->bytes))
		err = -E2BIG;
	if (!err)
		memcpy(out->bytes, c.hot.bytes.data, out->len);
	if (!err && !x86__fix(&c, at, out->bytes))
		err = -ERANGE;
	code_buffer__free(&c);
	return err;
}
