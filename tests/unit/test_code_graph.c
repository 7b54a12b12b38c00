// SPDX-License-Identifier: BSD-2-Clause
/*
 * Graphs and plans of small pieces of assembly, one for each rule, and of a kernel made by hand.
 */
#include <elf.h>
#include <errno.h>
#include "plan/change/change.h"
#include "code_graph_fixture.h"

/* ---- assembly ---- */

static const char *const source =
	".text\n"
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n \\name: .cfi_startproc\n.endm\n"
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n"
	/* a branch past a lock prefix */
	"fn locked\n cmpl $0,%fs:0x18\n je 1f\n lock\n1: cmpxchg %edx,(%rdi)\n jne 2f\n ret\n2: ret\nend locked\n"
	/* data behind a call that does not return: an endless loop, two calls deep */
	"fn dies\n1: mov $60,%eax\n syscall\n jmp 1b\nend dies\n"
	"fn dies2\n push %rbx\n call dies\n .byte 0x06,0x07,0x0e\nend dies2\n"
	"fn caller\n test %edi,%edi\n je 1f\n call dies2\n .byte 0x06,0x0e\n1: ret\nend caller\n"
	/* two functions that only call each other, and two that call each other and return */
	"fn ping\n call pong\n ret\nend ping\nfn pong\n call ping\n ret\nend pong\n"
	"fn even\n dec %edi\n js 1f\n call odd\n1: ret\nend even\nfn odd\n call even\n ret\nend odd\n"
	"fn asks\n call ping\n .byte 0x06\nend asks\nfn asks2\n call odd\n ret\nend asks2\n"
	/* code behind a trap that is handled, and behind a call that is assumed not to return */
	"fn breaks\n int3\n test %edi,%edi\n je 1f\n ud2\n nop\n inc %edi\n1: ret\nend breaks\n"
	"fn resumes\n call dies\n test %edi,%edi\n je 1f\n inc %edi\n1: ret\nend resumes\n"
	/* code behind a jump to an unknown target */
	"fn hides\n jmp *%rax\n nop\n test %edi,%edi\n je 1f\n nop\n1: ret\nend hides\n"
	/* the last instruction is a call */
	"fn last\n sub $8,%rsp\n call even\nend last\n"
	/* jumps to the own entry, to another function's entry, into another function, to helpers */
	"fn self\n dec %edi\n jne self\n ret\nend self\n"
	"fn tail\n test %edi,%edi\n je 1f\n jmp self\n1: jmp helper\nend tail\n"
	"fn into\n jmp inside\nend into\n"
	"fn helper\n test %esi,%esi\n je 1f\n ret\ninside: ret\n1: jmp helper2\nend helper\n"
	"fn helper2\n nop\n ret\nend helper2\n"
	"fn through\n jmp *8(%rdi)\nend through\n"
	/* switches */
	"fn relative\n cmp $3,%edi\n ja 9f\n lea rtab(%rip),%rdx\n movslq (%rdx,%rdi,4),%rax\n add %rdx,%rax\n"
	" notrack jmp *%rax\nr0: ret\nr1: nop\nr2: ret\n9: ret\nend relative\n"
	"fn absolute\n mov %edi,%eax\n cmp $2,%edi\n jae 9f\n jmp *atab(,%rax,8)\na0: ret\na1: nop\n9: ret\n"
	"end absolute\n"
	"fn masked\n and $1,%edi\n jmp *atab2(,%rdi,8)\nm0: ret\nm1: ret\nend masked\n"
	"fn memory\n cmpl $1,4(%rsi)\n ja 9f\n mov 4(%rsi),%eax\n jmp *mtab(,%rax,8)\nn0: ret\nn1: ret\n9: ret\n"
	"end memory\n"
	"fn hoisted\n lea htab(%rip),%rbx\n1: call helper2\n movzbl (%rdi),%eax\n cmp $1,%al\n ja 1b\n"
	" movslq (%rbx,%rax,4),%rax\n add %rbx,%rax\n jmp *%rax\nh0: jmp 1b\nh1: ret\nend hoisted\n"
	"fn debug\n push %rbp\n mov %rsp,%rbp\n mov %edi,-4(%rbp)\n cmpl $1,-4(%rbp)\n ja 9f\n mov -4(%rbp),%eax\n"
	" lea 0(,%rax,4),%rdx\n lea gtab(%rip),%rax\n mov (%rdx,%rax),%eax\n cltq\n lea gtab(%rip),%rdx\n"
	" add %rdx,%rax\n jmp *%rax\ng0: nop\ng1: nop\n9: pop %rbp\n ret\nend debug\n"
	"fn unproved\n jmp *utab(,%rdi,8)\nu0: ret\nu1: ret\nend unproved\n"
	"fn badtable\n cmp $2,%edi\n ja 9f\n jmp *btab(,%rdi,8)\nb0: ret\n9: ret\nend badtable\n"
	/* depths */
	"fn depths\n push %rbp\n mov %rsp,%rbp\n push %rbx\n sub $24,%rsp\n test %edi,%edi\n je 1f\n and $-16,%rsp\n"
	" sub %rdi,%rsp\nd1: call helper2\n lea -8(%rbp),%rsp\nd2: call helper2\n pop %rbx\n pop %rbp\nd3: ret\n"
	"1: push %rax\n2: test %esi,%esi\nd4: je 3f\n push %rax\n3: ret\nend depths\n"
	"fn transact\n xbegin 1f\n nop\n xend\n ret\n1: ret\nend transact\n"
	/* a resolver */
	"fn pick\n lea impl1(%rip),%rax\n lea impl2(%rip),%rdx\n test %edi,%edi\n cmovne %rdx,%rax\n js 1f\n ret\n"
	"1: mov $impl3,%eax\n ret\nend pick\n.type picked,@gnu_indirect_function\n.globl picked\n"
	".set picked,pick\n.size picked,29\n"
	"fn impl1\n ret\nend impl1\nfn impl2\n nop\n ret\nend impl2\nfn impl3\n ret\nend impl3\n"
	".globl _start\n_start: ud2\n"
	".section .rodata\n.balign 8\nrtab: .long r0-rtab,r1-rtab,r0-rtab,r2-rtab\n .long 0x7fffffff\n"
	"atab: .quad a0,a1,0\natab2: .quad m0,m1,0\nmtab: .quad n0,n1,0\nhtab: .long h0-htab,h1-htab\n .quad 0\n"
	"gtab: .long g0-gtab,g1-gtab\n .quad 0\n"
	"utab: .quad u0,u1,0\nbtab: .quad b0,b0,0x10\n";

