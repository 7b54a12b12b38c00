// SPDX-License-Identifier: BSD-2-Clause
/*
 * Of which conditionals the plan knows what they test: not if an operand is overwritten, or memory
 * is stored to, between the comparison and the branch; kept where a plan grows.
 */
#include "plan/change/change.h"
#include "code_graph_fixture.h"

#define FUNCTION(name, code)                                                                       \
	".globl " name "\n.type " name ",@function\n.balign 16\n" name ": .cfi_startproc\n" code   \
	"\n nop\n1: ret\n .cfi_endproc\n.size " name ",.-" name "\n"

struct row {
	const char *name, *code;
	int n; /* operands; 0: not told */
	uint8_t kinds[2];
	bool logged; /* also by copies */
};
static const struct row rows[] = {
	{"plain", "cmp %rsi,%rdi; jb 1f", 2, {OPERAND_REG, OPERAND_REG}, true},
	{"constant", "cmp $5,%edi; je 1f", 2, {OPERAND_REG}, true},
	{"sums", "add %esi,%edi; jc 1f", 2, {OPERAND_REG, OPERAND_REG}, true},
	{"between", "cmp %rsi,%rdi; mov %rdx,%rcx; jb 1f", 2, {OPERAND_REG, OPERAND_REG}, true},
	{"first_is_gone", "cmp %rsi,%rdi; mov %rdx,%rdi; jb 1f"},
	{"second_is_gone", "cmp %rsi,%rdi; mov %rdx,%rsi; jb 1f"},
	{"part_is_gone", "cmp %rsi,%rdi; mov %dl,%sil; jb 1f"},
	{"half_is_gone", "cmp %esi,%edi; lea 1(%rdx),%edi; jb 1f"},
	{"maybe_gone", "cmp %rsi,%rdi; cmovb %rdx,%rsi; jb 1f"},
	{"popped", "push %rsi; cmp %rsi,%rdi; pop %rsi; jb 1f"},
	{"result_is_gone", "dec %edi; mov %edx,%edi; jne 1f"},
	{"result_is_there", "dec %edi; mov %edi,%edx; jne 1f", 1, {OPERAND_REG}, true},
	{"second_by_itself", "sub %edi,%edi; jb 1f"},
	{"address_by_itself", "add (%rdi),%rdi; jb 1f"},
	{"memory", "cmp %rsi,(%rdi); jb 1f", 2, {OPERAND_MEM, OPERAND_REG}, true},
	{"stored", "cmp %rsi,(%rdi); mov %rdx,(%rcx); jb 1f"},
	{"pushed", "cmp %rsi,(%rdi); push %rdx; jb 1f"},
	{"loaded", "cmp %rsi,(%rdi); mov (%rdi),%rdx; jb 1f", 2, {OPERAND_MEM, OPERAND_REG}, true},
	{"base_is_gone", "cmp %rsi,(%rdi); mov %rdx,%rdi; jb 1f"},
	{"index_is_gone", "cmp %rsi,(%rdi,%rcx,4); mov %edx,%ecx; jb 1f"},
	{"stored_elsewise",
	 "cmp %rsi,%rdi; mov %rdx,(%rcx); jb 1f",
	 2,
	 {OPERAND_REG, OPERAND_REG},
	 true},
	{"relative", "cmpl $3,plain(%rip); mov %edx,%ecx; je 1f", 2, {OPERAND_MEM}, true},
	{"of_the_thread", "cmp %fs:0x28,%rdi; jne 1f"},
	{"of_the_stack", "cmp %rsp,%rdi; jb 1f", 2, {OPERAND_REG, OPERAND_REG}},
	{"by_a_register", "shl %cl,%edi; je 1f"},
	{"by_a_number", "shl $3,%edi; je 1f", 1, {OPERAND_REG}, true},
	{"by_nothing", "shl $0,%edi; je 1f"},
	{"of_floats", "ucomisd %xmm0,%xmm1; jb 1f"},
	{"counter", "cmp %esi,%edi; jrcxz 1f"},
	{"loops", "2: cmp %esi,%edi; loope 2b"},
	{"after_a_call", "cmp %esi,%edi; call plain; jb 1f"},
	{"carry_of_before", "cmp %esi,%edi; inc %edx; jb 1f", 2, {OPERAND_REG, OPERAND_REG}, true},
	{"zero_of_behind", "cmp %esi,%edi; inc %edx; jbe 1f"},
};

