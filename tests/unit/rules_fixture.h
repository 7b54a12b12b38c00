/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests of the replay's rules: a program, its plan under a placement, and what a thread does,
 * block by block. The events are those that the plan's probes record of the thread. Steps come out
 * as one line: "E0" entry of f0, "B0.2T" the branch of block 2 of f0 (T, N; i: implied), "R0"
 * return, "L3" 3 lost events, "?" unknown; depth by leading dots.
 */
#ifndef RULES_FIXTURE_H
#define RULES_FIXTURE_H

#include "random_program.h"
#include "trace/replay.h"
#include "tap.h"

#define ALL	   (PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN)
#define NO_RETURNS (PLAN_ENTRY | PLAN_BRANCH)
#define OUT	   FUNCTIONS /* as a callee: code that is in no plan */

#define TOP  0x7ffc10000000   /* a stack pointer */
#define BACK (OUTSIDE + BIAS) /* a return address in code that is in no plan */

static struct random_plan rules;
static struct trace *t;
static struct str got;
static struct step returned; /* the last return */

/* The thread that runs, and its call: the stack pointer at entry and the return address. */
static struct {
	uint32_t pid, tid;
	uint64_t time, sp, caller;
	bool pending; /* a return probe has replaced the return address */
} now;

/* ---- steps out ---- */

static inline int put_step(void *ctx, const struct step *s)
{
	const uint64_t block = (s->at.vaddr - CODE) / BLOCK_SIZE;

	if (got.len)
		str__putc(&got, ' ');
	for (unsigned i = 0; i < s->depth; i++)
		str__putc(&got, '.');
	if (s->type == STEP_BRANCH)
		str__printf(&got, "B%u.%u%c", (unsigned)(block / BLOCKS),
			    (unsigned)(block % BLOCKS), s->taken ? 'T' : 'N');
	else if (s->type == STEP_LOST)
		str__printf(&got, "L%llu", (unsigned long long)s->count);
	else if (s->type == STEP_UNKNOWN)
		str__putc(&got, '?');
	else
		str__printf(&got, "%c%u", s->type == STEP_ENTRY ? 'E' : 'R', s->function);
	if (s->type == STEP_RETURN)
		returned = *s;
	if (s->implied)
		str__putc(&got, 'i');
	return 0;
}

static inline void resolve_address(void *ctx, uint32_t pid, uint64_t time, uint64_t addr,
				   struct location *out)
{
	if (addr - BIAS - CODE >= 0x10000)
		return;
	out->object = "/lib/x";
	out->vaddr = addr - BIAS;
}

/* ---- a program and its plan ---- */

/* OUT becomes the number behind the program's last function. */
static inline void lay_out_rules(struct program *p, unsigned events)
{
	for (p->functions = 0; p->functions < FUNCTIONS && p->f[p->functions].blocks;)
		p->functions++;
	for (unsigned f = 0; f < p->functions; f++)
		for (unsigned b = 0; b < BLOCKS; b++)
			if (p->f[f].code[b].callee == OUT)
				p->f[f].code[b].callee = p->functions;
	lay_out(&rules, p, events);
}

static inline void begin_replay(unsigned events)
{
	static const struct resolver resolver = {NULL, resolve_address};
	struct trace_options options = {.events = events};

	str__clear(&got);
	now.pid = now.tid = 7;
	now.sp = 0x7ffc10000000;
	now.caller = OUTSIDE + BIAS;
	now.pending = false;
	t = trace__new(rules.plan, &options, &resolver, put_step, NULL);
}

static inline void begin(struct program *p, enum plan_placement placement, unsigned events)
{
	lay_out_rules(p, events);
	place(&rules, placement, events);
	begin_replay(events);
}

static inline const char *steps(void)
{
	trace__finish(t);
	str__put(&got, "", 0);
	return got.data ? got.data : "";
}

