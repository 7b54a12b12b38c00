/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of the formats that aggregate: a plan of three functions in two objects, and steps
 * written one per line. main (of prog) calls work, which has every kind of branch and calls leaf
 * (of the library).
 */
#ifndef PROFILE_FIXTURE_H
#define PROFILE_FIXTURE_H

#include "tap.h"
#include "output/stats/stats.h"

#define PROG "/bin/prog"
#define LIB  "/lib/lib;x.so"

enum { MAIN, WORK, LEAF, FUNCTIONS };
enum {
	MAIN_ENTRY,
	MAIN_CALL,
	MAIN_RET,
	WORK_ENTRY,
	WORK_JCC,
	WORK_ICALL,
	WORK_IJMP,
	WORK_JMP,
	WORK_RET,
	LEAF_ENTRY,
	LEAF_RET,
	SITES
};

static struct plan_object fixture_objects[] = {{.path = PROG}, {.path = LIB}};
static const struct range fixture_ranges[] = {{.vaddr = 0x1000, .size = 0x100},
					      {.vaddr = 0x1100, .size = 0x100},
					      {.vaddr = 0x100, .size = 0x20}};
static struct plan_function fixture_functions[FUNCTIONS] = {
	[MAIN] = {.name = "main", .ranges = &fixture_ranges[0], .nranges = 1},
	[WORK] = {.name = "work(A<B>&)",
		  .raw = "_Z4work",
		  .ranges = &fixture_ranges[1],
		  .nranges = 1},
	[LEAF] = {.name = "leaf", .object = 1, .ranges = &fixture_ranges[2], .nranges = 1},
};
static struct plan_block fixture_blocks[] = {
	{.start = 0x1000, .function = MAIN, .taken = NO_BLOCK},
	{.start = 0x1100, .function = WORK, .taken = 2},
	{.start = 0x1118, .function = WORK, .taken = NO_BLOCK},
	{.start = 0x1138, .function = WORK, .taken = 0},
	{.start = 0x100, .function = LEAF, .object = 1, .taken = NO_BLOCK},
};
static struct plan_site fixture_sites[SITES] = {
	[MAIN_ENTRY] = {.vaddr = 0x1000, .function = MAIN, .role = ROLE_ENTRY, .entry = 1},
	[MAIN_CALL] = {.vaddr = 0x1010, .function = MAIN, .kind = BRANCH_CALL, .target = 0x1100},
	[MAIN_RET] = {.vaddr = 0x1020, .function = MAIN, .kind = BRANCH_RET},
	[WORK_ENTRY] =
		{.vaddr = 0x1100, .function = WORK, .block = 1, .role = ROLE_ENTRY, .entry = 1},
	[WORK_JCC] = {.vaddr = 0x1110,
		      .function = WORK,
		      .block = 1,
		      .kind = BRANCH_JCC,
		      .target = 0x1118},
	[WORK_ICALL] = {.vaddr = 0x1120, .function = WORK, .block = 2, .kind = BRANCH_ICALL},
	[WORK_IJMP] = {.vaddr = 0x1130, .function = WORK, .block = 2, .kind = BRANCH_IJMP},
	[WORK_JMP] = {.vaddr = 0x1138,
		      .function = WORK,
		      .block = 3,
		      .kind = BRANCH_JMP,
		      .target = 0x1000},
	[WORK_RET] = {.vaddr = 0x1140, .function = WORK, .block = 3, .kind = BRANCH_RET},
	[LEAF_ENTRY] = {.vaddr = 0x100,
			.function = LEAF,
			.object = 1,
			.block = 4,
			.role = ROLE_ENTRY,
			.entry = 1},
	[LEAF_RET] =
		{.vaddr = 0x110, .function = LEAF, .object = 1, .block = 4, .kind = BRANCH_RET},
};
static struct plan fixture_plan = {
	.objects = {.data = fixture_objects, .len = 2},
	.functions = {.data = fixture_functions, .len = FUNCTIONS},
	.sites = {.data = fixture_sites, .len = SITES},
	.blocks = {.data = fixture_blocks, .len = ARRAY_SIZE(fixture_blocks)},
};

/* Before main(). */
__attribute__((constructor)) static void index_fixture_plan(void)
{
	plan__index(&fixture_plan);
}

static inline struct location fixture_place(uint32_t object, uint64_t vaddr)
{
	return (struct location){
		.addr = vaddr + 0x10000, .object = fixture_objects[object].path, .vaddr = vaddr};
}

/* Thread 7 of process 5, "pro;g", unless changed. */
static struct step fixture_task = {.pid = 5, .tid = 7, .comm = "pro;g"};

static inline struct step fixture_step(enum step_type type, uint32_t site, uint64_t call,
				       unsigned depth, uint64_t time)
{
	const struct plan_site *ps = &fixture_sites[site];
	struct step s = fixture_task;

	s.type = type;
	s.plan = &fixture_plan;
	s.site = site;
	s.function = ps->function;
	s.call = call;
	s.depth = depth;
	s.time = time;
	s.timed = time;
	s.at = fixture_place(ps->object, ps->vaddr);
	return s;
}

static inline struct step entry(uint32_t site, uint64_t call, uint64_t caller, unsigned depth,
				uint64_t time)
{
	struct step s = fixture_step(STEP_ENTRY, site, call, depth, time);

	s.caller = caller;
	return s;
}

/* duration 0: the entry was not seen */
static inline struct step ret(uint32_t site, uint64_t call, unsigned depth, uint64_t time,
			      uint64_t duration)
{
	struct step s = fixture_step(STEP_RETURN, site, call, depth, time);

	s.has_duration = duration;
	s.duration = duration;
	return s;
}

/* to 0: not known */
static inline struct step branch(uint32_t site, uint64_t call, unsigned depth, bool taken,
				 uint32_t object, uint64_t to)
{
	struct step s = fixture_step(STEP_BRANCH, site, call, depth, 0);

	s.taken = taken;
	s.to_known = to;
	s.to = fixture_place(object, to);
	return s;
}

/* The stats of these steps. */
static inline struct stats fixture_stats(const struct step *steps, size_t n)
{
	struct stats p;

	stats__init(&p, &fixture_plan);
	for (size_t i = 0; i < n; i++)
		stats__step(&p, &steps[i]);
	stats__end(&p);
	return p;
}
#define PROFILE(...)                                                                               \
	({                                                                                         \
		const struct step steps_[] = {__VA_ARGS__};                                        \
		fixture_stats(steps_, ARRAY_SIZE(steps_));                                         \
	})

static inline int fixture_write(void *ctx, const void *data, size_t len)
{
	str__put(ctx, data, len);
	return 0;
}

/* What a format makes of steps and totals, end included. The caller frees. */
static unsigned fixture_width; /* of the terminal */

static inline struct str fixture_render(const char *format, const struct step *steps, size_t n,
					const struct trace_totals *totals)
{
	struct output_options options = {.realtime_offset = 1000000, .width = fixture_width};
	struct str text = {0};
	struct output *o =
		output__new(output__by_name(format), &options, &fixture_plan, fixture_write, &text);

	for (size_t i = 0; i < n; i++)
		output__step(o, &steps[i]);
	output__end(o, totals);
	output__free(o);
	str__put(&text, "", 0);
	return text;
}

#endif
