// SPDX-License-Identifier: BSD-2-Clause
/* src/copy: how springboards are laid out, and what isn't copied. */
#include "copy_layout.h"

/* ---- forms ---- */

static void test_jump(void)
{
	uint64_t f;

	COPY("FN _start\npush %rbp\nmov %rsp, %rbp\nxor %eax, %eax\npop %rbp\nret\nEND _start\n",
	     ALL, "_start");
	is_copied("_start");
	f = address("_start");
	is(image()->patches.len, 1, "one springboard leads to its copy");
	is(patch_at(f)->kind, PATCH_JUMP, "it is a jump at its entry");
	is(patch_at(f)->to, copy_of(f), "the jump leads to the copy of the first instruction");
	ok(copy_image__is_live(image(), f), "the springboard is live");
	ok(copy_image__is_intact(image(), f), "execution may go on at the springboard");
	ok(!copy_image__is_intact(image(), f + 1), "it may not within what it overwrites");
	ok(copy_image__is_intact(image(), f + 6), "it may behind");
	ok(!copy_image__is_live(image(), f + 6), "nothing comes there");
	is(site(f)->probe, PROBE_INLINE, "the entry is logged in the copy");
	is(site(f + 7)->probe, PROBE_INLINE, "so is the ret");
}

static void test_landing(void)
{
	uint64_t f;

	COPY("FN _start\nendbr64\npush %rbp\nmov %rsp, %rbp\npop %rbp\nret\nnop\nnop\nEND _start\n"
	     "FN loop\nendbr64\n1: dec %edi\njne 1b\nxor %eax, %eax\nret\nEND loop\n",
	     ALL, "_start", "loop");
	is_copied("_start");
	is_copied("loop");
	f = address("_start");
	is(patch_at(f + 4)->kind, PATCH_JUMP, "a springboard is behind a landing instruction");
	is(copy_of(f), copy_of(f + 4), "both instructions have the same copy");
	ok(copy_image__is_intact(image(), f), "the landing instruction stays");
	is(site(f)->probe_at, 0, "the entry's event is that of the first instruction");
	is(patch_at(address("loop"))->kind, PATCH_JUMP,
	   "it is at the landing instruction if a loop begins behind");
}

static void test_short(void)
{
	uint64_t f;
	const struct copy_patch *p;

	COPY("FN _start\njmp inner\nEND _start\n"
	     ".p2align 4\nFN f\nxor %eax, %eax\nnop\ninner: mov $1, %edx\nadd %edx, %eax\n"
	     "imul $100000, %eax, %eax\nimul $100000, %eax, %eax\nret\nEND f\n",
	     ALL, "f");
	is_copied("f");
	f = address("f");
	p = patch_at(f);
	is(patch_at(f + 3)->kind, PATCH_JUMP, "what other code jumps to has a springboard");
	is(p->kind, PATCH_SHORT, "an entry right before it has a short jump");
	is(patch_at(p->to)->kind, PATCH_JUMP, "which leads to an island");
	ok(copy_image__is_approach(image(), p->to), "a thread at the island is on its way");
	ok(!copy_image__is_approach(image(), p->to + 5), "one behind it isn't");
	ok(!copy_image__is_approach(image(), f), "nor is one at the springboard");
	is(patch_at(p->to)->to, copy_of(f), "the island leads to the copy");
	ok(!copy_image__is_live(image(), p->to), "an island is not live");
}

static void test_call(void)
{
	uint64_t f;

	COPY(CALLED "FN _start\nsub $8, %rsp\ncall g\ncall g\npush %rax\ncall g\npop %rax\n"
		    "add $8, %rsp\nret\nEND _start\n",
	     ALL, "_start", "g");
	is_copied("_start");
	f = address("_start");
	is(patch_at(f)->kind, PATCH_CALL, "an entry of 4 bytes before a call has a call, too");
	is(patch_at(f + 9)->kind, PATCH_CALL, "a return to a call has a call");
	is(patch_at(f + 9)->nops, 0, "it takes that one's place");
	is(patch_at(f + 14)->kind, PATCH_CALL, "so has a return to an instruction before a call");
	is(patch_at(f + 14)->nops, 1, "it ends where the old call did");
	is(patch_at(f + 14)->len, 6, "nops fill the rest");
	ok(copy_image__is_approach(image(), f + 15), "the call behind them is on the way");
	ok(!copy_image__is_approach(image(), f + 14), "their start isn't");
	ok(copy_image__is_live(image(), f + 9), "the call is live");
	ok(!copy_image__is_live(image(), f + 15), "the old one isn't");
	ok(!copy_image__is_intact(image(), f + 15), "and execution can't go on there");
}

