// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which branch chose a call's result, or that control came to its end: functions of the shapes that
 * compilers make are assembled, a way through each is passed as steps, and the branch that is named
 * is compared with the one that the way was made for.
 */
#include "plan/graph/meet.h"
#include "code_graph_fixture.h"
#include "explain/show.h"

#define SOURCE                                                                                         \
	".text\n"                                                                                      \
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n"                       \
	" \\name: .cfi_startproc\n.endm\n"                                                             \
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n" /* if (a) return -22; if     \
									     (b) return -22;           \
									     return 0: one             \
									     constant, two ways */     \
	"fn early\n test %edi,%edi\n jne 1f\n test %esi,%esi\n jne 1f\n xor %eax,%eax\n ret\n"         \
	"1: mov $-22,%eax\n ret\nend early\n" /* ret = -22; if (a) goto out; ret = -1; if (b) goto     \
						 out; ret = 0; out: if (c) unlock */                   \
	"fn ahead\n mov $-22,%eax\n test %edi,%edi\n jne 1f\n mov $-1,%eax\n test %esi,%esi\n"         \
	" jne 1f\n xor %eax,%eax\n1: test %edx,%edx\n je 2f\n nop\n2: ret\nend ahead\n" /* in a        \
											   register    \
											   that is     \
											   saved,      \
											   with a      \
											   check       \
											   of the      \
											   stack       \
											   behind      \
											 */            \
	"fn saved\n push %rbx\n mov $-9,%ebx\n cmp $5,%edi\n ja 1f\n mov $-12,%ebx\n"                  \
	" cmp $3,%edi\n je 1f\n xor %ebx,%ebx\n1: mov %ebx,%eax\n cmp %fs:0x28,%rdx\n jne 2f\n"        \
	" pop %rbx\n ret\n2: ud2\nend saved\n" /* by a slot of the stack */                            \
	"fn slot\n sub $24,%rsp\n movl $0,8(%rsp)\n test %edi,%edi\n je 1f\n movl $-5,8(%rsp)\n"       \
	"1: mov 8(%rsp),%eax\n add $24,%rsp\n ret\nend slot\n" /* without a branch: cmov, sbb */       \
	"fn cmov\n test %esi,%esi\n jne 1f\n xor %eax,%eax\n mov $-11,%ecx\n test %edi,%edi\n"         \
	" cmovne %ecx,%eax\n ret\n1: xor %eax,%eax\n ret\nend cmov\n"                                  \
	"fn sbb\n test %esi,%esi\n jne 1f\n cmp $1,%edi\n sbb %eax,%eax\n and $-22,%eax\n ret\n"       \
	"1: xor %eax,%eax\n ret\nend sbb\n" /* what a callee returned, and what is made of it */       \
	"fn passes\n call early\n test %eax,%eax\n js 1f\n xor %eax,%eax\n1: cltq\n ret\nend passes\n" \
	"fn maps\n call early\n test %eax,%eax\n js 1f\n xor %eax,%eax\n ret\n1: mov $-5,%eax\n"       \
	" ret\nend maps\n"                                                                             \
	"fn jumps\n test %edx,%edx\n je early\n xor %eax,%eax\n ret\nend jumps\n"                      \
	"fn stranger\n call outside\n ret\nend stranger\n" /* ok &= one(), in a loop: the loop's       \
							      end chose nothing */                     \
	"fn loops\n push %rbx\n push %rbp\n mov %edi,%ebp\n mov $1,%ebx\n1: test %ebp,%ebp\n"          \
	" je 3f\n dec %ebp\n cmp %esi,%ebp\n jne 2f\n xor %ebx,%ebx\n2: mov %esi,%eax\n"               \
	" and %eax,%ebx\n jmp 1b\n3: mov %ebx,%eax\n xor $1,%eax\n pop %rbp\n pop %rbx\n ret\n"        \
	"end loops\n"                                                                                  \
	"fn always\n test %edi,%edi\n je 1f\n nop\n1: mov $-38,%eax\n ret\nend always\n"               \
	"fn memory\n test %esi,%esi\n je 1f\n xor %eax,%eax\n ret\n1: mov (%rdi),%eax\n ret\n"         \
	"end memory\n" /* ends in a call */                                                            \
	"fn dies\n mov %edi,%eax\n test %esi,%esi\n jne 1f\n ret\n1: call outside\n ret\nend dies\n"   \
	"fn surely\n test %esi,%esi\n je 1f\n nop\n1: call outside\n ret\nend surely\n"                \
	".globl outside\n.type outside,@function\noutside: ret\n.size outside,.-outside\n"             \
	".globl _start\n_start: ret\n"

/* ---- a way, as steps ---- */

static struct explain_state state;
static struct explaining explaining;
static uint64_t calls;

static void pass(struct step s)
{
	s.plan = plan;
	s.comm = "test";
	s.pid = s.tid = 7;
	state__step(&state, &explaining, &s);
}

