// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: the code by which the records of a Go program report which goroutine they belong to,
 * src/arch/log.h. A goroutine is known by its number, and its place by its stack. If both are those
 * that the thread has reported, and no other thread has reported the goroutine since, nothing is
 * written.
 *
 * This is executed after the comparison of the cursor with the limit: a segment's first record
 * reports the goroutine.
 */
#include "assembler.h"

enum { CC_EQUAL = 4, CC_NOT_EQUAL = 5, WORD = 8, WORDS = 5 };
enum { STACK_LOW = 0, STACK_HIGH = 8 }; /* in struct g: runtime2.go */

static void at(struct code_part *p, unsigned opcode, uint8_t reg, uint8_t base, int32_t offset)
{
	struct operand m = asm__at(base, offset);

	asm__mem(p, opcode, 64, reg, &m);
}

/* ---- the report: rax becomes the cursor after it ---- */

/* rax = a constant */
static void number(struct code_part *p, uint32_t value)
{
	asm__put(p, 0xb8); /* mov $value,%eax: zero-extended */
	code_part__put(p, &value, sizeof(value));
}

/* Sets rdx to the cell of goroutine rcx in the table of owners. Changes rax. */
static void find_owner(struct code_part *p)
{
	struct operand cell = {
		.kind = OPERAND_MEM, .base = X86_RAX, .index = X86_RDX, .scale = WORD};
	uint32_t mask = LOG_OWNERS - 1;

	asm__move(p, 64, X86_RDX, X86_RCX);
	asm__put(p, 0x48, 0xc1, 0xea, LOG_OWNERS_SHIFT); /* shr $6,%rdx */
	asm__put(p, 0x81, 0xe2);			 /* and $mask,%edx */
	code_part__put(p, &mask, sizeof(mask));
	RING(p, ASM_LOAD, X86_RAX, owners);
	asm__mem(p, ASM_LEA, 64, X86_RDX, &cell);
}

static void own(struct code_part *p)
{
	find_owner(p);
	RING(p, ASM_STORE, X86_RDX, owner);
	RING(p, ASM_LOAD, X86_RAX, base);
	at(p, ASM_STORE, X86_RAX, X86_RDX, 0);
}

/* The words of the record at rbx about the goroutine rcx. */
static void store_goroutine(struct code_buffer *c)
{
	struct code_part *p = &c->cold;

	RING(p, ASM_STORE, X86_RCX, g);
	at(p, ASM_LOAD, X86_RAX, X86_RCX, STACK_LOW);
	at(p, ASM_STORE, X86_RAX, X86_RBX, 3 * WORD);
	RING(p, ASM_STORE, X86_RAX, g_start);
	at(p, ASM_LOAD, X86_RAX, X86_RCX, STACK_HIGH);
	at(p, ASM_STORE, X86_RAX, X86_RBX, 4 * WORD);
	RING(p, ASM_STORE, X86_RAX, g_end);
	if (c->goroutine.goid)
		at(p, ASM_LOAD, X86_RAX, X86_RCX, (int32_t)c->goroutine.goid);
	else
		asm__move(p, 64, X86_RAX, X86_RCX);
	at(p, ASM_STORE, X86_RAX, X86_RBX, 2 * WORD);
	RING(p, ASM_STORE, X86_RAX, goid);
}

static void store_none(struct code_part *p)
{
	number(p, 0);
	for (int word = 2; word < WORDS; word++)
		at(p, ASM_STORE, X86_RAX, X86_RBX, word * WORD);
	number(p, LOG_GOROUTINE_NONE);
	RING(p, ASM_STORE, X86_RAX, g);
}