/* ---- what is written when ---- */

/* At the end of a page. Where the first call returns, at 10, a springboard covers a jump's target,
 * at 12. The second call returns in the other page. */
#define TWO_PAGES(other, far)                                                                      \
	CALLED ".p2align 12\n.skip 4000, 0xcc\nFN _start\nsub $8, %rsp\npush %rax\ncall g\n"       \
	       "xor %edx, %edx\nmiddle: mov $1, %ecx\nadd %ecx, %eax\ncmp $9, %eax\nja 1f\n"       \
	       "cmp $5, %eax\n" other "add $16, %rsp\nret\n1:.skip 80, 0x90\ncall g\n" far         \
	       "imul $100, %eax, %eax\njmp middle\nEND _start\n"

/* What jumps to the target has to be taken to the copy before it is overwritten. */
static void test_order(void)
{
	uint64_t f, second;

	COPY(TWO_PAGES("", "add $1, %eax\n"), ALL, "_start", "g");
	is_copied("_start");
	f = address("_start");
	second = f + 117;
	is(f % 4096, 4000, "the function is in two pages");
	is(patch_at(f + 10)->kind, PATCH_JUMP, "a jump is where the first call returns");
	is(patch_at(second)->kind, PATCH_JUMP, "and where the second one does");
	is(write_of(second), write_of(f) - 1, "what jumps into the former is patched first");
	is(write_of(f + 10), write_of(f), "then all that is in the other page, at once");
	is(image()->order.len, image()->patches.len, "all patches are written");
}

/* Each page jumps into the middle of the other's springboard. */
static void test_no_order(void)
{
	COPY(TWO_PAGES("ja other\n", "xor %ebx, %ebx\nother: add $1, %eax\n"), ALL, "_start", "g");
	is(refusal("_start"), COPY_STEPS, "without an order that is right it isn't copied");
	is(refusal("g"), COPY_OK, "others are");
}

static void test_left(void)
{
	uint64_t f;

	COPY(CALLED "FN _start\nnop\nsub $8, %rsp\ncall g\ncall g\nadd $8, %rsp\nret\nEND _start\n",
	     PLAN_ENTRY, "_start");
	is_copied("_start");
	f = address("_start");
	is(patch_at(f)->kind, PATCH_JUMP, "the entry, which is logged, has a springboard");
	is(patch_at(f + 10)->kind, 99, "a return to a call that isn't logged has none");
	ok(copy_image__is_live(image(), f + 10), "that call stays");
	ok(copy_image__is_intact(image(), f + 10), "execution may go on at it");
}

static void test_emulated(void)
{
	uint64_t f;
	const struct copy_patch *p;

	COPY(CALLED
	     "FN _start\npush %rbx\nmov %rdi, %rbx\nnop\ncall g\ncall *%rbx\n"
	     "imul $100000, %eax, %eax\nimul $100000, %eax, %eax\npop %rbx\nret\nEND _start\n",
	     ALL, "_start");
	is_copied("_start");
	f = address("_start");
	p = patch_at(f + 10);
	is(p->kind, PATCH_SHORT, "a return to a short call has a short jump");
	is(patch_at(p->to)->to, copy_of(f + 10), "to the copy, which does the call");
	ok(copy_image__is_live(image(), f + 10), "the springboard is live");
	is(patch_at(f + 12)->kind, PATCH_JUMP, "the call's return has a springboard");
}

/* The shadow stack would not have a call that is a push and a jump. */
static void test_real_calls(void)
{
	options.real_calls = true;
	COPY(CALLED
	     "FN _start\npush %rbx\nmov %rdi, %rbx\nnop\ncall g\ncall *%rbx\n"
	     "imul $100000, %eax, %eax\nimul $100000, %eax, %eax\npop %rbx\nret\nEND _start\n"
	     "FN f\nimul $100000, %eax, %eax\ncall g\nimul $100000, %eax, %eax\nret\nEND f\n",
	     ALL, "_start", "f");
	options.real_calls = false;
	is(refusal("_start"), COPY_ROOM,
	   "where calls must be calls, a function in which one would have to be emulated isn't copied");
	is_copied("f");
}