static void branch(uint64_t call, uint32_t function_id, uint32_t id, bool taken)
{
	const struct plan_site *s = &plan->sites.data[id];

	pass((struct step){.type = STEP_BRANCH,
			   .call = call,
			   .function = function_id,
			   .site = id,
			   .taken = taken,
			   .to_known = true,
			   .to = {.vaddr = s->target, .symbol = "somewhere"}});
}

/* Goes on as the letters say at conditionals, t for taken, and at calls: c enters a traced callee,
 * whose letters follow up to its end, and s steps over it; x ends everything there. True: x. */
static bool walk(uint32_t f, uint64_t caller, const char **way, const int64_t **values)
{
	uint32_t b = plan->functions.data[f].entry_block;
	uint64_t call = ++calls;
	bool left = false;

	pass((struct step){.type = STEP_ENTRY, .call = call, .caller = caller, .function = f});
	while (b != NO_BLOCK && !left) {
		uint32_t id = plan->blocks.data[b].site;
		const struct plan_site *s = id == NO_SITE ? NULL : &plan->sites.data[id];
		bool taken = s && plan_site__is_conditional(s) && *(*way)++ == 't';
		uint32_t to;

		if (!s) {
			b = plan->blocks.data[b].next;
			continue;
		}
		branch(call, f, id, taken);
		if (s->kind == BRANCH_CALL) {
			char what = *(*way)++;

			if (what == 'x')
				return true;
			if (what == 'c')
				walk(plan__function_at(plan, 0, s->target), call, way, values);
		}
		b = plan__block_after(plan, id, taken, s->target);
		to = b == NO_BLOCK ? NO_FUNCTION : plan->blocks.data[b].function;
		if (s->kind == BRANCH_RET) {
			left = true;
		} else if (to != f) {
			walk(plan__function_at(plan, 0, s->target), call, way, values);
			left = true;
		}
	}
	pass((struct step){.type = STEP_RETURN,
			   .call = call,
			   .function = f,
			   .has_value = true,
			   .value = (uint64_t) * (*values)++});
	return false;
}

static uint32_t index_of(const char *name)
{
	return function(name) - plan->functions.data;
}

static void begin(void)
{
	memset(&state, 0, sizeof(state));
	memset(&explaining, 0, sizeof(explaining));
	explaining.ends = true;
	calls = 0;
	state__begin(&state, plan);
}

static void finish(void)
{
	state__free(&state);
	explaining__free(&explaining);
}

/* ---- what is named ---- */

/* "early:1": the function's second conditional; "cmov:cmovnz": what chooses; "-": nothing. */
static char *named(const struct verdict *v)
{
	const struct verdict *d = v ? verdict__deciding(v) : NULL;
	unsigned n = 0;
	char text[64];

	if (!d)
		return xstrdup("-");
	if (d->choice) {
		code__text(plan, 0, d->choice, text, sizeof(text));
		text[strcspn(text, " ")] = 0;
		return xasprintf("%s:%s", plan->functions.data[d->function].name, text);
	}
	for (size_t i = 0; i < plan->sites_by_address.len; i++) {
		uint32_t id = plan->sites_by_address.data[i];

		if (id == d->branch.site)
			break;
		n += plan->sites.data[id].function == d->function &&
		     plan_site__is_conditional(&plan->sites.data[id]);
	}
	return xasprintf("%s:%u", plan->functions.data[d->function].name, n);
}

static const struct verdict *result(void)
{
	const struct thread *t = state.threads.len ? state.threads.data[0] : NULL;

	return t && t->ended.len ? *vec__last(&t->ended) : NULL;
}

static void check(const char *name, const char *way, const char *want, const char *what,
		  const int64_t *values)
{
	const char *at = way;
	autofree char *got = NULL;

	begin();
	walk(index_of(name), 0, &at, &values);
	got = named(result());
	is_str(got, want, "%s, %s: %s", name, way, what);
	finish();
}
#define VALUES(...)                                                                                \
	(const int64_t[])                                                                          \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static void test_results(void)
{
	check("early", "t", "early:0", "the first of two tests", VALUES(-22));
	check("early", "nt", "early:1", "the second one, of the same constant", VALUES(-22));
	check("ahead", "tt", "ahead:0", "a constant that was set ahead", VALUES(-22));
	check("ahead", "nttn", "ahead:1", "the second one", VALUES(-1));
	check("saved", "tn", "saved:0", "in a saved register", VALUES(-9));
	check("saved", "ntn", "saved:1", "not the check of the stack", VALUES(-12));
	check("slot", "n", "slot:0", "in a slot of the stack", VALUES(-5));
	check("cmov", "n", "cmov:cmovnz", "a conditional move", VALUES(-11));
	check("sbb", "n", "sbb:sbb", "a subtraction of the carry", VALUES(-22));
	check("always", "t", "-", "no branch could have changed it", VALUES(-38));
	check("memory", "t", "memory:0", "that it was loaded", VALUES(-2));
	check("loops", "ntnnt", "loops:1", "not the end of the loop", VALUES(1));
}