static void test_lock(void)
{
	uint64_t f = address("locked");

	ok(PLAN(ALL, "locked"), "code that branches past a lock prefix has a plan");
	is(block(f + 11)->end, f + 15, "a block with the lock prefix ends with the instruction");
	is(block(f + 12)->end, f + 15, "a block without the lock prefix ends with the instruction");
	is(start_of(block(f + 11)->next), f + 15,
	   "the block with the lock prefix runs into the one behind");
	is(start_of(block(f + 12)->next), f + 15,
	   "the block without the lock prefix runs into the one behind");
	is(start_of(ended_by(f + 9)->taken), f + 12, "the je leads past the prefix");
	is(plan->sites.data[function("locked")->entry_site].entry, 1,
	   "an entry before a lock prefix has a site");
	is(plan->sites.data[function("locked")->entry_site].probe, 1,
	   "the entry of code with a lock prefix has a probe");
	is(function("locked")->unreached, 0, "all code around a lock prefix is reached");
	is(function("locked")->branches, 4, "code with a lock prefix has four branches");
}

static void test_noreturn(void)
{
	uint64_t f = address("caller");

	ok(PLAN(ALL, "caller", "dies2", "asks", "asks2", "last", "ping"),
	   "calls that don't return have a plan");
	is(ended_by(f + 4)->noreturn, 1, "a call of an endless loop does not return");
	is(ended_by(f + 4)->next, NO_BLOCK, "a call of an endless loop has nothing behind it");
	is(site(f + 11)->kind, BRANCH_RET, "code behind data is found by its jump");
	is(function("caller")->unreached, 2,
	   "data behind a call that doesn't return is not decoded");
	is(ended_by(address("asks"))->noreturn, 1,
	   "a call of two functions that only call each other does not return");
	is(ended_by(address("asks2"))->noreturn, 0,
	   "a call of one of two that call each other, and return, returns");
	is(ended_by(address("last") + 4)->noreturn, 1,
	   "a call at the end of a function does not return");
}

