// SPDX-License-Identifier: BSD-2-Clause
/* Instructions of APX (src/arch/x86/apx.c): their lengths, as objdump 2.44 shows them, and where
 * control and the stack pointer go. tests/check/t_apx.sh compares many more with objdump. */
#include "arch/x86/x86.h"
#include "tap.h"

#define AT 0x400000

static const struct {
	const char *bytes;
	uint8_t len, flow, kind, sp_effect;
	int32_t sp_value;
	const char *text;
} rows[] = {
#define ROW(bytes, len, ...)                                                                       \
	{                                                                                          \
		bytes, len, __VA_ARGS__                                                            \
	}
	ROW("\xd5\x18\x89\xf8", 4, FLOW_NEXT, 0, SP_SAME, 0, "mov %rdi,%r16"),
	ROW("\xd5\x98\xaf\xc7", 4, FLOW_NEXT, 0, SP_SAME, 0, "imul %r23,%rax"),
	ROW("\xd5\x44\x8b\x44\x24\x08", 6, FLOW_NEXT, 0, SP_SAME, 0, "mov 8(%rsp),%r24d"),
	ROW("\x66\xd5\x10\xc7\xc0\x34\x12", 7, FLOW_NEXT, 0, SP_SAME, 0, "mov $0x1234,%r16w"),
	ROW("\xd5\x18\xb8\x88\x77\x66\x55\x44\x33\x22\x11", 11, FLOW_NEXT, 0, SP_SAME, 0,
	    "movabs $0x1122334455667788,%r16"),
	ROW("\xd5\x10\x50", 3, FLOW_NEXT, 0, SP_ADD, -8, "push %r16"),
	ROW("\xd5\x10\x5d", 3, FLOW_NEXT, 0, SP_ADD, 8, "pop %r21"),
	ROW("\xd5\x18\x89\xc4", 4, FLOW_NEXT, 0, SP_SAME, 0, "mov %rax,%r20"),
	ROW("\xd5\x48\x89\xc4", 4, FLOW_NEXT, 0, SP_LOST, 0, "mov %r16,%rsp"),
	ROW("\xd5\x10\xff\xd0", 4, FLOW_UNSUPPORTED, 0, SP_SAME, 0, "call *%r16"),
	ROW("\xd5\x10\xff\xe0", 4, FLOW_UNSUPPORTED, 0, SP_SAME, 0, "jmp *%r16"),
	ROW("\xd5\x08\xff\xe0", 4, FLOW_BRANCH, BRANCH_IJMP, SP_SAME, 0, "rex2 jmp *%rax"),
	ROW("\xd5\x00\xa1\x88\x77\x66\x55\x44\x33\x22\x11", 11, FLOW_BRANCH, BRANCH_JMP, SP_SAME, 0,
	    "jmpabs $0x1122334455667788"),
	ROW("\x62\xf4\x7c\x18\x01\xf7", 6, FLOW_NEXT, 0, SP_SAME, 0, "add %esi,%edi,%eax"),
	ROW("\x62\xf4\x7c\x08\x81\xc7\x04\x03\x02\x01", 10, FLOW_NEXT, 0, SP_SAME, 0,
	    "{evex} add $0x1020304,%edi"),
	ROW("\x62\xf4\x7d\x08\x81\xc7\x04\x03", 8, FLOW_NEXT, 0, SP_SAME, 0,
	    "{evex} add $0x304,%di"),
	ROW("\x62\xf4\xfc\x08\x83\xec\x10", 7, FLOW_NEXT, 0, SP_ADD, -16, "{evex} sub $16,%rsp"),
	ROW("\x62\xf4\xdc\x18\x83\xec\x10", 7, FLOW_NEXT, 0, SP_LOST, 0, "sub $16,%rsp,%rsp"),
	ROW("\x62\xf4\x7c\x10\xff\xf0", 6, FLOW_NEXT, 0, SP_ADD, -16, "push2 %rax,%r16"),
	ROW("\x62\xf4\x3c\x18\x8f\xc0", 6, FLOW_NEXT, 0, SP_ADD, 16, "pop2 %rax,%r8"),
	ROW("\x62\xf4\x04\x02\x39\xc3", 6, FLOW_NEXT, 0, SP_SAME, 0, "ccmpb {dfv=} %eax,%ebx"),
	ROW("\x62\xf4\x7c\x08\xf7\xc0\x04\x03\x02\x01", 10, FLOW_NEXT, 0, SP_SAME, 0,
	    "ctest $0x1020304,%eax"),
	ROW("\x62\xf4\x7c\x08\xf7\xd0", 6, FLOW_NEXT, 0, SP_SAME, 0, "{evex} not %eax"),
	ROW("\x62\xf2\x6c\x08\xf7\xc3", 6, FLOW_NEXT, 0, SP_SAME, 0, "{evex} bextr"),
	ROW("\x62\xf9\x7c\x48\x10\x00", 6, FLOW_NEXT, 0, SP_SAME, 0, "vmovups (%r16),%zmm0"),
};