static void test_callees(void)
{
	check("passes", "cntt", "early:1", "the callee's branch", VALUES(-22, -22));
	check("maps", "cttt", "maps:0", "its own constant", VALUES(-22, -5));
	check("jumps", "tnt", "early:1", "what it jumps to", VALUES(-22, -22));
	check("stranger", "s", "-", "a function that isn't traced", VALUES(-22));
}

static void test_untraced(void)
{
	const char *way = "s";
	const int64_t *values = VALUES(-22);
	const struct verdict *v;

	begin();
	walk(index_of("stranger"), 0, &way, &values);
	v = result();
	ok(v && v->origin.kind == VALUE_CALL && !v->callee_traced && !v->inner && v->callee_known,
	   "the value is from a call of what isn't traced");
	is_str(v ? v->callee.symbol : "", "somewhere", "which is named");
	finish();
}

/* ---- losses ---- */

static void test_lost(void)
{
	const char *way = "nt";
	const int64_t *values = VALUES(-22);
	autofree char *got = NULL;
	uint32_t f = index_of("early");

	begin();
	pass((struct step){.type = STEP_ENTRY, .call = 1, .function = f});
	pass((struct step){.type = STEP_LOST, .count = 1});
	pass((struct step){.type = STEP_RETURN,
			   .call = 1,
			   .function = f,
			   .has_value = true,
			   .value = (uint64_t)-22});
	got = named(result());
	is_str(got, "-", "behind lost events nothing is named");
	is_str(result() ? result()->unsure : NULL, "events were lost", "and why is told");
	finish();
	begin();
	walk(f, 0, &way, &values);
	ok(result() && !result()->unsure, "without losses it is sure");
	finish();
}

/* ---- the end of a program ---- */

static void check_end(const char *name, const char *way, const char *want, const char *what)
{
	const int64_t *values = VALUES(0, 0, 0, 0);
	struct ending_found found;
	autofree char *got = NULL;

	begin();
	explaining.status = 3;
	walk(index_of(name), 0, &way, &values);
	ending__find(&state, &explaining, &found);
	got = named(found.chain.len ? *vec__last(&found.chain) : NULL);
	is_str(got, want, "%s: %s", name, what);
	ok(!found.unknown == (*want != '-'), "why nothing is named is told, or something is");
	ending__free(&found);
	finish();
}

static void test_ends(void)
{
	check_end("dies", "tx", "dies:0", "the branch that leads to the last call");
	check_end("surely", "tx", "-", "a call that all ways lead to");
}

/* ---- which functions to add ---- */

static void add(void *ctx, const char *name)
{
	(*(unsigned *)ctx)++;
}

/* A call in the kernel whose end was not seen, then another one that the program made. */
static void test_left(void)
{
	const char *way = "nt";
	const int64_t *values = VALUES(-22);
	const struct explained *f;
	autofree char *got = NULL;

	begin();
	plan->objects.data[0].kernel = true;
	pass((struct step){.type = STEP_ENTRY, .call = 1001, .function = index_of("jumps")});
	branch(1001, index_of("jumps"),
	       plan->blocks.data[plan->functions.data[index_of("jumps")].entry_block].site, true);
	walk(index_of("early"), 2002, &way, &values);
	f = state.failures.len ? &state.failures.data[0] : NULL;
	is(state.failures.len, 1, "a call is no callee of one that was left unseen");
	got = named(f ? f->verdict : NULL);
	is_str(got, "early:1", "and its branch is named");
	plan->objects.data[0].kernel = false;
	finish();
}

static void test_sites(void)
{
	id_vec sites = {0};
	struct code code;
	unsigned n = 0;

	code__init(&code, plan);
	code__callees(&code, index_of("passes"), &sites);
	is(sites.len, 1, "a call whose result may be returned");
	sites.len = 0;
	code__callees(&code, index_of("maps"), &sites);
	is(sites.len, 0, "one whose result is not");
	sites.len = 0;
	code__callees(&code, index_of("jumps"), &sites);
	is(sites.len, 1, "a jump out of the function");
	vec__free(&sites);
	code__free(&code);
	explain__callees(plan, add, &n);
	is(n, 0, "only functions of the kernel are added");
}

int main(void)
{
	if (!ok(assemble(SOURCE), "the assembler makes an object") ||
	    !ok(PLAN(ALL, "early", "ahead", "saved", "slot", "cmov", "sbb", "passes", "maps",
		     "jumps", "stranger", "loops", "always", "memory", "dies", "surely"),
		"a plan is made"))
		return tap__done();
	test_results();
	test_callees();
	test_untraced();
	test_lost();
	test_ends();
	test_left();
	test_sites();
	plan__free(plan);
	object__free(object);
	return tap__done();
}
