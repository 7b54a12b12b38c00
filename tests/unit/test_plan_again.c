// SPDX-License-Identifier: BSD-2-Clause
/* Where the kernel refuses probes of events, others are chosen: plan__choose_again(). */
#include "plan/change/change.h"
#include "code_fixture.h"
#include "plan/plan_private.h"

static const char source[] = ".text\n"
			     ".macro function name\n"
			     ".globl \\name\n.type \\name, @function\n\\name:\n"
			     ".endm\n"
			     /* a conditional that skips a block */
			     "function skips\n"
			     "	push %rbx\n	test %edi,%edi\n	je 1f\n"
			     "	nop\n	nop\n	nop\n	nop\n"
			     "1:	pop %rbx\n	ret\n"
			     ".size skips, .-skips\n"
			     "function begins\n"
			     "	push %rbx\n	test %edi,%edi\n	je 1f\n"
			     "	nop\n	ret\n"
			     "1:	pop %rbx\n	ret\n"
			     ".size begins, .-begins\n";

static struct object *object;
static struct plan *plan;
static struct plan_options options;

/* Conditionals are mostly taken. */
static bool weights(void *ctx, const struct object *o, uint64_t vaddr, struct branch_counts *counts)
{
	*counts = (struct branch_counts){.taken = 9, .not_taken = 1};
	return true;
}

static void build(const char *name, enum plan_placement placement, unsigned events)
{
	const char *names[] = {name, NULL};
	function_vec v = {0};

	plan__free(plan);
	plan = NULL;
	options =
		(struct plan_options){.events = events, .placement = placement, .weights = weights};
	if (!resolve(object, names, &v) || plan__build(&v, &options, &plan))
		exit(99);
	functions__free(&v);
}

/* Of the function's blocks, by their order. */
static uint32_t block(unsigned n)
{
	return plan->functions.data[0].entry_block + n;
}

/* The probed site of this role in a block; NO_SITE: none. */
static uint32_t probed(unsigned n, enum site_role role)
{
	for (uint32_t i = 0; i < plan->sites.len; i++)
		if (plan->sites.data[i].block == block(n) && plan->sites.data[i].role == role &&
		    plan->sites.data[i].probe == PROBE_TRAP)
			return i;
	return NO_SITE;
}

static bool has_witness(unsigned n)
{
	return probed(n, ROLE_WITNESS) != NO_SITE;
}

/* Refuses it; how many others are chosen. */
static size_t refuse(uint32_t site)
{
	autofree id_vec chosen = {0};

	plan__refuse(plan, site, PROBE_KERNEL);
	plan__choose_again(plan, &options, &chosen);
	return chosen.len;
}

static void test_branch(void)
{
	uint64_t first;
	uint32_t site;

	build("skips", PLACEMENT_FULL, ALL);
	ok(!has_witness(1) && !has_witness(2), "a conditional with a probe needs no witness");
	is(refuse(probed(0, ROLE_BRANCH)), 1, "where it is refused, one other is probed");
	ok(has_witness(1), "a witness on the side that the other one doesn't lead to");
	is(plan->skipped, 1, "the conditional counts as skipped");
	is(plan->functions.data[0].skipped, 1, "of its function as well");

	site = probed(1, ROLE_WITNESS);
	first = plan->sites.data[site].vaddr;
	is(refuse(site), 1, "the witness may be refused, too");
	site = probed(1, ROLE_WITNESS);
	ok(site != NO_SITE && plan->sites.data[site].vaddr != first,
	   "another instruction of its block is probed then");
	is(plan->skipped, 1, "a witness that was refused doesn't count as skipped");
}

static void test_copied(void)
{
	uint32_t site;

	build("skips", PLACEMENT_FULL, ALL);
	site = probed(0, ROLE_BRANCH);
	plan->sites.data[plan->functions.data[0].entry_site].logs = 1;
	is(refuse(site), 0, "in a function that runs as a copy no other instruction is probed");
	ok(!has_witness(1) && !has_witness(2), "nor has it a witness");
}

static void test_witness(void)
{
	uint32_t probes;

	build("skips", PLACEMENT_WITNESS, PLAN_ENTRY | PLAN_BRANCH);
	ok(probed(0, ROLE_BRANCH) == NO_SITE && has_witness(1),
	   "placement witness: a side of the conditional is probed, not itself");
	probes = plan->probes;
	for (int i = 0; i < 4; i++) {
		is(refuse(probed(1, ROLE_WITNESS)), 1,
		   "where that is refused, another one is chosen");
		is(plan->probes, probes, "which tells the same");
	}
	ok(!has_witness(1) && probed(0, ROLE_BRANCH) != NO_SITE, "at last the conditional itself");
	is(plan->skipped, 0, "nothing is skipped");
	is(refuse(NO_SITE), 0, "where nothing was refused, nothing is chosen");
}

static void test_entry(void)
{
	build("begins", PLACEMENT_WITNESS, ALL);
	ok(probed(0, ROLE_BRANCH) == NO_SITE, "the entry and the rets tell a conditional");
	is(refuse(plan->functions.data[0].entry_site), 1,
	   "where the entry is refused, the branch behind it is probed");
	ok(probed(0, ROLE_BRANCH) != NO_SITE && plan__reports_entry(plan, probed(0, ROLE_BRANCH)),
	   "which reports the entry");
	is(plan->skipped, 1, "the entry counts as skipped");
}

int main(void)
{
	scratch__write("again.s", source);
	if (!run("cd %s && gcc -shared -nostdlib -o again.so again.s", scratch) ||
	    object__open(scratch__path("again.so"), &object))
		exit(99);
	test_branch();
	test_copied();
	test_witness();
	test_entry();
	plan__free(plan);
	object__free(object);
	return tap__done();
}
