// SPDX-License-Identifier: BSD-2-Clause
/*
 * No probe between a load-exclusive and its store-exclusive, whichever way control takes between
 * them; assembled by GNU as for both architectures that have them.
 */
#include <inttypes.h>
#include "code_graph_fixture.h"

/* Sites that may carry a probe are labelled free…, those that may not held…. */
static const char *const arm =
	".text\n"
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n \\name: .cfi_startproc\n.endm\n"
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n"
	/* compare and swap, as gcc writes it */
	"fn cas\n"
	"free0: cbz x0, 9f\n"
	"1: ldaxr w3, [x0]\n cmp w3, w1\n"
	"held0: b.ne 9f\n stlxr w4, w2, [x0]\n"
	"free1: cbnz w4, 1b\n"
	"9: cmp w3, w1\n"
	"free2: b.eq 8f\n mov w0, #1\n"
	"8:\nfree3: ret\nend cas\n"
	/* the other way out gives up by clrex, and what follows is free */
	"fn giving_up\n"
	"1: ldxr w3, [x0]\n"
	"held1: cbnz w3, 9f\n stxr w4, w2, [x0]\n"
	"free4: cbnz w4, 1b\n"
	"free5: ret\n"
	"9: clrex\n"
	"free6: cbz w1, 8f\n mov w0, #1\n8: ret\nend giving_up\n"
	/* far apart, backwards, and over a call of another function */
	"fn apart\n"
	"1: ldxp x3, x4, [x0]\n"
	"held2: b 3f\n"
	"2: stxp w5, x3, x4, [x0]\n"
	"free7: cbnz w5, 1b\n"
	"free8: ret\n"
	" .skip 256, 0\n"
	"3: cmp x3, x1\n"
	"held3: b.hi 2b\n add x3, x3, #1\n"
	"held4: tbnz x3, #3, 2b\n"
	"free9: ret\nend apart\n"
	/* a load that no store follows: nothing is known of what is near */
	"fn alone\n ldaxr w3, [x0]\n"
	"held5: cbz w3, 9f\n"
	"9: .rept 20\n nop\n .endr\n"
	"freea: ret\nend alone\n"
	/* a compare-and-swap of a pair is no exclusive one */
	"fn casp_\n .arch armv8-a+lse\n casp x2, x3, x4, x5, [x0]\n"
	"freeb: cbz x2, 9f\n9: ret\nend casp_\n"
	".globl _start\n_start: udf #1\n";

static const char *const riscv =
	".text\n.option norelax\n"
	".macro fn name\n .globl \\name\n .type \\name,@function\n .balign 16\n \\name: .cfi_startproc\n.endm\n"
	".macro end name\n .cfi_endproc\n .size \\name,.-\\name\n.endm\n"
	"fn cas\n"
	"free0: beqz a0, 9f\n"
	"1: lr.w.aq a3, (a0)\n"
	"held0: bne a3, a1, 9f\n sc.w.rl a4, a2, (a0)\n"
	"free1: bnez a4, 1b\n"
	"9: subw a5, a3, a1\n"
	"free2: beqz a5, 8f\n li a0, 1\n"
	"8:\nfree3: ret\nend cas\n"
	"fn apart\n"
	"1: lr.d a3, (a0)\n"
	"held2: j 3f\n"
	"2: sc.d a5, a3, (a0)\n"
	"free7: bnez a5, 1b\n"
	"free8: ret\n"
	" .skip 256, 0\n"
	"3:\nheld3: bgtu a3, a1, 2b\n addi a3, a3, 1\n"
	"held4: bltz a3, 2b\n"
	"free9: ret\nend apart\n"
	"fn alone\n lr.w a3, (a0)\n"
	"held5: beqz a3, 9f\n"
	"9: .rept 40\n nop\n .endr\n"
	"freea: ret\nend alone\n"
	"fn swaps\n amoswap.w a1, a1, (a0)\n"
	"freeb: beqz a1, 9f\n9: ret\nend swaps\n"
	".globl _start\n_start: unimp\n";

static bool assemble_for(const char *triplet, const char *source)
{
	scratch__write("pairs.s", source);
	return run("%s-as -o %s/pairs.o %s/pairs.s 2>&1 && %s-ld -e _start -o %s/pairs %s/pairs.o 2>&1",
		   triplet, scratch, scratch, triplet, scratch, scratch) &&
	       run("%s-nm %s/pairs >%s/names", triplet, scratch, scratch) &&
	       !object__open(scratch__path("pairs"), &object);
}

/* The labels, by nm: they are no functions. */
struct label {
	uint64_t vaddr;
	char name[16];
};
static VEC(struct label) labels;

static void read_labels(void)
{
	FILE *f = fopen(scratch__path("names"), "r");
	struct label l;
	char line[256];

	labels.len = 0;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*s %15s", &l.vaddr, l.name) == 2)
			vec__push(&labels, l);
	if (f)
		fclose(f);
}

static uint64_t label(const char *name)
{
	const struct label *l;

	vec__each (l, &labels)
		if (!strcmp(l->name, name))
			return l->vaddr;
	printf("# no label %s\n", name);
	return 0;
}

static void check_sites(const char *triplet)
{
	const struct label *s;
	unsigned n = 0;

	vec__each (s, &labels) {
		bool held = !strncmp(s->name, "held", 4);

		if (!held && strncmp(s->name, "free", 4))
			continue;
		n++;
		ok(site(s->vaddr)->kind != BRANCH_NONE, "%s, %s is a branch", triplet, s->name);
		is(site(s->vaddr)->refusal, held ? PROBE_EXCLUSIVE : PROBE_OK, "%s: %s", triplet,
		   s->name);
	}
	ok(n >= 11, "%s: %u branches", triplet, n);
}

/* Is there a witness that lies in [start, end)? */
static bool has_witness(uint64_t start, uint64_t end)
{
	const struct plan_site *s;

	vec__each (s, &plan->sites)
		if (s->role == ROLE_WITNESS && s->probe != PROBE_NONE && s->vaddr >= start &&
		    s->vaddr < end)
			return true;
	return false;
}

/* What the branch did is told from outside: by the branch behind the store, or the one where both
 * ways end. */
static void check_witnesses(const char *triplet)
{
	const struct plan_site *s;

	vec__each (s, &plan->sites)
		if (s->role == ROLE_WITNESS)
			ok(!block(s->vaddr)->unfit,
			   "%s: a witness at %#" PRIx64 " is in a block that is fit", triplet,
			   s->vaddr);
	ok(!has_witness(label("held0"), label("free1")), "%s: none in the pair of cas", triplet);
	ok(!has_witness(label("held3"), label("free9")), "%s: none in that of apart", triplet);
}

static void check(const char *triplet, const char *source, const char *const *names)
{
	if (!assemble_for(triplet, source)) {
		ok(1, "pairs of %s # SKIP can't be assembled here", triplet);
		return;
	}
	plan = plan_of(object, names, ALL);
	ok(plan != NULL, "%s: functions with pairs have a plan", triplet);
	read_labels();
	if (plan) {
		check_sites(triplet);
		check_witnesses(triplet);
	}
	plan__free(plan);
	object__free(object);
}

int main(void)
{
	check("aarch64-linux-gnu", arm,
	      (const char *const[]){"cas", "giving_up", "apart", "alone", "casp_", NULL});
	check("riscv64-linux-gnu", riscv,
	      (const char *const[]){"cas", "apart", "alone", "swaps", NULL});
	vec__free(&labels);
	return tap__done();
}
