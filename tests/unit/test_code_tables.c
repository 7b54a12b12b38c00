// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where a jump table ends, and what happens if that is unknown: no entry of a table may put a probe
 * within an instruction.
 */
#include "code_graph_fixture.h"

static const char *const source =
	".text\n"
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n \\name: .cfi_startproc\n.endm\n"
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n"
	/* a check of the byte in memory bounds more tightly than the table of bytes does */
	"fn classes\n lea codes(%rip),%rcx\n movzbl (%rdi),%edx\n cmpb $1,(%rcx,%rdx)\n ja 9f\n"
	" movzbl (%rcx,%rdx),%edx\n lea ctab(%rip),%rcx\n movslq (%rcx,%rdx,4),%rdx\n add %rcx,%rdx\n jmp *%rdx\n"
	"c0: ret\nc1: mov $0xc3c3c3,%eax\n9: ret\nend classes\n"
	/* the table of bytes alone bounds the index, unless the table may change */
	"fn coded\n movzbl (%rdi),%edx\n movzbl few(%rdx),%edx\n jmp *etab(,%rdx,8)\ne0: ret\ne1: ret\nend coded\n"
	"fn varied\n movzbl (%rdi),%edx\n movzbl varying(%rdx),%edx\n jmp *vtab(,%rdx,8)\nv0: ret\nv1: ret\n"
	"end varied\n"
	/* of two checks the smaller bound counts */
	"fn twice\n movzbl (%rsi),%ecx\n cmp $63,%cl\n ja 9f\n cmp $1,%cl\n ja 9f\n jmp *ttab(,%rcx,8)\n"
	"t0: ret\nt1: ret\n9: ret\nend twice\n"
	/* fewer entries than the mask allows: what follows leads into an instruction, or is
	   another table */
	"fn inward\n and $3,%edi\n jmp *itab(,%rdi,8)\ni0: mov $0x90c3c3c3,%eax\ni1: ret\nend inward\n"
	"fn short1\n and $3,%edi\n jmp *stab(,%rdi,8)\ns0: ret\ns1: ret\nend short1\n"
	"fn short2\n and $1,%edi\n jmp *stab2(,%rdi,8)\ns2: ret\ns3: ret\nend short2\n"
	/* entries that lead into another function, and to a function's start */
	"fn foreign\n and $1,%edi\n jmp *ftab(,%rdi,8)\nf0: ret\nend foreign\n"
	"fn outside\n nop\no1: ret\nend outside\n"
	"fn entries\n and $1,%edi\n jmp *ntab(,%rdi,8)\nn0: ret\nend entries\n"
	/* two ways to decode the same bytes */
	"fn torn\n test %edi,%edi\n je 1f+1\n1: mov $0x90c3c3c3,%eax\n test %eax,%eax\n js 2f\n ret\n2: ret\n"
	"end torn\n"
	/* the same behind a branch that can't carry a probe, as it is hinted */
	"fn astray\n test %edi,%edi\n .byte 0x3e\n je 1f+1\n1: mov $0x00eb9090,%eax\n ret\nend astray\n"
	/* the table's entry is read at the function's start and kept on the stack, without a bound
	 */
	"fn kept\n lea ktab(%rip),%rax\n sub $24,%rsp\n movslq (%rax,%rcx,4),%rax\n mov %rax,8(%rsp)\n"
	"1: mov 8(%rsp),%rsi\n lea ktab(%rip),%rax\n add %rsi,%rax\n jmp *%rax\n"
	"k0: call kept\n jmp 1b\nk1: add $24,%rsp\n ret\nend kept\n"
	/* the table's address is kept on the stack, whose pointer moves until it is read */
	"fn moved\n sub $24,%rsp\n lea mtab-8(%rip),%rax\n mov %rax,8(%rsp)\n push %rdi\n sub $8,%rsp\n"
	" mov 24(%rsp),%rdx\n lea 8(%rdx),%rdx\n movslq (%rdx,%rcx,4),%rax\n add %rdx,%rax\n"
	".globl mjump\nmjump: jmp *%rax\nm0: add $40,%rsp\n ret\nm1: add $40,%rsp\n ret\nend moved\n"
	/* a push overwrites the slot */
	"fn pushed\n lea ptab(%rip),%rax\n mov %rax,-8(%rsp)\n push %rdi\n mov (%rsp),%rdx\n"
	" movslq (%rdx,%rcx,4),%rax\n add %rdx,%rax\n.globl pjump\npjump: jmp *%rax\np0: ret\np1: ret\nend pushed\n"
	/* two ways lead to the load, at two depths of the stack */
	"fn uneven\n lea utab(%rip),%rax\n sub $24,%rsp\n mov %rax,8(%rsp)\n mov %rdi,(%rsp)\n test %edi,%edi\n"
	" je 1f\n push %rdi\n1: mov 8(%rsp),%rdx\n movslq (%rdx,%rcx,4),%rax\n add %rdx,%rax\n"
	".globl ujump\nujump: jmp *%rax\nu0: ret\nu1: ret\nend uneven\n"
	/* the stack slot of the table's entry has two writers */
	"fn mixed\n lea ktab(%rip),%rax\n sub $24,%rsp\n movslq (%rax,%rcx,4),%rax\n mov %rax,8(%rsp)\n"
	" test %edi,%edi\n je 1f\n mov %rdi,8(%rsp)\n"
	"1: mov 8(%rsp),%rsi\n lea ktab(%rip),%rax\n add %rsi,%rax\n jmp *%rax\nend mixed\n"
	/* the table's address is known on one of two paths */
	"fn oneway\n test %edi,%edi\n je 1f\n lea wtab(%rip),%r8\n1: movslq (%r8,%rcx,4),%rax\n"
	" add %r8,%rax\n jmp *%rax\nw0: ret\nw1: ret\nend oneway\n"
	/* clang -O0: the index was spilled, and is checked by subtracting from it */
	"fn less\n mov %edi,%eax\n mov %rax,-16(%rsp)\n sub $1,%rax\n ja 9f\n mov -16(%rsp),%rax\n"
	" lea ltab(%rip),%rcx\n movslq (%rcx,%rax,4),%rax\n add %rcx,%rax\n jmp *%rax\n"
	".globl l0\n l0: ret\nl1: ret\n9: ret\nend less\n"
	/* the difference itself isn't bounded by that, nor what it was the difference of before */
	"fn rest\n mov %edi,%eax\n sub $1,%rax\n ja 9f\n lea rtab(%rip),%rcx\n movslq (%rcx,%rax,4),%rax\n"
	" add %rcx,%rax\n jmp *%rax\n.globl r0\nr0: ret\nr1: ret\n9: ret\nend rest\n"
	"fn again\n mov %edi,%eax\n mov %rax,-16(%rsp)\n sub $7,%rax\n sub $1,%rax\n ja 9f\n"
	" mov -16(%rsp),%rax\n lea atab(%rip),%rcx\n movslq (%rcx,%rax,4),%rax\n add %rcx,%rax\n jmp *%rax\n"
	".globl a0\n a0: ret\na1: ret\n9: ret\nend again\n"
	/* relative entries are added to a label's address, by an instruction that has it */
	"fn summed\n movzbl (%rdi),%edx\n movslq sumtab(,%rdx,4),%rdx\n add $su0,%rdx\n"
	".globl sjump\nsjump: jmp *%rdx\nsu0: ret\nsu1: ret\nend summed\n"
	"fn leas\n movzbl (%rdi),%edx\n movslq leatab(,%rdx,4),%rdx\n lea le0(%rdx),%rdx\n"
	".globl ljump\nljump: jmp *%rdx\nle0: ret\nle1: ret\nend leas\n"
	/* the same with another function's, which such a jump leaves for */
	"fn leaving\n movzbl (%rdi),%edx\n movslq sumtab(,%rdx,4),%rdx\n add $su0,%rdx\n jmp *%rdx\n"
	"end leaving\n"
	/* clang -O0: the target is kept in the frame, by each goto; and a pointer that is kept */
	"fn framed\n push %rbp\n mov %rsp,%rbp\n movzbl (%rdi),%eax\n mov frtab(,%rax,8),%rax\n"
	" mov %rax,-24(%rbp)\n jmp 7f\nfr0: mov frtab(,%rdx,8),%rax\n mov %rax,-24(%rbp)\n jmp 7f\n"
	"fr1: pop %rbp\n ret\n7: mov -24(%rbp),%rax\n.globl fjump\nfjump: jmp *%rax\nend framed\n"
	"fn kept_tail\n sub $24,%rsp\n mov 8(%rdi),%rax\n mov %rax,8(%rsp)\n call framed\n mov 8(%rsp),%rax\n"
	" add $24,%rsp\n jmp *%rax\nend kept_tail\n"
	/* a table that may change, which is read as it is at the start */
	"fn written\n movzbl (%rdi),%edx\n jmp *wrtab(,%rdx,8)\nwr0: ret\nwr1: ret\nend written\n"
	/* tables among the code: as instructions, their bytes end within what follows (0x58: pop)
	 */
	"fn amidst\n cmp $1,%edi\n ja 9f\n lea am(%rip),%rax\n mov %edi,%edi\n"
	" movslq (%rax,%rdi,4),%rcx\n add %rax,%rcx\n.globl amjump\namjump: jmp *%rcx\n"
	"am: .long am0-am,am1-am\nam0: mov $1,%al\n.globl amret\namret: ret\n"
	" .skip 0x58-(.-am),0x90\nam1: ret\n9: ret\nend amidst\n"
	"fn behind\n cmp $1,%edi\n ja 9f\n lea be(%rip),%rax\n mov %edi,%edi\n movslq (%rax,%rdi,4),%rcx\n"
	" add %rax,%rcx\n.globl bjump\nbjump: jmp *%rcx\nbe0: ret\nbe1: ret\n9: ret\nbe: .long be0-be,be1-be\n"
	"end behind\n"
	"fn endless\n lea en(%rip),%rax\n mov %edi,%edi\n movslq (%rax,%rdi,4),%rcx\n add %rax,%rcx\n"
	".globl ejump\nejump: jmp *%rcx\nen: .long en0-en,en1-en\nen0: ret\nen1: ret\nend endless\n"
	/* a bound that is too large: what is read as a table would be code */
	"fn wrongly\n cmp $3,%edi\n ja 9f\n lea wg(%rip),%rax\n mov %edi,%edi\n"
	" movslq (%rax,%rdi,4),%rcx\n add %rax,%rcx\n.globl wgjump\nwgjump: jmp *%rcx\n"
	"wg: .long wg0-wg,wg1-wg\nwg0: mov $1,%al\n.globl wgret\nwgret: ret\n"
	" .skip 0x58-(.-wg),0x90\nwg1: ret\n9: ret\nend wrongly\n"
	/* a table among the code, with a label of its own */
	"amid: .long 0xc3c3c3c3,0xc3c3c3c3\n"
	".globl _start\n_start: ud2\n"
	".section .rodata\n"
	"codes: .byte 0,1,0,1,2,3\n .fill 250,1,0\n"
	".balign 4\nctab: .long c0-ctab,c1-ctab,c1+1-ctab,c1+2-ctab\n"
	"few: .byte 0,1\n .fill 254,1,1\n"
	".balign 8\netab: .quad e0,e1,0x10\nvtab: .quad v0,v1,0\nttab: .quad t0,t1,0\n"
	"itab: .quad i0,i1,i0+2,i0+3\nstab: .quad s0,s1\nstab2: .quad s2,s3,0\n"
	".balign 4\nktab: .long k0-ktab,k1-ktab,0\nwtab: .long w0-wtab,w1-wtab,0\n"
	"ltab: .long l0-ltab,l1-ltab,0\nrtab: .long r0-rtab,r1-rtab,0\natab: .long a0-atab,a1-atab,0\n"
	"mtab: .long m0-mtab,m1-mtab,0\nptab: .long p0-ptab,p1-ptab,0\nutab: .long u0-utab,u1-utab,0\n"
	"sumtab: .long 0,su1-su0,-1\nleatab: .long 0,le1-le0,-1\n"
	".balign 8\nfrtab: .quad fr0,fr1,0\n"
	".balign 8\nftab: .quad f0,o1\nntab: .quad n0,outside\n"
	".data\n.balign 8\nwrtab: .quad wr0,wr1,0\nvarying: .byte 0,1\n .fill 254,1,1\n";

