// SPDX-License-Identifier: BSD-2-Clause
/*
 * The replay of a plan with a program and the kernel: calls in the kernel are nested in the
 * program's calls, by the program's registers at entry. One step per line: "E f", "B 0x100e N" (i:
 * implied), "R f", "LOST 3", "?"; leading dots are the depth.
 */
#include <elf.h>
#include "trace/replay.h"
#include "tap.h"

#define BIAS 0x555500000000
#define USER 0x7ffe00001000 /* stack pointers at the entry of f and of k */
#define KERN 0xffffc90000001000

/*
 * f (program)  b0 0x1000: jne 0x1020, no probe | b1 0x1010, a system call at 0x1014: jmp 0x1030, no
 * probe | b2 0x1020, a witness at 0x1022, a system call at 0x1028 | b3 0x1030: ret
 * k (kernel)   b4 0x8000: ret
 */
enum { F_ENTRY, F_JNE, F_JMP, F_WITNESS, F_RET, K_ENTRY, K_RET, SITES };

static struct object program = {.path = (char *)"/bin/p", .machine = EM_X86_64};
static struct object kernel = {
	.path = (char *)"kernel", .machine = EM_X86_64, .kind = OBJECT_KERNEL};
static struct plan_object objects[] = {
	{.object = &program, .path = "/bin/p", .machine = EM_X86_64},
	{.object = &kernel, .path = "kernel", .machine = EM_X86_64, .kernel = true},
};
static struct range f_range = {0x1000, 0x40, (char *)"f"}, k_range = {0x8000, 0x10, (char *)"k"};
static struct plan_function functions[] = {
	{.name = "f", .entry_site = F_ENTRY, .ranges = &f_range, .nranges = 1, .unprobed = 2},
	{.name = "k",
	 .object = 1,
	 .entry_site = K_ENTRY,
	 .entry_block = 4,
	 .ranges = &k_range,
	 .nranges = 1},
};
static struct plan_site sites[SITES] = {
	[F_ENTRY] = {.vaddr = 0x1000, .role = ROLE_ENTRY, .entry = 1, .probe = 1},
	[F_JNE] = {.vaddr = 0x100e, .target = 0x1020, .kind = BRANCH_JCC, .mnemonic = "jne"},
	[F_JMP] = {.vaddr = 0x101e,
		   .target = 0x1030,
		   .block = 1,
		   .kind = BRANCH_JMP,
		   .mnemonic = "jmp"},
	[F_WITNESS] = {.vaddr = 0x1022, .block = 2, .role = ROLE_WITNESS, .probe = 1},
	[F_RET] = {.vaddr = 0x103e, .block = 3, .kind = BRANCH_RET, .mnemonic = "ret", .probe = 1},
	[K_ENTRY] = {.vaddr = 0x8000,
		     .object = 1,
		     .function = 1,
		     .block = 4,
		     .role = ROLE_ENTRY,
		     .entry = 1,
		     .probe = 1},
	[K_RET] = {.vaddr = 0x800e,
		   .object = 1,
		   .function = 1,
		   .block = 4,
		   .kind = BRANCH_RET,
		   .mnemonic = "ret",
		   .probe = 1},
};
static struct plan_block blocks[] = {
	{.start = 0x1000, .end = 0x1010, .site = F_JNE, .next = 1, .taken = 2},
	{.start = 0x1010, .end = 0x1020, .site = F_JMP, .next = NO_BLOCK, .taken = 3},
	{.start = 0x1020, .end = 0x1030, .site = NO_SITE, .next = 3, .taken = NO_BLOCK},
	{.start = 0x1030, .end = 0x1040, .site = F_RET, .next = NO_BLOCK, .taken = NO_BLOCK},
	{.start = 0x8000,
	 .end = 0x8010,
	 .object = 1,
	 .function = 1,
	 .site = K_RET,
	 .next = NO_BLOCK,
	 .taken = NO_BLOCK},
};
static struct plan plan;

