// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plans of some of a program's functions, joined in any order with that of all, are that of all;
 * and what each counted is added up where its code is. Functions lead into the middle of others, so
 * that a block of one plan is several of another.
 */
#include <errno.h>
#include "plan/change/change.h"
#include "plan/counting/counting.h"
#include "plan/join/join.h"
#include "code_graph_fixture.h"

/* branches(): the same code, at other places of two builds; one function differs */
#define FUNCTIONS(before, extra)                                                                   \
	".text\n"                                                                                  \
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n"                   \
	" \\name: .cfi_startproc\n.endm\n"                                                         \
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n" before                   \
	"fn joined\n inc %edi\n inc %esi\nmiddle: dec %edi\nlater: dec %esi\n je 1f\n nop\n"       \
	"1: ret\nend joined\n"                                                                     \
	"fn joins\n jmp middle\nend joins\n"                                                       \
	"fn joinstoo\n test %edi,%edi\n jne later\n jmp joined\nend joinstoo\n"                    \
	"fn differs\n test %edi,%edi\n" extra " je 1f\n ret\n1: call joined\n ret\nend differs\n"  \
	"fn jumps\n cmp $1,%edi\n ja 9f\n mov %edi,%edi\n lea .Lt(%rip),%rdx\n"                    \
	" movslq (%rdx,%rdi,4),%rax\n add %rdx,%rax\n jmp *%rax\n8: inc %esi\n9: ret\nend jumps\n" \
	" .section .rodata\n .balign 8\n.Lt: .long 8b-.Lt, 9b-.Lt\n .quad -1\n .text\n"            \
	".globl _start\n_start: ret\n"

static const char *const names[] = {"joined", "joins", "joinstoo", "differs", "jumps"};
#define EACH ((1u << ARRAY_SIZE(names)) - 1)

static struct plan *plan_with(struct object *o, unsigned mask, function_vec *functions)
{
	const struct plan_options options = {.events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN};
	const char *list[ARRAY_SIZE(names) + 1] = {0};
	struct plan *p = NULL;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (mask >> i & 1)
			list[n++] = names[i];
	if (!resolve(o, list, functions))
		printf("# not resolved\n");
	functions__join(functions);
	if (plan__build(functions, &options, &p))
		printf("# %s\n", err__text());
	return p;
}

/* ---- a joined plan ---- */

struct sum {
	struct plan *all;
	struct plan_counts counts;
	VEC(struct range *) ranges;
};

static struct sum sum_new(void)
{
	struct sum s = {.all = xcalloc(1, sizeof(*s.all))};

	plan_counts__init(&s.counts, s.all);
	return s;
}

static void sum_free(struct sum *s)
{
	struct range **r;

	vec__each (r, &s->ranges)
		free(*r);
	vec__free(&s->ranges);
	plan_counts__free(&s->counts);
	plan__free(s->all);
}

/* Adds a plan, and each of its blocks and branches so often. */
static int sum_add(struct sum *s, const struct plan *p, bool by_symbol, uint64_t times,
		   struct plan_numbers *n)
{
	size_t sites = s->all->sites.len, blocks = s->all->blocks.len, table = s->all->table.len;
	struct plan_increment more;
	struct plan_counts counts;
	int err = plan__join(s->all, p, by_symbol, &more, n);

	if (err) {
		plan_increment__free(&more);
		return err;
	}
	if (!s->all->arch)
		s->all->arch = p->arch;
	if (!plan_increment__is_empty(&more)) {
		plan__extend(s->all, &more);
		plan_counts__extend(&s->counts, sites, blocks, table, s->all, n);
	}
	vec__append(&s->ranges, &n->ranges);
	n->ranges.len = 0;
	plan_increment__free(&more);
	plan_counts__init(&counts, p);
	for (size_t i = 0; i < p->blocks.len; i++)
		counts.blocks[i] = times;
	for (size_t i = 0; i < p->sites.len; i++)
		counts.sites[i].taken = times;
	plan_counts__add(&s->counts, s->all, &counts, p, n);
	plan_counts__free(&counts);
	return 0;
}