static void test_byte_table(void)
{
	ok(PLAN(ALL, "classes", "coded", "varied", "twice"),
	   "switches by tables of bytes have a plan");
	test_table("classes", 34, 2, true, 0);
	test_table("coded", 10, 2, true, 0);
	test_table("varied", 10, 2, false, 1);
	test_table("twice", 13, 2, true, 0);
}

static void test_disbelieved(void)
{
	uint64_t inward = address("inward");

	ok(PLAN(ALL, "inward", "short1", "short2"),
	   "functions with tables that end early have a plan");
	test_table("inward", 3, 2, false, 1);
	is(plan__site_at(plan, 0, inward + 12), NO_SITE,
	   "an entry of a table that leads within an instruction gives no site there");
	is(plan__site_at(plan, 0, inward + 13), NO_SITE,
	   "an entry of a table that leads within an instruction gives no site behind it");
	test_table("short1", 3, 2, false, 1);
	test_table("short2", 3, 2, true, 0);
}

static void test_unbounded(void)
{
	ok(PLAN(ALL, "kept", "mixed", "oneway"), "functions with unbounded tables have a plan");
	test_table("kept", 35, 2, false, 1);
	is(function("kept")->unreached, 0,
	   "all of a function that keeps a table's entry on the stack is reached");
	test_table("mixed", 44, 0, false, 1);
	test_table("oneway", 18, 2, false, 1);
	is(function("oneway")->unreached, 0,
	   "all of a function whose table is known on one path is reached");
}

