// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decodes single 32-bit instructions. Bytes and texts are GNU as' and objdump's. What the kernel
 * does with a probe on them: good_insns_32 of arch/x86/kernel/uprobes.c.
 */
#include <elf.h>
#include <errno.h>
#include "arch/arch.h"
#include "tap.h"

#define AT 0x8048000

static const struct arch *arch;
enum { EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI, ARG0, EIP = 16 };

static int decode(const char *bytes, size_t len, struct insn *out)
{
	return arch->decode((const uint8_t *)bytes, len, AT, false, out);
}

/* ---- flow and probes ---- */

static const struct row {
	const char *bytes;
	uint8_t len, flow, kind, refusal;
	bool emulated;
	uint32_t target; /* 0: not direct */
	const char *text;
} rows[] = {
#define ROW(b, ...)                                                                                \
	{                                                                                          \
		b, sizeof(b) - 1, __VA_ARGS__                                                      \
	}
	ROW("\x74\x02", FLOW_BRANCH, BRANCH_JCC, PROBE_OK, true, AT + 4, "je 0x8048004"),
	ROW("\x0f\x85\xfa\xff\xff\xff", FLOW_BRANCH, BRANCH_JCC, PROBE_OK, true, AT,
	    "jne 0x8048000"),
	ROW("\xe9\x00\x80\xfb\xf7", FLOW_BRANCH, BRANCH_JMP, PROBE_OK, true, 0x5, "jmp 0x5"),
	ROW("\xe8\x0b\x00\x00\x00", FLOW_BRANCH, BRANCH_CALL, PROBE_OK, true, AT + 16,
	    "call 0x8048010"),
	ROW("\xe3\xfe", FLOW_BRANCH, BRANCH_LOOP, PROBE_OK, false, AT, "jecxz 0x8048000"),
	ROW("\xe2\xfe", FLOW_BRANCH, BRANCH_LOOP, PROBE_OK, false, AT, "loop 0x8048000"),
	ROW("\xc3", FLOW_BRANCH, BRANCH_RET, PROBE_OK, false, 0, "ret"),
	ROW("\xc2\x04\x00", FLOW_BRANCH, BRANCH_RET, PROBE_OK, false, 0, "ret 0x04"),
	ROW("\xff\xe0", FLOW_BRANCH, BRANCH_IJMP, PROBE_OK, false, 0, "jmp eax"),
	ROW("\xff\xa3\x10\x00\x00\x00", FLOW_BRANCH, BRANCH_IJMP, PROBE_OK, false, 0,
	    "jmp [ebx+0x10]"),
	ROW("\xff\x24\x85\x00\xa0\x04\x08", FLOW_BRANCH, BRANCH_IJMP, PROBE_OK, false, 0,
	    "jmp [eax*4+0x804a000]"),
	ROW("\xff\x25\x00\xa0\x04\x08", FLOW_BRANCH, BRANCH_IJMP, PROBE_WIDTH, false, 0,
	    "jmp [0x804a000]"),
	ROW("\x65\xff\x15\x10\x00\x00\x00", FLOW_BRANCH, BRANCH_ICALL, PROBE_WIDTH, false, 0,
	    "call gs:[0x10]"),
	ROW("\x67\xe3\xfd", FLOW_UNSUPPORTED, BRANCH_NONE, PROBE_UNSUPPORTED, false, 0, NULL),
	ROW("\x66\xe9\x00\x00", FLOW_UNSUPPORTED, BRANCH_NONE, PROBE_UNSUPPORTED, false, 0, NULL),
	ROW("\x9a\x00\x00\x00\x00\x33\x00", FLOW_UNSUPPORTED, BRANCH_NONE, PROBE_UNSUPPORTED, false,
	    0, NULL),
	ROW("\x55", FLOW_NEXT, BRANCH_NONE, PROBE_OK, true, 0, "push ebp"),
	ROW("\x40", FLOW_NEXT, BRANCH_NONE, PROBE_WIDTH, false, 0, "inc eax"),
	ROW("\xa1\x00\xa0\x04\x08", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false, 0, NULL),
	ROW("\x8b\x15\x00\xa0\x04\x08", FLOW_NEXT, BRANCH_NONE, PROBE_WIDTH, false, 0,
	    "mov edx, [0x804a000]"),
	ROW("\x0f\x1f\x44\x00\x00", FLOW_NEXT, BRANCH_NONE, PROBE_WIDTH, false, 0, NULL),
	ROW("\x06", FLOW_NEXT, BRANCH_NONE, PROBE_WIDTH, false, 0, "push es"),
	ROW("\x1f", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false, 0, "pop ds"),
	ROW("\xcd\x80", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false, 0, "int 0x80"),
	ROW("\x9c", FLOW_NEXT, BRANCH_NONE, PROBE_STEPPED, false, 0, NULL),
};

