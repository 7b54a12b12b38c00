// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: relocated copies of instructions, and the jumps that are written over the original.
 */
#include <errno.h>
#include "assembler.h"

#define DATA16 0x66

/* ---- instructions ---- */

static int displace(struct code_buffer *c, const uint8_t *bytes, size_t len, uint64_t vaddr)
{
	return x86__displace(c, bytes, len, vaddr, false);
}

static void jump(struct code_buffer *c, bool to_copy, uint64_t to)
{
	asm__put(&c->hot, 0xe9);
	code_part__fix(&c->hot, to_copy, to, 0);
}

/* loop, jrcxz: there is only a short form. */
static void put_loop(struct code_buffer *c, const struct insn *insn, uint32_t label)
{
	if (insn->cond & X86_LOOP_ADDR32)
		asm__put(&c->hot, 0x67);
	asm__put(&c->hot, 0xe0 | (insn->cond & 3), 2); /* over the next jump */
	asm__put(&c->hot, 0xeb, 5);		       /* over the one after it */
	asm__jump(&c->hot, label);
}

/* With prefix 66, processors differ in the target: x86.c. Branch hints are left out. */
static int branch(struct code_buffer *c, const struct insn *insn, const uint8_t *bytes,
		  uint32_t label)
{
	struct x86_raw raw;

	if ((insn->kind != BRANCH_JCC && insn->kind != BRANCH_LOOP) ||
	    x86__raw(X86_64, bytes, insn->len, &raw))
		return -ENOTSUP;
	for (unsigned i = 0; i < raw.z.raw.prefix_count; i++)
		if (raw.z.raw.prefixes[i].value == DATA16)
			return -ENOTSUP;
	if (insn->kind == BRANCH_LOOP)
		put_loop(c, insn, label);
	else
		asm__jump_if(&c->hot, insn->cond & 15, label);
	return 0;
}

enum { GROUP5_CALL = 2, GROUP5_JMP = 4, GROUP5_PUSH = 6 }; /* SDM volume 2, A.4: opcode FF */

static void regroup(const struct x86_raw *raw, uint8_t *bytes, unsigned to)
{
	bytes[raw->z.raw.modrm.offset] ^= (GROUP5_CALL ^ to) << 3;
}

/* Pushes what an indirect call reads. Returns false if it reads no memory. */
static bool push_target(struct code_buffer *c, const uint8_t *call, size_t len, uint64_t vaddr)
{
	uint8_t push[ZYDIS_MAX_INSTRUCTION_LENGTH];
	struct x86_raw raw;

	if (!len || len > sizeof(push) || x86__raw(X86_64, call, len, &raw) ||
	    raw.z.opcode != 0xff || raw.z.raw.modrm.mod == 3 || raw.z.operand_width != 64 ||
	    raw.z.attributes & ZYDIS_ATTRIB_HAS_BND)
		return false;
	memcpy(push, call, len);
	regroup(&raw, push, GROUP5_PUSH);
	return !x86__displace(c, push, len, vaddr, false);
}

/* The first instruction faults where the call would, and nothing is changed until then. Below the
 * new stack pointer nothing is in use at a call. */
static void push_return(struct code_buffer *c, uint64_t vaddr, const uint8_t *call, size_t len)
{
	struct operand up = asm__at(X86_RSP, 8);

	if (!push_target(c, call, len, vaddr - len))
		asm__push(&c->hot, X86_RAX);
	asm__push(&c->hot, X86_RAX);
	asm__original(&c->hot, ASM_LEA, 64, X86_RAX, vaddr);
	asm__mem(&c->hot, ASM_STORE, 64, X86_RAX, &up);
	asm__pop(&c->hot, X86_RAX);
}

/* The operand is at a distance from the stack pointer, which the return address has moved. Below it
 * the return address would be what is read. */