static void test_kept_address(void)
{
	ok(PLAN(ALL, "moved", "pushed", "uneven"),
	   "functions that keep a table's address on the stack have a plan");
	test_table("moved", address("mjump") - address("moved"), 2, false, 1);
	is(function("moved")->unreached, 0,
	   "all of a function that keeps a table's address on the stack is reached");
	test_table("pushed", address("pjump") - address("pushed"), 0, false, 1);
	test_table("uneven", address("ujump") - address("uneven"), 0, false, 1);
}

static void test_differences(void)
{
	ok(PLAN(ALL, "less", "rest", "again"), "functions that subtract from an index have a plan");
	test_table("less", address("l0") - 2 - address("less"), 2, true, 0);
	test_table("rest", address("r0") - 2 - address("rest"), 2, false, 1);
	test_table("again", address("a0") - 2 - address("again"), 2, false, 1);
}

static void test_labels(void)
{
	ok(PLAN(ALL, "summed", "leas", "leaving"), "functions that add to a label have a plan");
	test_table("summed", address("sjump") - address("summed"), 2, false, 1);
	is(function("summed")->unreached, 0, "labels by an addition are reached");
	test_table("leas", address("ljump") - address("leas"), 2, false, 1);
	is(function("leas")->unreached, 0, "labels by a lea are reached");
	is(function("leaving")->unresolved, 0, "a sum with another function's label is no switch");
}