static void test_rows(void)
{
	for (const struct row *r = rows; r < rows + ARRAY_SIZE(rows); r++) {
		const char *name = r->text ? r->text : "an instruction";
		struct insn insn;
		char text[64];

		is(decode(r->bytes, r->len, &insn), 0, "%s: it is decoded", name);
		is(insn.len, r->len, "%s: its length is decoded", name);
		ok(insn.flow == r->flow && insn.kind == r->kind, "%s: its flow is decoded", name);
		is(insn.user_refusal, r->refusal, "%s: whether a probe may go there", name);
		is(insn.emulated, r->emulated, "%s: whether the kernel emulates it", name);
		is(insn.target, r->target, "%s: its target is decoded", name);
		ok(arch->format((const uint8_t *)r->bytes, r->len, AT, text, sizeof(text)),
		   "%s: it is formatted", name);
		if (r->text)
			is_str(text, r->text, "%s: it is formatted as disassemblers do", name);
	}
}

/* ---- effects on the stack pointer ---- */

static const struct {
	const char *bytes;
	uint8_t len, effect;
	int32_t value;
	const char *text;
} effects[] = {
	ROW("\x50", SP_ADD, -4, "push %eax"),
	ROW("\x6a\x01", SP_ADD, -4, "push $1"),
	ROW("\xff\x74\x24\x08", SP_ADD, -4, "push 8(%esp)"),
	ROW("\x5b", SP_ADD, 4, "pop %ebx"),
	ROW("\x5d", SP_FP_LOST, 4, "pop %ebp"),
	ROW("\x83\xec\x0c", SP_ADD, -12, "sub $12,%esp"),
	ROW("\x81\xc4\x10\x01\x00\x00", SP_ADD, 272, "add $272,%esp"),
	ROW("\x8d\x64\x24\x04", SP_ADD, 4, "lea 4(%esp),%esp"),
	ROW("\x8d\x65\xf4", SP_FROM_FP, -12, "lea -12(%ebp),%esp"),
	ROW("\x89\xe5", SP_FP_FROM_SP, 0, "mov %esp,%ebp"),
	ROW("\xc9", SP_LEAVE, 4, "leave"),
	ROW("\x60", SP_ADD, -32, "pusha"),
	ROW("\x61", SP_FP_LOST, 32, "popa"),
	ROW("\x06", SP_ADD, -4, "push %es"),
	ROW("\x44", SP_LOST, 0, "inc %esp"),
	ROW("\x4d", SP_FP_LOST, 0, "dec %ebp"),
	ROW("\x40", SP_SAME, 0, "inc %eax"),
	ROW("\x83\xe4\xf0", SP_LOST, 0, "and $-16,%esp"),
	ROW("\x66\x50", SP_ADD, -2, "push %ax"),
};

static void test_effects(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(effects); i++) {
		struct insn insn;

		is(decode(effects[i].bytes, effects[i].len, &insn), 0, "%s is decoded",
		   effects[i].text);
		ok(insn.sp_effect == effects[i].effect && insn.sp_value == effects[i].value,
		   "%s: its effect on the stack pointer is known", effects[i].text);
	}
}

/* ---- what it does to registers ---- */

static struct insn_detail detail(const char *bytes, size_t len)
{
	struct insn_detail d = {0};

	ok(arch->detail((const uint8_t *)bytes, len, AT, &d), "it has a detail");
	return d;
}

