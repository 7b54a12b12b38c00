// SPDX-License-Identifier: BSD-2-Clause
/*
 * The replay where calls link: a function that makes no frame, as glibc's setjmp for arm64, has the
 * stack pointer of those that it calls. Steps as in test_trace.c: "E f", "B 0x1004 T i ->0x1020",
 * "R f", "?"; a dot for each level of calls.
 *
 * f (0x1000)  b0 0x1000: b 0x2010 (no probe)
 * g (0x2000)  b1 0x2000: falls through, b2 0x2010: bl k, b3 0x2020: b.eq 0x2040, b4 0x2030: b
 * 0x2010 (no probe), b5 0x2040: ret k (0x3000)  b6 0x3000: ret
 */
#include <elf.h>
#include "trace/trace.h"
#include "tap.h"

enum { F_ENTRY, F_B, G_ENTRY, G_BL, G_BEQ, G_B, G_RET, K_ENTRY, K_RET, SITES };

static struct object object = {.path = (char *)"/lib/x", .machine = EM_AARCH64};
static struct range ranges[] = {
	{0x1000, 0x10, (char *)"f"}, {0x2000, 0x50, (char *)"g"}, {0x3000, 0x10, (char *)"k"}};
static struct plan_object objects[] = {{&object, "/lib/x", EM_AARCH64, false, false}};
static struct plan_function functions[] = {
	{"f", "f", 0, F_ENTRY, 0, 0, &ranges[0], 1, 1, 1, 1, 0, 0},
	{"g", "g", 0, G_ENTRY, 1, 0, &ranges[1], 1, 5, 1, 1, 0, 0},
	{"k", "k", 0, K_ENTRY, 6, 0, &ranges[2], 1, 1, 1, 1, 0, 0},
};

#define SITE(va, tgt, fn, blk, knd, ent)                                                           \
	{                                                                                          \
		.vaddr = va, .role = knd == BRANCH_NONE ? ROLE_ENTRY : ROLE_BRANCH, .target = tgt, \
		.function = fn, .block = blk, .kind = knd, .entry = ent, .len = 4,                 \
		.mnemonic = "x", .cond = 1                                                         \
	}
static struct plan_site sites[SITES] = {
	[F_ENTRY] = SITE(0x1000, 0, 0, 0, BRANCH_NONE, 1),
	[F_B] = SITE(0x100c, 0x2010, 0, 0, BRANCH_JMP, 0),
	[G_ENTRY] = SITE(0x2000, 0, 1, 1, BRANCH_NONE, 1),
	[G_BL] = SITE(0x201c, 0x3000, 1, 2, BRANCH_CALL, 0),
	[G_BEQ] = SITE(0x202c, 0x2040, 1, 3, BRANCH_JCC, 0),
	[G_B] = SITE(0x203c, 0x2010, 1, 4, BRANCH_JMP, 0),
	[G_RET] = SITE(0x204c, 0, 1, 5, BRANCH_RET, 0),
	[K_ENTRY] = SITE(0x3000, 0, 2, 6, BRANCH_NONE, 1),
	[K_RET] = SITE(0x300c, 0, 2, 6, BRANCH_RET, 0),
};

#define BLOCK(st, fn, site_, nxt, tkn)                                                             \
	{                                                                                          \
		.start = st, .end = st + 0x10, .function = fn, .site = site_, .next = nxt,         \
		.taken = tkn                                                                       \
	}
static struct plan_block blocks[] = {
	BLOCK(0x1000, 0, F_B, NO_BLOCK, 2),	     BLOCK(0x2000, 1, NO_SITE, 2, NO_BLOCK),
	BLOCK(0x2010, 1, G_BL, 3, NO_BLOCK),	     BLOCK(0x2020, 1, G_BEQ, 4, 5),
	BLOCK(0x2030, 1, G_B, NO_BLOCK, 2),	     BLOCK(0x2040, 1, G_RET, NO_BLOCK, NO_BLOCK),
	BLOCK(0x3000, 2, K_RET, NO_BLOCK, NO_BLOCK),
};

static struct plan plan = {.objects = {.data = objects, .len = 1},
			   .functions = {.data = functions, .len = ARRAY_SIZE(functions)},
			   .sites = {.data = sites, .len = SITES},
			   .blocks = {.data = blocks, .len = ARRAY_SIZE(blocks)}};
static struct trace *t;
static struct str got;
static uint64_t clock_ns;

#define BIAS	  0x555500000000
#define OUTSIDE	  0x77
#define BEHIND_BL (BIAS + 0x2020)
#define SP	  0x7000

static int on_step(void *ctx, const struct step *s)
{
	for (unsigned i = 0; i < s->depth; i++)
		str__putc(&got, '.');
	switch (s->type) {
	case STEP_ENTRY:
		str__printf(&got, "E %s\n", s->at.symbol);
		break;
	case STEP_BRANCH:
		str__printf(&got, "B 0x%llx %c%s\n", (unsigned long long)s->at.vaddr,
			    s->taken ? 'T' : 'N', s->implied ? "i" : "");
		break;
	case STEP_RETURN:
		str__printf(&got, "R %s\n", plan.functions.data[s->function].name);
		break;
	default:
		str__puts(&got, "?\n");
	}
	return 0;
}

static void resolve(void *ctx, uint32_t pid, uint64_t time, uint64_t addr, struct location *out)
{
}

static const struct resolver resolver = {NULL, resolve};

static struct event event(uint32_t site, uint64_t sp, enum event_type type)
{
	return (struct event){
		.time = clock_ns += 10, .pid = 7, .tid = 7, .sp = sp, .site = site, .type = type};
}

