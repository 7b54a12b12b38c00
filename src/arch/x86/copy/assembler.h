/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: the front header of this folder: emitted code. It has what is copied (displace.c), the
 * code by which copies log and count (log.c, ring.c, time.c, walk.c, goroutine.c, count.c), and
 * what threads are made to execute, or is done for them (injected.c, beacon.c, emulate.c,
 * tracee.c). It uses the views of src/arch/x86, and gives x86_copier and x86_tracee. Its most
 * important functions are x86__log(), x86__displace() and x86__injected().
 *
 * assembler.c appends single instructions to a part of the code. Encodings: Intel SDM volume 2, 2.1
 * to 2.2.1 and the pages of the instructions.
 */
#ifndef BBTRACE_ARCH_X86_COPY_ASSEMBLER_H
#define BBTRACE_ARCH_X86_COPY_ASSEMBLER_H

#include "arch/x86/x86.h"

#define X86_RED_ZONE 128 /* System V ABI, AMD64 supplement, 3.2.2 */
/* In Go programs, callers of duffzero and duffcopy keep the frame pointer there
 * (cmd/compile/internal/amd64/ssa.go). */
#define X86_SMALL_ZONE 16

/* Opcodes of instructions with a register and ModRM; above 0xff those of the map 0f. */
enum {
	ASM_ADD_IMM8 = 0x83,	/* /0 */
	ASM_AND_IMM8 = 0x80,	/* /4, of a byte */
	ASM_CMP = 0x3b,		/* reg, memory */
	ASM_CMP_IMM8 = 0x83,	/* /7 */
	ASM_STORE_IMM32 = 0xc7, /* /0 */
	ASM_STORE = 0x89,
	ASM_LOAD = 0x8b,
	ASM_SUB = 0x2b,
	ASM_LEA = 0x8d,
	ASM_INC = 0xff, /* /0 */
	ASM_LOAD_8 = 0x1b6,
	ASM_LOAD_16 = 0x1b7,
};

/* Memory at base + disp. */
static inline struct operand asm__at(uint8_t base, int32_t disp)
{
	return (struct operand){
		.kind = OPERAND_MEM, .base = base, .index = REG_NONE, .scale = 1, .disp = disp};
}

/* bits: of the operation, 32 or 64. m->base may not be REG_IP. */
void asm__mem(struct code_part *p, unsigned opcode, unsigned bits, uint8_t reg,
	      const struct operand *m);
/* The same, of 64 bits, with the log's ring. */
void asm__ring(struct code_part *p, unsigned opcode, uint8_t reg, size_t offset);
#define RING(p, opcode, reg, field)                                                                \
	asm__ring((p), (opcode), (reg), offsetof(struct log_ring, field))
void asm__put32(struct code_part *p, uint32_t value);
/* The same with memory at an address of the original. */
void asm__original(struct code_part *p, unsigned opcode, unsigned bits, uint8_t reg, uint64_t to);
void asm__move(struct code_part *p, unsigned bits, uint8_t to, uint8_t from);
void asm__swap(struct code_part *p, uint8_t a, uint8_t b);
void asm__push(struct code_part *p, uint8_t reg);
void asm__pop(struct code_part *p, uint8_t reg);
void asm__zero(struct code_part *p, uint8_t reg); /* keeps the flags */
void asm__constant(struct code_part *p, uint8_t reg, uint64_t value);
void asm__jump(struct code_part *p, uint32_t label);
void asm__call(struct code_part *p, uint32_t label);
/* cc: the condition code, the low half of the opcode. */
void asm__jump_if(struct code_part *p, uint8_t cc, uint32_t label);
/* Fills n bytes with nops. */
void asm__nops(uint8_t *out, size_t n);
#define asm__put(p, ...)                                                                           \
	code_part__put((p), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* ring.c */
void x86__log_begin(struct code_buffer *c);
#define X86_READ_TIME_SIZE 2
/* time.c: appends code that stores the time stamp counter's 8 bytes. Changes rax and rdx. */
void x86__store_time(struct code_buffer *c, bool cold, uint8_t base, int32_t at);
/* Appends a test to the cold part. Flags: greater or equal, if the reader hasn't looked for longer
 * than the ring's patience. Changes rax and rdx. */
void x86__test_patience(struct code_buffer *c);
void x86__untime(uint8_t *code, size_t n, int32_t instead);
/* walk.c: appends a function to the cold part that puts the callers of an entry to where rax points
 * to: their number, and then them. Changes nothing else but flags. The stack pointer is at least
 * the red zone below what it was at the entry. */
void x86__walk_begin(struct code_buffer *c);
/* log.c */
void x86__log(struct code_buffer *c, const struct log_point *p, const struct log_options *options);
/* goroutine.c */
void x86__goroutine_begin(struct code_buffer *c);
/* Appends code that reports the thread's goroutine, if that isn't the one that it reported last.
 * cursor is the register that has the cursor. Changes the flags. */
void x86__goroutine(struct code_buffer *c, uint8_t cursor);
/* displace.c: with_gs: also what uses the segment of the log */
int x86__displace(struct code_buffer *c, const uint8_t *bytes, size_t len, uint64_t vaddr,
		  bool with_gs);
/* injected.c */
#define X86_INJECTED_KEPT 9 /* registers that are on the stack, above the flags, in this order */
extern const uint8_t x86_injected_kept[X86_INJECTED_KEPT];
/* Members of struct arch_tracee. */
bool x86__emulate(void *regs, const uint8_t *bytes, size_t n, const struct tracee_memory *m);
int x86__injected(const struct injected *e, uint64_t at, struct injected_code *out);
/* Fills in the distances of code that is executed at this address. False: something is out of
 * reach. */
bool x86__fix(const struct code_buffer *c, uint64_t at, uint8_t *bytes);
/* beacon.c: its code may be anywhere */
size_t x86__beacon(uint8_t out[BEACON_MAX]);
/* Registers that it keeps, the first one pushed first. */
#define X86_BEACON_KEPT 7
extern const uint8_t x86_beacon_kept[X86_BEACON_KEPT];
/* How many words it has on the stack at an offset. */
unsigned x86__beacon_words(uint64_t offset);
/* count.c */
void x86__count(struct code_buffer *c, uint32_t counter, uint32_t dead, bool flags_dead);

#endif
