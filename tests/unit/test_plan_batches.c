// SPDX-License-Identifier: BSD-2-Clause
/*
 * A plan whose functions are followed in batches has the rows of one that was followed at once.
 * Here each function is a batch, and control leads from one into the middle of another one.
 */
#include "code_graph_fixture.h"

static const char *const source =
	".text\n"
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n \\name: .cfi_startproc\n.endm\n"
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n"
	/* a cold part without a symbol, which two functions lead to; it leads back into the first
	 */
	".balign 16\n.Lcold: .cfi_startproc\n .cfi_def_cfa_offset 16\n test %esi,%esi\n jne back\n call third\n"
	" jmp back\n .cfi_endproc\n"
	/* code behind a ret, which only the next function leads to, and from there further back */
	"fn first\n test %edi,%edi\n je 1f\n nop\n1: ret\nlone: call first\n jne 2f\n ret\n2: ret\nend first\n"
	"fn second\n ret\ntail: test %edi,%edi\n je lone\n call first\n ret\nend second\n"
	"fn third\n cmp $1,%edi\n je 1f\n jmp tail\n1: jmp second\nend third\n"
	/* a jump between two instructions of a block that its own function reaches */
	"fn joined\n inc %edi\n inc %esi\nmiddle: dec %edi\n je 1f\n nop\n1: ret\nend joined\n"
	"fn joins\n jmp middle\nend joins\n"
	"fn hot\n test %edi,%edi\n je .Lcold\nback: ret\nend hot\n"
	"fn other\n test %edi,%edi\n jne .Lcold\n ret\nend other\n"
	".globl _start\n_start: ret\n";

static struct plan *listed(const function_vec *functions, uint64_t batch)
{
	const struct plan_options options = {.events = PLAN_BRANCH, .batch = batch};
	struct plan *p = NULL;

	if (plan__build(functions, &options, &p))
		printf("# %s\n", err__text());
	return p;
}

static const struct plan_site *nth_site(const struct plan *p, size_t i)
{
	return &p->sites.data[p->sites_by_address.data[i]];
}

static const struct plan_block *nth_block(const struct plan *p, size_t i)
{
	return &p->blocks.data[p->blocks_by_address.data[i]];
}

static bool same_sites(const struct plan *a, const struct plan *b)
{
	bool same = a->sites.len == b->sites.len;

	for (size_t i = 0; same && i < a->sites.len; i++)
		same = nth_site(a, i)->vaddr == nth_site(b, i)->vaddr &&
		       nth_site(a, i)->kind == nth_site(b, i)->kind &&
		       nth_site(a, i)->entry == nth_site(b, i)->entry &&
		       nth_site(a, i)->function == nth_site(b, i)->function;
	return same;
}

static bool same_blocks(const struct plan *a, const struct plan *b)
{
	bool same = a->blocks.len == b->blocks.len;

	for (size_t i = 0; same && i < a->blocks.len; i++) {
		uint32_t at = nth_block(a, i)->site, bt = nth_block(b, i)->site;

		same = nth_block(a, i)->start == nth_block(b, i)->start &&
		       nth_block(a, i)->end == nth_block(b, i)->end &&
		       (at == NO_SITE) == (bt == NO_SITE) &&
		       (at == NO_SITE || a->sites.data[at].vaddr == b->sites.data[bt].vaddr);
	}
	return same;
}

/* In b the site of each block, and the block of each branch, are those at their addresses. */
static bool is_consistent(const struct plan *p)
{
	const struct plan_block *b;
	const struct plan_site *s;

	vec__each (s, &p->sites) {
		b = &p->blocks.data[s->block];
		if (s->vaddr < b->start || s->vaddr >= b->end ||
		    (s->role == ROLE_BRANCH && b->site != (uint32_t)(s - p->sites.data)))
			return false;
	}
	return true;
}

static bool same_functions(const struct plan *a, const struct plan *b)
{
	bool same = a->functions.len == b->functions.len && a->gaps.len == b->gaps.len;

	for (size_t i = 0; same && i < a->functions.len; i++) {
		const struct plan_function *f = &a->functions.data[i], *g = &b->functions.data[i];

		same = !strcmp(f->name, g->name) && f->nranges == g->nranges &&
		       f->branches == g->branches && f->unreached == g->unreached &&
		       f->skipped == g->skipped && f->unresolved == g->unresolved &&
		       (f->entry_site == NO_SITE ||
			a->sites.data[f->entry_site].vaddr == b->sites.data[g->entry_site].vaddr);
	}
	return same;
}

