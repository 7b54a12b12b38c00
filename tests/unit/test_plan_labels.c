// SPDX-License-Identifier: BSD-2-Clause
/*
 * Places in functions whose addresses data holds, to which a signal's handler may continue: control
 * may come to them by no edge, and no probe that may be elsewhere is on an instruction that a
 * handler may read.
 */
#include "code_graph_fixture.h"

static const char *const source =
	".text\n"
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n \\name: .cfi_startproc\n.endm\n"
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n"
	"fn handled\n test %edi,%edi\n je 1f\n js fails\n"
	"loads: mov (%rdi),%rax\nadds: add %rsi,%rax\n1: ret\n"
	"fails: lea 3(%rsi),%rax\n lea 4(%rax),%rax\n jmp 1b\nend handled\n"
	/* between two such places is one instruction */
	"fn narrow\n test %edi,%edi\n je done\nnarrow_at: mov (%rdi),%rax\ndone: inc %rax\n ret\nend narrow\n"
	"fn switches\n cmp $3,%rdi\n ja 1f\n jmp *table(,%rdi,8)\n"
	"zero: inc %eax\none: inc %eax\ntwo: inc %eax\nthree: inc %eax\n1: ret\nend switches\n"
	"fn plain\n test %edi,%edi\n je 1f\n inc %eax\n1: ret\nend plain\n"
	".globl _start\n_start: ret\n"
	".section .rodata\n.balign 8\ntable: .quad zero, one, two, three\n"
	".data\n.balign 8\n.quad loads, fails, narrow_at, done, plain\n";

static struct plan *placed(enum plan_placement placement, unsigned events)
{
	static const char *const names[] = {"handled", "narrow", "switches", "plain", NULL};
	const struct plan_options options = {.events = events, .placement = placement};
	function_vec v = {0};
	struct plan *p = NULL;

	if (resolve(object, names, &v) && plan__build(&v, &options, &p))
		printf("# %s\n", err__text());
	functions__free(&v);
	return p;
}

/* Places in the functions: they have no symbols that are read. */
#define LOADS	  (address("handled") + 6)
#define ADDS	  (address("handled") + 9)
#define FAILS	  (address("handled") + 13)
#define NARROW_AT (address("narrow") + 4)
#define ONE	  (address("switches") + 15)

static bool has_probe(uint64_t vaddr)
{
	const struct plan_site *s;

	vec__each (s, &plan->sites)
		if (s->vaddr + s->probe_at == vaddr && plan_site__is_hooked(s))
			return true;
	return false;
}

static void plan_again(enum plan_placement placement, unsigned events)
{
	plan__free(plan);
	plan = placed(placement, events);
}

static void test_entered(void)
{
	plan_again(PLACEMENT_FULL, ALL);
	is(block(LOADS)->abnormal, ABNORMAL_ADDRESS, "data holds the address of a load");
	is(block(FAILS)->abnormal, ABNORMAL_ADDRESS, "and of where to go on");
	ok(function("handled")->irregular && function("narrow")->irregular,
	   "both functions are entered in the middle");
	is(block(ONE)->abnormal, ABNORMAL_NONE, "a table's targets have edges");
	ok(!function("switches")->irregular && !function("plain")->irregular,
	   "a switch, or a pointer to a function, enters none in the middle");
	ok(!has_probe(LOADS) && !has_probe(NARROW_AT), "full: no probe is at a load");
}

static void test_places(void)
{
	plan_again(PLACEMENT_WITNESS, ALL);
	ok(!has_probe(LOADS) && has_probe(ADDS), "a witness is after the load");
	ok(!has_probe(NARROW_AT), "where only the load is there is none");
	plan_again(PLACEMENT_COUNT, ALL);
	ok(!has_probe(LOADS) && has_probe(ADDS), "what is after the load is counted");
	ok(has_probe(NARROW_AT), "where only the load is that is counted");
	plan_again(PLACEMENT_WITNESS, PLAN_ENTRY | PLAN_RETURN);
	ok(!has_probe(LOADS) && has_probe(NARROW_AT),
	   "without branches a witness is at the load if only that is there");
}

int main(void)
{
	if (!ok(assemble(source), "the assembler makes the test object"))
		return tap__done();
	test_entered();
	test_places();
	plan__free(plan);
	object__free(object);
	return tap__done();
}