static void put_report(struct code_buffer *c, uint32_t report)
{
	uint32_t none = code_buffer__label(c), record = code_buffer__label(c);
	uint32_t out = code_buffer__label(c);
	struct code_part *p = &c->cold;

	code_buffer__set(c, report, true);
	asm__push(p, X86_RCX);
	asm__push(p, X86_RDX);
	asm__push(p, X86_RBX);
	RING(p, ASM_LOAD, X86_RCX, seen);
	RING(p, ASM_LOAD, X86_RBX, cursor);
	asm__put(p, 0x48, 0x85, 0xc9); /* test %rcx,%rcx */
	asm__jump_if(p, CC_EQUAL, none);
	own(p);
	store_goroutine(c);
	asm__jump(p, record);
	code_buffer__set(c, none, true);
	asm__ring(p, ASM_CMP_IMM8, 7, offsetof(struct log_ring, g));
	asm__put(p, LOG_GOROUTINE_NONE);
	asm__jump_if(p, CC_EQUAL, out);
	store_none(p);
	code_buffer__set(c, record, true);
	x86__store_time(c, true, X86_RBX, WORD);
	number(p, LOG_ID(LOG_GOROUTINE, 0, !c->goroutine.goid, 0));
	at(p, ASM_STORE, X86_RAX, X86_RBX, 0);
	at(p, ASM_LEA, X86_RBX, X86_RBX, WORDS * WORD);
	RING(p, ASM_STORE, X86_RBX, cursor);
	code_buffer__set(c, out, true);
	asm__move(p, 64, X86_RAX, X86_RBX);
	asm__pop(p, X86_RBX);
	asm__pop(p, X86_RDX);
	asm__pop(p, X86_RCX);
	asm__put(p, 0xc3); /* ret */
}

/* ---- comparing ---- */

/* The register has the address of the thread's g, and gets the cursor. */
static void put_reported(struct code_buffer *c, uint8_t reg, uint32_t report)
{
	uint32_t differs = code_buffer__label(c);
	struct code_part *p = &c->cold;

	code_buffer__set(c, c->reported[reg], true);
	RING(p, ASM_STORE, reg, seen);
	RING(p, ASM_CMP, reg, g); /* never 0 */
	asm__jump_if(p, CC_NOT_EQUAL, differs);
	if (c->goroutine.goid) {
		at(p, ASM_LOAD, reg, reg, (int32_t)c->goroutine.goid);
		RING(p, ASM_CMP, reg, goid);
		asm__jump_if(p, CC_NOT_EQUAL, differs);
		RING(p, ASM_LOAD, reg, seen);
	}
	at(p, ASM_LOAD, reg, reg, STACK_LOW);
	RING(p, ASM_CMP, reg, g_start);
	asm__jump_if(p, CC_NOT_EQUAL, differs);
	RING(p, ASM_LOAD, reg, seen);
	at(p, ASM_LOAD, reg, reg, STACK_HIGH);
	RING(p, ASM_CMP, reg, g_end);
	asm__jump_if(p, CC_NOT_EQUAL, differs);
	RING(p, ASM_LOAD, reg, owner);
	at(p, ASM_LOAD, reg, reg, 0);
	RING(p, ASM_CMP, reg, base);
	asm__jump_if(p, CC_NOT_EQUAL, differs);
	RING(p, ASM_LOAD, reg, cursor);
	asm__put(p, 0xc3); /* ret */
	code_buffer__set(c, differs, true);
	if (reg != X86_RAX)
		asm__swap(p, reg, X86_RAX);
	asm__call(p, report);
	if (reg != X86_RAX)
		asm__swap(p, reg, X86_RAX);
	asm__put(p, 0xc3); /* ret */
}

void x86__goroutine_begin(struct code_buffer *c)
{
	uint32_t report = code_buffer__label(c);

	put_report(c, report);
	for (uint8_t reg = 0; reg < X86_GENERAL; reg++) {
		if (reg == X86_RSP)
			continue;
		c->reported[reg] = code_buffer__label(c);
		put_reported(c, reg, report);
	}
}

/* A thread that has just been made has no thread pointer: there is nothing to be read. */
void x86__goroutine(struct code_buffer *c, uint8_t cursor)
{
	uint32_t resume = code_buffer__label(c), after = code_buffer__label(c);
	struct operand g = asm__at(REG_NONE, c->goroutine.g);
	uint32_t start = c->hot.bytes.len;

	g.seg = SEG_FS;
	asm__mem(&c->hot, ASM_LOAD, 64, cursor, &g);
	vec__push(&c->faults, (struct code_fault){start, c->hot.bytes.len, resume, false});
	code_buffer__set(c, after, false);
	asm__call(&c->hot, c->reported[cursor]);
	code_buffer__set(c, resume, true);
	asm__zero(&c->cold, cursor);
	asm__jump(&c->cold, after);
}