static void enter(int site, uint64_t sp, uint64_t caller)
{
	struct event_entry entry = {
		.ip = sites[site].vaddr + BIAS, .caller = caller, .comm = "prog"};
	struct event e = event(site, sp, EVENT_ENTRY);

	e.entry = &entry;
	trace__feed(t, &e);
}

static void branch(int site, bool taken)
{
	struct event e = event(site, SP, EVENT_BRANCH);

	e.taken = taken;
	trace__feed(t, &e);
}

static void ret(int site, uint64_t to)
{
	struct event e = event(site, SP, EVENT_BRANCH);

	e.has_target = true;
	e.target = to;
	trace__feed(t, &e);
}

/* call, k_ret: do the call and k's ret have probes? */
static void begin(bool call, bool k_ret)
{
	static const struct trace_options all = {.events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN};

	for (int i = 0; i < SITES; i++)
		sites[i].probe = i == F_B || i == G_B ? PROBE_NONE : PROBE_TRAP;
	sites[G_BL].probe = call ? PROBE_TRAP : PROBE_NONE;
	sites[K_RET].probe = k_ret ? PROBE_TRAP : PROBE_NONE;
	plan.unprobed_rets = !k_ret;
	plan__index(&plan);
	str__clear(&got);
	str__puts(&got, "");
	clock_ns = 0;
	t = trace__new(&plan, &all, &resolver, on_step, NULL);
}

static void end(const char *want, uint64_t unmatched, const char *name)
{
	is_str(got.data, want, "%s", name);
	is(trace__totals(t)->unmatched_returns, unmatched, "%s: the returns that nothing told",
	   name);
	trace__free(t);
}

static void test_nested(void)
{
	begin(true, true);
	enter(F_ENTRY, SP, OUTSIDE);
	branch(G_BL, true);
	enter(K_ENTRY, SP, BEHIND_BL);
	ret(K_RET, BEHIND_BL);
	branch(G_BEQ, true);
	ret(G_RET, OUTSIDE);
	end("E f\nB 0x100c Ti\nB 0x201c T\n.E k\n.B 0x300c T\n.R k\nB 0x202c T\nB 0x204c T\nR f\n",
	    0, "a call that is probed");

	begin(false, true);
	enter(F_ENTRY, SP, OUTSIDE);
	enter(K_ENTRY, SP, BEHIND_BL);
	ret(K_RET, BEHIND_BL);
	branch(G_BEQ, false);
	enter(K_ENTRY, SP, BEHIND_BL);
	ret(K_RET, BEHIND_BL);
	branch(G_BEQ, true);
	ret(G_RET, OUTSIDE);
	end("E f\nB 0x100c Ti\nB 0x201c Ti\n.E k\n.B 0x300c T\n.R k\nB 0x202c N\n"
	    "B 0x203c Ti\nB 0x201c Ti\n.E k\n.B 0x300c T\n.R k\nB 0x202c T\nB 0x204c T\nR f\n",
	    0, "a call that the path implies, in the middle of another function");
}

/* Nothing tells the time of its return, which isn't shown but counted. */
static void test_unprobed_ret(void)
{
	begin(true, false);
	enter(F_ENTRY, SP, OUTSIDE);
	branch(G_BL, true);
	enter(K_ENTRY, SP, BEHIND_BL);
	branch(G_BEQ, true);
	ret(G_RET, OUTSIDE);
	end("E f\nB 0x100c Ti\nB 0x201c T\n.E k\n.B 0x300c Ti\nB 0x202c T\nB 0x204c T\nR f\n", 1,
	    "a ret that the caller's next event implies");

	begin(false, false);
	enter(F_ENTRY, SP, OUTSIDE);
	enter(K_ENTRY, SP, BEHIND_BL);
	branch(G_BEQ, false);
	enter(K_ENTRY, SP, BEHIND_BL);
	branch(G_BEQ, true);
	ret(G_RET, OUTSIDE);
	end("E f\nB 0x100c Ti\nB 0x201c Ti\n.E k\n.B 0x300c Ti\nB 0x202c N\n"
	    "B 0x203c Ti\nB 0x201c Ti\n.E k\n.B 0x300c Ti\nB 0x202c T\nB 0x204c T\nR f\n",
	    2, "neither the call nor its ret has a probe");
}

static void test_others(void)
{
	begin(false, true);
	enter(F_ENTRY, SP, OUTSIDE);
	enter(K_ENTRY, SP, OUTSIDE);
	ret(K_RET, OUTSIDE);
	end("E f\n?\nE k\nB 0x300c T\nR k\n", 1, "another caller's call ends the one in its place");

	begin(false, true);
	enter(F_ENTRY, SP, OUTSIDE);
	enter(G_ENTRY, SP, BEHIND_BL);
	end("E f\n?\nE g\n", 1, "the call instruction calls another function");
}

/* As test_nested(), on an architecture where a call has its own place on the stack. */
static void test_pushed(void)
{
	plan.arch = arch__by_machine(EM_X86_64);
	begin(true, true);
	enter(F_ENTRY, SP, OUTSIDE);
	branch(G_BL, true);
	enter(K_ENTRY, SP, BEHIND_BL);
	ret(K_RET, BEHIND_BL);
	end("E f\nB 0x100c Ti\nB 0x201c T\nE k\nB 0x300c T\nR k\n", 1, "where calls push");
}

int main(void)
{
	plan.arch = arch__by_machine(EM_AARCH64);
	test_nested();
	test_unprobed_ret();
	test_others();
	test_pushed();
	return tap__done();
}
