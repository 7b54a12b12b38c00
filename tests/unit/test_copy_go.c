// SPDX-License-Identifier: BSD-2-Clause
/* src/copy: functions of Go programs, whose stacks are small and whose runtime sends threads
 * elsewhere. */
#include "copy_fixture.h"

/* A function of Go's compiler, which compares its stack pointer with the bound of its goroutine;
 * one that doesn't; and what the runtime always has. */
#define BEGIN                                                                                      \
	".macro FN name\n.p2align 5\n.globl \"\\name\"\n.type \"\\name\", @function\n"             \
	"\"\\name\":\n.endm\n"                                                                     \
	".macro END name\n.size \"\\name\", . - \"\\name\"\n.endm\n"                               \
	".macro GO name, frame, call=leaf\nFN \\name\n1: cmp 0x10(%r14), %rsp\njbe 2f\n"           \
	"sub $\\frame, %rsp\ncall \"\\call\"\nadd $\\frame, %rsp\nret\n"                           \
	"2: call runtime.morestack_noctxt\njmp 1b\nEND \\name\n.endm\n"                            \
	".macro NOSPLIT name, frame, call=leaf\nFN \\name\nsub $\\frame, %rsp\ncall \"\\call\"\n"  \
	"test %eax, %eax\njz 1f\nnop\n1: add $\\frame, %rsp\nret\nEND \\name\n.endm\n.text\n"      \
	"FN leaf\nmov $1, %eax\nret\nEND leaf\n"                                                   \
	"FN runtime.morestack_noctxt\nmov $1, %eax\njmp runtime.morestack\n"                       \
	"END runtime.morestack_noctxt\n"                                                           \
	"FN runtime.morestack\ncmp %rax, %rbx\nje 1f\nmov $2, %ebx\n1: mov 0x38(%rbx), %rsp\n"     \
	"call newstack\nret\nEND runtime.morestack\n"                                              \
	"NOSPLIT newstack, 8\n"                                                                    \
	"FN runtime.deferreturn\nmov $1, %eax\nret\nEND runtime.deferreturn\n"                     \
	"FN runtime.goexit\nnop\ncall leaf\nnop\nmov $1, %eax\nret\nEND runtime.goexit\n"          \
	"GO _start, 32\n"

static bool copy_some(const char *source, const char *const *names, bool runs)
{
	const struct log_options options = {.runs = runs};
	struct symbol *s;

	if (!assemble_anew(source))
		return false;
	object->go = true;
	object->go_g = -8;
	object->go_goid = 152;
	vec__each (s, &object->symbols)
		s->args = strcmp(s->name, "in_c") ? ARGS_GO : ARGS_SYSTEM;
	return plan_and_copy(names, ALL, &options);
}
#define COPY(source, ...)                                                                          \
	({                                                                                         \
		static const char *const names_[] = {__VA_ARGS__, NULL};                           \
		ok(copy_some(BEGIN source, names_, false), "it is planned and copied");            \
	})

static bool has_spring(uint64_t vaddr)
{
	return copies->images.len && copy_image__has_spring(copies->images.data, vaddr);
}

/* ---- stacks ---- */

static void test_chain(void)
{
	COPY("GO begins, 64, deep\nNOSPLIT deep, 400, deeper\nNOSPLIT deeper, 200, deepest\n"
	     "NOSPLIT deepest, 8\n",
	     "begins", "deep", "deeper", "deepest");
	is(refusal("begins"), COPY_OK, "a function that compares has room");
	is(refusal("deep"), COPY_OK, "so has one that it calls");
	is(refusal("deeper"), COPY_STACK, "one that is called by that has none");
	is(refusal("deepest"), COPY_STACK, "nor has its callee");

	COPY("GO big, 20000, deep\nNOSPLIT deep, 400\n", "big", "deep");
	is(refusal("big"), COPY_OK, "the frame of one that compares doesn't matter");
	is(refusal("deep"), COPY_OK, "nor does it for its callees");

	COPY("GO begins, 64, one\nNOSPLIT one, 100, two\nNOSPLIT two, 100, one\n", "one", "two",
	     "begins");
	is(refusal("one"), COPY_STACK, "a recursion without comparison may be of any depth");
	is(refusal("begins"), COPY_OK, "who calls it has room");
}