static void test_gaps(void)
{
	uint64_t f = address("resumes"), h = address("hides");

	ok(PLAN(ALL, "breaks", "resumes", "hides"),
	   "code that nothing shows the way to has a plan");
	is(function("breaks")->unreached, 0, "code behind int3 and ud2 is decoded");
	is(function("resumes")->unreached, 0,
	   "code behind a noreturn call is decoded where nothing else leads there");
	is(ended_by(f)->noreturn, 1,
	   "a call with decoded code behind it is still held for noreturn");
	is(block(f + 5)->abnormal, ABNORMAL_RESUMED,
	   "the block behind a noreturn call is entered from elsewhere");
	is(function("hides")->unreached, 5, "code behind a jump is not decoded, padding aside");
	if (!is(plan->gaps.len, 2, "undecoded code between paddings is two gaps"))
		return;
	is(plan->gaps.data[0].start, h + 3, "a gap starts behind the padding");
	is(plan->gaps.data[0].end, h + 7, "a gap ends at the padding");
	is(plan__is_undecoded(plan, 0, h + 2), false, "padding in front of a gap is not undecoded");
	is(plan__is_undecoded(plan, 0, h + 3), true, "the byte behind the padding is undecoded");
	is(plan__is_undecoded(plan, 0, h + 6), true, "the last byte of a gap is undecoded");
	is(plan__is_undecoded(plan, 0, h + 7), false, "the byte behind a gap is not undecoded");
	is(plan__is_undecoded(plan, 1, h + 3), false,
	   "the same address in another object is not undecoded");
}

static void test_jumps(void)
{
	uint64_t tail = address("tail"), self = address("self"), helper = address("helper");

	ok(PLAN(ALL, "self", "tail"), "jumps have a plan");
	is(ended_by(self + 2)->leaves, 0, "a jump to the own entry stays in the function");
	is(start_of(ended_by(self + 2)->taken), self, "a jump to the own entry is an edge");
	is(ended_by(tail + 4)->leaves, 1, "a jump to another function's entry leaves");
	is(start_of(ended_by(tail + 4)->taken), self,
	   "a jump to another function's entry is an edge");
	is(ended_by(tail + 6)->leaves, 1, "a jump to a function that wasn't asked for leaves");
	is(start_of(ended_by(tail + 6)->taken), helper,
	   "a jump to a function that wasn't asked for leads into a helper");
	is(function("helper")->flags, FUNCTION_HELPER,
	   "a function that is jumped to is added as a helper");
	is(function("helper2")->flags, FUNCTION_HELPER,
	   "a function that a helper jumps to is added as a helper");
	is(site(helper)->entry, 0, "the entry of a helper is no site");
	is(site(helper + 2)->probe, 0, "a conditional of a helper has no probe");
	is(site(helper + 4)->probe, 1, "a ret of a helper has a probe");
	is(plan__function_at(plan, 0, helper), function("helper") - plan->functions.data,
	   "the code of a helper is the helper's");
	ok(PLAN(PLAN_ENTRY | PLAN_BRANCH, "tail"), "without returns a tail call has a plan");
	is(plan->functions.len, 1, "without returns no helper is added");
	is(ended_by(tail + 4)->taken, NO_BLOCK, "without returns a jump to a helper leads out");
	ok(PLAN(ALL, "into"), "a jump into the middle of a function has a plan");
	is(start_of(ended_by(address("into"))->taken), helper + 5,
	   "a jump into the middle of a function is followed from there on");
	is(plan__block_at(plan, 0, helper), NO_BLOCK,
	   "a jump into the middle does not reach that function's start");
	ok(PLAN(PLAN_ENTRY | PLAN_RETURN, "through", "self"),
	   "with entries and returns only a tail call has a plan");
	is(ended_by(address("through"))->leaves, 1, "a jump through memory is a tail call");
	is(site(address("through"))->probe, 1, "a jump through memory carries a probe");
	is(site(self + 2)->probe, 1,
	   "a jump to the function's own start carries one: the call goes on");
	is(site(self + 4)->probe, 1, "with entries and returns only a ret has a probe");
}