static void check_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t bytes[16] = {0};
		struct insn insn = {0};

		memcpy(bytes, rows[i].bytes, rows[i].len);
		ok(!arch_x86_64.decode(bytes, sizeof(bytes), AT, false, &insn) &&
			   insn.len == rows[i].len,
		   "%s has %u bytes: %u", rows[i].text, rows[i].len, insn.len);
		ok(insn.flow == rows[i].flow && insn.kind == rows[i].kind, "%s: control: %u %u",
		   rows[i].text, insn.flow, insn.kind);
		ok(insn.sp_effect == rows[i].sp_effect && insn.sp_value == rows[i].sp_value,
		   "%s: the stack pointer: %u %d", rows[i].text, insn.sp_effect, insn.sp_value);
		ok(insn.user_refusal && insn.kernel_refusal && insn.slow && !insn.is_plain &&
			   !insn.keeps_state,
		   "%s: no probe, nothing that is assumed", rows[i].text);
		ok(arch_x86_64.decode(bytes, rows[i].len - 1, AT, false, &insn),
		   "%s: not one that is cut off", rows[i].text);
	}
}

static void check_places(void)
{
	static const uint8_t jmpabs[] = {0xd5, 0, 0xa1, 0x10, 0, 0x40, 0, 0, 0, 0, 0};
	static const uint8_t call[] = {0xd5, 0x10, 0xff, 0xd0};
	struct insn insn = {0};

	arch_x86_64.decode(jmpabs, sizeof(jmpabs), AT, false, &insn);
	is(insn.target, AT + 0x10, "jmpabs leads to its constant");
	arch_x86_64.decode(call, sizeof(call), AT, false, &insn);
	is(insn.target, AT + 4, "a call through r16 returns");
}

/* What is reserved, and what 32-bit code has there. */
static void check_others(void)
{
	static const char none[][5] = {"\xd5\x00\x70", "\xd5\x00\xe8", "\xd5\x80\x84",
				       "\xd5\x00\x0f", "\xd5\x00\xd5"};
	static const uint8_t aad[] = {0xd5, 0x0a}, bound[] = {0x62, 0x07};
	struct insn insn = {0};

	for (size_t i = 0; i < 5; i++) {
		uint8_t bytes[16] = {0};

		memcpy(bytes, none[i], 3);
		ok(arch_x86_64.decode(bytes, sizeof(bytes), AT, false, &insn),
		   "reserved opcode %zu is no instruction", i);
	}
	ok(!arch_i386.decode(aad, sizeof(aad), AT, false, &insn) && insn.len == 2, "aad");
	ok(!arch_i386.decode(bound, sizeof(bound), AT, false, &insn) && insn.len == 2, "bound");
}

int main(void)
{
	check_rows();
	check_places();
	check_others();
	return tap__done();
}