static size_t move_operand(const struct x86_raw *raw, const struct operand *o, uint8_t *out)
{
	const unsigned sib = raw->z.raw.sib.offset;
	const int64_t moved = o->disp + 8;
	const int32_t disp = moved;

	if (o->kind != OPERAND_MEM || o->seg || o->size != 8 || o->index != REG_NONE ||
	    o->disp < 0 || disp != moved || raw->z.address_width != 64 || !sib ||
	    sib + 1 + sizeof(disp) > ZYDIS_MAX_INSTRUCTION_LENGTH)
		return 0;
	out[raw->z.raw.modrm.offset] &= 0x3f;
	out[raw->z.raw.modrm.offset] |= 2 << 6; /* mod: a displacement of 32 bits */
	memcpy(out + sib + 1, &disp, sizeof(disp));
	return sib + 1 + sizeof(disp);
}

/* Opcode FF /2 becomes FF /4. */
static size_t call_to_jump(const uint8_t *bytes, size_t len, uint8_t *out)
{
	struct x86_raw raw;
	struct insn insn;

	if (!len || x86__raw(X86_64, bytes, len, &raw) ||
	    x86__decode(X86_64, bytes, len, 0, false, &insn) || insn.kind != BRANCH_ICALL)
		return 0;
	memcpy(out, bytes, len);
	regroup(&raw, out, GROUP5_JMP);
	return insn.operand.base == X86_RSP ? move_operand(&raw, &insn.operand, out) : len;
}

static void move_sp(struct code_buffer *c, int8_t bytes)
{
	struct operand to = asm__at(X86_RSP, bytes);

	asm__mem(&c->hot, ASM_LEA, 64, X86_RSP, &to);
}

/* ---- patches ---- */

enum { JUMP_SIZE = 5, SHORT_SIZE = 2, CALL_SIZE = 5 };

static void put_rel32(uint8_t *out, uint8_t opcode, uint64_t at, uint64_t to)
{
	uint32_t distance = to - at - JUMP_SIZE;

	out[0] = opcode;
	memcpy(out + 1, &distance, sizeof(distance));
}

static void put_jump(uint8_t *out, uint64_t at, uint64_t to)
{
	put_rel32(out, 0xe9, at, to);
}

static void put_call(uint8_t *out, uint64_t at, uint64_t to)
{
	put_rel32(out, 0xe8, at, to);
}

static void put_short(uint8_t *out, uint64_t at, uint64_t to)
{
	out[0] = 0xeb;
	out[1] = to - at - SHORT_SIZE;
}

static size_t landing(const uint8_t *bytes, size_t len)
{
	return len >= X86_ENDBR_SIZE && !memcmp(bytes, x86_endbr64, X86_ENDBR_SIZE) ? X86_ENDBR_SIZE
										    : 0;
}

static uint32_t keeps_below(const uint8_t *bytes, size_t len)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct x86_raw raw;
	uint32_t most = 0;
	unsigned n;

	if (!bytes || x86__raw(X86_64, bytes, len, &raw))
		return UINT32_MAX;
	n = x86__operands(&raw, ops);
	for (unsigned i = 0; i < n; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ops[i].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    ops[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
		    ops[i].mem.base == ZYDIS_REGISTER_RSP && ops[i].mem.disp.value < 0)
			most = max_of(most, (uint32_t)-ops[i].mem.disp.value);
	return most;
}

const struct arch_copier x86_copier = {
	.use = x86__use,
	.displace = displace,
	.jump = jump,
	.branch = branch,
	.push_return = push_return,
	.call_to_jump = call_to_jump,
	.move_sp = move_sp,
	.log_begin = x86__log_begin,
	.log = x86__log,
	.count = x86__count,
	.jump_size = JUMP_SIZE,
	.short_size = SHORT_SIZE,
	.call_size = CALL_SIZE,
	.put_jump = put_jump,
	.put_short = put_short,
	.put_call = put_call,
	.put_nops = asm__nops,
	.untime = x86__untime,
	.landing = landing,
	.keeps_below = keeps_below,
	.shadow_stacks = "user_shstk",
	.small_zone = X86_SMALL_ZONE,
	.below = 208,
};