/* Before it has compared it has what its caller left. */
static void test_below(void)
{
	COPY("NOSPLIT caller, 500, callee\nGO callee, 32\n", "caller", "callee",
	     "runtime.morestack");
	is(refusal("callee"), COPY_OK, "a function that compares, below one that doesn't");
	is(refusal("runtime.morestack"), COPY_OK, "it makes its stack grow from there");
	COPY("NOSPLIT caller, 560, callee\nGO callee, 32\n", "caller", "callee",
	     "runtime.morestack", "runtime.morestack_noctxt", "newstack");
	is(refusal("callee"), COPY_STACK, "one that has less has no room for the log");
	is(refusal("runtime.morestack_noctxt"), COPY_STACK, "there is no room to do so from there");
	is(refusal("newstack"), COPY_OK, "what that calls is on another stack");
}

/* Any function that compares may be what is called through a pointer. */
static void test_pointer(void)
{
	COPY("FN caller\nsub $560, %rsp\ncall *%rdx\nadd $560, %rsp\nret\nEND caller\n"
	     "GO callee, 32\n",
	     "callee", "leaf");
	is(refusal("callee"), COPY_STACK, "what may be called through a pointer has no room");
	is(refusal("leaf"), COPY_OK, "what doesn't compare isn't called so");
	COPY("FN caller\nsub $560, %rsp\nmov 0x38(%rbx), %rsp\ncall *%rdx\nret\nEND caller\n"
	     "GO callee, 32\n",
	     "callee");
	is(refusal("callee"), COPY_OK, "another stack has room");
}

static void test_injected(void)
{
	COPY("NOSPLIT runtime.sigpanic, 8\nNOSPLIT runtime.asyncPreempt, 8, below\n"
	     "NOSPLIT below, 8\n",
	     "runtime.sigpanic", "runtime.asyncPreempt", "below", "_start");
	is(refusal("runtime.sigpanic"), COPY_STACK, "a panic may begin anywhere");
	is(refusal("runtime.asyncPreempt"), COPY_STACK, "so may a switch");
	is(refusal("below"), COPY_STACK, "what that calls is deeper");
	is(refusal("_start"), COPY_OK, "others are copied");
}

/* ---- where the runtime sends threads ---- */

static void test_loop(void)
{
	uint64_t f;

	COPY("FN loop\nmov $1000000, %eax\n1: add %rax, %rbx\nadd $0x10000, %rcx\ndec %eax\njnz 1b\n"
	     "ret\nEND loop\n",
	     "loop");
	is(refusal("loop"), COPY_OK, "a loop is copied");
	f = address("loop");
	ok(has_spring(f), "there is a springboard at its entry");
	ok(has_spring(f + 5), "and in the loop, where its thread may be sent elsewhere");
	ok(!has_spring(f + 8), "other instructions have none");
}

static void test_panic(void)
{
	uint64_t f;

	COPY("FN recovers\nsub $24, %rsp\nmov $100000, %eax\ncall leaf\nadd $24, %rsp\nret\n"
	     "mov $100000, %ebx\ncall runtime.deferreturn\nadd $24, %rsp\nret\nEND recovers\n",
	     "recovers", "runtime.goexit");
	is(refusal("recovers"), COPY_OK, "a function that recovers is copied");
	f = address("recovers");
	ok(has_spring(f + 24), "a recovered panic may go to its call of deferreturn");
	is(refusal("runtime.goexit"), COPY_ROOM, "goroutines return to behind goexit's first byte");
}

/* ---- what isn't known ---- */

static void test_refusals(void)
{
	static const char *const names[] = {"_start", NULL};

	COPY("NOSPLIT in_c, 8\nFN below\nmov %rax, -24(%rsp)\nmov -24(%rsp), %rbx\nret\nEND below\n",
	     "in_c", "below", "_start");
	is(refusal("in_c"), COPY_GO, "C code has a red zone");
	is(refusal("below"), COPY_GO, "so has what keeps something far below the stack pointer");
	is(refusal("_start"), COPY_OK, "others are copied");
	ok(copy_some(BEGIN, names, true), "a program that runs is planned");
	is(refusal("_start"), COPY_RUNS, "its goroutines may be anywhere");
	ok(copy_some(
		   ".globl _start\n.type _start, @function\n_start: nop\nnop\nnop\nnop\nnop\nret\n"
		   ".size _start, . - _start\n",
		   names, false),
	   "one without the runtime's names is planned");
	is(refusal("_start"), COPY_GO, "it isn't known where panics go");
}

int main(void)
{
	test_chain();
	test_below();
	test_pointer();
	test_injected();
	test_loop();
	test_panic();
	test_refusals();
	copies__free(copies);
	plan__free(plan);
	object__free(object);
	return tap__done();
}
