// SPDX-License-Identifier: BSD-2-Clause
/* src/copy: points that are too narrow for a jump to the copy. */
#include "copy_layout.h"

/* The jump's operand is the call's, although the return address is on the stack. */
static void test_call_by_stack(void)
{
	uint64_t f;

	COPY(CALLED
	     "FN _start\nsub $24, %rsp\nmov %rdi, 16(%rsp)\ncall g\ncall *16(%rsp)\n"
	     "imul $100000, %eax, %eax\nimul $100000, %eax, %eax\nadd $24, %rsp\nret\nEND _start\n"
	     "FN h\nsub $24, %rsp\ncall g\ncall *-16(%rsp)\nimul $100000, %eax, %eax\n"
	     "imul $100000, %eax, %eax\nadd $24, %rsp\nret\nEND h\n",
	     ALL, "_start", "h");
	is_copied("_start");
	f = address("_start");
	is(patch_at(f + 14)->kind, PATCH_SHORT, "a return to a call by the stack has a short jump");
	is(copy_image__leads_to(image(), patch_at(f + 14)), copy_of(f + 14), "to the copy");
	is(refusal("h"), COPY_ROOM,
	   "one whose operand the return address would overwrite has none");
}

/* A target of three bytes among others of eight, which jumps of five bytes leave three of. */
#define TARGETS(n)     ".rept " #n "\nlea 0x1234(%rip), %rax\nret\n.endr\n"
#define TABLE(n, from) ".set i, 0\n.rept " #n "\n.quad 1b + " #from " + i\n.set i, i + 8\n.endr\n"

static void test_hops(void)
{
	const struct copy_patch *p, *hop;
	uint64_t f, narrow;
	unsigned n = 1;

	COPY("FN _start\nret\nEND _start\n.p2align 11\nFN f\ncmp $79, %edi\nja 2f\n"
	     "mov %edi, %edi\njmp *table(,%rdi,8)\n1: " TARGETS(40) "xor %eax, %eax\nret\n" TARGETS(
		     39) "2: imul $100000, %eax, %eax\nimul $100000, %eax, %eax\nret\nEND f\n"
			 ".section .rodata\n.p2align 3\ntable: " TABLE(41, 0) TABLE(39, 323),
	     ALL, "f");
	is_copied("f");
	f = address("f");
	narrow = f + 18 + 320;
	hop = p = patch_at(narrow);
	is(p->kind, PATCH_SHORT, "what is too narrow has a short jump");
	for (; (hop = patch_at(hop->to))->kind == PATCH_SHORT; n++) {
		ok(copy_image__is_approach(image(), hop->vaddr), "which leads on by a hop");
		ok(!copy_image__is_live(image(), hop->vaddr), "that nothing else executes");
	}
	ok(n > 2, "there are %u short jumps", n);
	is(hop->kind, PATCH_JUMP, "up to an island");
	is(copy_image__leads_to(image(), p), copy_of(narrow), "that leads to the copy");
	is(copy_image__leads_to(image(), patch_at(p->to)), copy_of(narrow), "from a hop, too");
	ok(copy_image__is_intact(image(), f + 18 + 7), "an instruction after a hop stays");
	is(write_of(narrow), write_of(hop->vaddr), "all of it is written at once");
}

/* At the end of a page: the nearest island is over what the next point needs. */
static void test_urgent(void)
{
	uint64_t f;

	COPY("FN _start\njmp f + 3\nEND _start\n.p2align 12\n.skip 4092, 0xcc\n"
	     "FN f\nxor %eax, %eax\nnop\nmov $5, %edx\nlea 0x1234(%rip), %rsi\n"
	     "imul $100000, %eax, %eax\nimul $100000, %eax, %eax\nret\nEND f\n",
	     ALL, "f");
	is_copied("f");
	f = address("f");
	is(patch_at(f + 3)->kind, 99, "what crosses the page has no springboard");
	is(patch_at(f + 8)->kind, PATCH_JUMP,
	   "it is at the next instruction, which no island takes");
	is(patch_at(f)->kind, PATCH_SHORT, "the point before it has a short jump");
	ok(patch_at(f)->to >= f + 13, "to an island after that");
	ok(write_of(patch_at(f)->to) < write_of(f), "in another page, which is written before");
}

/* A ret right before another point: of the short jump only the first byte is written. */
static void test_punned(void)
{
	const struct copy_patch *p;
	uint64_t f;

	COPY("FN _start\nret\nEND _start\n.p2align 6\nFN f\ncmp $2, %edi\nja 9f\nmov %edi, %edi\n"
	     "jmp *table(,%rdi,8)\n1: imul $100000, %eax, %eax\nimul $100000, %eax, %eax\n"
	     "imul $100000, %eax, %eax\nimul $100000, %eax, %eax\nimul $100000, %eax, %eax\n2: ret\n"
	     "3: imul $100000, %eax, %eax\nret\n9: mov $1, %eax\nret\nEND f\n"
	     ".section .rodata\n.p2align 3\ntable: .quad 1b, 2b, 3b\n",
	     ALL, "f");
	is_copied("f");
	f = address("f") + 14 + 30;
	p = patch_at(f);
	is(patch_at(f + 1)->kind, PATCH_JUMP, "a jump is after what has one byte");
	is(p->kind, PATCH_SHORT, "that has a short jump");
	is(p->len, 1, "whose second byte is the jump's first");
	is(p->to, f + 2 - 0x17, "so its island is where that leads");
	is(copy_image__leads_to(image(), p), copy_of(f), "and leads to the copy");
	ok(copy_image__is_live(image(), f), "it is a springboard like others");
	is(write_of(f), write_of(f + 1), "it is written with the jump");
}

int main(void)
{
	test_call_by_stack();
	test_hops();
	test_urgent();
	test_punned();
	copies__free(copies);
	plan__free(plan);
	object__free(object);
	return tap__done();
}
