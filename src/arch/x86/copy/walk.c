// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: the code that follows the frame pointers of an entry's callers, as follow_frames() in
 * bpf/bbtrace.bpf.c does: which of them are frames is found out later (src/pipeline/frames.c). The
 * frame pointer may be any value. So nothing is read but what can certainly be read: of the
 * thread's own stack all above the stack pointer, of any other one the rest of the page that the
 * stack pointer is in.
 */
#include "assembler.h"

#define WORD	 8
#define PUSHED	 (6 * WORD)	  /* here */
#define FRAME	 16		  /* bytes: the next frame pointer, the return address */
#define PAGE_END 0xff, 0x0f, 0, 0 /* LOG_PAGE - 1 */

enum { CC_BELOW = 2, CC_EQUAL = 4, CC_BELOW_EQUAL = 6, CC_ABOVE = 7 };

static const uint8_t kept[] = {X86_RCX, X86_RDX, X86_RSI, X86_RDI, X86_RBX};

/* If the stack pointer is in the stack of the thread's goroutine: rdi = its end. */
static void put_goroutine_limit(struct code_buffer *c, uint32_t own)
{
	uint32_t other = code_buffer__label(c);
	struct operand low = asm__at(X86_RSI, 0), high = asm__at(X86_RSI, WORD);
	struct code_part *p = &c->cold;

	RING(p, ASM_LOAD, X86_RSI, seen);
	asm__put(p, 0x48, 0x85, 0xf6); /* test %rsi,%rsi */
	asm__jump_if(p, CC_EQUAL, other);
	asm__mem(p, ASM_CMP, 64, X86_RSP, &low);
	asm__jump_if(p, CC_BELOW, other);
	asm__mem(p, ASM_LOAD, 64, X86_RDI, &high);
	asm__put(p, 0x48, 0x39, 0xfc); /* cmp %rdi,%rsp */
	asm__jump_if(p, CC_BELOW, own);
	code_buffer__set(c, other, true);
}

/* rdi = the last address that a frame may have. */
static void put_limit(struct code_buffer *c)
{
	struct code_part *p = &c->cold;
	int32_t lowered = PUSHED + (c->small_stack ? X86_SMALL_ZONE : X86_RED_ZONE); /* at least */
	struct operand entry = asm__at(X86_RSP, lowered), end = asm__at(X86_RDI, 1 - FRAME);
	struct operand whole = asm__at(X86_RDI, -FRAME);
	uint32_t own = code_buffer__label(c), both = code_buffer__label(c);

	RING(p, ASM_LOAD, X86_RDI, stack_end);
	asm__move(p, 64, X86_RSI, X86_RSP);
	RING(p, ASM_SUB, X86_RSI, stack_start);
	asm__move(p, 64, X86_RCX, X86_RDI);
	RING(p, ASM_SUB, X86_RCX, stack_start);
	asm__put(p, 0x48, 0x39, 0xce); /* cmp %rcx,%rsi */
	asm__jump_if(p, CC_BELOW, own);
	if (c->goroutine.any)
		put_goroutine_limit(c, own);
	asm__mem(p, ASM_LEA, 64, X86_RDI, &entry);
	asm__put(p, 0x48, 0x81, 0xcf, PAGE_END); /* or $0xfff,%rdi */
	asm__mem(p, ASM_LEA, 64, X86_RDI, &end);
	asm__jump(p, both);
	code_buffer__set(c, own, true);
	asm__mem(p, ASM_LEA, 64, X86_RDI, &whole);
	code_buffer__set(c, both, true);
}

/* rdx: the frame pointer; rcx: the number of callers until now; rsi, rbx: what the frame has. */
static void put_frame(struct code_buffer *c, uint32_t done)
{
	struct code_part *p = &c->cold;
	struct operand next = asm__at(X86_RDX, 0), address = asm__at(X86_RDX, WORD);
	struct operand slot = asm__at(X86_RAX, WORD);
	uint32_t start;

	asm__put(p, 0x48, 0x39, 0xe2); /* cmp %rsp,%rdx */
	asm__jump_if(p, CC_BELOW, done);
	asm__put(p, 0x48, 0x39, 0xfa); /* cmp %rdi,%rdx */
	asm__jump_if(p, CC_ABOVE, done);
	start = p->bytes.len;
	asm__mem(p, ASM_LOAD, 64, X86_RSI, &next);
	asm__mem(p, ASM_LOAD, 64, X86_RBX, &address);
	vec__push(&c->faults, (struct code_fault){start, p->bytes.len, done, true});
	slot.index = X86_RCX;
	slot.scale = WORD;
	asm__mem(p, ASM_STORE, 64, X86_RBX, &slot);
	asm__put(p, 0xff, 0xc1); /* inc %ecx */
}

void x86__walk_begin(struct code_buffer *c)
{
	uint32_t loop = code_buffer__label(c), done = code_buffer__label(c);
	struct code_part *p = &c->cold;
	struct operand number = asm__at(X86_RAX, 0);

	c->walk = code_buffer__label(c);
	code_buffer__set(c, c->walk, true);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		asm__push(p, kept[i]);
	put_limit(c);
	asm__zero(p, X86_RCX);
	asm__move(p, 64, X86_RDX, X86_RBP);
	code_buffer__set(c, loop, true);
	put_frame(c, done);
	/* outer frames are at higher addresses */
	asm__put(p, 0x48, 0x39, 0xd6); /* cmp %rdx,%rsi */
	asm__jump_if(p, CC_BELOW_EQUAL, done);
	asm__move(p, 64, X86_RDX, X86_RSI);
	asm__put(p, 0x83, 0xf9, LOG_CALLERS); /* cmp $62,%ecx */
	asm__jump_if(p, CC_BELOW, loop);
	code_buffer__set(c, done, true);
	asm__mem(p, ASM_STORE, 64, X86_RCX, &number);
	for (size_t i = ARRAY_SIZE(kept); i-- > 0;)
		asm__pop(p, kept[i]);
	asm__put(p, 0xc3); /* ret */
}
