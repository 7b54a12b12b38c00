// SPDX-License-Identifier: BSD-2-Clause
/*
 * The replay over a plan made by hand: events in, steps out, one per line: "E f", "B 0x1004 T
 * ->0x1020" (T, N; i: implied), "R f 0x2a +90", "LOST 3", "?"; leading dots are the depth.
 */
#include <elf.h>
#include "trace/trace.h"
#include "tap.h"

/* ---- the plan: two functions and a helper function ----
 *
 * f (0x1000)  b0 0x1000: jne 0x1020, b1 0x1010: jmp 0x1030 (no probe), b2 0x1020: call,
 *             b3 0x1030: ret
 *
 * g (0x2000)  b4 0x2000: jne 0x2020, b5 0x2010: jmp f (a tail call), b6 0x2020: ret
 *
 * h (0x3000)  b7 0x3000: ret (a helper function)
 */
enum { F_ENTRY, F_JNE, F_JMP, F_CALL, F_RET, G_ENTRY, G_JNE, G_TAIL, G_RET, H_RET, SITES };

static struct object object = {.path = (char *)"/lib/x", .machine = EM_X86_64};
static struct range f_ranges[] = {{0x1000, 0x40, (char *)"f"}},
		    g_ranges[] = {{0x2000, 0x40, (char *)"g"}},
		    h_ranges[] = {{0x3000, 0x10, (char *)"h"}};

static struct plan_object objects[] = {{&object, "/lib/x", EM_X86_64, false, false}};
static struct plan_function functions[] = {
	{"f", "f", 0, F_ENTRY, 0, 0, f_ranges, 1, 4, 1, 1, 0, 0},
	{"g", "g", 0, G_ENTRY, 4, 0, g_ranges, 1, 3, 0, 0, 0, 0},
	{"h", "h", 0, NO_SITE, 7, FUNCTION_HELPER, h_ranges, 1, 1, 0, 0, 0, 0},
};

#define SITE(va, tgt, fn, blk, knd, ent, prb)                                                      \
	{                                                                                          \
		.vaddr = va, .role = knd == BRANCH_NONE ? ROLE_ENTRY : ROLE_BRANCH, .target = tgt, \
		.function = fn, .block = blk, .kind = knd, .entry = ent, .probe = prb, .len = 2,   \
		.mnemonic = "x", .cond = 5, .sp_delta = SP_UNKNOWN                                 \
	}
static struct plan_site sites[SITES] = {
	[F_ENTRY] = SITE(0x1000, 0, 0, 0, BRANCH_NONE, 1, 1),
	[F_JNE] = SITE(0x100e, 0x1020, 0, 0, BRANCH_JCC, 0, 1),
	[F_JMP] = SITE(0x101e, 0x1030, 0, 1, BRANCH_JMP, 0, 0),
	[F_CALL] = SITE(0x102e, 0x1000, 0, 2, BRANCH_CALL, 0, 1),
	[F_RET] = SITE(0x103e, 0, 0, 3, BRANCH_RET, 0, 1),
	[G_ENTRY] = SITE(0x2000, 0, 1, 4, BRANCH_NONE, 1, 1),
	[G_JNE] = SITE(0x200e, 0x2020, 1, 4, BRANCH_JCC, 0, 1),
	[G_TAIL] = SITE(0x201e, 0x1000, 1, 5, BRANCH_JMP, 0, 1),
	[G_RET] = SITE(0x202e, 0, 1, 6, BRANCH_RET, 0, 1),
	[H_RET] = SITE(0x3008, 0, 2, 7, BRANCH_RET, 0, 1),
};

#define BLOCK(st, en, fn, site_, nxt, tkn)                                                         \
	{                                                                                          \
		.start = st, .end = en, .function = fn, .site = site_, .next = nxt, .taken = tkn   \
	}
