// SPDX-License-Identifier: BSD-2-Clause
/* What is counted in small functions, and what follows from it, by paths through them. */
#include "plan/change/change.h"
#include "plan/counting/counting.h"
#include "code_graph_fixture.h"

static const char *const source =
	".text\n"
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n \\name: .cfi_startproc\n.endm\n"
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n"
	/* blocks 0: before, 1: the loop, 2: behind it */
	"fn loop\n push %rbx\n mov %edi,%ebx\n"
	"1: nop\n dec %ebx\n jne 1b\n"
	" pop %rbx\n ret\nend loop\n"
	/* 0, 1 or 2, 3 */
	"fn choice\n push %rbx\n test %edi,%edi\n je 1f\n nop\n inc %eax\n jmp 2f\n"
	"1: nop\n dec %eax\n"
	"2: pop %rbx\n ret\nend choice\n"
	/* 0, one of 1 to 3, 4; 4 also from 0 */
	"fn switch\n cmp $2,%edi\n ja 4f\n mov %edi,%edi\n lea 9f(%rip),%rdx\n"
	" movslq (%rdx,%rdi,4),%rax\n add %rdx,%rax\n jmp *%rax\n"
	"1: nop\n jmp 4f\n2: nop\n jmp 4f\n3: nop\n4: ret\nend switch\n"
	".section .rodata\n.balign 4\n9: .long 1b-9b, 2b-9b, 3b-9b\n.text\n"
	"fn tails\n test %edi,%edi\n je stepped\n jmp choice\nend tails\n"
	/* 0, 1: calls itself, 2: behind that, 3 */
	"fn recurs\n push %rbx\n test %edi,%edi\n je 1f\n dec %edi\n call recurs\n nop\n1: pop %rbx\n ret\nend recurs\n"
	"fn setjmp\n xor %eax,%eax\n ret\nend setjmp\n"
	"fn twice\n push %rbx\n call setjmp\n nop\n test %eax,%eax\n jne 1f\n nop\n1: pop %rbx\n ret\nend twice\n"
	"fn never\n ud2\nend never\n"
	"fn aborts\n push %rbx\n test %edi,%edi\n je 1f\n call never\n1: pop %rbx\n ret\nend aborts\n"
	/* its conditional can't carry a probe */
	"fn hinted\n nop\n test %edi,%edi\n .byte 0x3e\n je 1f\n nop\n inc %eax\n1: nop\n ret\nend hinted\n"
	/* nor is there another instruction that tells it */
	"fn hidden\n nop\n test %edi,%edi\n .byte 0x3e\n je 1f\n1: ret\nend hidden\n"
	"fn stepped\n mov %edi,%eax\n add %eax,%eax\n ret\nend stepped\n"
	"fn either\n nop\n test %edi,%edi\n .byte 0x3e\n je 1f\n nop\n jmp 2f\n1: mov %edi,%eax\n2: nop\n ret\nend either\n"
	"fn late\n mov %edi,%eax\n add %eax,%eax\n nop\n ret\nend late\n"
	"fn system\n nop\n mov $39,%eax\n syscall\n nop\n cmp $-1,%rax\n ret\nend system\n"
	"fn through\n test %edi,%edi\n je 1f\n jmp *%rsi\n1: nop\n inc %eax\n ret\nend through\n"
	".globl _start\n_start: ud2\n";

static struct plan_counts truth, counts;
static uint32_t own[16]; /* the function's blocks in order of address */

static bool build_by(const char *const *names, const struct plan_options *options)
{
	function_vec v = {0};

	plan_counts__free(&truth);
	plan_counts__free(&counts);
	plan__free(plan);
	plan = NULL;
	if (!resolve(object, names, &v) || plan__build(&v, options, &plan))
		printf("# %s\n", err__text());
	functions__free(&v);
	plan_counts__init(&truth, plan);
	plan_counts__init(&counts, plan);
	return plan;
}

static bool build(const char *const *names, unsigned events, bool all)
{
	return build_by(names, &(struct plan_options){.events = events,
						      .placement = PLACEMENT_COUNT,
						      .count_all = all});
}
#define COUNT(...) build((const char *const[]){__VA_ARGS__, NULL}, PLAN_ENTRY | PLAN_BRANCH, false)
#define COUNT_ALL(...)                                                                             \
	build((const char *const[]){__VA_ARGS__, NULL}, PLAN_ENTRY | PLAN_BRANCH, true)