static void make_plan(void)
{
	plan.arch = arch__by_machine(EM_X86_64);
	plan.objects.data = objects;
	plan.objects.len = ARRAY_SIZE(objects);
	plan.functions.data = functions;
	plan.functions.len = ARRAY_SIZE(functions);
	plan.sites.data = sites;
	plan.sites.len = SITES;
	plan.blocks.data = blocks;
	plan.blocks.len = ARRAY_SIZE(blocks);
	for (uint32_t i = 0; i < SITES; i++)
		sites[i].len = 2;
	plan__index(&plan);
}

/* ---- events in, steps out ---- */

static struct trace *t;
static struct str got;
static uint64_t now;
static uint32_t tid = 7;

static struct event event(uint32_t site, uint64_t sp, enum event_type type)
{
	now += 10;
	return (struct event){
		.time = now, .pid = 7, .tid = tid, .sp = sp, .site = site, .type = type};
}

/* user_ip: link-time address; 0: none. */
static void enter(uint32_t site, uint64_t sp, uint64_t user_ip, uint64_t user_sp)
{
	struct event_entry entry = {.ip = sites[site].vaddr + (site < K_ENTRY ? BIAS : 0),
				    .caller = 0x77,
				    .user_ip = user_ip ? BIAS + user_ip : 0,
				    .user_sp = user_sp,
				    .comm = "p"};
	struct event e = event(site, sp, EVENT_ENTRY);

	e.entry = &entry;
	trace__feed(t, &e);
}

static void hit(uint32_t site, uint64_t sp)
{
	struct event e = event(site, sp, EVENT_BRANCH);

	e.has_target = sites[site].kind == BRANCH_RET;
	e.target = 0x77;
	trace__feed(t, &e);
}

static void lose(uint64_t count)
{
	struct event e = event(0, 0, EVENT_LOST);

	e.count = count;
	trace__feed(t, &e);
}

static void enter_goroutine(uint64_t goroutine)
{
	struct event e = event(0, 0, EVENT_GOROUTINE);

	e.goroutine = goroutine;
	trace__feed(t, &e);
}

static void call_k(uint64_t user_ip, uint64_t user_sp)
{
	enter(K_ENTRY, KERN, user_ip, user_sp);
	hit(K_RET, KERN);
}

static struct step returned[2]; /* the last return of f, of k */

static int on_step(void *ctx, const struct step *s)
{
	if (s->type == STEP_RETURN)
		returned[s->function] = *s;
	for (unsigned i = 0; i < s->depth; i++)
		str__putc(&got, '.');
	if (s->type == STEP_ENTRY)
		str__printf(&got, "E %s", s->at.symbol);
	else if (s->type == STEP_BRANCH)
		str__printf(&got, "B 0x%llx %c%s", (unsigned long long)s->at.vaddr,
			    s->taken ? 'T' : 'N', s->implied ? "i" : "");
	else if (s->type == STEP_RETURN)
		str__printf(&got, "R %s", plan.functions.data[s->function].name);
	else if (s->type == STEP_LOST)
		str__printf(&got, "LOST %llu", (unsigned long long)s->count);
	else
		str__putc(&got, '?');
	str__putc(&got, '\n');
	return 0;
}

static void resolve(void *ctx, uint32_t pid, uint64_t time, uint64_t addr, struct location *out)
{
}

static void begin(void)
{
	static const struct trace_options options = {.events = PLAN_ENTRY | PLAN_BRANCH |
							       PLAN_RETURN};
	static const struct resolver resolver = {NULL, resolve};

	t = trace__new(&plan, &options, &resolver, on_step, NULL);
	str__clear(&got);
	tid = 7;
}

static void end(const char *want, uint64_t unmatched, const char *name)
{
	trace__finish(t);
	str__put(&got, "", 0);
	is_str(got.data ? got.data : "", want, name);
	is(trace__totals(t)->unmatched_returns, unmatched, "%s: the unmatched returns are counted",
	   name);
	trace__free(t);
}

/* ---- net times ---- */

/* A hit of f takes 10 ns, as the clock has it; one of k 30. */
static void begin_priced(void)
{
	begin();
	for (unsigned i = 0; i < SITES; i++)
		sites[i].traps = 1;
	for (unsigned kind = 0; kind < HIT_KINDS; kind++)
		for (unsigned i = 0; i < BATCH_FIRST; i++)
			prices__sample(&t->prices, kind, kind < HIT_KERNEL ? 10 : 30);
}