static struct plan_block blocks[] = {
	BLOCK(0x1000, 0x1010, 0, F_JNE, 1, 2),
	BLOCK(0x1010, 0x1020, 0, F_JMP, NO_BLOCK, 3),
	BLOCK(0x1020, 0x1030, 0, F_CALL, 3, NO_BLOCK),
	BLOCK(0x1030, 0x1040, 0, F_RET, NO_BLOCK, NO_BLOCK),
	BLOCK(0x2000, 0x2010, 1, G_JNE, 5, 6),
	BLOCK(0x2010, 0x2020, 1, G_TAIL, NO_BLOCK, 0),
	BLOCK(0x2020, 0x2030, 1, G_RET, NO_BLOCK, NO_BLOCK),
	BLOCK(0x3000, 0x300a, 2, H_RET, NO_BLOCK, NO_BLOCK),
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
}

/* ---- events in ---- */

static struct trace *t;
static struct str got;
static uint64_t clock_ns;

static struct event event(uint32_t site, uint64_t sp, enum event_type type)
{
	clock_ns += 10;
	return (struct event){
		.time = clock_ns, .pid = 7, .tid = 7, .sp = sp, .site = site, .type = type};
}

static void feed(struct event e)
{
	trace__feed(t, &e);
}

static void feed_entry(struct event e, bool pending)
{
	struct event_entry entry = {.ip = sites[e.site].vaddr + 0x555500000000,
				    .caller = 0x77,
				    .pending = pending,
				    .comm = "prog"};

	e.entry = &entry;
	feed(e);
}

static void enter(int site, uint64_t sp)
{
	feed_entry(event(site, sp, EVENT_ENTRY), false);
}

static void branch(int site, uint64_t sp, bool taken)
{
	struct event e = event(site, sp, EVENT_BRANCH);

	e.taken = taken;
	feed(e);
}

/* It leads to, and leaves value in the return register. */
static struct event returning(struct event e, uint64_t to, uint64_t value)
{
	e.has_target = e.has_value = true;
	e.target = to;
	e.value = value;
	return e;
}

static void ret(int site, uint64_t sp, uint64_t value)
{
	feed(returning(event(site, sp, EVENT_BRANCH), 0x77, value));
}

static void lose(uint64_t count)
{
	struct event e = event(0, 0, EVENT_LOST);

	e.count = count;
	feed(e);
}

/* ---- steps out ---- */

static int on_step(void *ctx, const struct step *s)
{
	for (unsigned i = 0; i < s->depth; i++)
		str__putc(&got, '.');
	switch (s->type) {
	case STEP_ENTRY:
		str__printf(&got, "E %s", s->at.symbol);
		if (s->has_since)
			str__printf(&got, " +%llu", (unsigned long long)s->since_entry);
		break;
	case STEP_BRANCH:
		str__printf(&got, "B 0x%llx %c%s", (unsigned long long)s->at.vaddr,
			    s->taken ? 'T' : 'N', s->implied ? "i" : "");
		if (s->to_known && s->to.object)
			str__printf(&got, " ->0x%llx", (unsigned long long)s->to.vaddr);
		break;
	case STEP_RETURN:
		str__printf(&got, "R %s 0x%llx", plan.functions.data[s->function].name,
			    (unsigned long long)s->value);
		if (s->has_duration)
			str__printf(&got, " +%llu", (unsigned long long)s->duration);
		break;
	case STEP_LOST:
		str__printf(&got, "LOST %llu", (unsigned long long)s->count);
		break;
	default:
		str__putc(&got, '?');
	}
	str__putc(&got, '\n');
	return 0;
}

/* A running address of the kernel is its own link-time address here. */
static void resolve(void *ctx, uint32_t pid, uint64_t time, uint64_t addr, struct location *out)
{
	if (pid || addr < 0x1000)
		return;
	out->object = "kernel";
	out->vaddr = addr;
}

static const struct resolver resolver = {NULL, resolve};

static void begin(const struct trace_options *o)
{
	static const struct trace_options all = {.events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN};

	str__clear(&got);
	str__puts(&got, "");
	clock_ns = 0;
	t = trace__new(&plan, o ? o : &all, &resolver, on_step, NULL);
}