static bool same_rows(const struct plan *a, const struct plan *b)
{
	bool same = a->blocks.len == b->blocks.len && a->sites.len == b->sites.len &&
		    a->functions.len == b->functions.len;

	for (size_t i = 0; same && i < a->blocks.len; i++) {
		const struct plan_block *x = &a->blocks.data[a->blocks_by_address.data[i]];
		const struct plan_block *y = &b->blocks.data[b->blocks_by_address.data[i]];

		same = x->start == y->start && x->end == y->end &&
		       (x->site == NO_SITE) == (y->site == NO_SITE) &&
		       (x->site == NO_SITE ||
			a->sites.data[x->site].vaddr == b->sites.data[y->site].vaddr) &&
		       (x->next == NO_BLOCK) == (y->next == NO_BLOCK) &&
		       (x->next == NO_BLOCK ||
			a->blocks.data[x->next].start == b->blocks.data[y->next].start) &&
		       x->ntable == y->ntable;
		if (!same)
			printf("# block 0x%llx, 0x%llx\n", (unsigned long long)x->start,
			       (unsigned long long)y->start);
	}
	for (size_t i = 0; same && i < a->sites.len; i++) {
		const struct plan_site *x = &a->sites.data[a->sites_by_address.data[i]];
		const struct plan_site *y = &b->sites.data[b->sites_by_address.data[i]];

		same = x->vaddr == y->vaddr && x->kind == y->kind && x->role == y->role &&
		       !x->compare == !y->compare &&
		       (!x->compare || !strcmp(x->compare, y->compare)) &&
		       a->blocks.data[x->block].start == b->blocks.data[y->block].start;
		if (!same)
			printf("# site 0x%llx, 0x%llx\n", (unsigned long long)x->vaddr,
			       (unsigned long long)y->vaddr);
	}
	return same;
}

/* How often a block of the joined plan ran: in each plan that has its code. */
static uint64_t expected(struct plan *const *plans, const uint64_t *times, size_t n, uint64_t vaddr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += plan__block_holding(plans[i], 0, vaddr) == NO_BLOCK ? 0 : times[i];
	return sum;
}

static bool good_counts(const struct sum *s, struct plan *const *plans, const uint64_t *times,
			size_t n)
{
	for (size_t i = 0; i < s->all->blocks.len; i++) {
		uint64_t start = s->all->blocks.data[i].start;

		if (s->counts.blocks[i] != expected(plans, times, n, start)) {
			printf("# block 0x%llx: %llu\n", (unsigned long long)start,
			       (unsigned long long)s->counts.blocks[i]);
			return false;
		}
	}
	for (size_t i = 0; i < s->all->sites.len; i++) {
		const struct plan_site *site = &s->all->sites.data[i];
		uint64_t sum = 0;

		for (size_t k = 0; k < n; k++)
			sum += plan__site_of(plans[k], 0, site->vaddr, site->role) == NO_SITE
				       ? 0
				       : times[k];
		if (s->counts.sites[i].taken != sum)
			return false;
	}
	return true;
}

static void test_any_order(struct object *o)
{
	unsigned wrong = 0, miscounted = 0, cases = 0;
	function_vec functions[3] = {0};

	for (unsigned a = 1; a <= EACH; a++)
		for (unsigned b = 1; b <= EACH; b++) {
			const uint64_t times[] = {1, 10, 100};
			/* all of them come first, in between, or last */
			unsigned masks[3] = {a, b, EACH};
			struct plan *plans[3] = {0};
			struct sum s = sum_new();

			masks[2] = masks[(a + b) % 3];
			masks[(a + b) % 3] = EACH;
			for (int i = 0; i < 3; i++) {
				struct plan_numbers n;

				functions[i] = (function_vec){0};
				plans[i] = plan_with(o, masks[i], &functions[i]);
				wrong += sum_add(&s, plans[i], false, times[i], &n) != 0;
				plan_numbers__free(&n);
			}
			for (int i = 0; i < 3; i++)
				if (masks[i] == EACH) {
					bool same = same_rows(s.all, plans[i]);

					if (!same)
						printf("# masks %x %x %x\n", masks[0], masks[1],
						       masks[2]);
					wrong += !same;
				}
			miscounted += !good_counts(&s, plans, times, 3);
			cases++;
			sum_free(&s);
			for (int i = 0; i < 3; i++) {
				plan__free(plans[i]);
				functions__free(&functions[i]);
			}
		}
	is(cases, EACH * EACH, "plans of any functions, in any order");
	is(wrong, 0, "joined they are the plan of all");
	is(miscounted, 0, "each block and branch ran as often as in all of them together");
}