static const struct plan_site *conditional(const struct plan *p, const char *name)
{
	const struct plan_site *s;

	vec__each (s, &p->sites)
		if (plan_site__is_conditional(s) &&
		    !strcmp(p->functions.data[s->function].name, name))
			return s;
	printf("# %s has no conditional\n", name);
	return NULL;
}

static struct plan *make(const char *const *names, bool tests)
{
	struct plan_options options = {.events = ALL, .tests = tests};
	function_vec v = {0};
	struct plan *p = NULL;

	if (resolve(object, names, &v) && plan__build(&v, &options, &p))
		printf("# %s\n", err__text());
	functions__free(&v);
	return p;
}

static void check_row(const struct plan *p, const struct row *r)
{
	const struct plan_site *s = conditional(p, r->name);
	const struct test *t = s ? s->test : NULL;
	unsigned places = 0;
	struct operand values[2];

	if (!s || !ok(!t == !r->n, "%s: it is %stold what it tests", r->name, r->n ? "" : "not ") ||
	    !t)
		return;
	ok(t->n == r->n && t->operand[0].kind == r->kinds[0] && t->operand[1].kind == r->kinds[1],
	   "%s: where its operands are", r->name);
	for (int i = 0; i < t->n; i++)
		places += r->kinds[i] != OPERAND_NONE;
	is(plan__logged_values(p, s, values), r->logged && !s->entry ? places : 0,
	   "%s: what copies log", r->name);
}

/* From the branch on, not from the comparison. */
static void check_relative(const struct plan *p)
{
	const struct plan_site *s = conditional(p, "relative");

	if (s && s->test)
		is(s->vaddr + s->test->operand[0].at.disp, address("plain"),
		   "an address relative to the instruction pointer is one from the branch");
}

static void test_growth(void)
{
	static const char *const one[] = {"plain", NULL}, *const two[] = {"plain", "memory", NULL};
	struct plan *now = make(one, true), *next = make(two, true);
	struct plan_increment more;
	struct plan_change c = {0};
	const struct plan_site *s;

	if (!ok(!plan__change(now, next, &c), "a plan grows"))
		return;
	plan_change__begin(&c, now, &more);
	plan__extend(now, &more);
	plan_increment__free(&more);
	plan_change__free(&c);
	s = conditional(now, "plain");
	ok(s && s->test && s->test->n == 2, "what was tested is still known");
	s = conditional(now, "memory");
	ok(s && s->test && s->test->operand[0].kind == OPERAND_MEM,
	   "what a new one tests is known");
	plan__free(now);
	plan__free(next);
}

int main(void)
{
	const char *names[ARRAY_SIZE(rows) + 1] = {0};
	struct str source = {0};
	struct plan *p;

	str__puts(&source, ".text\n.globl _start\n_start: ret\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		str__printf(&source, FUNCTION("%s", "%s"), rows[i].name, rows[i].name, rows[i].name,
			    rows[i].code, rows[i].name, rows[i].name);
		names[i] = rows[i].name;
	}
	if (!ok(assemble(source.data), "the assembler makes an object"))
		return tap__done();
	str__free(&source);
	p = make(names, true);
	for (size_t i = 0; p && i < ARRAY_SIZE(rows); i++)
		check_row(p, &rows[i]);
	check_relative(p);
	plan__free(p);
	p = make(names, false);
	ok(p && !conditional(p, "plain")->test, "without being asked it is not found out");
	plan__free(p);
	test_growth();
	object__free(object);
	return tap__done();
}
