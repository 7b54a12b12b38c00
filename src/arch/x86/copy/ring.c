// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: what a log does when the cursor has reached the limit: rax is the cursor, and becomes the
 * record's address. Then the next segment is begun, or waited for, or the record is dropped.
 */
#include "assembler.h"

#define WORD 8

_Static_assert((LOG_SEGMENTS & (LOG_SEGMENTS - 1)) == 0 && LOG_SEGMENTS < 128 &&
		       (LOG_SEGMENT & (LOG_SEGMENT - 1)) == 0,
	       "turn() shifts and masks");

/* Stores a record's word that is known: 32 bits, zero-extended. */
static void put_constant(struct code_part *p, uint8_t base, int32_t at, uint32_t value)
{
	struct operand low = asm__at(base, at), high = asm__at(base, at + 4);

	asm__mem(p, ASM_STORE_IMM32, 32, 0, &low);
	asm__put32(p, value);
	asm__mem(p, ASM_STORE_IMM32, 32, 0, &high);
	asm__put32(p, 0);
}

enum { CC_ABOVE_EQUAL = 3, CC_EQUAL = 4, CC_LESS = 12, CC_GREATER_EQUAL = 13 };

/* rdx = the number of the next segment; flags: less, if it may be written. Changes rcx. */
static void next_segment(struct code_part *p)
{
	struct operand one = asm__at(X86_RDX, 1);

	RING(p, ASM_LOAD, X86_RDX, segments);
	asm__mem(p, ASM_LEA, 64, X86_RDX, &one);
	asm__move(p, 64, X86_RCX, X86_RDX);
	RING(p, ASM_SUB, X86_RCX, released);
	asm__put(p, 0x48, 0x83, 0xf9, LOG_SEGMENTS); /* cmp $16,%rcx */
}

static void test_zero(struct code_part *p, size_t field, uint32_t label)
{
	asm__ring(p, ASM_CMP_IMM8, 7, field);
	asm__put(p, 0);
	asm__jump_if(p, CC_EQUAL, label);
}

static void set_number(struct code_part *p, size_t field, uint32_t number)
{
	asm__ring(p, ASM_STORE_IMM32, 0, field);
	asm__put32(p, number);
}

static void set_zero(struct code_part *p, size_t field)
{
	set_number(p, field, 0);
}

/* Ends the segment at rax; rax = the start of segment rdx. Changes rcx. */
static void turn(struct code_part *p)
{
	struct operand m = {.kind = OPERAND_MEM,
			    .base = X86_RAX,
			    .index = X86_RCX,
			    .scale = 1,
			    .disp = LOG_RING_AT};

	put_constant(p, X86_RAX, 0, LOG_ID(LOG_END, 0, 0, 0));
	asm__move(p, 32, X86_RCX, X86_RDX);
	asm__put(p, 0x83, 0xe1, LOG_SEGMENTS - 1);	     /* and $15,%ecx */
	asm__put(p, 0xc1, 0xe1, __builtin_ctz(LOG_SEGMENT)); /* shl $16,%ecx */
	RING(p, ASM_LOAD, X86_RAX, base);
	asm__mem(p, ASM_LEA, 64, X86_RAX, &m);
}

/*
 * Begins the segment rdx, from rax on, which is at its start + used. The reader, which may look at
 * any moment, never sees a position that is too high: the number of segments is written after the
 * cursor.
 */
static void begin_segment(struct code_part *p, size_t cursor, int32_t used)
{
	struct operand m = asm__at(X86_RAX, LOG_SEGMENT - LOG_RECORD_MAX - used);

	asm__ring(p, ASM_STORE, X86_RAX, cursor);
	RING(p, ASM_STORE, X86_RDX, segments);
	asm__mem(p, ASM_LEA, 64, X86_RCX, &m);
	set_number(p, offsetof(struct log_ring, g), LOG_GOROUTINE_UNKNOWN);
}

/* Flags: greater or equal, if the reader hasn't looked for too long. */
static void test_patience(struct code_buffer *c, uint32_t drop)
{
	struct code_part *p = &c->cold;

	test_zero(p, offsetof(struct log_ring, patience), drop);
	asm__push(p, X86_RAX);
	x86__test_patience(c);
	asm__pop(p, X86_RAX);
}

/* A new record while records are dropped: there is room again, and LOG_LOST says how many. */
static void put_lost(struct code_part *p)
{
	struct operand count = asm__at(X86_RAX, WORD), end = asm__at(X86_RAX, 2 * WORD);

	RING(p, ASM_LOAD, X86_RAX, kept);
	turn(p);
	put_constant(p, X86_RAX, 0, LOG_ID(LOG_LOST, 0, 0, 0));
	RING(p, ASM_LOAD, X86_RCX, dropped);
	asm__mem(p, ASM_STORE, 64, X86_RCX, &count);
	asm__mem(p, ASM_LEA, 64, X86_RAX, &end);
	begin_segment(p, offsetof(struct log_ring, kept), 2 * WORD);
	RING(p, ASM_STORE, X86_RAX, cursor);
	RING(p, ASM_STORE, X86_RCX, limit);
	set_zero(p, offsetof(struct log_ring, dropped));
}

void x86__log_begin(struct code_buffer *c)
{
	uint32_t wait = code_buffer__label(c), drop = code_buffer__label(c);
	uint32_t dropping = code_buffer__label(c), count = code_buffer__label(c);
	uint32_t go = code_buffer__label(c), out = code_buffer__label(c);
	struct code_part *p = &c->cold;
	struct operand spare = asm__at(X86_RAX, LOG_SPARE_AT);

	c->slow = code_buffer__label(c);
	code_buffer__set(c, c->slow, true);
	asm__push(p, X86_RCX);
	asm__push(p, X86_RDX);
	test_zero(p, offsetof(struct log_ring, limit), dropping);
	code_buffer__set(c, wait, true);
	next_segment(p);
	asm__jump_if(p, CC_LESS, go);
	test_patience(c, drop);
	asm__jump_if(p, CC_GREATER_EQUAL, drop);
	asm__put(p, 0xf3, 0x90); /* pause */
	asm__jump(p, wait);
	code_buffer__set(c, drop, true);
	RING(p, ASM_STORE, X86_RAX, kept);
	set_zero(p, offsetof(struct log_ring, limit));
	code_buffer__set(c, count, true);
	RING(p, ASM_INC, 0, dropped);
	RING(p, ASM_LOAD, X86_RAX, base);
	asm__mem(p, ASM_LEA, 64, X86_RAX, &spare);
	RING(p, ASM_STORE, X86_RAX, cursor);
	asm__jump(p, out);
	code_buffer__set(c, dropping, true);
	next_segment(p);
	asm__jump_if(p, CC_GREATER_EQUAL, count);
	put_lost(p);
	asm__jump(p, out);
	code_buffer__set(c, go, true);
	turn(p);
	begin_segment(p, offsetof(struct log_ring, cursor), 0);
	RING(p, ASM_STORE, X86_RCX, limit);
	code_buffer__set(c, out, true);
	asm__pop(p, X86_RDX);
	asm__pop(p, X86_RCX);
	asm__put(p, 0xc3); /* ret */
	x86__walk_begin(c);
	if (c->goroutine.any)
		x86__goroutine_begin(c);
}
