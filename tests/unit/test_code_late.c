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
	{"loads",
	 "mov (%rsi), %rax; push %rbx; pop %rbx; ret",
	 "a load, which may fault",
	 {0, 0, 0}},
	{"stores", "mov %rax, -8(%rsp); push %rbx; pop %rbx; ret", "a store", {0, 0, 0}},
	{"divides", "div %esi; push %rbx; pop %rbx; ret", "a division, which may fault", {0, 0, 0}},
	{"lowers",
	 "sub $8, %rsp; push %rbx; pop %rbx; add $8, %rsp; ret",
	 "a move of the stack",
	 {0, 0, 0}},
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
	char source[8192];
	size_t n = 0;

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
	struct object *o = assemble();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned k = 0; k < 3; k++)
			is(late_by(o, rows[i].name, &options[k]), rows[i].where[k], "%s, %s wanted",
			   rows[i].what, wanted[k]);
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		is(late_by(o, "copies", &never[i]), 0, "not late: case %zu", i);
	object__free(o);
	return tap__done();
}