/* Where there is no room, the original goes on to where there is some, if nothing is logged. */
static void test_slide(void)
{
	uint64_t f;

	COPY("FN _start\njmp 1f\nEND _start\n.p2align 4\n"
	     "FN f\nmov $1, %ecx\n1: xor %eax, %eax\n2: mov $2, %edx\nadd %edx, %eax\nret\nEND f\n" CALLED
	     ".p2align 12\n.skip 4090\nFN h\ncall g\nmov %rax, %rdx\nmov $1, %eax\nret\n"
	     "END h\n.section .data\n.p2align 3\n.quad 2b\n",
	     ALL, "f", "h");
	is_copied("f");
	f = address("f");
	is(patch_at(f + 5)->kind, 99, "a point right before another one has no springboard");
	ok(copy_image__is_intact(image(), f + 5), "it stays");
	is(patch_at(f + 7)->kind, PATCH_JUMP, "the other one has one");
	is_copied("h");
	f = address("h");
	is(f % 4096, 4090, "a call ends a byte before the page does");
	is(patch_at(f + 5)->kind, 99, "there is no springboard across pages");
	is(patch_at(f + 8)->kind, PATCH_JUMP, "it is at the next instruction");
	is(patch_at(f + 8)->to, copy_of(f + 8), "and leads to its copy");
}

static void test_slide_to_call(void)
{
	uint64_t f;

	COPY(CALLED ".p2align 12\n.skip 4090\nFN h\ncall g\nmov $1, %edi\ncall g\n"
		    "push %rax\npop %rax\nadd $1, %rax\nret\nEND h\n"
		    ".p2align 12\n.skip 4090\nFN k\ncall g\nmov $1, %edi\ncall *%rbx\n"
		    "add $1, %rax\nnop\nret\nEND k\nFN _start\nret\nEND _start\n",
	     ALL, "h", "k");
	is_copied("h");
	f = address("h");
	is(f % 4096, 4090, "a call ends a byte before the page does");
	is(patch_at(f + 5)->kind, 99, "there is no springboard across pages");
	is(patch_at(f + 10)->kind, PATCH_CALL, "the next call's place is taken by one of a stub");
	is(patch_at(f + 10)->nops, 0, "there only");
	ok(patch_at(f + 10)->to != copy_of(f + 10), "the stub is not the copy,");
	ok(copy_of(f + 10) != UINT32_MAX, "which there is, too");
	ok(copy_image__is_live(image(), f + 10), "the call is live");
	ok(copy_image__is_intact(image(), f + 5), "what leads to it stays");
	is(refusal("k"), COPY_ROOM, "a call that is too short has no such place");
}

/* Of a call whose opcode is the last byte of a page only the operand changes. */
static void test_call_across_pages(void)
{
	uint64_t f;

	COPY(CALLED
	     ".p2align 12\n.skip 4090\nFN h\ncall g\ncall g\nadd $1, %rax\nnop\nret\nEND h\n"
	     ".p2align 12\n.skip 4089\nFN k\ncall g\ncall g\nadd $1, %rax\nnop\nret\nEND k\nFN _start\nret\n"
	     "END _start\n",
	     ALL, "h", "k");
	is_copied("h");
	f = address("h");
	is(f % 4096, 4090, "the second call begins with the last byte of a page");
	is(patch_at(f + 5)->kind, PATCH_CALL, "its place is taken by a call of a stub");
	is(patch_at(f + 5)->len, 5, "of the same size");
	is(patch_at(f + 5)->nops, 0, "with the same first byte");
	is(refusal("k"), COPY_ROOM, "not if one byte of the operand is in the first page, too");
}

static void test_island_over_call(void)
{
	uint64_t f;

	COPY(CALLED "FN _start\npush %rdi\ncall g\njmp 1f\n1: call g\npop %rdi\nnopl (%rax)\nret\n"
		    "END _start\nFN h\nret\nEND h\n",
	     ALL, "_start");
	is_copied("_start");
	f = address("_start");
	is(patch_at(f + 6)->kind, PATCH_SHORT, "a return to a short jump has a short jump");
	is(patch_at(f + 6)->to, f + 8, "its island takes the place of a call");
	ok(!copy_image__is_live(image(), f + 8), "which is emulated");
	is(patch_at(f + 13)->kind, PATCH_JUMP, "and returns as before");
}

