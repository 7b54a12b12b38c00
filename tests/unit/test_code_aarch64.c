// SPDX-License-Identifier: BSD-2-Clause
/*
 * Graphs of AArch64 code, assembled by GNU as: jump tables of bytes, halves and words as gcc and
 * clang write them, frames whose size is in a register, code that a linker moved elsewhere.
 */
#include "code_graph_fixture.h"

static const char *const source =
	".text\n"
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n \\name: .cfi_startproc\n.endm\n"
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n"
	/* gcc: entries count instructions, signed, from a label behind the jump */
	"fn bytes\n cmp w0, #3\n b.hi 9f\n adrp x1, btab\n add x1, x1, :lo12:btab\n"
	" ldrb w0, [x1,w0,uxtw]\n adr x1, 1f\n add x0, x1, w0, sxtb #2\n br x0\n"
	"b0: ret\n1: ret\nb1: ret\nb2: ret\n9: ret\nend bytes\n"
	"fn halves\n cmp w0, #2\n b.hi 9f\n adrp x1, htab\n add x1, x1, :lo12:htab\n"
	" ldrh w0, [x1,w0,uxtw #1]\n adr x1, 1f\n add x0, x1, w0, sxth #2\n br x0\n"
	"1: ret\nh1: ret\nh2: ret\n9: ret\nend halves\n"
	/* clang: unsigned, from the first label; words from the table */
	"fn unsigned\n cmp x0, #2\n b.hi 9f\n adrp x9, utab\n add x9, x9, :lo12:utab\n adr x10, u0\n"
	" ldrb w11, [x9,x0]\n add x10, x10, x11, lsl #2\n br x10\nu0: ret\nu1: ret\nu2: ret\n9: ret\n"
	"end unsigned\n"
	"fn words\n cmp x0, #1\n b.hi 9f\n adrp x9, wtab\n add x9, x9, :lo12:wtab\n"
	" ldrsw x10, [x9,x0,lsl #2]\n add x9, x10, x9\n br x9\nw0: ret\nw1: ret\n9: ret\nend words\n"
	/* the table's last entry leads out of the function */
	"fn beyond\n cmp x0, #2\n b.hi 9f\n adrp x9, otab\n add x9, x9, :lo12:otab\n"
	" ldrsw x10, [x9,x0,lsl #2]\n add x9, x10, x9\n br x9\no0: ret\no1: ret\n9: ret\nend beyond\n"
	/* compared with a constant in a register */
	"fn compared\n mov w2, #1\n cmp w0, w2\n b.hi 9f\n adrp x9, ctab\n add x9, x9, :lo12:ctab\n"
	" ldrsw x10, [x9,w0,uxtw #2]\n add x9, x10, x9\n br x9\nc0: ret\nc1: ret\n9: ret\nend compared\n"
	/* the table's address is kept on the stack */
	"fn kept\n sub sp, sp, #32\n adrp x9, ktab\n add x9, x9, :lo12:ktab\n str x9, [sp, #16]\n"
	"1: ldr x1, [sp, #16]\n ldrsw x0, [x1,w0,uxtw #2]\n add x0, x0, x1\n br x0\n"
	"k0: bl kept\n b 1b\nk1: add sp, sp, #32\n ret\nend kept\n"
	"fn large\n mov x12, #0x2180\n sub sp, sp, x12\n stp x29, x30, [sp]\n bl bytes\n"
	" ldp x29, x30, [sp]\n mov x12, #0x2180\n add sp, sp, x12\n ret\nend large\n"
	"fn sized\n stp x29, x30, [sp, #-16]!\n mov x29, sp\n sub sp, sp, x0\n bl bytes\n mov sp, x29\n"
	" ldp x29, x30, [sp], #16\n ret\nend sized\n"
	/* as ld's --fix-cortex-a53-843419 does */
	"fn moved\n cbz w0, 9f\n b veneer\nback: ret\n9: ret\nend moved\n"
	"fn leaves\n b elsewhere\n ret\nend leaves\n"
	" .balign 16\nveneer: ldr x0, [x0]\n b back\n"
	"elsewhere: ldr x0, [x0]\n b veneer\n"
	".globl _start\n_start: udf #1\n"
	".section .rodata\n"
	"btab: .byte (b0-(b0+4))/4, 0, 1, 2\n"
	".balign 2\nhtab: .hword 0, 1, 2\n"
	"utab: .byte 0, 1, 2\n"
	".balign 4\nwtab: .word w0-wtab, w1-wtab\notab: .word o0-otab, o1-otab, large-otab\n"
	"ctab: .word c0-ctab, c1-ctab\nktab: .word k0-ktab, k1-ktab, 0\n";

static bool assemble_for_arm(void)
{
	scratch__write("graph.s", source);
	return run("aarch64-linux-gnu-as -o %s/graph.o %s/graph.s 2>&1 && "
		   "aarch64-linux-gnu-ld -e _start -o %s/graph %s/graph.o 2>&1",
		   scratch, scratch, scratch, scratch) &&
	       !object__open(scratch__path("graph"), &object);
}

static void test_tables(void)
{
	ok(PLAN(ALL, "bytes", "halves", "unsigned", "words", "beyond", "compared", "kept"),
	   "functions with jump tables have a plan");
	test_table("bytes", 7 * 4, 4, true, 0);
	test_table("halves", 7 * 4, 3, true, 0);
	test_table("unsigned", 7 * 4, 3, true, 0);
	test_table("words", 6 * 4, 2, true, 0);
	test_table("beyond", 6 * 4, 2, false, 1);
	test_table("compared", 7 * 4, 2, true, 0);
	test_table("kept", 7 * 4, 2, false, 1);
	is(function("bytes")->unreached, 0,
	   "all of a function with a jump table of bytes is reached");
}

static void test_frames(void)
{
	ok(PLAN(ALL, "large", "sized"), "functions with large frames have a plan");
	is(site(address("large") + 3 * 4)->sp_delta, 0x2180,
	   "a frame whose size is in a register has its depth");
	is(site(address("large") + 7 * 4)->sp_delta, 0,
	   "a frame whose size is in a register is given back");
	is(site(address("sized") + 3 * 4)->sp_delta, SP_UNKNOWN,
	   "a frame of unknown size has an unknown depth");
	is(site(address("sized") + 6 * 4)->sp_delta, 0,
	   "a frame of unknown size is given back by the frame pointer");
}

static void test_veneers(void)
{
	const struct plan_function *f;
	uint64_t there;

	ok(PLAN(ALL, "moved"), "a function with an instruction moved to a veneer has a plan");
	f = function("moved");
	is(f->nranges, 2, "a veneer is a range of the function that it was moved from");
	is(f->branches, 5, "a function counts the branches of its veneer");
	there = site(address("moved") + 4)->target;
	is(start_of(ended_by(address("moved") + 4)->taken), there, "control goes to a veneer");
	is(start_of(ended_by(there + 4)->taken), address("moved") + 8,
	   "control comes back from a veneer");
	is(f->unreached, 0, "all of a function with a veneer is reached");
	ok(PLAN(ALL, "leaves"), "a function that jumps to code that doesn't come back has a plan");
	is(function("leaves")->nranges, 1,
	   "code that doesn't come back is no range of the function");
	ok(ended_by(address("leaves"))->leaves,
	   "a jump to code that doesn't come back leaves the function");
}

int main(void)
{
	if (!assemble_for_arm()) {
		ok(1, "graphs of AArch64 # SKIP can't be assembled here");
		return tap__done();
	}
	test_tables();
	test_frames();
	test_veneers();
	plan__free(plan);
	object__free(object);
	return tap__done();
}
