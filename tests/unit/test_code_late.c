// SPDX-License-Identifier: BSD-2-Clause
/* Where the entries of an assembled program are reported, if they may be late. */
#include "code_fixture.h"

#define RAX 1ull
#define RDI (1ull << 7)

/* where: of the entry's probe, by the registers that are wanted: all, RDI, none */
static const struct {
	const char *name, *code, *what;
	uint64_t where[3];
} rows[] = {
	{"pushes",
	 "push %rbx; mov %rdi, %rax; pop %rbx; ret",
	 "an emulated first instruction",
	 {0, 0, 0}},
	{"copies", "mov %rdi, %rax; push %rbx; pop %rbx; ret", "a copy", {0, 3, 3}},
	{"changes",
	 "mov %rsi, %rdi; push %rbx; pop %rbx; ret",
	 "a write of an argument",
	 {0, 0, 3}},
	{"loads", "mov (%rsi), %rax; push %rbx; pop %rbx; ret", "a load", {0, 3, 3}},
	{"loads_own",
	 "mov lock_(%rip), %eax; push %rbx; pop %rbx; ret",
	 "a load from the file",
	 {0, 6, 6}},
	{"loads_thread",
	 "mov %fs:0x28, %rax; push %rbx; pop %rbx; ret",
	 "a load from the thread's memory",
	 {0, 9, 9}},
	{"adds", "add (%rsi), %rax; push %rbx; pop %rbx; ret", "a load that adds", {0, 3, 3}},
	{"loads_argument",
	 "movzbl (%rsi), %edi; push %rbx; pop %rbx; ret",
	 "a load of an argument",
	 {0, 0, 3}},
	{"stores",
	 "mov %rax, -8(%rsp); push %rbx; pop %rbx; ret",
	 "a store to the red zone",
	 {0, 5, 5}},
	{"stores_far",
	 "mov %rax, (%rsi); push %rbx; pop %rbx; ret",
	 "a store that others may see",
	 {0, 0, 0}},
	{"stores_own",
	 "mov %rax, lock_(%rip); push %rbx; pop %rbx; ret",
	 "a store to the file's data",
	 {0, 0, 0}},
	{"stores_thread",
	 "mov %rax, %fs:-8; push %rbx; pop %rbx; ret",
	 "a store to the thread's memory",
	 {0, 0, 0}},
	{"stores_return",
	 "mov %al, (%rsp); push %rbx; pop %rbx; ret",
	 "a store to the return address",
	 {0, 0, 0}},
	{"stores_across",
	 "mov %rax, -4(%rsp); push %rbx; pop %rbx; ret",
	 "a store into the return address",
	 {0, 0, 0}},
	{"stores_argument",
	 "mov %rax, 8(%rsp); push %rbx; pop %rbx; ret",
	 "a store to the caller's stack",
	 {0, 0, 0}},
	{"stores_index",
	 "mov %rax, -64(%rsp,%rdi); push %rbx; pop %rbx; ret",
	 "a store with an index",
	 {0, 0, 0}},
	{"increments", "incl (%rsi); push %rbx; pop %rbx; ret", "a load and store", {0, 0, 0}},
	{"clears", "andl $0, (%rsi); push %rbx; pop %rbx; ret", "one with a constant", {0, 0, 0}},
	{"bits", "bt %rax, (%rsi); push %rbx; pop %rbx; ret", "a bit string", {0, 0, 0}},
	{"vector_loads",
	 "movsd (%rsi), %xmm0; push %rbx; pop %rbx; ret",
	 "a vector load",
	 {0, 4, 4}},
	{"vector_stores",
	 "movaps %xmm0, -16(%rsp); push %rbx; pop %rbx; ret",
	 "a vector store to the red zone",
	 {0, 5, 5}},
	{"vector_stores_across",
	 "movups %xmm0, -8(%rsp); push %rbx; pop %rbx; ret",
	 "a vector store into the return address",
	 {0, 0, 0}},
	{"vector_stores_far",
	 "movq %xmm0, (%rsi); push %rbx; pop %rbx; ret",
	 "a vector store that others may see",
	 {0, 0, 0}},
	{"vector_adds",
	 "addsd %xmm1, %xmm0; push %rbx; pop %rbx; ret",
	 "an addition of vectors",
	 {0, 4, 4}},
	{"vector_streams",
	 "movntps %xmm0, -16(%rsp); push %rbx; pop %rbx; ret",
	 "a store past the caches",
	 {0, 0, 0}},
	{"vector_masks",
	 "maskmovdqu %xmm1, %xmm0; push %rbx; pop %rbx; ret",
	 "a store to an address in rdi",
	 {0, 0, 0}},
	{"sets", "sete %al; push %rbx; pop %rbx; ret", "a set", {0, 3, 3}},
	{"sets_far", "sete (%rsi); push %rbx; pop %rbx; ret", "a set of memory", {0, 0, 0}},
	{"exchanges",
	 "xchg %rax, -8(%rsp); push %rbx; pop %rbx; ret",
	 "an exchange, which locks",
	 {0, 0, 0}},
	{"divides", "div %esi; push %rbx; pop %rbx; ret", "a division, which may fault", {0, 0, 0}},
	{"lowers",
	 "sub $8, %rsp; push %rbx; pop %rbx; add $8, %rsp; ret",
	 "a move of the stack",
	 {0, 4, 4}},
	{"lowers_lea",
	 "lea -8(%rsp), %rsp; mov %rdi, (%rsp); push %rbx; pop %rbx; pop %rax; ret",
	 "a move by lea, and a store to the frame",
	 {0, 9, 9}},
	{"lowers_return",
	 "sub $8, %rsp; mov %rdi, 8(%rsp); push %rbx; pop %rbx; pop %rax; ret",
	 "a store above the frame",
	 {0, 0, 0}},
	{"lowers_much",
	 "sub $504, %rsp; push %rbx; pop %rbx; add $504, %rsp; ret",
	 "as much as a signal's record covers",
	 {0, 7, 7}},
	{"lowers_more",
	 "sub $512, %rsp; push %rbx; pop %rbx; add $512, %rsp; ret",
	 "more than that",
	 {0, 0, 0}},
	{"lowers_odd",
	 "sub $4, %rsp; push %rbx; pop %rbx; add $4, %rsp; ret",
	 "half a word",
	 {0, 0, 0}},
	{"lowers_twice",
	 "sub $8, %rsp; sub $8, %rsp; push %rbx; pop %rbx; add $16, %rsp; ret",
	 "two moves",
	 {0, 0, 0}},
	{"raises",
	 "add $8, %rsp; push %rbx; pop %rbx; sub $8, %rsp; ret",
	 "a move that gives up the return address",
	 {0, 0, 0}},
	{"aligns",
	 "and $-16, %rsp; push %rbx; pop %rbx; ret",
	 "a move by an unknown amount",
	 {0, 0, 0}},
	{"calls_lowered",
	 "sub $24, %rsp; mov %rdi, 8(%rsp); call calls; add $24, %rsp; ret",
	 "a call behind a move",
	 {0, 9, 9}},
	{"enters", "mov %eax, %eax; syscall; push %rbx; pop %rbx; ret", "a system call", {0, 0, 0}},
	{"segment", "mov %eax, %ds; push %rbx; pop %rbx; ret", "a segment register", {0, 0, 0}},
	{"waits", "rep movsb; push %rbx; pop %rbx; ret", "a repeated instruction", {0, 0, 0}},
	{"jumps", "mov %rdi, %rax; jmp 1f; nop; 1: ret", "a jump", {0, 3, 3}},
	{"calls", "mov %rdi, %rax; call calls; ret", "a call", {0, 3, 3}},
	{"tests",
	 "xor %eax, %eax; test %rdi, %rdi; je 1f; nop; 1: ret",
	 "a conditional",
	 {0, 5, 5}},
	{"returns", "mov %rdi, %rax; ret", "a ret, which is stepped as well", {0, 0, 0}},
	{"jumps_by_register", "mov (%rdi), %rax; jmp *%rax", "an indirect jump", {0, 3, 3}},
	{"calls_by_memory",
	 "sub $8, %rsp; call *16(%rdi); add $8, %rsp; ret",
	 "an indirect call",
	 {0, 4, 4}},
	{"returns_deep", "sub $8, %rsp; ret", "a ret that is a jump", {0, 0, 0}},
	{"named",
	 "mov %rdi, %rax; .globl middle; middle: push %rbx; pop %rbx; ret",
	 "a symbol",
	 {0, 0, 0}},
	{"shares",
	 "mov %rdi, %rax; .Lshared: push %rbx; pop %rbx; ret; .size shares, .-shares; .globl enters_it; "
	 ".type enters_it, @function; enters_it: jmp .Lshared; .size enters_it, .-enters_it",
	 "an address that a function which isn't planned jumps to",
	 {0, 0, 0}},
};

