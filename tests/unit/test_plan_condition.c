// SPDX-License-Identifier: BSD-2-Clause
/*
 * What conditionals of a plan compare: found in their block, dropped where control may come between
 * the comparison and the branch, kept in plans that grow and in joined ones.
 */
#include "plan/change/change.h"
#include "plan/join/join.h"
#include "code_graph_fixture.h"

#define FUNCTIONS(before, limit)                                                                    \
	".text\n"                                                                                   \
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n"                    \
	" \\name: .cfi_startproc\n.endm\n"                                                          \
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n" before                    \
	"fn plain\n cmp $0x40,%rdi\n mov %esi,%edi\n jb 1f\n nop\n1: ret\nend plain\n"              \
	"fn same\n cmp $0x40,%rdi\n jae 1f\n nop\n1: ret\nend same\n"                               \
	"fn entered\n mov %edi,%esi\n cmp $" limit                                                  \
	",%edi\n.Lin: jne 1f\n nop\n1: ret\nend entered\n"                                          \
	"fn enters\n test %edi,%edi\n jmp .Lin\nend enters\n"                                       \
	"fn named\n cmp $5,%edi\n.type within,@function\nwithin: jne 1f\n nop\n1: ret\nend named\n" \
	"fn twice\n cmp $5,%edi\n jl 1f\n jg 1f\n nop\n1: ret\nend twice\n"                         \
	"fn calls\n cmp $5,%edi\n call plain\n je 1f\n nop\n1: ret\nend calls\n"                    \
	"fn relative\n cmpl $3,plain(%rip)\n jg 1f\n nop\n1: ret\nend relative\n"                   \
	"fn counts\n1: dec %edi\n jrcxz 2f\n loop 1b\n2: ret\nend counts\n"                         \
	".globl _start\n_start: ret\n"

/* The nth conditional of a function. */
static uint32_t conditional(const struct plan *p, const char *name, unsigned n)
{
	for (size_t i = 0; i < p->sites_by_address.len; i++) {
		uint32_t id = p->sites_by_address.data[i];
		const struct plan_site *s = &p->sites.data[id];

		if (plan_site__is_conditional(s) &&
		    !strcmp(p->functions.data[s->function].name, name) && !n--)
			return id;
	}
	printf("# %s has no such conditional\n", name);
	return NO_SITE;
}

static const char *compared(const struct plan *p, const char *name, unsigned n)
{
	uint32_t id = conditional(p, name, n);

	return id != NO_SITE && p->sites.data[id].compare ? p->sites.data[id].compare : "-";
}

/* ---- in one plan ---- */

static void check_proof(const char *name, unsigned n, bool taken, const char *want)
{
	struct str s = {0};
	bool proves = plan__condition(plan, conditional(plan, name, n), taken, &s);

	is_str(proves ? s.data : "-", want, "%s: what it proves that it is %staken", name,
	       taken ? "" : "not ");
	str__free(&s);
}

static void test_found(void)
{
	char want[64];
	struct str s = {0};

	if (!ok(PLAN(ALL, "plain", "same", "entered", "named", "twice", "calls", "relative",
		     "counts"),
		"a plan is made"))
		return;
	is_str(compared(plan, "plain", 0), "cmp rdi, 0x40", "what set the flags is found");
	check_proof("plain", 0, true, "rdi < 0x40 (unsigned)");
	check_proof("plain", 0, false, "rdi >= 0x40 (unsigned)");
	ok(compared(plan, "plain", 0) == compared(plan, "same", 0), "a text is there once");
	is_str(compared(plan, "entered", 0), "cmp edi, 0x05", "it is found next to the branch");
	is_str(compared(plan, "named", 0), "-", "what has a name may be jumped to");
	is_str(compared(plan, "twice", 0), "cmp edi, 0x05", "the first of two branches has it");
	is_str(compared(plan, "twice", 1), "-", "what another block compared is not told");
	check_proof("twice", 1, true, "-");
	is_str(compared(plan, "calls", 0), "-", "flags from before a call are not told");
	snprintf(want, sizeof(want), "cmp dword ptr [0x%llx], 0x03",
		 (unsigned long long)address("plain"));
	is_str(compared(plan, "relative", 0), want, "an address is that in the file");
	is_str(compared(plan, "counts", 0), "-", "a counter is compared by nothing");
	check_proof("counts", 0, true, "rcx == 0");
	check_proof("counts", 1, true, "rcx != 0");
	ok(!plan__condition(plan, plan->functions.data[0].entry_site, true, &s) && !s.len,
	   "an entry proves nothing");
}