/* ---- another build ---- */

/* What a plan tells of a function's entry, in order, and where it is loaded. */
static void add_values(struct plan *p, uint32_t function, const char *letters, bool loaded)
{
	unsigned fetched = 0;

	for (; *letters; letters++)
		plan__add_value(
			p, &(struct plan_value){.name = (char[]){*letters, 0},
						.function = function,
						.enumeration = *letters == 'e' ? 0 : UINT32_MAX,
						.kind = *letters == 'e' ? KIND_ENUM : KIND_SIGNED,
						.size = 4,
						.fetched = loaded ? ++fetched : 0});
}

/* "a1b0": each value of the function with where it is loaded. */
static const char *values_of(const struct plan *p, uint32_t function)
{
	static char text[64];
	size_t n, len = 0;
	const struct plan_value *v = plan__values(p, function, &n);

	*text = 0;
	for (size_t i = 0; i < n && len < sizeof(text) - 4; i++)
		len += sprintf(text + len, "%s%u", v[i].name, v[i].fetched);
	return text;
}

static void test_values(struct object *o)
{
	function_vec functions[3] = {0};
	struct plan *a = plan_with(o, 3, &functions[0]), *b = plan_with(o, EACH, &functions[1]),
		    *c = plan_with(o, 3, &functions[2]);
	struct plan_numbers n;
	struct sum s = sum_new();
	const struct plan_enumerator *e;
	size_t count;

	add_values(a, 0, "ab", true);
	add_values(a, 1, "x", false);
	vec__push(&a->enumerators, (struct plan_enumerator){xstrdup("ONE"), 1, 0});
	for (uint32_t i = 0; i < b->functions.len; i++)
		add_values(b, i, "cbe", true);
	vec__push(&b->enumerators, (struct plan_enumerator){xstrdup("TWO"), 2, 0});
	add_values(c, 0, "defghijk", true);
	vec__push(&c->enumerators, (struct plan_enumerator){xstrdup("TWO"), 2, 0});
	add_values(c, 1, "x", true);
	is(sum_add(&s, a, false, 1, &n), 0, "a plan with values is joined");
	is_str(values_of(s.all, 0), "a1b2", "its values are there");
	plan_numbers__free(&n);
	is(sum_add(&s, b, false, 1, &n), 0, "so is one with other values of the same functions");
	is_str(values_of(s.all, n.functions[0]), "a1b2c3e4",
	       "what it alone loaded is behind what is there");
	is(n.fetched[0][0][0] * 100 + n.fetched[0][0][1] * 10 + n.fetched[0][0][2], 324,
	   "what it loaded is found by name");
	is_str(values_of(s.all, n.functions[1]), "x0c1b2e3", "functions keep their own values");
	is_str(values_of(s.all, n.functions[4]), "c1b2e3", "new functions have theirs");
	e = plan__enumerators(s.all, vec__last(&s.all->values)->enumeration, &count);
	ok(count == 1 && e->value == 2, "an enumeration of one plan isn't that of the other");
	is(n.untyped[0] || n.untyped[1] || n.untyped[4], false, "all of them are told by type");
	plan_numbers__free(&n);
	is(sum_add(&s, c, false, 1, &n), 0, "a third one is joined");
	ok(n.untyped[0], "more than can be loaded in a hit is not told");
	ok(n.untyped[1], "nor what is of the same name, and found another way");
	is_str(values_of(s.all, 0), "a1b2c3e4", "what is there stays");
	plan_numbers__free(&n);
	sum_free(&s);
	plan__free(a);
	plan__free(b);
	plan__free(c);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		functions__free(&functions[i]);
}

static void set_id(struct object *o, uint8_t id)
{
	o->build_id_len = 4;
	memset(o->build_id, id, 4);
	free(o->path);
	o->path = xstrdup("/somewhere/program");
}