/* ---- paths ---- */

static void find_blocks(const char *name)
{
	uint32_t n = 0, f = function(name) - plan->functions.data;

	memset(own, 0xff, sizeof(own));
	for (uint32_t i = 0; i < plan->blocks.len && n < ARRAY_SIZE(own); i++)
		if (plan->blocks.data[plan->blocks_by_address.data[i]].function == f)
			own[n++] = plan->blocks_by_address.data[i];
}

/* Executes a block up to an address (0: whole) from an address on, and goes to another one. */
static void execute(uint32_t block, uint64_t from, uint64_t upto, uint32_t to, uint64_t times)
{
	const struct plan_block *b = &plan->blocks.data[block];

	truth.blocks[block] += from ? 0 : times;
	for (uint32_t i = 0; i < plan->sites.len; i++) {
		const struct plan_site *s = &plan->sites.data[i];
		uint64_t at = s->vaddr + s->probe_at;

		if (s->block != block || at < from || (upto && at >= upto))
			continue;
		if (s->kind == BRANCH_JCC && to != b->taken)
			truth.sites[i].not_taken += times;
		else
			truth.sites[i].taken += times;
		if (s->kind == BRANCH_IJMP)
			plan_counts__jumped(&truth, plan, i, to == NO_BLOCK ? UINT32_MAX : 0,
					    to == NO_BLOCK ? 0 : plan->blocks.data[to].start,
					    times);
	}
}