static void test_tiny(void)
{
	COPY(CALLED "FN _start\nret\nEND _start\n.p2align 4\nFN f\nnop\ncall g\nEND f\n.p2align 4\n"
		    "FN h\nxor %eax, %eax\nret\nEND h\n.p2align 4\n",
	     ALL, "_start", "f", "h");
	is_copied("_start");
	is(patch_at(address("_start"))->kind, PATCH_JUMP,
	   "the padding behind a function has room for a springboard");
	is_copied("h");
	is_copied("f");
	is(patch_at(address("f"))->kind, PATCH_CALL,
	   "padding that a call returns to isn't overwritten");
}

static void test_kept(void)
{
	uint64_t f;

	COPY("FN _start\nmov $39, %eax\nsyscall\nadd $1, %rax\nnop\nret\nEND _start\n", ALL,
	     "_start");
	is_copied("_start");
	f = address("_start");
	ok(copy_image__is_live(image(), f + 5), "a system call is executed in the original");
	ok(copy_of(f + 5) != UINT32_MAX, "it has a copy, which leads there");
	is(patch_at(f + 7)->kind, PATCH_JUMP, "a springboard is behind it");
}

/* What points into a function. */
static void test_points(void)
{
	uint64_t f;

	COPY("FN _start\nlea 1f(%rip), %rax\nlea 2f(%rip), %rdx\nret\nEND _start\n.p2align 4\n"
	     "FN f\nmov $1, %eax\n1: mov $2, %eax\n2: mov $3, %eax\n3: mov $4, %eax\n"
	     "4: mov $5, %eax\nret\nEND f\n.p2align 4\n"
	     ".section .data\n.p2align 3\n.quad 3b\n",
	     ALL, "f");
	is_copied("f");
	f = address("f");
	is(patch_at(f + 5)->kind, PATCH_JUMP, "what other code loads the address of is a point");
	is(patch_at(f + 10)->kind, PATCH_JUMP, "so is the next one");
	is(patch_at(f + 15)->kind, PATCH_JUMP, "so is what data points to");
	is(patch_at(f + 20)->kind, 99, "nothing else is");
}

static void test_tables(void)
{
	uint64_t f;

	COPY("FN _start\ncmp $3, %edi\nja 9f\nmov %edi, %edi\njmp *table(,%rdi,8)\n"
	     "1: mov $1, %eax\nret\n2: mov $2, %eax\nret\n3: mov $3, %eax\nret\n"
	     "9: xor %eax, %eax\nret\nEND _start\n.p2align 4\n"
	     ".section .rodata\n.p2align 3\ntable: .quad 1b, 2b, 3b, 1b\n",
	     ALL, "_start");
	is_copied("_start");
	f = address("_start") + 14;
	is(patch_at(f)->kind, PATCH_JUMP, "a switch's case has a springboard");
	is(patch_at(f + 6)->kind, PATCH_JUMP, "so has the next one");
	is(patch_at(f + 18)->kind, 99, "its default, which a branch leads to, has none");
}

/* ---- refusals ---- */

static void refused(const char *source, enum copy_refusal want)
{
	static const char *const names[] = {"f", NULL};

	ok(copy_some(source, names, ALL), "it is planned");
	is(refusal("f"), want, "it isn't copied: %s", copy_refusal_text[want]);
	is(image()->patches.len, 0, "nothing is patched");
	is(site(address("f"))->probe, PROBE_TRAP, "its entry keeps its probe");
}