static void test_switch(void)
{
	ok(PLAN(ALL, "relative", "absolute", "masked", "memory", "hoisted", "debug", "unproved",
		"badtable"),
	   "switches have a plan");
	test_table("relative", 19, 3, true, 0);
	is(site(address("relative") + 19)->refusal, PROBE_PREFIX, "a notrack jump can't be probed");
	is(site(address("relative") + 19)->probe, 0, "a notrack jump has no probe");
	ok(plan->skipped > 0, "a site that can't be probed is counted");
	is(function("relative")->skipped, 1, "a function counts its own site that can't be probed");
	test_table("absolute", 7, 2, true, 0);
	test_table("masked", 3, 2, true, 0);
	test_table("memory", 9, 2, true, 0);
	test_table("hoisted", 26, 2, true, 0);
	test_table("debug", 46, 2, true, 0);
	test_table("unproved", 0, 2, false, 1);
	test_table("badtable", 5, 1, false, 1);
	is(function("relative")->unreached, 0, "code that only a jump table leads to is reached");
}

static void test_depth(void)
{
	ok(PLAN(ALL, "depths"), "a function that moves its stack has a plan");
	is(site(address("depths"))->sp_delta, 0, "the depth at the entry is 0");
	is(site(address("depths") + 20)->sp_delta, SP_UNKNOWN,
	   "the depth behind sub %%rdi,%%rsp is unknown");
	is(site(address("depths") + 29)->sp_delta, 16,
	   "the depth is fetched back from the frame pointer");
	is(site(address("depths") + 36)->sp_delta, 0, "the depth at the ret is 0");
	is(site(address("depths") + 40)->sp_delta, 48, "a push adds to the depth");
	is(site(address("depths") + 43)->sp_delta, SP_UNKNOWN,
	   "the depth is unknown where two ways disagree");
}

static void test_transaction(void)
{
	uint64_t f = address("transact");

	ok(PLAN(ALL, "transact"), "a transaction has a plan");
	is(site(f)->refusal, PROBE_UNSUPPORTED, "xbegin can't be probed");
	is(function("transact")->unreached, 0, "both ways of xbegin are followed");
}

static void test_ifunc(void)
{
	ok(PLAN(ALL, "picked"), "an IFUNC has a plan");
	is(plan->functions.len, 3, "an IFUNC has what its resolver returns");
	is(plan->ifunc_unknown, 0, "of an IFUNC's resolver all results are known");
	for (unsigned i = 1; i <= 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "impl%u", i);
		is(site(address(name))->entry, 1, "%s is traced", name);
	}
}

/* ---- ranges and offsets ---- */

static int plan_spec(const char *text, unsigned events)
{
	struct plan_options options = {.events = events};
	function_vec v = {0};
	struct spec s;
	int err;

	plan__free(plan);
	plan = NULL;
	err = spec__parse(text, false, &s);
	if (!err) {
		err = object__resolve(object, &s, &v);
		spec__free(&s);
	}
	if (!err)
		err = plan__build(&v, &options, &plan);
	functions__free(&v);
	return err;
}

static uint64_t offset(uint64_t vaddr)
{
	uint64_t off = 0;

	object__vaddr_to_offset(object, vaddr, &off);
	return off;
}

