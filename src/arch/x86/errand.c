// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: errands. All registers that a system call changes, or takes, are kept on the stack below
 * the red zone, and the flags.
 */
#include <errno.h>
#include "arch/x86/assembler.h"

enum { SYS_SIGPROCMASK = 14, SET_MASK = 2, MASK_SIZE = 8 };

/* rcx, r11 and rax: changed by any system call */
const uint8_t x86_errand_kept[X86_ERRAND_KEPT] = {
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
	for (size_t i = X86_ERRAND_KEPT; i-- > 0;)
		asm__push(p, x86_errand_kept[i]);
	asm__put(p, 0x9c); /* pushf */
}

static void restore(struct code_part *p, int32_t zone)
{
	struct operand up = asm__at(X86_RSP, zone);

	asm__put(p, 0x9d); /* popf */
	for (size_t i = 0; i < X86_ERRAND_KEPT; i++)
		asm__pop(p, x86_errand_kept[i]);
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

static int emit(struct code_buffer *c, const struct errand *e, struct errand_code *out)
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

static bool fix(const struct code_buffer *c, uint64_t at, uint8_t *bytes)
{
	const struct code_fixup *f;

	vec__each (f, &c->hot.fixups) {
		uint64_t to = f->to_label ? at + c->labels.data[f->to].offset : f->to;
		int64_t distance = to - (at + f->at + 4 + f->behind);
		int32_t d = (int32_t)distance;

		if (d != distance)
			return false;
		memcpy(bytes + f->at, &d, sizeof(d));
	}
	return true;
}

int x86__errand(const struct errand *e, uint64_t at, struct errand_code *out)
{
	struct code_buffer c = {0};
	int err;

	*out = (struct errand_code){0};
	err = emit(&c, e, out);
	out->len = c.hot.bytes.len;
	if (!err && out->len > sizeof(out->bytes))
		err = -E2BIG;
	if (!err)
		memcpy(out->bytes, c.hot.bytes.data, out->len);
	if (!err && !fix(&c, at, out->bytes))
		err = -ERANGE;
	code_buffer__free(&c);
	return err;
}

/* ---- signals to the tracer ---- */

enum { SYS_GETPID = 39, SYS_GETTID = 186, SYS_TGKILL = 234, SIGNAL_UNBLOCK = 1 };

const uint8_t x86_beacon_kept[X86_BEACON_KEPT] = {
	X86_RAX, X86_RCX, X86_RDX, X86_RSI, X86_RDI, X86_R10, X86_R11,
};
/* Offsets behind its pushes, the last one of a mask, and behind the pops of the same; those behind
 * the system calls that unblock its signal, send it, and set the mask. */
#define BEACON_WORDS (X86_BEACON_KEPT + 1)
static const uint8_t pushed[BEACON_WORDS] = {1, 2, 3, 4, 5, 7, 9, 14};
static const uint8_t popped[BEACON_WORDS] = {92, 94, 96, 97, 98, 99, 100, 101};
enum { BEACON_UNBLOCKED = 38, BEACON_STOP = 68, BEACON_RESET = 91, BEACON_END = 102 };

unsigned x86__beacon_words(uint64_t offset, bool *masked)
{
	unsigned n = 0;

	for (unsigned i = 0; i < BEACON_WORDS; i++)
		n += (offset >= pushed[i]) - (offset >= popped[i]);
	*masked = offset >= BEACON_UNBLOCKED && offset < BEACON_RESET;
	return n;
}

/* A call's: below the stack pointer nothing is in use. */
size_t x86__beacon(uint8_t out[BEACON_MAX], size_t *behind)
{
	static const uint8_t code[] = {
		0x50,
		0x51,
		0x52,
		0x56,
		0x57,
		0x41,
		0x52,
		0x41,
		0x53, /* push rax … r11 */
		0x68,
		0,
		0,
		0x40,
		0, /* push $1 << (X86_BEACON_SIGNAL - 1) */
		0xb8,
		SYS_SIGPROCMASK,
		0,
		0,
		0,
		0xbf,
		SIGNAL_UNBLOCK,
		0,
		0,
		0, /* %eax, %edi */
		0x48,
		0x89,
		0xe6,
		0x48,
		0x89,
		0xe2, /* mov %rsp,%rsi; mov %rsp,%rdx */
		0x41,
		0xba,
		MASK_SIZE,
		0,
		0,
		0,
		0x0f,
		0x05,
		0xb8,
		SYS_GETPID,
		0,
		0,
		0,
		0x0f,
		0x05,
		0x89,
		0xc7, /* %edi */
		0xb8,
		SYS_GETTID & 0xff,
		0,
		0,
		0,
		0x0f,
		0x05,
		0x89,
		0xc6, /* %esi */
		0xba,
		X86_BEACON_SIGNAL,
		0,
		0,
		0,
		0xb8,
		SYS_TGKILL & 0xff,
		0,
		0,
		0,
		0x0f,
		0x05, /* here it stops */
		0xb8,
		SYS_SIGPROCMASK,
		0,
		0,
		0,
		0xbf,
		SET_MASK,
		0,
		0,
		0,
		0x48,
		0x89,
		0xe6,
		0x31,
		0xd2,
		0x41,
		0xba,
		MASK_SIZE,
		0,
		0,
		0,
		0x0f,
		0x05,
		0x58,
		0x41,
		0x5b,
		0x41,
		0x5a,
		0x5f,
		0x5e,
		0x5a,
		0x59,
		0x58,
		0xc3,
	};

	_Static_assert(sizeof(code) == BEACON_END && BEACON_END <= BEACON_MAX, "BEACON_END");
	memcpy(out, code, sizeof(code));
	*behind = BEACON_STOP;
	return sizeof(code);
}