static void test_refusals(void)
{
	refused(BEGIN "FN _start\nFN f\nret\nEND f\nFN g\nmov %edi, %eax\nret\nEND g\n", COPY_ROOM);
	refused(BEGIN "FN _start\nFN f\nmov %gs:0, %rax\nadd $1, %rax\nret\nEND f\n", COPY_INSN);
	refused(BEGIN "FN _start\nFN f\nadd $1, %rax\nxbegin 1f\n1: add $1, %rax\nret\nEND f\n",
		COPY_INSN);
	refused(BEGIN "FN _start\nFN f\nadd $1, %rax\njmp 1f\n.quad 0x0607060706070607\n"
		      "1: add $1, %rax\nret\nEND f\n",
		COPY_GAP);
	refused(BEGIN
		"FN _start\nFN f\nmov %edi, %edi\ntest %edi, %edi\nje 1f\nlea table(,%rdi,4), %rax\n"
		"movslq (%rax), %rax\nadd $table, %rax\njmp *%rax\n1: add $1, %rax\nret\n"
		"END f\n.section .rodata\ntable: .long 1b - table\n",
		COPY_UNRESOLVED);
	refused(BEGIN "FN _start\nFN f\nadd $1, %rax\ncall g\nadd $1, %rax\nret\nEND f\n"
		      "FN g\npop %rax\nmov (%rax), %ecx\nadd $8, %rax\njmp *%rax\nEND g\n",
		COPY_RETURN);
	refused(BEGIN "FN _start\nFN f\nadd $1, %rax\nadd $1, %rax\nret\nEND f\n"
		      ".section __rseq_cs, \"aw\"\n.quad 0\n",
		COPY_OBJECT);
	refused(BEGIN "FN _start\nFN __tsan_init\nFN f\nadd $1, %rax\nadd $1, %rax\nret\nEND f\n",
		COPY_OBJECT);
}

/* Its last instruction reaches into the next function, which begins with that one's last bytes. */
static void test_beyond(void)
{
	refused(BEGIN "FN _start\nnop\nFN f\nnop\n.byte 0xb8\nEND f\nFN g\n.long 0xc3909090\nret\n"
		      "END g\n",
		COPY_UNCERTAIN);
	refused(BEGIN "FN _start\nnop\nFN f\nadd $1, %rax\n.byte 0x48, 0xb8\nEND f\nFN g\n"
		      ".quad 0\nret\nEND g\n",
		COPY_UNCERTAIN);
}

static void test_range(void)
{
	static const char source[] =
		BEGIN "FN _start\nFN f\nadd $1, %rax\nadd $1, %rax\nret\nEND f\n";
	const char *names[] = {"f", NULL};
	uint64_t offset;

	ok(copy_some(source, names, ALL), "it is planned");
	object__vaddr_to_offset(object, address("f"), &offset);
	names[0] = xasprintf("0x%llx+0x9", (unsigned long long)offset);
	ok(copy_some(source, names, ALL), "a range is planned");
	is(copies->refusals.data[0], COPY_RANGE, "a part of a function isn't copied");
	free((char *)names[0]);
}

static void test_late(void)
{
	static const char *const names[] = {"f", NULL};

	ok(copy_some(BEGIN
		     "FN _start\nFN f\nendbr64\npush %rbp\nadd $1, %rax\npop %rbp\nret\nEND f\n",
		     names, ALL),
	   "it is planned");
	copies__free(copies);
	for (size_t i = 0; i < plan->sites.len; i++)
		plan->sites.data[i].probe = PROBE_TRAP;
	plan->sites.data[function("f")->entry_site].probe_at = 4;
	plan->late_entries = true;
	copies__make(plan, &options, &copies);
	is(refusal("f"), COPY_SITE, "a late entry can't be logged");
}

/* A return address that is only kept, or added to, is that of the original. */
static void test_return_address(void)
{
	COPY("FN _start\nnop\ncall g\nadd $1, %rax\nnop\nret\nEND _start\n"
	     "FN g\nmov (%rsp), %rax\nret\nEND g\n",
	     ALL, "_start");
	is_copied("_start");
}

/* ---- lookups ---- */