static void end(const char *want, uint64_t unmatched, uint64_t lost, const char *what)
{
	trace__finish(t);
	is_str(got.data, want, "%s", what);
	is(trace__totals(t)->unmatched_returns, unmatched, "%s: the unmatched returns are counted",
	   what);
	is(trace__totals(t)->lost, lost, "%s: the lost events are counted", what);
	trace__free(t);
}

/* ---- what the replay shows ---- */

static void test_plain(void)
{
	begin(NULL);
	enter(F_ENTRY, 0x1000);
	branch(F_JNE, 0xff0, false);
	ret(F_RET, 0x1000, 42);
	end("E f\nB 0x100e N ->0x1010\nB 0x101e Ti ->0x1030\nB 0x103e T\nR f 0x2a +20\n", 0, 0,
	    "a branch without probe is implied by the path");
}

static void test_recursion(void)
{
	begin(NULL);
	enter(F_ENTRY, 0x1000);
	branch(F_JNE, 0xff0, true);
	branch(F_CALL, 0xff0, true);
	enter(F_ENTRY, 0xf00);
	branch(F_JNE, 0xef0, false);
	ret(F_RET, 0xf00, 1);
	ret(F_RET, 0x1000, 2);
	end("E f\nB 0x100e T ->0x1020\nB 0x102e T ->0x1000\n.E f +30\n.B 0x100e N ->0x1010\n"
	    ".B 0x101e Ti ->0x1030\n.B 0x103e T\n.R f 0x1 +20\nB 0x103e T\nR f 0x2 +60\n",
	    0, 0, "recursion pairs each return with its own entry");
}

static void test_tail_call(void)
{
	begin(NULL);
	enter(G_ENTRY, 0x1000);
	branch(G_JNE, 0x1000, false);
	branch(G_TAIL, 0x1000, true);
	enter(F_ENTRY, 0x1000);
	branch(F_JNE, 0xff0, false);
	ret(F_RET, 0x1000, 5);
	end("E g\nB 0x200e N ->0x2010\nB 0x201e T ->0x1000\n.E f\n.B 0x100e N ->0x1010\n.B 0x101e Ti ->0x1030\n"
	    ".B 0x103e T\n.R f 0x5 +20\nR g 0x5 +50\n",
	    0, 0, "one return ends a function and its tail caller");
}

static void test_tail_of_helper(void)
{
	blocks[5].taken = 7;
	begin(NULL);
	enter(G_ENTRY, 0x1000);
	branch(G_JNE, 0x1000, false);
	branch(G_TAIL, 0x1000, true);
	ret(H_RET, 0xd00, 9); /* another call of h */
	ret(H_RET, 0x1000, 5);
	end("E g\nB 0x200e N ->0x2010\nB 0x201e T ->0x1000\nR g 0x5 +40\n", 0, 0,
	    "the ret of an untraced function ends its tail caller, and no other of its rets does");
	blocks[5].taken = 0;
}

static void test_longjmp(void)
{
	begin(NULL);
	enter(G_ENTRY, 0x2000);
	enter(F_ENTRY, 0x1000);
	enter(F_ENTRY, 0xf00);
	branch(G_JNE, 0x1ff0, true); /* both calls of f were left */
	enter(F_ENTRY, 0x1000);
	branch(F_JNE, 0xff0, false);
	ret(F_RET, 0x1000, 1);
	ret(G_RET, 0x2000, 2);
	end("E g\n.E f\n..E f +10\nB 0x200e T ->0x2020\n.E f +20\n.B 0x100e N ->0x1010\n.B 0x101e Ti ->0x1030\n"
	    ".B 0x103e T\n.R f 0x1 +20\nB 0x202e T\nR g 0x2 +70\n",
	    2, 0, "frames left by longjmp have no return and are counted");
}