static void test_entered(void)
{
	if (!ok(PLAN(ALL, "entered", "enters"), "a plan is made"))
		return;
	is_str(compared(plan, "entered", 0), "-", "control may come behind the comparison");
}

/* ---- plans that grow ---- */

static void test_change(void)
{
	static const char *const one[] = {"entered", "plain", NULL}, *const two[] = {
									     "entered", "plain",
									     "same", "enters",
									     NULL};
	struct plan *now = plan_of(object, one, ALL), *next = plan_of(object, two, ALL);
	struct plan_increment more;
	const char *before = compared(now, "plain", 0);
	uint32_t plain = conditional(now, "plain", 0);
	struct plan_change c = {0};
	const uint32_t *id;

	if (!ok(!plan__change(now, next, &c), "a plan grows")) {
		printf("# %s\n", err__text());
		return;
	}
	plan_change__begin(&c, now, &more);
	vec__each (id, &more.amended_sites)
		ok(*id != plain, "site %u: one whose comparison is the same stays as it is", *id);
	plan__extend(now, &more);
	ok(compared(now, "plain", 0) == before, "its text is where it was");
	is_str(compared(now, "same", 0), "cmp rdi, 0x40", "a new one has its text");
	is_str(compared(now, "entered", 0), "-", "where control comes from now, it is dropped");
	plan_increment__free(&more);
	plan_change__free(&c);
	plan__free(now);
	plan__free(next);
}

/* ---- joined plans ---- */

/* Of the conditional of entered, after these plans were joined. */
static const char *joined(const struct plan *a, const struct plan *b, bool by_symbol)
{
	const struct plan *const plans[] = {a, b};
	struct plan *all = xcalloc(1, sizeof(*all));
	static char text[128];

	all->arch = a->arch;
	for (int i = 0; i < 2; i++) {
		struct plan_increment more;
		struct plan_numbers n;
		struct range **r;

		if (plan__join(all, plans[i], by_symbol, &more, &n))
			printf("# %s\n", err__text());
		if (!plan_increment__is_empty(&more))
			plan__extend(all, &more);
		plan_increment__free(&more);
		snprintf(text, sizeof(text), "%s", compared(all, "entered", 0));
		vec__each (r, &n.ranges)
			free(*r);
		plan_numbers__free(&n);
	}
	plan__free(all);
	return text;
}

static void set_id(struct object *o, uint8_t id)
{
	o->build_id_len = 4;
	memset(o->build_id, id, 4);
	free(o->path);
	o->path = xstrdup("/somewhere/program");
}

static void test_join(struct object *other, struct object *moved)
{
	static const char *const one[] = {"entered", NULL}, *const two[] = {"enters", "entered",
									    NULL};
	struct plan *a, *b, *c, *d;

	set_id(object, 1);
	set_id(other, 2);
	set_id(moved, 3);
	a = plan_of(object, one, ALL);
	b = plan_of(object, two, ALL);
	c = plan_of(other, one, ALL);
	d = plan_of(moved, one, ALL);
	is_str(joined(a, a, false), "cmp edi, 0x05", "joined with itself it is the same");
	is_str(joined(a, b, false), "-", "where control comes from in the second, it is dropped");
	is_str(joined(b, a, false), "-", "where control comes from in the first, it stays away");
	is_str(joined(a, c, true), "-", "another build's compares otherwise");
	is_str(joined(a, d, true), "cmp edi, 0x05", "another build's compares the same elsewhere");
	plan__free(a);
	plan__free(b);
	plan__free(c);
	plan__free(d);
}

int main(void)
{
	struct object *other = NULL, *moved = NULL, **const more[] = {&moved, &other, &object};
	const char *const sources[] = {FUNCTIONS("before: nop\n ret\n", "5"), FUNCTIONS("", "6"),
				       FUNCTIONS("", "5")};

	for (int i = 0; i < 3; i++) {
		object = NULL;
		if (!ok(assemble(sources[i]), "the assembler makes an object"))
			return tap__done();
		*more[i] = object;
	}
	test_found();
	test_entered();
	test_change();
	test_join(other, moved);
	plan__free(plan);
	object__free(object);
	object__free(other);
	object__free(moved);
	return tap__done();
}