static void test_frame(void)
{
	ok(PLAN(ALL, "framed", "kept_tail", "written"), "functions that keep a target have a plan");
	test_table("framed", address("fjump") - address("framed"), 2, false, 1);
	is(function("framed")->unreached, 0, "labels that are kept in the frame are reached");
	is(function("kept_tail")->unresolved, 0,
	   "a jump to a pointer that was kept is a tail call");
	test_table("written", 3, 2, false, 1);
	is(function("written")->unreached, 0, "labels of a table that may change are reached");
}

static void test_among_code(void)
{
	ok(PLAN(ALL, "amidst", "behind", "endless", "wrongly"),
	   "functions with tables have a plan");
	test_table("amidst", address("amjump") - address("amidst"), 2, true, 0);
	is(function("amidst")->unreached, 0, "a proved table among the code isn't code");
	is(site(address("amret"))->refusal, PROBE_OK,
	   "what stands behind a proved table among the code is proved");
	test_table("behind", address("bjump") - address("behind"), 2, true, 0);
	is(function("behind")->unreached, 0, "a table at the end of the code isn't code");
	test_table("endless", address("ejump") - address("endless"), 2, false, 1);
	is(function("endless")->unreached, 0, "a table without a bound among the code isn't code");
	test_table("wrongly", address("wgjump") - address("wrongly"), 2, false, 1);
	is(site(address("wgret"))->refusal, PROBE_UNPROVED,
	   "what only a guessed table shows to be code carries no probe");
}

static void test_other_functions(void)
{
	ok(PLAN(ALL, "foreign", "outside", "entries"),
	   "functions with tables that lead to other functions have a plan");
	test_table("foreign", 3, 0, false, 1);
	test_table("entries", 3, 2, true, 0);
}

static void test_overlap(void)
{
	uint64_t f = address("torn");

	ok(PLAN(ALL, "torn"), "a function with a jump into an instruction has a plan");
	is(site(f + 5)->kind, BRANCH_RET, "a jump into an instruction is followed");
	is(site(f + 5)->refusal, PROBE_UNPROVED,
	   "a branch within another instruction is refused as unproved");
	is(site(f + 5)->probe, 0, "a branch within another instruction has no probe");
	is(site(f + 11)->probe, 1, "a branch within no other instruction has a probe");
	ok(plan->skipped > 0, "a branch within another instruction is counted as skipped");
}

/* Each outcome of its conditional would have needed a witness, in instructions that overlap. */
static void test_no_witness_in_overlap(void)
{
	const struct plan_site *s;
	unsigned probed = 0;

	ok(PLAN(ALL, "astray"), "a function with an unprobed jump into an instruction has a plan");
	is(site(address("astray") + 2)->refusal, PROBE_PREFIX, "its jump can't carry a probe");
	vec__each (s, &plan->sites)
		probed += s->role == ROLE_WITNESS;
	is(probed, 0, "no witness is put on instructions that overlap");
}

static void test_table_in_text(void)
{
	const struct symbol *torn = object__symbol_at(object, address("torn"));

	ok(!object__symbol_at(object, torn->vaddr + torn->size),
	   "a local label where no frame is is no function");
	ok(address("_start") > 0, "a global label where no frame is is a function");
}

int main(void)
{
	if (!ok(assemble(source), "the assembler makes the test object"))
		return tap__done();
	test_byte_table();
	test_disbelieved();
	test_unbounded();
	test_kept_address();
	test_differences();
	test_labels();
	test_frame();
	test_among_code();
	test_other_functions();
	test_overlap();
	test_no_witness_in_overlap();
	test_table_in_text();
	plan__free(plan);
	object__free(object);
	return tap__done();
}