static void compare(const char *const *names, const char *what)
{
	function_vec functions = {0};
	struct plan *whole, *parts;

	ok(resolve(object, names, &functions), "%s: resolved", what);
	functions__join(&functions);
	whole = listed(&functions, UINT64_MAX);
	parts = listed(&functions, 1);
	ok(whole && parts, "%s: has plans", what);
	if (whole && parts) {
		ok(!whole->edgeless && parts->edgeless, "%s: was followed in batches", what);
		ok(same_sites(whole, parts), "%s: the same sites", what);
		ok(same_blocks(whole, parts), "%s: the same blocks", what);
		ok(same_functions(whole, parts), "%s: the same functions and gaps", what);
		ok(is_consistent(parts), "%s: sites and blocks belong together", what);
		is(parts->probes, whole->probes, "%s: the same number of probes", what);
		is(parts->skipped, whole->skipped, "%s: the same number of skipped ones", what);
	}
	plan__free(whole);
	plan__free(parts);
	functions__free(&functions);
}

/* A range within a function, whose code is followed, too. */
static void test_ranges(void)
{
	static char inside[64];
	const char *const names[] = {"first", inside, "hot", "other", NULL};
	uint64_t offset = 0;

	ok(object__vaddr_to_offset(object, address("third"), &offset), "a function has an offset");
	snprintf(inside, sizeof(inside), "0x%llx+0x5", (unsigned long long)offset);
	compare(names, "with a range");
}

static void test_owner(void)
{
	static const char *const names[] = {"*", NULL};
	function_vec functions = {0};

	ok(resolve(object, names, &functions), "all functions are resolved");
	plan = listed(&functions, 1);
	is(function("hot")->nranges, 2,
	   "a cold part belongs to the function that it leads back into");
	is(function("other")->nranges, 1, "not to another one that leads there");
	is(function("first")->unreached, 0, "code that only other batches lead to is decoded");
	is(function("second")->unreached, 0, "directly, or by more than one of them");
	plan__free(plan);
	plan = NULL;
	functions__free(&functions);
}

/* ---- where one function's flow depends on another one ---- */

/* switch: a jump by a table whose entries are relative to it; rdi: the index */
#define MACROS                                                                                     \
	".text\n.globl _start\n_start: ret\n"                                                      \
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n"                   \
	" \\name: .cfi_startproc\n.endm\n"                                                         \
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n"                          \
	".macro switch table\n lea \\table(%rip),%rdx\n movslq (%rdx,%rdi,4),%rax\n"               \
	" add %rdx,%rax\n jmp *%rax\n.endm\n"                                                      \
	".macro check\n cmp $1,%edi\n ja 9f\n mov %edi,%edi\n.endm\n"                              \
	".macro rodata\n .section .rodata\n .balign 8\n.endm\n"

/*
 * guesses() has no bound for its table: it is read up to the next table. That one's first entry,
 * read as one of this table, leads into the middle of a block of the other function.
 */
static const char *const adjacent_tables = MACROS
	".macro guesses n\n .balign 16\n .cfi_startproc\n switch .Lshort\\n\n.La\\n: inc %esi\n"
	" ret\n.Lb\\n: ret\n .cfi_endproc\n rodata\n.Lshort\\n: .long .La\\n-.Lshort\\n\n"
	" .long .Lb\\n-.Lshort\\n\n.Llong\\n: .long .Lc\\n-.Llong\\n, .Lc\\n-.Llong\\n\n"
	" .text\n.endm\n"
	".macro checks n\n .balign 16\n .cfi_startproc\n check\n switch .Llong\\n\n9: ret\n"
	" .rept 8\n inc %esi\n .endr\n.Lc\\n: inc %edi\n ret\n .cfi_endproc\n.endm\n"
	" guesses 1\n checks 1\n checks 2\n guesses 2\n";

/* The same, but the entry would lead into its own function. */
static const char *const own_entry = MACROS
	".macro ends n\n fn ends\\n\n switch .Lended\\n\n8: inc %esi\n9: inc %esi\n7: inc %esi\n"
	" ret\n end ends\\n\n rodata\n.Lended\\n: .long 8b-.Lended\\n, 9b-.Lended\\n\n"
	".Lnext\\n: .long 7b-.Lended\\n\n .quad -1\n .text\n.endm\n"
	".macro next n\n fn next\\n\n switch .Lnext\\n\n end next\\n\n.endm\n"
	" next 1\n ends 1\n ends 2\n next 2\n";

/* A jump from another function goes around the check of a table's bound. */
static const char *const intruder = MACROS
	".macro intrudes n\n fn intrudes\\n\n mov $100,%edi\n jmp .Linside\\n\n end intrudes\\n\n"
	".endm\n"
	".macro bounded n\n fn bounded\\n\n check\n.Linside\\n: switch .Lt\\n\n8: inc %esi\n"
	"9: ret\n end bounded\\n\n rodata\n.Lt\\n: .long 8b-.Lt\\n, 9b-.Lt\\n\n .quad -1\n"
	" .text\n.endm\n"
	" intrudes 1\n bounded 1\n bounded 2\n intrudes 2\n";