static void test_lookups(void)
{
	const struct copy_image *i;
	const struct copy_pc *pc;
	uint8_t bytes[PATCH_MAX], *code;
	uint64_t vaddr;
	uint32_t offset;

	COPY(CALLED "FN _start\nsub $24, %rsp\nnop\ncall g\ntest %rax, %rax\nje 1f\ncall g\n"
		    "1: add $24, %rsp\nret\nEND _start\n",
	     ALL, "_start", "g");
	i = image();
	vec__each (pc, &i->pcs) {
		ok(pc->near == !copy_image__original(i, pc->offset, &vaddr),
		   "the state is exact where an instruction's copy begins");
		if (pc->near)
			continue;
		is(vaddr, pc->vaddr, "and that instruction is told");
		ok(copy_image__near(i, pc->offset, &vaddr) && vaddr == pc->vaddr,
		   "so it is by near()");
		ok(copy_image__copy_at(i, pc->vaddr, &offset) && offset == pc->offset, "and back");
	}
	vaddr = address("_start");
	ok(!copy_image__original(i, copy_of(vaddr) + 1, &vaddr), "within a log nothing is exact");
	vaddr = 0;
	ok(copy_image__near(i, copy_of(address("_start")) + 1, &vaddr),
	   "but it is known near what");
	is(vaddr, address("_start"), "it is");
	ok(!copy_image__near(i, i->code.len, &vaddr), "behind the copies there is nothing");
	ok(!copy_image__copy_at(i, 1, &offset), "what isn't an instruction has no copy");
	ok(!copy_image__fault(i, 0, &offset), "no load of a log begins at the start");
	code = xmalloc(i->code.len);
	ok(copy_image__relocate(i, 0, 0x10000000, code), "in reach the copies are relocated");
	ok(!copy_image__relocate(i, 0, 1ull << 33, code), "out of reach they are not");
	ok(!copy_image__patch(i, plan->arch, patch_at(address("_start")), 0, 1ull << 33, bytes),
	   "nor are patches");
	ok(copy_image__patch(i, plan->arch, patch_at(address("_start")), 0, 0x10000000, bytes),
	   "in reach they are");
	is(bytes[0], 0xe9, "a patch is a jump");
	free(code);
}

/* ---- what handlers are shown ---- */

static bool is_shown(uint64_t vaddr)
{
	return copy_image__is_shown(image(), copy_of(vaddr));
}

/* At what may fault no register has been used for a log, even if it is written there. */
static void test_faults(void)
{
	uint64_t f;

	COPY("FN _start\ntest %edi, %edi\nje 1f\nmov (%rsi), %eax\n1: mov $1, %ecx\nmov $2, %edx\n"
	     "div %ecx\nret\nEND _start\n",
	     ALL, "_start");
	is_copied("_start");
	f = address("_start");
	ok(is_shown(f + 4), "at a load all registers are as in the original");
	ok(!is_shown(f + 6), "they need not be at what overwrites one, and can't fault");
	ok(!is_shown(f + 11), "nor at the next one");
	ok(is_shown(f + 16), "they are at a division");
	ok(is_shown(f + 18), "and at the ret");
	ok(!copy_image__is_shown(image(), copy_of(f + 4) + 1), "in a log nothing is shown");
}

/* Signals that are sent come where all can be shown: soon. */
static void test_loops(void)
{
	uint64_t f;

	COPY("FN _start\nmov $9, %edi\n1: mov $1, %ecx\nmov $2, %edx\ntest $1, %dil\nje 2f\n"
	     "mov $3, %ecx\n2: mov $4, %edx\ndec %edi\njne 1b\nmov $5, %ecx\nmov $6, %edx\nret\nEND _start\n",
	     ALL, "_start");
	is_copied("_start");
	f = address("_start");
	ok(is_shown(f + 5), "a loop that can't fault has such a place, its begin");
	ok(!is_shown(f + 10), "the rest of it is none");
	ok(!is_shown(f + 21), "nor where two ways in it meet");
	COPY("FN _start\nmov $9, %edi\n1: mov $1, %ecx\nmov (%rsi), %edx\ndec %edi\njne 1b\nret\n"
	     "END _start\n",
	     ALL, "_start");
	f = address("_start");
	ok(!is_shown(f + 5), "one with a load needs no other");
	ok(is_shown(f + 10), "than the load");
}

int main(void)
{
	test_faults();
	test_loops();
	test_jump();
	test_landing();
	test_short();
	test_order();
	test_no_order();
	test_call();
	test_left();
	test_emulated();
	test_real_calls();
	test_slide();
	test_slide_to_call();
	test_call_across_pages();
	test_island_over_call();
	test_tiny();
	test_kept();
	test_points();
	test_tables();
	test_refusals();
	test_beyond();
	test_range();
	test_late();
	test_return_address();
	test_lookups();
	copies__free(copies);
	plan__free(plan);
	object__free(object);
	return tap__done();
}