/* end_replay() keeps the plan for another replay. */
#define end_replay(want, ...) (is_str(steps(), want, __VA_ARGS__), trace__free(t))
#define end(want, ...)	      (end_replay(want, __VA_ARGS__), plan__free(rules.plan))

static inline void drop(void)
{
	trace__free(t);
	plan__free(rules.plan);
}

static inline struct plan_block *block_of(unsigned f, unsigned b)
{
	return &rules.plan->blocks.data[rules.block[f][b]];
}

static inline struct plan_site *branch_of(unsigned f, unsigned b)
{
	return &rules.plan->sites.data[block_of(f, b)->site];
}

static inline bool is_probed(unsigned f, unsigned b)
{
	return branch_of(f, b)->probe;
}

static inline bool has_witness(unsigned f, unsigned b)
{
	const struct plan_site *s;

	vec__each (s, &rules.plan->sites)
		if (s->role == ROLE_WITNESS && s->probe && s->block == rules.block[f][b])
			return true;
	return false;
}

/* ---- events in ---- */

/* Sets the call that runs from here on. */
static inline void in_call(uint64_t sp, uint64_t caller)
{
	now.sp = sp;
	now.caller = caller;
}

static inline void feed_event(struct event e, const struct plan_site *s)
{
	struct event_entry entry = {.ip = s ? s->vaddr + s->probe_at + BIAS : 0,
				    .caller = now.caller,
				    .pending = now.pending,
				    .comm = "prog"};

	e.time = now.time += 10;
	e.pid = now.pid;
	e.tid = now.tid;
	e.site = s ? s - rules.plan->sites.data : 0;
	e.entry = e.type == EVENT_ENTRY ? &entry : NULL;
	trace__feed(t, &e);
}

static inline uint64_t depth_of_witness(const struct plan_site *s)
{
	return s->role == ROLE_WITNESS && s->sp_delta != SP_UNKNOWN ? s->sp_delta : 0;
}

/* The thread is at the start of a block: the probes there are hit. */
static inline void start(unsigned f, unsigned b)
{
	for (uint32_t i = 0; i < rules.plan->sites.len; i++) {
		const struct plan_site *s = &rules.plan->sites.data[i];

		if (s->block == rules.block[f][b] && s->probe && s->role != ROLE_BRANCH)
			feed_event((struct event){.sp = now.sp - depth_of_witness(s),
						  .type = s->role == ROLE_ENTRY ? EVENT_ENTRY
										: EVENT_BRANCH},
				   s);
	}
}

/* The branch at the end of a block runs at this stack pointer. */
static inline void end_block_at(unsigned f, unsigned b, uint64_t sp, bool taken, uint64_t target)
{
	const struct plan_site *s = branch_of(f, b);

	if (s->probe)
		feed_event((struct event){.sp = sp,
					  .type = s->entry ? EVENT_ENTRY : EVENT_BRANCH,
					  .taken = taken,
					  .has_target = target && !s->target,
					  .target = target},
			   s);
}

/* A whole block runs; target: where its branch leads, if that is indirect. */
static inline void run(unsigned f, unsigned b, bool taken, uint64_t target)
{
	int32_t depth = block_of(f, b)->site == NO_SITE ? 0 : branch_of(f, b)->sp_delta;

	start(f, b);
	if (block_of(f, b)->site != NO_SITE)
		end_block_at(f, b, now.sp - (depth == SP_UNKNOWN ? 0 : depth), taken, target);
}

/* A block that ends in a ret runs. */
static inline void run_ret(unsigned f, unsigned b)
{
	run(f, b, true, now.caller);
}

static inline void feed_return(unsigned f)
{
	feed_event((struct event){.sp = now.sp,
				  .type = EVENT_RETURN,
				  .has_target = true,
				  .target = now.caller},
		   &rules.plan->sites.data[rules.plan->functions.data[f].entry_site]);
}

static inline void feed_signal(void)
{
	feed_event((struct event){.type = EVENT_SIGNAL}, NULL);
}

#endif