/* A cold part that leads back nowhere, and two functions that lead there, one by a table: it
 * belongs to the other one, since direct jumps are followed first. */
static const char *const shared_part = MACROS
	".macro cold n\n .balign 16\n.Lcold\\n: .cfi_startproc\n .cfi_def_cfa_offset 16\n"
	" inc %esi\n ud2\n .cfi_endproc\n.endm\n"
	".macro direct n\n fn direct\\n\n test %edi,%edi\n je .Lcold\\n\n ret\n end direct\\n\n"
	".endm\n"
	".macro table n\n fn table\\n\n check\n switch .Lp\\n\n9: ret\n end table\\n\n rodata\n"
	".Lp\\n: .long .Lcold\\n-.Lp\\n, 9b-.Lp\\n\n .quad -1\n .text\n.endm\n"
	" cold 1\n cold 2\n direct 1\n table 1\n table 2\n direct 2\n";

/* Whether far() returns shows behind many instructions, half of them in near(), which another
 * function calls. If it does, the table has no bound. */
static const char *const far_callee =
	MACROS " fn near\n .rept 12000\n nop\n .endr\n ud2\n end near\n"
	       " fn calls_near\n call near\n inc %esi\n ret\n end calls_near\n"
	       " fn far\n .rept 12000\n nop\n .endr\n call near\n ret\n end far\n"
	       " fn calls_far\n cmp $1,%edi\n ja 1f\n mov %edi,%edi\n jmp 2f\n1: call far\n"
	       "2: switch .Lt\n8: inc %esi\n9: ret\n end calls_far\n"
	       " rodata\n.Lt: .long 8b-.Lt, 9b-.Lt\n .quad -1\n";

/* Control falls from a function within another one into the rest of the outer one. */
static const char *const nested = MACROS
	" fn outer\n test %edi,%edi\n je 9f\n ret\n.globl inner\n.type inner,@function\n"
	"inner: inc %esi\n .size inner,.-inner\n .rept 3\n inc %esi\n .endr\n9: ret\n end outer\n";

/* A jump at the end of one function contains the start of the next one. */
static const char *const overlapping =
	MACROS " fn left\n test %edi,%edi\n je 1f\n ret\n1: .byte 0xe9\n end left\n"
	       ".globl right\n.type right,@function\nright: .cfi_startproc\n"
	       " .rept 3\n inc %esi\n .endr\n ret\n end right\n";

/* A tail call passes the address of a table. Other callers may pass anything. */
static const char *const passed = MACROS
	" fn passes\n lea .Lpassed(%rip),%rdx\n jmp reads\n end passes\n"
	" fn reads\n movslq (%rdx,%rdi,4),%rax\n add %rdx,%rax\n jmp *%rax\n8: inc %esi\n9: ret\n"
	" end reads\n rodata\n.Lpassed: .long 8b-.Lpassed, 9b-.Lpassed\n .quad -1\n";

/* strip: only .eh_frame bounds its functions. */
static void test_case(const char *text, bool strip, const char *what)
{
	static const char *const all[] = {"*", NULL};

	object__free(object);
	object = NULL;
	if (!ok(assemble(text), "%s: the assembler makes the object", what))
		return;
	if (strip) {
		object__free(object);
		object = NULL;
		if (!ok(run("strip %s/graph", scratch) &&
				!object__open(scratch__path("graph"), &object),
			"%s: stripped", what))
			return;
	}
	compare(all, what);
}

static void test_nested(void)
{
	static const char *const all[] = {"*", NULL};
	function_vec functions = {0};

	test_case(nested, false, "a function within another one");
	ok(resolve(object, all, &functions), "its functions are resolved");
	plan = listed(&functions, UINT64_MAX);
	is(block(address("inner") + 2)->end, address("inner") + 8,
	   "behind the inner one, the outer one has a block of several instructions");
	plan__free(plan);
	plan = NULL;
	functions__free(&functions);
}

int main(void)
{
	static const char *const all[] = {"*", NULL};

	if (!ok(assemble(source), "the assembler makes the test object"))
		return tap__done();
	compare(all, "all functions");
	test_ranges();
	test_owner();
	test_case(adjacent_tables, true, "adjacent tables");
	test_case(own_entry, false, "a table that another one ends");
	test_case(intruder, false, "a jump around a bound");
	test_case(shared_part, false, "a shared cold part");
	test_case(overlapping, false, "overlapping instructions");
	test_case(passed, false, "a table's address as an argument");
	test_case(far_callee, false, "a callee that does not return, far away");
	test_nested();
	object__free(object);
	return tap__done();
}
