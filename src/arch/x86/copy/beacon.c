// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: the beacon. It asks the thread's tracer to look, by two words that both share, and waits
 * for the answer, which takes the thread out of here. No signal is sent. Without a tracer the wait
 * ends by itself, and the request stays: the next time it isn't made again.
 */
#include "assembler.h"

#if defined(__x86_64__)

enum { CC_NOT_EQUAL = 5, SYS_FUTEX = 202 };
/* include/uapi/linux/futex.h */
enum { FUTEX_WAIT, FUTEX_WAKE, EVERYBODY = 0x7fffffff };

/* A called function may not change these registers, since its callers may rely on any: they are
 * those that a system call changes, or takes. */
const uint8_t x86_beacon_kept[X86_BEACON_KEPT] = {
	X86_RAX, X86_RCX, X86_RDX, X86_RSI, X86_RDI, X86_R10, X86_R11,
};

static void put_futex(struct code_part *p, uint32_t operation, uint32_t value)
{
	asm__constant(p, X86_RSI, operation);
	asm__constant(p, X86_RDX, value);
	asm__constant(p, X86_RAX, SYS_FUTEX);
	asm__put(p, 0x0f, 0x05); /* syscall */
}

static void ask(struct code_buffer *c, uint32_t out)
{
	struct code_part *p = &c->hot;

	RING(p, ASM_CMP_IMM8, 7, asks);
	asm__put(p, 0);
	asm__jump_if(p, CC_NOT_EQUAL, out);
	RING(p, ASM_STORE_IMM32, 0, asks);
	asm__put32(p, 1);
	RING(p, ASM_LOAD, X86_RDI, bell);
	asm__put(p, 0xf0, 0xff, 0x07); /* lock incl (%rdi) */
	put_futex(p, FUTEX_WAKE, EVERYBODY);
}

static void wait_for_answer(struct code_buffer *c, uint32_t time)
{
	struct code_part *p = &c->hot;
	struct operand word = asm__at(X86_RDI, offsetof(struct log_ring, asks));

	RING(p, ASM_LOAD, X86_RDI, base);
	asm__mem(p, ASM_LEA, 64, X86_RDI, &word);
	asm__put(p, 0x4c, 0x8d, 0x15); /* lea time(%rip),%r10 */
	code_part__fix(p, true, time, 0);
	put_futex(p, FUTEX_WAIT, 1);
}

/* Offsets after each push, and after each pop of the same. */
struct beacon {
	uint32_t pushed[X86_BEACON_KEPT], popped[X86_BEACON_KEPT];
};

static void emit(struct code_buffer *c, struct beacon *b)
{
	const uint64_t time[] = {0, BEACON_WAIT_NS};
	uint32_t out = code_buffer__label(c), end = code_buffer__label(c);
	struct code_part *p = &c->hot;

	for (size_t i = 0; i < X86_BEACON_KEPT; i++) {
		asm__push(p, x86_beacon_kept[i]);
		b->pushed[i] = p->bytes.len;
	}
	ask(c, out);
	wait_for_answer(c, end);
	code_buffer__set(c, out, false);
	for (size_t i = X86_BEACON_KEPT; i-- > 0;) {
		asm__pop(p, x86_beacon_kept[i]);
		b->popped[i] = p->bytes.len;
	}
	asm__put(p, 0xc3); /* ret */
	code_buffer__set(c, end, false);
	code_part__put(p, time, sizeof(time));
}

unsigned x86__beacon_words(uint64_t offset)
{
	struct code_buffer c = {0};
	struct beacon b;
	unsigned n = 0;

	emit(&c, &b);
	for (unsigned i = 0; i < X86_BEACON_KEPT; i++)
		n += (offset >= b.pushed[i]) - (offset >= b.popped[i]);
	code_buffer__free(&c);
	return n;
}

size_t x86__beacon(uint8_t out[BEACON_MAX])
{
	struct code_buffer c = {0};
	struct beacon b;
	size_t n;

	emit(&c, &b);
	n = c.hot.bytes.len;
	if (n > BEACON_MAX || !x86__fix(&c, 0, c.hot.bytes.data))
		n = 0;
	memcpy(out, c.hot.bytes.data, n);
	code_buffer__free(&c);
	return n;
}
#endif