static void test_other_stack(void)
{
	begin(NULL);
	enter(G_ENTRY, 0x9000);
	enter(F_ENTRY, 0x1000); /* on a coroutine's stack */
	branch(G_JNE, 0x8ff0, true);
	branch(F_JNE, 0xff0, false); /* the coroutine goes on */
	ret(F_RET, 0x1000, 1);
	ret(G_RET, 0x9000, 2);
	end("E g\n.E f\nB 0x200e T ->0x2020\n.B 0x100e N ->0x1010\n.B 0x101e Ti ->0x1030\n.B 0x103e T\n"
	    ".R f 0x1 +30\nB 0x202e T\nR g 0x2 +50\n",
	    0, 0, "a stack that was switched away from and back is found again");
}

static void test_loss(void)
{
	begin(NULL);
	enter(F_ENTRY, 0x1000);
	lose(3);
	ret(F_RET, 0x1000, 1);
	lose(2);
	ret(F_RET, 0x1000, 1);
	end("E f\nLOST 3\nB 0x103e T\nR f 0x1 +20\nLOST 2\nB 0x103e T\nR f 0x1\n", 1, 5,
	    "losses stand in their place, and nothing is implied across them");
}

static void test_unknown(void)
{
	begin(NULL);
	enter(F_ENTRY, 0x1000);
	branch(F_JNE, 0xff0, true);
	ret(F_RET, 0x1000, 1); /* the call before it was not recorded */
	end("E f\nB 0x100e T ->0x1020\n?\nB 0x103e T\nR f 0x1 +20\n", 0, 0,
	    "where no path leads to an event the path is unknown");
}

static void test_fork(void)
{
	struct event e;

	begin(NULL);
	enter(F_ENTRY, 0x1000);
	trace__fork(t, ++clock_ns, 8, 8, 7, 7);
	e = returning(event(F_RET, 0x1000, EVENT_BRANCH), 0, 3);
	e.pid = e.tid = 8;
	lose(1); /* a loss between the fork and the returns */
	feed(e);
	ret(F_RET, 0x1000, 4);
	ok(strstr(got.data, "R f 0x3 +11") && strstr(got.data, "R f 0x4 +31"),
	   "a forked child returns from the call that its parent was in");
	is(trace__totals(t)->unmatched_returns, 0,
	   "a forked child's return and its parent's are both matched");
	trace__free(t);
}

/* ---- return probes ---- */

static void probed_return(int site, uint64_t sp, uint64_t to, uint64_t value)
{
	feed(returning(event(site, sp, EVENT_RETURN), to, value));
}

/* By a jump: the return address is a return probe's already. */
static void enter_by_jump(int site, uint64_t sp)
{
	feed_entry(event(site, sp, EVENT_ENTRY), true);
}

static void test_return_probes(void)
{
	const struct trace_options o = {.events = PLAN_ENTRY | PLAN_RETURN};

	plan.return_probes = true;
	begin(NULL);
	enter(F_ENTRY, 0x1000);
	branch(F_JNE, 0xff0, false);
	ret(F_RET, 0x1000, 42);
	probed_return(F_ENTRY, 0x1000, 0x77, 42);
	end("E f\nB 0x100e N ->0x1010\nB 0x101e Ti ->0x1030\nB 0x103e T\nR f 0x2a +30\n", 0, 0,
	    "with return probes a ret is a branch, and the return probe's event the return");
	begin(&o);
	enter(F_ENTRY, 0x1000);
	enter(F_ENTRY, 0xf00);
	enter(F_ENTRY, 0xe00);
	probed_return(F_ENTRY, 0xe00, 0x77, 1);
	probed_return(F_ENTRY, 0xf00, 0x77, 2);
	probed_return(F_ENTRY, 0x1000, 0x77, 3);
	end("E f\n.E f +10\n..E f +10\n..R f 0x1 +10\n.R f 0x2 +30\nR f 0x3 +50\n", 0, 0,
	    "return probes pair each return of a recursion with its own entry");
	begin(&o);
	enter(F_ENTRY, 0x1000);
	enter(F_ENTRY, 0xf00); /* this call has no return probe */
	probed_return(F_ENTRY, 0x1000, 0x77, 3);
	end("E f\n.E f +10\nR f 0x3 +20\n", 1, 0,
	    "a call without return probe is unmatched, and the next return is its own call's");
	begin(&o);
	enter(F_ENTRY, 0x1000);
	enter(F_ENTRY, 0x1000);
	probed_return(F_ENTRY, 0x1000, 0x77, 3);
	end("E f\nE f +10\nR f 0x3 +10\n", 1, 0,
	    "a call at the stack pointer of an open call ends that one without return");
	begin(&o);
	enter(F_ENTRY, 0x1000);
	probed_return(F_ENTRY, 0x1000, 0x78, 3);
	end("E f\n.R f 0x3\n", 1, 0,
	    "a return probe's return to another address is no return of the call");
	begin(&o);
	enter(G_ENTRY, 0x1000);
	probed_return(F_ENTRY, 0x1000, 0x77, 3);
	probed_return(G_ENTRY, 0x1000, 0x77, 4);
	end("E g\n.R f 0x3\nR g 0x4 +20\n", 1, 0,
	    "a return probe's return of another function is no return of the call");
}