static struct object *assemble(void)
{
	struct object *o;
	char source[16384];
	size_t n = snprintf(source, sizeof(source), ".local lock_\n.comm lock_, 8\n");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		n += snprintf(source + n, sizeof(source) - n,
			      ".globl %s\n.type %s, @function\n%s:\n%s\n.size %s, .-%s\n",
			      rows[i].name, rows[i].name, rows[i].name, rows[i].code, rows[i].name,
			      rows[i].name);
	scratch__write("late.s", source);
	if (!run("cd %s && gcc -shared -nostdlib -Wl,-Bsymbolic -o late.so late.s", scratch) ||
	    object__open(scratch__path("late.so"), &o))
		exit(99);
	return o;
}

static uint64_t late_by(struct object *o, const char *name, const struct plan_options *options)
{
	const char *names[] = {name, NULL};
	function_vec v = {0};
	struct plan *p;
	uint64_t delay;

	if (!resolve(o, names, &v) || plan__build(&v, options, &p))
		exit(99);
	delay = plan__entry_delay(p, 0);
	functions__free(&v);
	plan__free(p);
	return delay;
}

/* What the plan says of the stack pointer, for the return address and for the call's own depth. */
static void test_lowered(struct object *o, const struct plan_options *options)
{
	static const struct {
		const char *name;
		unsigned lowered, at, delta;
	} lowered[] = {{"copies", 0, 0, 0},	     {"lowers", 8, 4, 0},
		       {"lowers_lea", 8, 5, 0},	     {"lowers_much", 504, 7, 0},
		       {"calls_lowered", 24, 4, 24}, {"calls", 0, 0, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(lowered); i++) {
		const char *names[] = {lowered[i].name, NULL};
		const struct plan_site *s;
		function_vec v = {0};
		struct plan *p;

		if (!resolve(o, names, &v) || plan__build(&v, options, &p))
			exit(99);
		s = &p->sites.data[p->functions.data[0].entry_site];
		is(s->lowered, lowered[i].lowered, "%s: lowered by", lowered[i].name);
		is(s->lowered_at, lowered[i].at, "%s: from there on", lowered[i].name);
		is(s->sp_delta, lowered[i].delta, "%s: the probe's depth as a branch",
		   lowered[i].name);
		functions__free(&v);
		plan__free(p);
	}
}

int main(void)
{
	static const char *const wanted[] = {"all registers", "rdi", "no register"};
	const struct plan_options options[] = {
		{.events = ALL},
		{.events = ALL, .late_entries = true, .entry_regs = RDI},
		{.events = ALL, .late_entries = true},
	};
	static const struct plan_options never[] = {
		{.events = ALL, .late_entries = true, .exact_flags = true},
		{.events = ALL, .late_entries = true, .return_probes = true},
		{.events = ALL, .late_entries = true, .placement = PLACEMENT_COUNT},
		{.events = ALL, .late_entries = true, .entry_regs = RAX},
	};
	const struct plan_options timeless = {.events = PLAN_ENTRY | PLAN_BRANCH,
					      .late_entries = true},
				  alone = {.events = PLAN_ENTRY, .late_entries = true};
	struct object *o = assemble();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned k = 0; k < 3; k++)
			is(late_by(o, rows[i].name, &options[k]), rows[i].where[k], "%s, %s wanted",
			   rows[i].what, wanted[k]);
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		is(late_by(o, "copies", &never[i]), 0, "not late: case %zu", i);
	is(late_by(o, "returns", &timeless), 3, "a ret tells the entry, if not the call's time");
	is(late_by(o, "returns_deep", &timeless), 0, "nor one that is a jump");
	is(late_by(o, "returns", &alone), 0, "nor where it would have no probe otherwise");
	is(late_by(o, "jumps_by_register", &alone), 0, "nor such a jump");
	test_lowered(o, &options[2]);
	object__free(o);
	return tap__done();
}