static void test_range(void)
{
	uint64_t f = address("tail");
	char text[128];

	snprintf(text, sizeof(text), "0x%llx+0x4", (unsigned long long)offset(f + 2));
	is(plan_spec(text, ALL), 0, "a range is planned");
	if (!plan)
		return;
	is(plan->sites.len, 2, "a range has the branches in it");
	ok(site(f + 2)->probe && site(f + 4)->probe, "a range's branches have probes");
	is(plan->functions.data[0].entry_site, NO_SITE, "a range has no entry");
	is(plan->functions.data[0].branches, 2, "a range counts its branches");
	is(plan__function_at(plan, 0, f), NO_FUNCTION, "what is around a range isn't traced");
	is(block(f + 2)->end, f + 4, "a range's first block begins where it begins");
	snprintf(text, sizeof(text), "0x%llx+0x4", (unsigned long long)offset(f + 3));
	is(plan_spec(text, ALL), -EINVAL, "a range that starts inside an instruction is refused");
	snprintf(text, sizeof(text), "nearest are 0x%llx and 0x%llx", (unsigned long long)f + 2,
		 (unsigned long long)f + 4);
	ok(strstr(err__text(), text), "%s", err__text());
	snprintf(text, sizeof(text), "0x%llx:mid", (unsigned long long)offset(f + 3));
	is(plan_spec(text, ALL), -EINVAL, "an offset inside an instruction is refused");
	snprintf(text, sizeof(text), "0x%llx:mid", (unsigned long long)offset(f + 4));
	is(plan_spec(text, ALL), 0, "an offset at an instruction is taken");
	is(site(f + 4)->entry, 1, "an offset at an instruction is an entry");
	is(site(f + 4)->kind, BRANCH_JMP, "an offset at a branch is an entry and that branch");
}

static void test_lookups(void)
{
	uint64_t f = address("self"), off = 99;
	uint32_t s;

	ok(PLAN(ALL, "self", "tail", "locked"), "functions to look up have a plan");
	for (size_t i = 1; i < plan->sites.len; i++)
		if (plan->sites.data[i - 1].vaddr >= plan->sites.data[i].vaddr)
			ok(0, "sites ascend");
	is_str(plan__name_at(plan, plan__function_at(plan, 0, f + 2), f + 2, &off), "self",
	       "an address in a function has the function's name");
	is(off, 2, "an address in a function has its offset");
	is(plan__site_at(plan, 0, f + 1), NO_SITE, "no site is inside an instruction");
	is(plan__site_at(plan, 1, f), NO_SITE, "a site's address in another object is no site");
	is(plan__function_at(plan, 0, 0), NO_FUNCTION, "no function is at 0");
	s = plan__site_at(plan, 0, f + 2);
	off = plan->probes;
	plan__refuse(plan, s, PROBE_KERNEL);
	plan__refuse(plan, s, PROBE_KERNEL);
	is(plan->probes, off - 1, "a refused site loses its probe, once");
	is(plan->skipped, 1, "a refused site is counted as skipped, once");
	is(function("self")->skipped, 1, "a refused site is counted as its function's, once");
	is(site(f + 2)->refusal, PROBE_KERNEL, "a refused site says why");
	is(plan->functions.data[0].entry_site,
	   plan__site_at(plan, 0, plan->functions.data[0].ranges[0].vaddr),
	   "functions know their entries");
}

/* ---- a kernel, by hand ---- */

#define K 0xffffffff81000000ull

/* f: test edi,edi; je +7; call thunk_rax; ud2; jmp return_thunk.  g: jmp thunk_rdx.  h: ret; int3
 */
static uint8_t text[256] = {
	0x85, 0xff, 0x74, 0x07, 0xe8, 0xf7, 0,	  0,	0, 0x0f, 0x0b, 0xe9, 0xb0, 0, 0, 0, /* f */
	0xe9, 0x2b, 0,	  0,	0,    0xcc, 0xcc, 0xcc, /* g at 0x10 */
	0xc3, 0xcc,					/* h at 0x18 */
};

static struct symbol ksymbols[] = {
	{.vaddr = K, .size = 16, .name = "f", .shown = "f"},
	{.vaddr = K + 0x10, .size = 5, .name = "g", .shown = "g"},
	{.vaddr = K + 0x18, .size = 1, .name = "h", .shown = "h"},
	{.vaddr = K + 0x40,
	 .size = 32,
	 .name = "__x86_indirect_thunk_rdx",
	 .shown = "__x86_indirect_thunk_rdx"},
	{.vaddr = K + 0x60,
	 .size = 32,
	 .name = "__x86_indirect_thunk_rax",
	 .shown = "__x86_indirect_thunk_rax"},
	{.vaddr = K + 0xa0, .size = 5, .name = "__x86_return_thunk", .shown = "__x86_return_thunk"},
};
static struct segment ksegment = {.vaddr = K, .size = sizeof(text), .bytes = text, .exec = true};
static struct noprobe knoprobe = {.vaddr = K + 0x18, .size = 1, .reason = "blacklist"};