static void test_return_probe_chains(void)
{
	const struct trace_options o = {.events = PLAN_ENTRY | PLAN_RETURN};

	begin(&o);
	enter(G_ENTRY, 0x1000);
	enter_by_jump(F_ENTRY, 0x1000);
	probed_return(F_ENTRY, 0x1000, 0x77, 3);
	probed_return(G_ENTRY, 0x1000, 0x77, 3);
	end("E g\n.E f\n.R f 0x3 +10\nR g 0x3 +30\n", 0, 0,
	    "both functions of a tail call return by their return probes, the inner one first");
	begin(&o);
	enter(F_ENTRY, 0x1000);
	enter_by_jump(F_ENTRY, 0x1000);
	probed_return(F_ENTRY, 0x1000, 0x77, 3);
	probed_return(F_ENTRY, 0x1000, 0x77, 3);
	enter(F_ENTRY, 0x1000);
	probed_return(F_ENTRY, 0x1000, 0x77, 4);
	probed_return(F_ENTRY, 0x1000, 0x77, 4);
	end("E f\nE f +10\nR f 0x3 +20\nE f +30\nR f 0x4 +10\n", 0, 0,
	    "a function that jumps back to its entry returns once by its return probes");
	begin(&o);
	enter(F_ENTRY, 0x1000);
	lose(2);
	probed_return(F_ENTRY, 0x1000, 0x77, 3);
	probed_return(F_ENTRY, 0xf00, 0x77, 3);
	end("E f\nLOST 2\nR f 0x3 +20\nR f 0x3\n", 1, 2,
	    "a return probe's return whose entry was lost is unmatched");
	begin(NULL);
	enter(F_ENTRY, 0x1000);
	branch(F_JNE, 0xff0, false);
	probed_return(F_ENTRY, 0x1000, 0x77, 3);
	end("E f\nB 0x100e N ->0x1010\n?\nR f 0x3 +20\n", 0, 0,
	    "the path to a ret that was not recorded is unknown");
	begin(NULL);
	ret(F_RET, 0x1000, 42);
	probed_return(G_JNE, 0x1000, 0x77, 3);
	end("B 0x103e T\n", 1, 0, "a return probe's event at a branch's site shows no return");
	plan.return_probes = false;
}

static void test_selection(void)
{
	struct trace_options o = {.events = PLAN_ENTRY | PLAN_RETURN, .max_depth = 1};

	begin(&o);
	enter(G_ENTRY, 0x2000);
	enter(F_ENTRY, 0x1000);
	ret(F_RET, 0x1000, 1);
	ret(G_RET, 0x2000, 2);
	end("E g\nR g 0x2 +30\n", 0, 0, "--depth 1 shows outermost calls only");
	o = (struct trace_options){.events = PLAN_ENTRY | PLAN_RETURN, .min_duration = 25};
	begin(&o);
	enter(G_ENTRY, 0x2000);
	enter(F_ENTRY, 0x1000);
	ret(F_RET, 0x1000, 1);
	ret(G_RET, 0x2000, 2);
	enter(F_ENTRY, 0x1000);
	ret(F_RET, 0x1000, 3);
	end("E g\nR g 0x2 +30\n", 0, 0, "--min-duration drops shorter calls");
}