static void call_k_for(uint64_t ns)
{
	enter(K_ENTRY, KERN, 0x1014, USER - 8);
	now += 20 + ns;
	hit(K_RET, KERN);
	now += 20;
}

static void net_is(unsigned function, uint64_t want, const char *what)
{
	const struct step *s = &returned[function];

	if (!ok(s->has_tracing && !s->noise && s->duration - s->tracing == want, "%s", what))
		printf("# duration %llu, tracing %llu, wanted %llu\n",
		       (unsigned long long)s->duration, (unsigned long long)s->tracing,
		       (unsigned long long)want);
}

static void net_is_unknown(unsigned function, const char *what)
{
	ok(returned[function].has_duration && !returned[function].has_tracing, "%s", what);
}

static void test_net(void)
{
	begin_priced();
	enter(F_ENTRY, USER, 0, 0);
	now += 100;
	call_k_for(40);
	call_k_for(50);
	net_is(1, 50, "the net time of a kernel's call has its own hits left out");
	now += 5;
	hit(F_RET, USER);
	net_is(0, 195, "that of the program's call around it has the kernel's hits left out, too");
	trace__free(t);

	begin_priced();
	enter(F_ENTRY, USER, 0, 0);
	enter(K_ENTRY, KERN, 0x1014, USER - 8);
	lose(3);
	hit(K_RET, KERN);
	net_is_unknown(1, "a loss in the kernel: its call has no net time");
	call_k_for(7);
	net_is(1, 7, "a loss in the kernel: the next one has");
	hit(F_RET, USER);
	net_is_unknown(0, "a loss in the kernel: the program's call around it has none");
	trace__free(t);

	begin_priced();
	enter_goroutine(20);
	enter(F_ENTRY, USER, 0, 0);
	enter(K_ENTRY, KERN, 0, 0);
	now += 20;
	enter_goroutine(21);
	hit(K_RET, KERN);
	net_is_unknown(1, "a kernel's call that ends while its thread runs another goroutine has "
			  "no net time");
	trace__free(t);

	begin_priced();
	trace__exec(t, now, 7, 7, "p");
	tid = 8;
	enter(K_ENTRY, KERN, 0, 0);
	now += 20;
	trace__exec(t, now, 7, 7, "q");
	tid = 7;
	hit(K_RET, KERN);
	net_is_unknown(1, "an exec that moves a kernel's call to another thread leaves it no net "
			  "time");
	trace__free(t);

	begin_priced();
	enter(F_ENTRY, USER, 0, 0);
	enter(K_ENTRY, KERN, 0x1014, USER - 8);
	now += 20;
	trace__fork(t, now, 8, 8, 7, 7);
	now += 60;
	hit(K_RET, KERN);
	net_is(1, 60, "fork: the parent's call in the kernel has its net time");
	now += 20;
	hit(F_RET, USER);
	net_is(0, 60, "fork: so has the one around it");
	trace__free(t);
}