static void put32(unsigned at, unsigned target)
{
	uint32_t rel = target - (at + 4);

	memcpy(text + at, &rel, 4);
}

static struct object kernel_object(struct symbol *symbols, size_t n)
{
	struct object o = {.kind = OBJECT_KERNEL, .path = (char *)"kernel", .machine = EM_X86_64};

	o.segments.data = &ksegment;
	o.segments.len = 1;
	o.symbols.data = symbols;
	o.symbols.len = n;
	o.noprobe.data = &knoprobe;
	o.noprobe.len = 1;
	return o;
}

static void add_kernel_function(function_vec *v, const struct object *o, const char *name,
				uint64_t at, uint64_t size)
{
	struct function *f = vec__add(v);

	f->object = o;
	f->name = xstrdup(name);
	f->raw = xstrdup(name);
	f->entry = at;
	vec__push(&f->ranges, (struct range){at, size, NULL});
}

static void check_thunks(const char *what)
{
	is(site(K + 4)->kind, BRANCH_ICALL, "%s: a call of an indirect thunk is an indirect call",
	   what);
	is(site(K + 4)->operand.base, 0, "%s: a call of rax's thunk goes to what rax holds", what);
	is(site(K + 4)->thunk, 1, "%s: a call of an indirect thunk is marked", what);
	is(start_of(ended_by(K + 4)->next), K + 9,
	   "%s: control goes on behind a ud2, which is a WARN", what);
	is(site(K + 11)->kind, BRANCH_RET, "%s: a jmp to the return thunk is a ret", what);
	is(site(K + 0x10)->kind, BRANCH_IJMP, "%s: a jmp to an indirect thunk is an indirect jump",
	   what);
	is(site(K + 0x10)->operand.base, 2, "%s: a jmp to rdx's thunk goes to what rdx holds",
	   what);
}

static void test_kernel(void)
{
	struct object whole = kernel_object(ksymbols, ARRAY_SIZE(ksymbols));
	struct object module = kernel_object(ksymbols, 3), core = kernel_object(ksymbols + 3, 3);
	struct plan_options options = {.events = ALL, .kernel_object = &whole};
	function_vec v = {0};

	put32(5, 0x60);
	put32(12, 0xa0);
	put32(0x11, 0x40);
	for (unsigned round = 0; round < 2; round++) {
		const struct object *o = round ? &module : &whole;

		options.kernel_object = round ? &core : &whole;
		add_kernel_function(&v, o, "f", K, 16);
		add_kernel_function(&v, o, "g", K + 0x10, 5);
		add_kernel_function(&v, o, "h", K + 0x18, 1);
		plan__free(plan);
		is(plan__build(&v, &options, &plan), 0, "the kernel's functions are planned");
		if (plan)
			check_thunks(round ? "module" : "kernel");
		if (plan)
			is(site(K + 0x18)->refusal, PROBE_BLACKLIST, "the blacklist is held to");
		functions__free(&v);
	}
	plan__free(plan);
	plan = NULL;
}

/* A module. f: call g; jmp .+2; ret.  g: jmp into the kernel, to what returns.  h: call i; ret.  i:
 * jmp to the kernel's panic. */
