// SPDX-License-Identifier: BSD-2-Clause
/* What the plan of an assembled program says about the cost of its hits: traps, kinds, and blocks
 * that take far less time than a hit. */
#include <elf.h>
#include "plan/placement/hits.h"
#include "code_fixture.h"
#include "plan/plan_private.h"

static const char source[] = ".text\n"
			     ".macro function name\n"
			     ".globl \\name\n.type \\name, @function\n\\name:\n"
			     ".endm\n"
			     "function pushes\n"
			     "	push %rbp\n"
			     "	cmp $1, %edi\n"
			     "	je 1f\n"
			     "	syscall\n"
			     "	jmp *%rax\n"
			     "1:	pop %rbp\n"
			     "	ret\n"
			     ".size pushes, .-pushes\n"
			     "function moves\n"
			     "	mov %edi, %eax\n"
			     ".rept 29\n	add $1, %eax\n.endr\n"
			     "	test %eax, %eax\n"
			     "	jne 1f\n"
			     "	lock incl (%rsi)\n"
			     "	ret\n"
			     "1:\n"
			     ".rept 32\n	add $1, %eax\n.endr\n"
			     "	ret\n"
			     ".size moves, .-moves\n"
			     "function copies\n"
			     "	rep movsb\n"
			     "	ret\n"
			     ".size copies, .-copies\n";

static const struct plan_block *block_behind(const struct plan *p, const char *name, unsigned n)
{
	for (size_t f = 0; f < p->functions.len; f++)
		if (!strcmp(p->functions.data[f].name, name))
			return &p->blocks.data[p->functions.data[f].entry_block + n];
	exit(99);
}

static const struct plan_site *entry_of(const struct plan *p, const char *name)
{
	const struct plan_block *b = block_behind(p, name, 0);

	return &p->sites.data[p->functions.data[b->function].entry_site];
}

static enum hit_kind kind_of(const struct plan *p, const struct plan_site *s, bool returns)
{
	return plan__hit_kind(p, s - p->sites.data, returns);
}

static void test_quick(const struct plan *p)
{
	is(block_behind(p, "pushes", 0)->quick, 3, "push, cmp, je: three quick instructions");
	is(block_behind(p, "pushes", 1)->quick, 0, "a block with a system call isn't quick");
	is(block_behind(p, "pushes", 2)->quick, 2, "pop, ret: two");
	is(block_behind(p, "moves", 0)->quick, 32, "a block of 32 instructions is quick");
	is(block_behind(p, "moves", 1)->quick, 0, "a block with a lock prefix isn't quick");
	is(block_behind(p, "moves", 2)->quick, 0, "a block of 33 instructions isn't quick");
	is(block_behind(p, "copies", 0)->quick, 0, "a block with a repeated one isn't quick");
}

/* Which nops are emulated depends on the kernel. */
static void test_varying(void)
{
	static const struct {
		const char *bytes;
		uint8_t len;
		int traps;
		const char *what;
	} rows[] = {
		{"\x90", 1, 1, "nop"},
		{"\x66\x90", 2, 1, "nop of two bytes"},
		{"\x0f\x1f\x44\0\0", 5, 1, "nop of five bytes"},
		{"\xf3\x90", 2, 0, "pause"},
		{"\x0f\x1f\x01", 3, 0, "a nop that the kernel doesn't write"},
		{"\x66\x0f\x1f\x84\0\0\0\0\0", 9, 0, "a nop of nine bytes"},
		{"\x0f\x1f\x48\0", 4, 2, "0f 1f /1"},
		{"\x4d\x89\xc9", 3, 0, "mov of r9 to itself"},
		{"\x66\x48\x89\xc0", 4, 0, "mov of rax to itself, with 66"},
		{"\x89\xff", 2, 2, "mov of edi to itself, which clears its upper half"},
		{"\x4c\x89\xc8", 3, 2, "mov of r9 to rax"},
		{"\x4d\x89\xc8", 3, 2, "mov of r9 to r8"},
		{"\x48\x8d\x76\0", 4, 0, "lea of rsi to itself"},
		{"\x48\x8d\x64\x24\0", 5, 0, "lea of rsp to itself"},
		{"\x48\x8d\x76\x08", 4, 2, "lea that adds"},
		{"\x48\x8d\x7e\0", 4, 2, "lea of rsi to rdi"},
		{"\x48\x8d\x04\x10", 4, 2, "lea of rax and rdx"},
		{"\x48\x8d\x44\x10\0", 5, 2, "lea of rax and rdx, with a displacement"},
		{"\x48\x8d\0", 3, 2, "lea of rax to itself without a displacement"},
		{"\x48\x8b\xc9", 3, 2, "8b, which no kernel takes for a nop"},
	};
	const struct arch *arch = arch__by_machine(EM_X86_64);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct insn insn = {0};

		arch->decode((const uint8_t *)rows[i].bytes, rows[i].len, 0x1000, false, &insn);
		is(insn__traps(&insn, false), rows[i].traps, "%s: %d traps", rows[i].what,
		   rows[i].traps);
		is(insn__traps(&insn, true), 1, "%s: one in the kernel", rows[i].what);
	}
}