int main(void)
{
	make_plan();

	begin();
	enter(F_ENTRY, USER, 0, 0);
	call_k(0x1014, USER - 8);
	hit(F_RET, USER);
	end("E f\nB 0x100e Ni\n.E k\n.B 0x800e T\n.R k\nB 0x101e Ti\nB 0x103e T\nR f\n", 0,
	    "branches without probe come before the kernel's call that they led to");

	begin();
	enter(F_ENTRY, USER, 0, 0);
	hit(F_WITNESS, USER);
	call_k(0x1028, USER - 8);
	call_k(0x1028, USER - 8);
	hit(F_RET, USER);
	end("E f\nB 0x100e Ti\n.E k\n.B 0x800e T\n.R k\n.E k\n.B 0x800e T\n.R k\nB 0x103e T\nR f\n",
	    0, "two system calls of one block are both in it");

	begin();
	enter(F_ENTRY, USER, 0, 0);
	call_k(0x1023, USER - 8);
	hit(F_WITNESS, USER);
	hit(F_RET, USER);
	end("E f\n.E k\n.B 0x800e T\n.R k\nB 0x100e Ti\nB 0x103e T\nR f\n", 0,
	    "what the trap of a probe runs in the kernel shows no place in the program");

	begin();
	call_k(0x5000, USER);
	enter(F_ENTRY, USER, 0, 0);
	hit(F_WITNESS, USER);
	hit(F_RET, USER);
	call_k(0x5000, USER);
	end("E k\nB 0x800e T\nR k\nE f\nB 0x100e Ti\nB 0x103e T\nR f\nE k\nB 0x800e T\nR k\n", 0,
	    "a call from code that isn't traced is the outermost one");

	begin();
	enter(F_ENTRY, USER, 0, 0);
	tid = 8;
	call_k(0x1014, USER - 8);
	tid = 7;
	hit(F_WITNESS, USER);
	hit(F_RET, USER);
	end("E f\nE k\nB 0x800e T\nR k\nB 0x100e Ti\nB 0x103e T\nR f\n", 0,
	    "another thread's call is not nested, whatever its registers say");

	begin();
	enter(F_ENTRY, USER, 0, 0);
	enter(K_ENTRY, KERN, 0x1014, USER - 8);
	hit(F_RET, USER);
	end("E f\nB 0x100e Ni\n.E k\nB 0x101e Ti\nB 0x103e T\nR f\n", 1,
	    "a call in the kernel that was not seen to return is over where the program goes on");

	begin();
	enter(F_ENTRY, USER, 0, 0);
	call_k(0x1014, USER - 8);
	lose(3);
	hit(F_RET, USER);
	end("E f\nB 0x100e Ni\n.E k\n.B 0x800e T\n.R k\nLOST 3\nB 0x103e T\nR f\n", 0,
	    "behind a loss the place that the kernel's call showed is forgotten");

	begin();
	enter(F_ENTRY, USER, 0, 0);
	enter(K_ENTRY, KERN, 0x1023, USER - 8);
	hit(F_WITNESS, USER);
	enter(K_ENTRY, KERN - 0x100, 0x1028, USER - 8);
	hit(K_RET, KERN - 0x100);
	hit(F_RET, USER);
	end("E f\n.E k\nB 0x100e Ti\n.E k\n.B 0x800e T\n.R k\nB 0x103e T\nR f\n", 1,
	    "a call in the kernel is not nested in one that was over before");

	begin();
	enter(F_ENTRY, USER, 0, 0);
	hit(F_WITNESS, USER);
	call_k(0x1028, USER - 8);
	hit(F_WITNESS, USER);
	hit(F_RET, USER);
	end("E f\nB 0x100e Ti\n.E k\n.B 0x800e T\n.R k\n?\nB 0x103e T\nR f\n", 0,
	    "behind a system call past a witness, the witness's next event is of another round");

	begin();
	enter_goroutine(9);
	enter(F_ENTRY, USER, 0, 0);
	call_k(0x1014, USER - 8);
	end("E f\n.E k\n.B 0x800e T\n.R k\n?\n", 0,
	    "the program's registers show no place in a goroutine's calls");

	begin();
	enter(F_ENTRY, USER, 0, 0);
	hit(F_WITNESS, USER);
	enter(K_ENTRY, KERN, 0x1028, USER - 8);
	trace__exec(t, now, 7, 7, "q");
	hit(K_RET, KERN);
	is(trace__totals(t)->ended_calls, 1, "an exec ends the program's call: it never returns");
	end("E f\nB 0x100e Ti\n.E k\nB 0x800e T\nR k\n", 0,
	    "an exec ends the program's calls, the kernel's return");

	begin();
	enter(F_ENTRY, USER, 0, 0);
	hit(F_WITNESS, USER);
	enter(K_ENTRY, KERN, 0x1028, USER - 8);
	trace__fork(t, now, 9, 9, 7, 7);
	hit(K_RET, KERN);
	hit(F_RET, USER);
	end("E f\nB 0x100e Ti\n.E k\n.B 0x800e T\n.R k\nB 0x103e T\nR f\n", 0,
	    "a child has a copy of the program's calls, not of the kernel's");

	str__free(&got);
	vec__free(&plan.sites_by_address);
	vec__free(&plan.blocks_by_address);
	test_net();
	return tap__done();
}