static void test_module(void)
{
	static uint8_t bytes[64] = {
		0xe8, 0x0b, 0,	  0,	0,    0xeb, 0,	  0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
		0xcc, 0xcc, 0xe9, 0,	0,    0,    0,	  0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
		0xcc, 0xcc, 0xcc, 0xcc, 0xe8, 0x0b, 0,	  0,	0,    0xc3, 0xcc, 0xcc, 0xcc, 0xcc,
		0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xe9, 0,	0,    0,    0};
	static const char *const names[] = {"f", "g", "h", "i"};
	struct segment segment = {.vaddr = K + 0x10000, .size = 53, .bytes = bytes, .exec = true};
	struct symbol symbols[4] = {0}, named = {.vaddr = K + 0x80, .size = 8, .name = "panic"};
	struct object module = kernel_object(symbols, 4), core = kernel_object(&named, 1);
	struct plan_options options = {.events = ALL, .kernel_object = &core};
	uint32_t rel[] = {(uint32_t)(0x90 - 0x10015), (uint32_t)(0x80 - 0x10035)};
	function_vec v = {0};

	memcpy(bytes + 0x11, &rel[0], 4);
	memcpy(bytes + 0x31, &rel[1], 4);
	module.kind = OBJECT_MODULE;
	module.segments.data = &segment;
	for (unsigned i = 0; i < 4; i++)
		symbols[i] = (struct symbol){.vaddr = segment.vaddr + i * 16,
					     .size = i & 1 ? 5 : 16,
					     .name = names[i],
					     .shown = names[i]};
	named.shown = named.name;
	add_kernel_function(&v, &module, "f", segment.vaddr, 16);
	add_kernel_function(&v, &module, "h", segment.vaddr + 32, 16);
	plan__free(plan);
	if (is(plan__build(&v, &options, &plan), 0, "a module's functions are planned")) {
		is(ended_by(segment.vaddr)->noreturn, 0,
		   "what ends by a jump into the kernel comes back");
		is(site(segment.vaddr + 5)->kind, BRANCH_JMP,
		   "code behind a tail jump into the kernel's functions is decoded");
		is(ended_by(segment.vaddr + 32)->noreturn, 1,
		   "a module's jump to the kernel's panic doesn't come back");
	}
	functions__free(&v);
	plan__free(plan);
	plan = NULL;
}

/* ---- hostile objects ---- */

/* Bytes at random, symbols and frames that overlap at random: no crash, no endless loop, nothing
 * out of bounds. */
static void test_random(void)
{
	static uint8_t bytes[2048];
	struct plan_options options = {.events = ALL};
	unsigned planned = 0;

	for (unsigned seed = 1; seed <= 400; seed++) {
		struct segment segment = {
			.vaddr = K, .size = sizeof(bytes), .bytes = bytes, .exec = true};
		struct symbol symbols[8] = {0};
		struct frame frames[8] = {0};
		uint64_t pads[2] = {K + 300, K + 2047};
		struct object o = kernel_object(symbols, ARRAY_SIZE(symbols));
		function_vec v = {0};

		srand(seed);
		/* branches more often than not: chance alone makes few */
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = rand() % 3 ? rand() >> 5
					      : "\x74\xe8\xeb\xc3\xff\x24\x90\x0f"[rand() % 8];
		o.kind = seed & 1 ? OBJECT_ELF : OBJECT_KERNEL;
		segment.size -= rand() % 64;
		o.segments.data = &segment;
		o.frames.data = frames;
		o.frames.len = ARRAY_SIZE(frames);
		for (unsigned i = 0; i < 8; i++) {
			symbols[i].vaddr = K + i * 230 + rand() % 100;
			symbols[i].size = rand() % 600;
			symbols[i].name = symbols[i].shown = i == 3 ? "abort" : "x";
			frames[i] = (struct frame){K + i * 250, 100 + rand() % 150, rand() & 1,
						   pads, 2};
			if (i % 3)
				continue;
			add_kernel_function(&v, &o, "x", symbols[i].vaddr, symbols[i].size);
			vec__last(&v)->flags = rand() % 4   ? 0
					       : rand() & 1 ? FUNCTION_RANGE
							    : FUNCTION_IFUNC;
		}
		plan__free(plan);
		planned += !plan__build(&v, &options, &plan);
		functions__free(&v);
	}
	ok(planned > 50, "%u of 400 heaps of random bytes have a plan", planned);
	plan__free(plan);
	plan = NULL;
}

int main(void)
{
	if (!ok(assemble(source), "the assembler makes the test object"))
		return tap__done();
	test_lock();
	test_noreturn();
	test_gaps();
	test_jumps();
	test_switch();
	test_depth();
	test_transaction();
	test_ifunc();
	test_range();
	test_lookups();
	test_kernel();
	test_module();
	test_random();
	plan__free(plan);
	object__free(object);
	return tap__done();
}