static void test_hostile(void)
{
	struct event_entry entry = {.comm = ""};
	struct event e = event(SITES, 0, EVENT_ENTRY);

	begin(NULL);
	e.entry = &entry;
	ok(trace__feed(t, &e) < 0, "an event at a site that the plan doesn't have is refused");
	e.site = F_JNE;
	ok(trace__feed(t, &e) < 0, "an entry at a branch's site is refused");
	e.site = F_ENTRY;
	e.type = EVENT_BRANCH;
	ok(trace__feed(t, &e) < 0, "a branch at an entry's site is refused");
	e.type = 200;
	ok(trace__feed(t, &e) < 0, "an event of an unknown type is refused");
	trace__free(t);
}

/* ---- kernel functions that end in a tail call ---- */

static void leave(uint64_t sp)
{
	enter(G_ENTRY, sp);
	branch(G_JNE, sp, false);
	branch(G_TAIL, sp, true);
}

static void test_ends_elsewhere(void)
{
	blocks[5].taken = NO_BLOCK;
	sites[G_TAIL].target = 0x9000;
	for (size_t i = 0; i < plan.objects.len; i++)
		plan.objects.data[i].kernel = true;

	begin(NULL);
	leave(0x1000);
	probed_return(G_ENTRY, 0x1000, 0x77, 5);
	end("E g\nB 0x200e N ->0x2010\nB 0x201e T ->0x9000\nR g 0x5 +30\n", 0, 0,
	    "a return probe shows the return of a function that ended in a tail call");

	begin(NULL);
	enter(G_ENTRY, 0x1000);
	branch(G_JNE, 0x1000, true);
	ret(G_RET, 0x1000, 6);
	probed_return(G_ENTRY, 0x1000, 0x77, 6);
	end("E g\nB 0x200e T ->0x2020\nB 0x202e T\nR g 0x6 +20\n", 0, 0,
	    "a return probe does not repeat a return that the ret's probe has shown");

	begin(NULL);
	leave(0x1000);
	enter_by_jump(F_ENTRY, 0x1000);
	branch(F_JNE, 0xff0, false);
	ret(F_RET, 0x1000, 7);
	probed_return(G_ENTRY, 0x1000, 0x77, 7);
	end("E g\nB 0x200e N ->0x2010\nB 0x201e T ->0x9000\n.E f\n.B 0x100e N ->0x1010\n"
	    ".B 0x101e Ti ->0x1030\n.B 0x103e T\n.R f 0x7 +20\nR g 0x7 +50\n",
	    0, 0, "a function entered with a return probe's return address is the tail call's");

	begin(NULL);
	leave(0x1000);
	enter(F_ENTRY, 0x1000);
	branch(F_JNE, 0xff0, false);
	ret(F_RET, 0x1000, 8);
	probed_return(G_ENTRY, 0x1000, 0x78, 8);
	trace__finish(t);
	is(trace__totals(t)->unseen_tail_returns, 1,
	   "a tail call's return that no probe shows is counted as unseen");
	is(trace__totals(t)->unmatched_returns, 0,
	   "a tail call's return that no probe shows is not unmatched");
	trace__free(t);
	for (size_t i = 0; i < plan.objects.len; i++)
		plan.objects.data[i].kernel = false;
}

int main(void)
{
	make_plan();
	test_plain();
	test_recursion();
	test_tail_call();
	test_tail_of_helper();
	test_longjmp();
	test_other_stack();
	test_loss();
	test_unknown();
	test_fork();
	test_return_probes();
	test_return_probe_chains();
	test_selection();
	test_hostile();
	test_ends_elsewhere();
	str__free(&got);
	return tap__done();
}