/* So often along these blocks of a function, the last one of which it leaves. */
static void walk(const char *name, uint64_t times, const unsigned *path, size_t n)
{
	find_blocks(name);
	for (size_t i = 0; i < n; i++)
		execute(own[path[i]], 0, 0, i + 1 < n ? own[path[i + 1]] : NO_BLOCK, times);
}
#define WALK(name, times, ...)                                                                     \
	walk(name, times, (const unsigned[]){__VA_ARGS__},                                         \
	     sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static void solve(void)
{
	for (uint32_t i = 0; i < plan->sites.len; i++) {
		const struct plan_site *s = &plan->sites.data[i];
		const struct plan_block *b = &plan->blocks.data[s->block];

		if (s->probe != PROBE_COUNT)
			continue;
		counts.sites[i] = truth.sites[i];
		counts.targets[i] = truth.targets[i];
		for (uint32_t k = 0; s->kind == BRANCH_IJMP && k < b->ntable; k++)
			counts.table[b->table + k] = truth.table[b->table + k];
	}
	for (size_t i = 0; i < truth.cuts.len; i++)
		vec__push(&counts.cuts, truth.cuts.data[i]);
	plan_counts__solve(&counts, plan);
}

/* Are all counts those of the paths? */
static bool agree(void)
{
	bool good = true;

	solve();
	for (uint32_t i = 0; i < plan->sites.len; i++)
		if (counts.sites[i].taken != truth.sites[i].taken ||
		    counts.sites[i].not_taken != truth.sites[i].not_taken) {
			printf("# site %llx: %lld %lld, not %lld %lld\n",
			       (unsigned long long)plan->sites.data[i].vaddr,
			       (long long)counts.sites[i].taken,
			       (long long)counts.sites[i].not_taken,
			       (long long)truth.sites[i].taken,
			       (long long)truth.sites[i].not_taken);
			good = false;
		}
	for (uint32_t i = 0; i < plan->blocks.len; i++)
		good &= counts.blocks[i] == truth.blocks[i];
	for (uint32_t i = 0; i < plan->table.len; i++)
		good &= counts.table[i] == truth.table[i];
	return good && !counts.residue;
}

/* ---- what is counted ---- */

static const char *probed(void)
{
	static struct str s;

	str__clear(&s);
	str__puts(&s, "");
	for (uint32_t i = 0; i < plan->sites.len; i++) {
		const struct plan_site *p = &plan->sites.data[plan->sites_by_address.data[i]];

		if (p->probe == PROBE_COUNT)
			str__printf(&s, "%s%s+%llu", s.len ? " " : "",
				    plan->functions.data[p->function].name,
				    (unsigned long long)(p->vaddr + p->probe_at -
							 address(plan->functions.data[p->function]
									 .name)));
	}
	return s.data;
}

static bool is_counted(uint32_t block)
{
	const struct plan_site *s;

	vec__each (s, &plan->sites)
		if (s->block == block && s->probe == PROBE_COUNT)
			return true;
	return false;
}

static void test_paths(void)
{
	COUNT("loop");
	is_str(probed(), "loop+6", "of a loop the conditional tells all");
	WALK("loop", 3, 0, 1, 1, 1, 2);
	WALK("loop", 2, 0, 1, 2);
	ok(agree(), "of a loop all counts follow");

	COUNT("choice");
	is_str(probed(), "choice+3",
	       "of an if with else the conditional is counted, not both of its outcomes");
	WALK("choice", 5, 0, 1, 3);
	WALK("choice", 7, 0, 2, 3);
	ok(agree(), "of an if with else all counts follow");

	COUNT("switch");
	WALK("switch", 5, 0, 1, 2, 5);
	WALK("switch", 6, 0, 1, 3, 5);
	WALK("switch", 7, 0, 1, 4, 5);
	WALK("switch", 8, 0, 5);
	ok(agree(), "of a switch all counts follow");

	COUNT("late");
	is_str(probed(), "late+4", "of a block the instruction that costs least is counted");
	WALK("late", 9, 0);
	ok(agree(), "wherever it is in the block");

	COUNT("stepped");
	is(plan->probes, 1, "a function of one block is counted once");
	ok(site(address("stepped"))->probe == PROBE_COUNT,
	   "if every instruction is stepped, a site that is there anyway is counted");
	WALK("stepped", 9, 0);
	ok(agree(), "of a function of one block all counts follow");
}

static void test_calls(void)
{
	COUNT("tails", "choice", "stepped");
	WALK("tails", 4, 0, 1);
	WALK("choice", 4, 0, 1, 3);
	find_blocks("stepped");
	execute(own[0], 0, 0, NO_BLOCK, 3);
	find_blocks("tails");
	execute(own[0], 0, 0, plan->blocks.data[own[0]].taken, 3);
	ok(agree(), "a tail call leads into the function that it jumps to");

	COUNT("recurs");
	WALK("recurs", 1, 0, 1);
	WALK("recurs", 1, 0, 3);
	WALK("recurs", 1, 2, 3);
	ok(agree(), "of a recursive function all counts follow");

	COUNT("recurs");
	WALK("recurs", 5, 0, 1);
	WALK("recurs", 2, 2, 3);
	ok(agree(), "a call need not return");

	COUNT("twice");
	WALK("twice", 1, 0, 1, 2, 3);
	WALK("twice", 4, 1, 3);
	ok(agree(), "a call may return more often than it was executed");

	COUNT("aborts");
	WALK("aborts", 6, 0, 2);
	WALK("aborts", 1, 0, 1);
	ok(agree(), "a call that doesn't return leads nowhere");
}

static void test_refused(void)
{
	COUNT("hinted");
	is(site(address("hinted") + 3)->refusal, PROBE_PREFIX, "a conditional can't carry a probe");
	WALK("hinted", 5, 0, 1, 2);
	WALK("hinted", 3, 0, 2);
	ok(agree(), "the counts of a conditional that can't carry a probe follow");
	is(plan->probes, 2, "two instructions tell them");
	ok(is_counted(own[1]), "one of them is in the block that runs less often");
	is(plan->skipped, 0, "it doesn't count as skipped");

	COUNT("either");
	find_blocks("either");
	ok(is_counted(own[1]) && !is_counted(own[2]),
	   "of two blocks the one that costs less is counted");
	WALK("either", 5, 0, 1, 3);
	WALK("either", 3, 0, 2, 3);
	ok(agree(), "the count of the other one follows");

	COUNT("hidden");
	WALK("hidden", 5, 0, 1);
	solve();
	ok(site(address("hidden") + 3)->unsolved, "where two ways lead to one place, none is told");
	is(counts.sites[plan__site_at(plan, 0, address("hidden") + 3)].taken, COUNT_UNKNOWN,
	   "a count that doesn't follow is unknown");
	is(counts.blocks[function("hidden")->entry_block], 5, "all others follow");
	is(plan->skipped, 1, "a branch whose counts don't follow counts as skipped");
	is(function("hidden")->skipped, 1, "its function says so");
}

static void test_interrupted(void)
{
	uint64_t at;

	COUNT("system");
	at = address("system");
	is(plan->breaks.len, 1, "a system call breaks its block");
	is(plan->probes, 2, "both of its parts are counted");
	find_blocks("system");
	execute(own[0], 0, 0, NO_BLOCK, 5);
	execute(own[0], 0, at + 8, NO_BLOCK, 2);
	execute(own[0], at + 8, 0, NO_BLOCK, 1);
	ok(agree(), "threads may be in a system call when counting begins and when it ends");

	COUNT("loop");
	WALK("loop", 3, 0, 1, 1, 2);
	find_blocks("loop");
	execute(own[0], 0, 0, own[1], 1);
	execute(own[1], 0, plan->blocks.data[own[1]].start + 1, NO_BLOCK, 1);
	vec__push(&counts.cuts, (struct plan_cut){plan->blocks.data[own[1]].start + 1, 0, -1});
	ok(agree(), "a thread that is killed within a block contradicts nothing");

	COUNT("loop");
	find_blocks("loop");
	execute(own[1], plan->blocks.data[own[1]].start + 1, 0, own[2], 1);
	execute(own[2], 0, 0, NO_BLOCK, 1);
	vec__push(&counts.cuts, (struct plan_cut){plan->blocks.data[own[1]].start + 1, 0, 1});
	ok(agree(), "nor does one that is found within a block");
}

static void test_jumps(void)
{
	uint32_t jump;
	uint64_t last;

	COUNT("through");
	jump = plan__site_at(plan, 0, address("through") + 4);
	is(plan->sites.data[jump].probe, PROBE_COUNT,
	   "a jump to anywhere keeps its probe, which shows its targets");
	WALK("through", 4, 0, 2);
	WALK("through", 5, 0, 1, 2);
	WALK("through", 6, 0, 1);
	last = plan->blocks.data[own[2]].start;
	execute(own[0], 0, 0, own[1], 7);
	execute(own[1], 0, 0, NO_BLOCK, 0);
	truth.blocks[own[1]] += 7;
	truth.sites[jump].taken += 7;
	plan_counts__jumped(&truth, plan, jump, 0, last + 1, 7);
	execute(own[2], last + 1, 0, NO_BLOCK, 7);
	ok(agree(), "a jump may lead to any block, or into one");

	COUNT("switch");
	WALK("switch", 5, 0, 1, 2, 5);
	jump = plan->blocks.data[own[1]].site;
	plan->sites.data[jump].probe = PROBE_COUNT;
	truth.targets[jump]--;
	solve();
	is(counts.sites[jump].taken, 5, "a jump whose targets were not all seen is counted");
	is(counts.residue, 1, "that they were not is a contradiction");
}

static void test_options(void)
{
	static const char *const names[] = {"loop", "choice", "stepped", NULL};

	COUNT_ALL("loop", "choice");
	for (uint32_t i = 0; i < plan->sites.len; i++)
		if (plan->sites.data[i].probe != PROBE_COUNT)
			ok(false, "%llx is counted", (unsigned long long)plan->sites.data[i].vaddr);
	WALK("loop", 3, 0, 1, 1, 1, 2);
	WALK("choice", 5, 0, 1, 3);
	ok(agree(), "with all probes all counts are seen, and agree");
	counts.sites[function("loop")->entry_site].taken++;
	plan_counts__solve(&counts, plan);
	is(counts.residue, 1, "probes that disagree are a contradiction");

	COUNT_ALL("stepped");
	WALK("stepped", 4, 0);
	solve();
	counts.sites[function("stepped")->entry_site].taken = 7;
	plan_counts__solve(&counts, plan);
	is(counts.residue, 3, "so are two in one block");

	build(names, PLAN_ENTRY, false);
	is(plan->probes, 3, "of entries alone one instruction is counted for each function");
	is(plan->skipped, 0, "what isn't asked for doesn't count as skipped");
	WALK("loop", 3, 0, 1, 1, 1, 2);
	WALK("stepped", 4, 0);
	solve();
	is(counts.sites[function("loop")->entry_site].taken, 3, "entries are counted alone");
	is(counts.sites[function("stepped")->entry_site].taken, 4, "also by stepped instructions");
}

static void test_less(void)
{
	uint32_t entry;

	COUNT("choice");
	for (uint32_t i = 0; i < plan->sites.len; i++)
		if (plan->sites.data[i].probe == PROBE_COUNT)
			plan__refuse(plan, i, PROBE_KERNEL);
	is(plan->probes, 0, "a probe that could not be attached is gone");
	ok(plan->skipped > 0 && function("choice")->skipped > 0,
	   "what it would have told counts as skipped");
	solve();
	entry = function("choice")->entry_site;
	is(counts.sites[entry].taken, COUNT_UNKNOWN, "and is unknown");

	COUNT("hinted");
	find_blocks("hinted");
	for (uint32_t i = 0; i < plan->sites.len; i++)
		counts.sites[i].taken = plan->sites.data[i].block == own[1] ? 9 : 1;
	plan_counts__solve(&counts, plan);
	is(counts.residue, 8, "less than nothing is a contradiction");
	is(counts.sites[plan__site_at(plan, 0, address("hinted") + 3)].taken, 0,
	   "no count is less than nothing");
}

/* ---- what the kernel refuses ---- */

static struct plan_options options_of(unsigned events, bool all)
{
	return (struct plan_options){
		.events = events, .placement = PLACEMENT_COUNT, .count_all = all};
}

/* Refuses what is counted in the block; the number of instructions that are counted instead. */
static size_t refuse_in(uint32_t block, const struct plan_options *options)
{
	autofree id_vec chosen = {0};

	for (uint32_t i = 0; i < plan->sites.len; i++)
		if (plan->sites.data[i].block == block && plan->sites.data[i].probe == PROBE_COUNT)
			plan__refuse(plan, i, PROBE_KERNEL);
	plan__choose_again(plan, options, &chosen);
	plan_counts__free(&truth);
	plan_counts__free(&counts);
	plan_counts__init(&truth, plan);
	plan_counts__init(&counts, plan);
	return chosen.len;
}

static void test_choose_again(void)
{
	struct plan_options edges = options_of(PLAN_ENTRY | PLAN_BRANCH, false),
			    entries = options_of(PLAN_ENTRY, false);
	size_t before;

	COUNT("choice");
	find_blocks("choice");
	is(refuse_in(own[0], &edges), 2,
	   "where a conditional is refused, both of its sides are counted instead");
	is(plan->skipped, 0, "then nothing is skipped");
	WALK("choice", 5, 0, 1, 3);
	WALK("choice", 7, 0, 2, 3);
	ok(agree(), "and all counts follow");

	before = plan->sites.len;
	is(refuse_in(own[1], &edges), 1, "what was chosen may be refused, too");
	is(plan->sites.len, before + 1, "another instruction of the block has a site then");
	is(plan->skipped, 0, "from which all counts follow");
	before = plan->sites.len;
	refuse_in(own[1], &edges);
	refuse_in(own[1], &edges);
	WALK("choice", 5, 0, 1, 3);
	WALK("choice", 7, 0, 2, 3);
	ok(agree(), "a block in which everything was refused follows from others");
	is(refuse_in(own[3], &edges) + refuse_in(own[3], &edges), 0,
	   "where nothing was refused, nothing else is counted");

	COUNT("late");
	find_blocks("late");
	for (int i = 0; i < 4; i++)
		refuse_in(own[0], &edges);
	is(plan->probes, 0, "where everything is refused, nothing is counted");
	ok(plan->skipped > 0, "and that is skipped");

	build_by((const char *const[]){"late", NULL}, &entries);
	find_blocks("late");
	is(refuse_in(own[0], &entries), 1, "of entries alone another instruction is counted");
	WALK("late", 4, 0);
	solve();
	is(counts.sites[function("late")->entry_site].taken, 4, "which tells as much");
}

/* Code around a range may lead anywhere in it: here behind the first of its two blocks. */
static void test_range(void)
{
	char name[48];
	uint64_t from = address("choice") + 10;

	snprintf(name, sizeof(name), "0x%llx+0x5", (unsigned long long)from);
	COUNT(name);
	own[0] = plan__block_at(plan, 0, from);
	own[1] = plan__block_at(plan, 0, from + 3);
	is(plan->blocks.len, 2, "a range has the blocks in it");
	execute(own[0], 0, 0, own[1], 5);
	execute(own[1], 0, 0, NO_BLOCK, 5);
	execute(own[1], 0, 0, NO_BLOCK, 3);
	ok(agree(), "code around a range may lead to any of its blocks");
}

/* ---- probes that are removed ---- */

/* The witness of a side of the conditional. */
static struct plan_site *witness_of(uint32_t conditional, bool taken)
{
	const struct plan_side *side;

	vec__each (side, &plan->sides)
		if (side->site == conditional && side->taken == taken)
			return &plan->sites.data[side->witness];
	return NULL;
}

static void see(const struct plan_site *s, uint64_t taken, uint64_t not_taken)
{
	counts.sites[s - plan->sites.data] = (struct site_count){taken, not_taken};
}

/* In choice: je to block 2, the jmp at the end of block 1 to block 3, as does the end of block 2.
 */
static void test_bounds(void)
{
	static const char *const names[] = {"choice", NULL};
	struct plan_site *je, *jmp, *ret, *one, *other;
	autofree bool *retired = NULL;
	uint32_t id;

	build_by(names, &(struct plan_options){.events = PLAN_ENTRY | PLAN_BRANCH,
					       .placement = PLACEMENT_COUNT,
					       .count_all = true,
					       .retire = true});
	find_blocks("choice");
	id = plan->blocks.data[own[0]].site;
	je = &plan->sites.data[id];
	jmp = &plan->sites.data[plan->blocks.data[own[1]].site];
	ret = &plan->sites.data[plan->blocks.data[own[3]].site];
	one = witness_of(id, false);
	other = witness_of(id, true);
	if (!ok(one && other && other->probe == PROBE_NONE,
		"both sides of a conditional have a witness"))
		return;
	retired = xcalloc(plan->sites.len, sizeof(*retired));

	see(je, 3, 0);
	see(jmp, 0, 0);
	see(ret, 5, 0);
	plan_counts__bound(&counts, plan, retired);
	ok(!counts.low[id] && !counts.low[ret - plan->sites.data],
	   "as long as no probe is removed all counts are exact");

	retired[id] = retired[jmp - plan->sites.data] = true;
	one->probe = PROBE_NONE;
	plan_counts__bound(&counts, plan, retired);
	is(counts.low[id], LOW_TAKEN | LOW_NOT_TAKEN,
	   "where a conditional retired and nothing watches its sides, both are lower bounds");

	one->probe = PROBE_COUNT;
	memset(counts.blocks, 0, plan->blocks.len * sizeof(*counts.blocks));
	plan_counts__bound(&counts, plan, retired);
	is(counts.low[id], LOW_TAKEN,
	   "of a conditional that retired, the side that is watched and was never seen is exact: none");
	ok(counts.low[jmp - plan->sites.data], "what else retired is a lower bound");
	ok(!counts.low[ret - plan->sites.data], "what keeps its probe is exact");
	is(counts.sites[id].taken, 3, "what was counted stays");
	is(counts.blocks[own[0]], 3,
	   "the block of a conditional ran as often as both of its sides");
	is(counts.blocks[own[2]], 3, "so did the one that the taken side leads to");
	is(counts.blocks[own[3]], 5,
	   "a block ran as often as its branch, if that is more than what leads to it");

	see(one, 2, 0);
	other->probe = PROBE_COUNT;
	memset(counts.blocks, 0, plan->blocks.len * sizeof(*counts.blocks));
	plan_counts__bound(&counts, plan, retired);
	is(counts.low[id], LOW_TAKEN | LOW_NOT_TAKEN, "a side that was seen is a lower bound");
	is(counts.sites[id].not_taken, 2, "its witness counts for it");
	is(counts.sites[id].taken, 3, "the more so the conditional's own probe");
	see(other, 4, 0);
	plan_counts__bound(&counts, plan, retired);
	is(counts.sites[id].taken, 4, "hits that both of them counted are not added up");

	retired[id] = false;
	see(je, 3, 0);
	plan_counts__bound(&counts, plan, retired);
	is(counts.sites[id].not_taken, 0, "a witness counts only for a conditional that retired");
}

int main(void)
{
	if (!ok(assemble(source), "the assembler makes the test object"))
		return tap__done();
	test_paths();
	test_calls();
	test_refused();
	test_interrupted();
	test_jumps();
	test_options();
	test_less();
	test_choose_again();
	test_range();
	test_bounds();
	plan_counts__free(&truth);
	plan_counts__free(&counts);
	plan__free(plan);
	object__free(object);
	return tap__done();
}
