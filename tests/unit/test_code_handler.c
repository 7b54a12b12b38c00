// SPDX-License-Identifier: BSD-2-Clause
/* Exception handlers that code installs without a table: where they are found, and what is not
 * taken for one. */
#include "code_graph_fixture.h"

#define TRY(where) " lea " where "(%rip),%r11\n push %r11\n push 16(%r14)\n mov %rsp,16(%r14)\n"

static const char *const source =
	".text\n"
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n \\name: .cfi_startproc\n.endm\n"
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n"
	/* one within the other, the link in memory and in a register */
	"fn guarded\n sub $8,%rsp\n" TRY("outer") TRY(
		"inner") " call *%rax\n pop 16(%r14)\n ud2\n"
			 "outer: test %eax,%eax\n je 1f\n1: add $8,%rsp\n ret\n"
			 "inner: test %eax,%eax\n js 1b\n jmp 1b\nend guarded\n"
			 "fn linked\n lea 1f(%rip),%r11\n push %r11\n push %r14\n mov %rsp,%r14\n call *%rax\n ud2\n"
			 "1: ret\nend linked\n"
			 /* neither link nor stack pointer, another link, within an instruction,
			    another function's */
			 "fn pushed\n lea 1f(%rip),%r11\n push %r11\n push %r14\n mov %rsp,%r13\n call *%rax\n ud2\n"
			 "1: ret\nend pushed\n"
			 "fn stored\n lea 1f(%rip),%r11\n push %r11\n push %r14\n mov %rax,%r14\n call *%rax\n ud2\n"
			 "1: ret\nend stored\n"
			 "fn unpushed\n lea 1f(%rip),%r11\n push %r10\n push %r14\n mov %rsp,%r14\n call *%rax\n ud2\n"
			 "1: ret\nend unpushed\n"
			 "fn unlinked\n lea 1f(%rip),%r11\n push %r11\n push 16(%r14)\n mov %rsp,24(%r14)\n call *%rax\n ud2\n"
			 "1: ret\nend unlinked\n"
			 "fn within\n" TRY(
				 "1f+1") " call *%rax\n jmp 1f\n1: mov $0xc3c3c3c3,%eax\n ret\nend within\n"
					 "fn abroad\n" TRY(
						 "there") " call *%rax\n ud2\nend abroad\n"
							  "fn other\n ud2\nthere: ret\nend other\n"
							  /* returns, but out of its handler alone
							   */
							  "fn endless\n" TRY(
								  "2f") "1: call *%rax\n jmp 1b\n2: ret\nend endless\n"
									"fn caller\n call endless\n test %eax,%eax\n je 1f\n1: ret\nend caller\n"
									/* the stack pointer comes
									   from elsewhere, and from
									   this frame */
									"fn raises\n test %eax,%eax\n je 1f\n mov 16(%r14),%rsp\n pop 16(%r14)\n ret\n"
									"1: mov 8(%rsp),%rsp\n ret\nend raises\n"
									".globl _start\n_start: ud2\n";

static uint64_t behind(const char *name, unsigned offset)
{
	return address(name) + offset;
}

/* Code behind a trap is entered from elsewhere as well, but not as a handler is. */
static bool has_handler(const char *name)
{
	const struct plan_block *b;

	vec__each (b, &plan->blocks)
		if (b->abnormal == ABNORMAL_LANDING_PAD &&
		    b->function == function(name) - plan->functions.data)
			return true;
	return false;
}

static void test_found(void)
{
	const uint64_t outer = behind("guarded", 46), inner = outer + 9;

	ok(PLAN(ALL, "guarded", "linked"), "functions with handlers have a plan");
	is(function("guarded")->unreached, 0, "both of two handlers are followed");
	is(site(outer + 2)->kind, BRANCH_JCC, "the outer handler's branch is a site");
	is(site(inner + 2)->kind, BRANCH_JCC, "the inner handler's branch is a site");
	is(block(outer)->abnormal, 1, "control comes to the outer handler from elsewhere");
	is(block(inner)->abnormal, 1, "control comes to the inner handler from elsewhere");
	is(site(outer + 2)->sp_delta, 8,
	   "at the outer handler the stack is as before its address was pushed");
	is(site(inner + 2)->sp_delta, 24,
	   "at the inner handler the stack is as before its address was pushed");
	is(function("linked")->unreached, 0, "a handler with its link in a register is followed");
	ok(has_handler("linked"), "a handler with its link in a register is a landing pad");
}

static void test_not_found(void)
{
	ok(PLAN(ALL, "pushed", "stored", "unpushed", "unlinked", "within", "abroad", "other"),
	   "functions without handlers have a plan");
	ok(!has_handler("pushed"), "an address that is pushed is no handler");
	ok(!has_handler("stored"), "an address is no handler where the link is no stack pointer");
	ok(!has_handler("unpushed"), "an address that is not pushed is no handler");
	ok(!has_handler("unlinked"), "an address that is pushed with another link is no handler");
	is(plan__site_at(plan, 0, behind("within", 22)), NO_SITE,
	   "an address within an instruction is no handler");
	ok(!has_handler("other"), "an address in another function is no handler");
}

static void test_returns(void)
{
	ok(PLAN(ALL, "caller"), "a call that comes back out of a handler has a plan");
	is(function("caller")->branches, 3,
	   "what follows a call that comes back out of a handler is decoded");
	ok(PLAN(ALL, "raises"), "a function that loads its stack pointer has a plan");
	is(site(behind("raises", 12))->switched, 1,
	   "behind a stack pointer loaded from elsewhere a branch is another call's");
	is(site(behind("raises", 12))->sp_delta, SP_UNKNOWN,
	   "behind a stack pointer loaded from elsewhere the depth is unknown");
	is(site(behind("raises", 18))->switched, 0,
	   "behind a stack pointer loaded from its own frame a branch is the call's own");
}

int main(void)
{
	if (!ok(assemble(source), "the assembler makes the test object"))
		return tap__done();
	test_found();
	test_not_found();
	test_returns();
	plan__free(plan);
	object__free(object);
	return tap__done();
}
