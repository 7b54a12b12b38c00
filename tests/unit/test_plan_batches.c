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
		       f->skipped == g->skipped &&
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

int main(void)
{
	static const char *const all[] = {"*", NULL};

	if (!ok(assemble(source), "the assembler makes the test object"))
		return tap__done();
	compare(all, "all functions");
	test_ranges();
	test_owner();
	object__free(object);
	return tap__done();
}