static void test_details(void)
{
	struct insn_detail d = detail("\x8b\x94\x83\x14\xe0\xff\xff", 7);

	ok(d.op == DETAIL_LOAD && d.dst == EDX && d.bits == 32 && d.mem.base == EBX &&
		   d.mem.index == EAX && d.mem.scale == 4 && d.mem.disp == -0x1fec,
	   "a table's entry is loaded: mov -0x1fec(%%ebx,%%eax,4),%%edx");
	d = detail("\x03\x94\x83\x14\xe0\xff\xff", 7);
	ok(d.op == DETAIL_ADD_LOAD && d.dst == EDX && d.mem.base == EBX && d.mem.index == EAX,
	   "a table's entry is added: add -0x1fec(%%ebx,%%eax,4),%%edx");
	d = detail("\x01\xda", 2);
	ok(d.op == DETAIL_ADD && d.dst == EDX && d.src == EBX && d.bits == 32, "add %%ebx,%%edx");
	d = detail("\xc1\xe2\x02", 3);
	ok(d.op == DETAIL_SHL_CONST && d.src == EDX && d.imm == 2, "shl $2,%%edx");
	d = detail("\xe8\x00\x00\x00\x00", 5);
	ok(d.writes & 1u << EAX && d.writes & 1u << EDX && !(d.writes & 1u << EBX),
	   "a call leaves %%ebx");
}

static void test_operands(void)
{
	struct insn insn;

	decode("\xff\x25\x00\xa0\x04\x08", 6, &insn);
	ok(insn.operand.kind == OPERAND_MEM && insn.operand.base == REG_NONE &&
		   insn.operand.disp == 0x804a000 && insn.operand.size == 4,
	   "jmp *0x804a000: no instruction pointer is added");
	decode("\xff\x50\x08", 3, &insn);
	ok(insn.operand.base == EAX && insn.operand.disp == 8 && insn.operand.size == 4 &&
		   !insn.operand.addr32,
	   "call *8(%%eax) loads four bytes");
	decode("\xe3\xfe", 2, &insn);
	ok(arch->taken(insn.kind, insn.cond, (uint64_t[]){0, 1ull << 32}) &&
		   !arch->taken(insn.kind, insn.cond, (uint64_t[]){0, 1}),
	   "jecxz looks at 32 bits");
}

/* ---- its own address, PLT entries ---- */

static void test_own_address(void)
{
	static const uint8_t thunk[] = {0x8b, 0x1c, 0x24, 0xc3}, plain[] = {0x8b, 0x1c, 0x24, 0x90};
	static const uint8_t marked[] = {0xf3, 0x0f, 0x1e, 0xfb, 0x8b, 0x04, 0x24, 0xc3};

	is(arch->loads_return(thunk, sizeof(thunk)), EBX, "mov (%%esp),%%ebx; ret");
	is(arch->loads_return(marked, sizeof(marked)), EAX, "endbr32; mov (%%esp),%%eax; ret");
	is(arch->loads_return(plain, sizeof(plain)), REG_NONE, "another function is none of them");
	is(arch->loads_return(thunk, 3), REG_NONE, "nor is one that is cut off");
}

static void test_plt(void)
{
	static const uint8_t absolute[16] = {0xff, 0x25, 0x0c, 0xc0, 0x04, 0x08, 0x68};
	static const uint8_t relative[16] = {0xff, 0xa3, 0x0c, 0x00, 0x00, 0x00, 0x68};
	static const uint8_t marked[16] = {0xf3, 0x0f, 0x1e, 0xfb, 0xff, 0xa3, 0x10, 0, 0, 0};
	static const uint8_t other[16] = {0xff, 0xb3, 0x04, 0x00, 0x00, 0x00};
	struct plt_stub stub = {0};

	ok(arch->plt_stub(absolute, 16, AT, 4, &stub) && stub.slot == 0x804c00c &&
		   stub.size == 16 && !stub.by_got,
	   "jmp *0x804c00c");
	ok(arch->plt_stub(relative, 16, AT, 4, &stub) && stub.slot == 0xc && stub.by_got,
	   "jmp *0xc(%%ebx)");
	ok(arch->plt_stub(marked, 16, AT, 16, &stub) && stub.slot == 0x10 && stub.by_got,
	   "endbr32; jmp *0x10(%%ebx)");
	ok(!arch->plt_stub(other, 16, AT, 4, &stub), "the first entry is no stub");
}

int main(void)
{
	arch = arch__by_machine(EM_386);
	ok(arch && arch->word == 4 && arch->call_pushes == 4, "i386 is known");
	if (!arch)
		return tap__done();
	test_rows();
	test_effects();
	test_details();
	test_operands();
	test_own_address();
	test_plt();
	is_str(arch->reg_names[ARG0], "arg0", "arguments have names");
	is_str(arch->reg_names[EIP], "eip", "and the instruction pointer has its own");
	return tap__done();
}
