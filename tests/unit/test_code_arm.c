// SPDX-License-Identifier: BSD-2-Clause
/*
 * Graphs of 32-bit ARM code (A32), assembled by GNU as: jump tables as gcc 14 writes them with
 * -marm, whose entries count instructions from the second instruction after the jump.
 */
#include "code_graph_fixture.h"

static const char *const source =
	".syntax unified\n.arm\n.text\n"
	".macro fn name\n .globl \\name\n .type \\name,%function\n \\name: .cfi_startproc\n.endm\n"
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n"
	/* -fPIC: the table's address is the sum of pc and a constant from the pool */
	"fn bytes\n ldr r3, 8f\n7: add r3, pc, r3\n cmp r0, #2\n bhi 9f\n ldrb r3, [r3, r0]\n"
	" add pc, pc, r3, lsl #2\n nop\n1: bx lr\n bx lr\n9: bx lr\n8: .word btab-(7b+8)\nend bytes\n"
	"fn other\n ldr r3, 8f\n7: add r2, pc, r3\n cmp r0, #2\n bhi 9f\n ldrb r3, [r2, r0]\n"
	" add pc, pc, r3, lsl #2\n nop\n1: bx lr\n bx lr\n9: bx lr\n8: .word btab-(7b+8)\nend other\n"
	/* -fno-pic; the index is doubled by an addition */
	"fn halves\n ldr r3, 8f\n cmp r0, #2\n bhi 9f\n add r2, r0, r0\n ldrh r2, [r3, r2]\n"
	" add pc, pc, r2, lsl #2\n nop\n1: bx lr\n bx lr\n9: bx lr\n8: .word htab\nend halves\n"
	"fn twice\n ldr r3, 8f\n cmp r0, #2\n bhi 9f\n add r0, r0, r0\n ldrh r0, [r3, r0]\n"
	" add pc, pc, r0, lsl #2\n nop\n1: bx lr\n bx lr\n9: bx lr\n8: .word htab\nend twice\n"
	/* the address could be any that is in writable memory */
	"fn varied\n ldr r3, 8f\n ldr r3, [r3]\n7: add r3, pc, r3\n cmp r0, #2\n bhi 9f\n"
	" ldrb r3, [r3, r0]\n add pc, pc, r3, lsl #2\n nop\n1: bx lr\n bx lr\n9: bx lr\n"
	"8: .word base\nend varied\n"
	".globl _start\n_start: udf #1\n"
	".section .rodata\nbtab: .byte 0, 1, 2\n.balign 2\nhtab: .hword 0, 1, 2\n"
	".data\nbase: .word btab-0x10000\n";

static bool assemble_for_arm(void)
{
	scratch__write("graph.s", source);
	return run("arm-linux-gnueabihf-as -o %s/graph.o %s/graph.s 2>&1 && "
		   "arm-linux-gnueabihf-ld -e _start -o %s/graph %s/graph.o 2>&1",
		   scratch, scratch, scratch, scratch) &&
	       !object__open(scratch__path("graph"), &object);
}

int main(void)
{
	if (!assemble_for_arm()) {
		ok(1, "graphs of ARM # SKIP can't be assembled here");
		return tap__done();
	}
	ok(PLAN(ALL, "bytes", "other", "halves", "twice", "varied"),
	   "functions with jump tables have a plan");
	test_table("bytes", 5 * 4, 3, true, 0);
	test_table("other", 5 * 4, 3, true, 0);
	test_table("halves", 5 * 4, 3, true, 0);
	test_table("twice", 5 * 4, 3, true, 0);
	test_table("varied", 6 * 4, 0, false, 1);
	plan__free(plan);
	object__free(object);
	return tap__done();
}
