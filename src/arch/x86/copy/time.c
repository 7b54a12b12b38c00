// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: the code that reads the time stamp counter, and what replaces it in a process that may
 * not read it (PR_SET_TSC of prctl(2), seccomp's strict mode): records have the time 0, which no
 * counter has, and a full ring is waited for by counting rounds.
 */
#include "assembler.h"

enum { CC_EQUAL = 4, JUMP = 0xe9, JUMP_SIZE = 5 };
enum { REX = 0x40, REX_W = 0x48, REX_MASK = 0xf0, REX_XB = 3 };

#define ROUNDS (1 << 24) /* without a look of the reader: about a second */

/* ---- reading it ---- */

static uint32_t begin(struct code_part *p)
{
	uint32_t start = p->bytes.len;

	asm__put(p, 0x0f, 0x31); /* rdtsc */
	return start;
}

void x86__store_time(struct code_buffer *c, bool cold, uint8_t base, int32_t at)
{
	struct code_part *p = cold ? &c->cold : &c->hot;
	struct operand low = asm__at(base, at), high = asm__at(base, at + 4);
	uint32_t start = begin(p);

	asm__mem(p, ASM_STORE, 32, X86_RAX, &low);
	asm__mem(p, ASM_STORE, 32, X86_RDX, &high);
	vec__push(&c->times,
		  (struct code_time){
			  .start = start, .end = p->bytes.len, .instead = NO_LABEL, .cold = cold});
}

/* The same without the counter: flags as test_patience() has them. Changes rax. */
static void put_rounds(struct code_buffer *c)
{
	struct code_part *p = &c->cold;
	uint32_t again = code_buffer__label(c);

	RING(p, ASM_LOAD, X86_RAX, beat);
	RING(p, ASM_CMP, X86_RAX, waited);
	asm__jump_if(p, CC_EQUAL, again);
	RING(p, ASM_STORE, X86_RAX, waited);
	asm__zero(p, X86_RAX);
	RING(p, ASM_STORE, X86_RAX, rounds);
	code_buffer__set(c, again, true);
	RING(p, ASM_INC, 0, rounds);
	RING(p, ASM_LOAD, X86_RAX, rounds);
	asm__put(p, 0x48, 0x3d); /* cmp $ROUNDS,%rax */
	asm__put32(p, ROUNDS);
}

void x86__test_patience(struct code_buffer *c)
{
	uint32_t instead = code_buffer__label(c), after = code_buffer__label(c), start;
	struct code_part *p = &c->cold;

	start = begin(p);
	asm__put(p, 0x48, 0xc1, 0xe2, 32); /* shl $32,%rdx */
	asm__put(p, 0x48, 0x09, 0xd0);	   /* or %rdx,%rax */
	RING(p, ASM_SUB, X86_RAX, beat);
	RING(p, ASM_CMP, X86_RAX, patience);
	vec__push(&c->times,
		  (struct code_time){
			  .start = start, .end = p->bytes.len, .instead = instead, .cold = true});
	asm__jump(p, after);
	code_buffer__set(c, instead, true);
	put_rounds(c);
	code_buffer__set(c, after, true);
}

/* ---- instead of it ---- */

/* Returns how many bytes of a store encode its address. */
static size_t size_of_address(const uint8_t *store)
{
	uint8_t mod = store[1] >> 6;

	return 1 + ((store[1] & 7) == 4) + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* The first store's address is that of all 8 bytes. Less room is needed than there is: one byte
 * more for the constant 0 than for a displacement, a REX prefix, and an opcode. */
static void store_zero(uint8_t *code, size_t n)
{
	uint8_t out[32] = {REX_W}, *at = out + 1;
	const uint8_t *store = code + X86_READ_TIME_SIZE;
	size_t address;

	if ((*store & REX_MASK) == REX)
		out[0] |= *store++ & REX_XB;
	address = size_of_address(store);
	*at++ = ASM_STORE_IMM32;
	memcpy(at, store + 1, address);
	*at &= 0xc7; /* /0 */
	at += address + sizeof(uint32_t);
	asm__nops(at, n - (at - out));
	memcpy(code, out, n);
}

void x86__untime(uint8_t *code, size_t n, int32_t instead)
{
	int32_t distance = instead - JUMP_SIZE;

	if (!instead) {
		store_zero(code, n);
		return;
	}
	code[0] = JUMP;
	memcpy(code + 1, &distance, sizeof(distance));
}