static void test_builds(struct object *one, struct object *two)
{
	function_vec functions[2] = {0};
	struct plan *a = plan_with(one, EACH, &functions[0]),
		    *b = plan_with(two, EACH, &functions[1]);
	const struct plan_function *f;
	struct plan_numbers n;
	struct sum s = sum_new();
	unsigned twice = 0;

	set_id(one, 0x11);
	set_id(two, 0x22);
	is(sum_add(&s, a, false, 1, &n), 0, "a plan is joined");
	plan_numbers__free(&n);
	is(sum_add(&s, b, false, 1, &n), -EXDEV, "one of another build is not");
	plan_numbers__free(&n);
	ok(strstr(err__text(), "program is another build (build-id 22222222) than in the files "
			       "before (build-id 11111111)"),
	   "the message has both build-ids");
	is(sum_add(&s, b, true, 10, &n), 0, "by symbol it is");
	is(n.mapped, ARRAY_SIZE(names) - 1, "functions that correspond are found");
	is(n.apart, 1, "one that differs stays apart");
	plan_numbers__free(&n);
	is(s.all->functions.len, ARRAY_SIZE(names) + 1, "it is a function of its own");
	is(sum_add(&s, b, true, 100, &n), 0, "the same plan is joined again");
	is(n.mapped, ARRAY_SIZE(names) - 1, "what was found by its symbol is found so again");
	is(n.apart, 0, "what stays apart is where it was");
	plan_numbers__free(&n);
	is(s.all->functions.len, ARRAY_SIZE(names) + 1, "nothing is there twice");
	vec__each (f, &s.all->functions) {
		uint64_t ran = s.counts.blocks[f->entry_block];

		if (!strcmp(f->name, "differs"))
			twice += ran == 1 || ran == 110;
		else
			is(ran, 111, "%s: added up", f->name);
	}
	is(twice, 2, "what differs is not added up");
	sum_free(&s);
	plan__free(a);
	plan__free(b);
	functions__free(&functions[0]);
	functions__free(&functions[1]);
}

/* The kernel and its modules are elsewhere after each boot. */
static void test_moved(struct object *one, struct object *two)
{
	function_vec functions[2] = {0};
	struct plan *a = plan_with(one, EACH, &functions[0]),
		    *b = plan_with(two, EACH, &functions[1]);
	struct plan_numbers n;
	struct sum s = sum_new();
	const uint64_t shift = 0x200000;
	struct segment *segment;
	struct plan_block *block;
	struct plan_site *site;
	struct plan_extent *extent;

	one->kind = two->kind = OBJECT_MODULE;
	set_id(two, 0x11);
	vec__each (segment, &two->segments)
		segment->vaddr += shift;
	vec__each (block, &b->blocks) {
		block->start += shift;
		block->end += shift;
	}
	vec__each (site, &b->sites) {
		site->vaddr += shift;
		site->target += site->target ? shift : 0;
	}
	vec__each (extent, &b->extents) {
		extent->start += shift;
		extent->end += shift;
	}
	for (size_t i = 0; i < b->functions.len; i++)
		for (size_t r = 0; r < b->functions.data[i].nranges; r++)
			((struct range *)b->functions.data[i].ranges)[r].vaddr += shift;
	plan__index(b);
	is(sum_add(&s, b, false, 1, &n), 0, "a module is joined");
	plan_numbers__free(&n);
	is(sum_add(&s, a, false, 10, &n), 0, "so is the same one elsewhere");
	is(n.shifts[0], shift, "that far away");
	plan_numbers__free(&n);
	is(s.all->functions.len, ARRAY_SIZE(names), "it has no function of its own");
	is(s.all->blocks.len, b->blocks.len, "nor a block");
	for (size_t i = 0; i < s.all->blocks.len; i++)
		if (s.counts.blocks[i] != 11)
			is(s.counts.blocks[i], 11, "block %zu: added up", i);
	/* the object is freed as what it was read as */
	one->kind = two->kind = OBJECT_ELF;
	vec__each (segment, &two->segments)
		segment->vaddr -= shift;
	sum_free(&s);
	plan__free(a);
	plan__free(b);
	functions__free(&functions[0]);
	functions__free(&functions[1]);
}

/* The next object; NULL: the assembler failed. */
static struct object *assembled(const char *source)
{
	object = NULL;
	ok(assemble(source), "the assembler makes an object");
	return object;
}

int main(void)
{
	struct object *one = assembled(FUNCTIONS("", ""));
	struct object *two = assembled(FUNCTIONS("before: nop\n ret\n", " nop\n"));
	struct object *three = assembled(FUNCTIONS("", ""));

	if (!one || !two || !three)
		return tap__done();
	test_any_order(one);
	test_values(one);
	test_builds(one, two);
	test_moved(one, three);
	object__free(one);
	object__free(two);
	object__free(three);
	return tap__done();
}