static void test_traps(struct plan *p)
{
	const struct plan_site *je = &p->sites.data[block_behind(p, "pushes", 0)->site];
	const struct plan_site *ret = &p->sites.data[block_behind(p, "pushes", 2)->site];
	const struct plan_site *push = entry_of(p, "pushes"), *mov = entry_of(p, "moves");

	is(je->traps, 1, "je: one trap");
	is(ret->traps, 2, "ret: two traps");
	is(push->traps, 1, "an entry at a push: one trap");
	is(mov->traps, 2, "an entry at a mov: two traps");
	is(kind_of(p, je, false), HIT_ONE_TRAP, "the kind of je");
	is(kind_of(p, ret, false), HIT_TWO_TRAPS, "the kind of ret");
	is(kind_of(p, push, false), HIT_ENTRY_ONE, "the kind of an entry at a push");
	is(kind_of(p, mov, false), HIT_ENTRY_TWO, "the kind of an entry at a mov");
	is(kind_of(p, mov, true), HIT_RETURN, "the kind of a return probe");
	((struct plan_site *)je)->traps = 0;
	is(kind_of(p, je, false), HIT_KINDS, "where the traps aren't known, nor is the kind");
	((struct plan_site *)je)->traps = 1;
	p->objects.data[0].kernel = true;
	is(kind_of(p, je, false), HIT_KERNEL, "the kind of a branch in the kernel");
	is(kind_of(p, mov, false), HIT_KERNEL_ENTRY, "the kind of an entry in the kernel");
	is(kind_of(p, mov, true), HIT_KERNEL_RETURN, "the kind of a return in the kernel");
	p->objects.data[0].kernel = false;
}

static void test_witnesses(struct object *o, const char *const *names)
{
	struct plan_options options = {.events = ALL, .placement = PLACEMENT_WITNESS};
	function_vec v = {0};
	const struct plan_site *s;
	struct plan *p;
	struct insn insn;

	if (!resolve(o, names, &v) || plan__build(&v, &options, &p))
		exit(99);
	vec__each (s, &p->sites) {
		size_t avail;
		const uint8_t *bytes = object__bytes(o, s->vaddr + s->probe_at, &avail);

		if (p->arch->decode(bytes, avail, s->vaddr, false, &insn))
			exit(99);
		is(s->traps,
		   insn.varies	   ? 0
		   : insn.emulated ? 1
				   : 2,
		   "0x%llx: the traps of the probed instruction", (unsigned long long)s->vaddr);
	}
	functions__free(&v);
	plan__free(p);
}

int main(void)
{
	static const char *const names[] = {"pushes", "moves", "copies", NULL};
	struct object *o;
	struct plan *p;

	scratch__write("hits.s", source);
	if (!run("cd %s && gcc -shared -nostdlib -o hits.so hits.s", scratch) ||
	    object__open(scratch__path("hits.so"), &o))
		exit(99);
	p = plan_of(o, names, ALL);
	test_quick(p);
	test_traps(p);
	test_varying();
	plan__free(p);
	test_witnesses(o, names);
	object__free(o);
	return tap__done();
}
