/* SPDX-License-Identifier: BSD-2-Clause */
/* For the tests of formats that show code: a function of four blocks, and three calls of it. */
#ifndef CODE_TRACE_FIXTURE_H
#define CODE_TRACE_FIXTURE_H

#include <elf.h>
#include "tap.h"
#include "output/output.h"

#define PROG "/usr/bin/pr\"og"

static const uint8_t code_bytes[] = {
	0x85, 0xff, /* 1000 test edi, edi */
	0x74, 0x04, /* 1002 je 1008 */
	0xff, 0xd0, /* 1004 call rax */
	0xff, 0xcf, /* 1006 dec edi */
	0xc3,	    /* 1008 ret */
	0x06, 0x06, /* no instruction */
	0x90,	    /* 100b nop */
};
static struct segment code_segment = {
	.vaddr = 0x1000, .size = sizeof(code_bytes), .bytes = code_bytes, .exec = true};
static struct object code_object = {
	.path = PROG, .machine = EM_X86_64, .segments = {.data = &code_segment, .len = 1}};

enum code_site { CODE_ENTRY, CODE_JE, CODE_ICALL, CODE_RET, CODE_SITES };
static struct plan_site code_sites[CODE_SITES] = {
	[CODE_ENTRY] = {.vaddr = 0x1000, .len = 2, .role = ROLE_ENTRY, .entry = 1},
	[CODE_JE] =
		{.vaddr = 0x1002, .len = 2, .target = 0x1008, .kind = BRANCH_JCC, .mnemonic = "je"},
	[CODE_ICALL] =
		{.vaddr = 0x1004, .len = 2, .kind = BRANCH_ICALL, .mnemonic = "call", .block = 1},
	[CODE_RET] = {.vaddr = 0x1008, .len = 1, .kind = BRANCH_RET, .mnemonic = "ret", .block = 3},
};
static struct plan_block code_blocks[] = {
	{.start = 0x1000, .end = 0x1004, .site = CODE_JE, .next = 1, .taken = 3},
	{.start = 0x1004, .end = 0x1006, .site = CODE_ICALL, .next = 2, .taken = NO_BLOCK},
	{.start = 0x1006, .end = 0x1008, .site = NO_SITE, .next = 3, .taken = NO_BLOCK},
	{.start = 0x1008, .end = 0x1009, .site = CODE_RET, .next = NO_BLOCK, .taken = NO_BLOCK},
};
static struct range code_range = {.vaddr = 0x1000, .size = sizeof(code_bytes)};
static struct plan_function code_functions[] = {
	{.name = "f<\"&>", .entry_site = CODE_ENTRY, .ranges = &code_range, .nranges = 1},
	{.name = "idle", .entry_site = NO_SITE, .entry_block = NO_BLOCK},
};
static struct plan_object code_objects[] = {
	{.object = &code_object, .path = PROG, .machine = EM_X86_64}};
static struct plan_line code_lines[] = {{0x1000, 0, 0, 7}, {0x1004, 0, 0, 8}, {0x1008, 0, 0, 7}};
static char code_file[] = "/src/a.c";
static char *code_files[] = {code_file};
static struct plan code_plan = {
	.objects = {.data = code_objects, .len = 1},
	.functions = {.data = code_functions, .len = 2},
	.sites = {.data = code_sites, .len = CODE_SITES},
	.blocks = {.data = code_blocks, .len = ARRAY_SIZE(code_blocks)},
	.lines = {.data = code_lines, .len = ARRAY_SIZE(code_lines)},
	.line_files = {.data = code_files, .len = 1},
};

/* Before main(). */
__attribute__((constructor)) static void index_code_plan(void)
{
	plan__index(&code_plan);
}

static const char *code_source(void *ctx, const char *object, const char *file, unsigned line)
{
	return !strcmp(object, PROG) && !strcmp(file, code_file) && line == 7 ? "if (x)\t\033<y>\r"
									      : NULL;
}

static struct output_options code_options = {.show_regs = true, .source = code_source};

static inline int code_write(void *ctx, const void *data, size_t len)
{
	str__put(ctx, data, len);
	return 0;
}

static inline struct step code_step(enum step_type type, enum code_site site, uint64_t time,
				    uint64_t call)
{
	uint64_t offset = code_sites[site].vaddr - 0x1000;

	return (struct step){.type = type,
			     .timed = true,
			     .time = time,
			     .pid = 7,
			     .tid = 7,
			     .comm = "prog",
			     .plan = &code_plan,
			     .site = site,
			     .call = call,
			     .at = {0x1000 + offset, PROG, "f<\"&>", offset, 0x1000 + offset}};
}

static inline void code_branch(struct output *o, enum code_site site, uint64_t time, uint64_t call,
			       bool taken, const char *to, uint64_t vaddr)
{
	struct step s = code_step(STEP_BRANCH, site, time, call);

	s.taken = taken;
	s.to_known = to;
	s.to = (struct location){vaddr, vaddr < 0x2000 ? PROG : "/lib/x.so", to, 0, vaddr};
	output__step(o, &s);
}

/*
 * One call: straight to the end (-), or by way of "go" (g) or "hop" (h). Or it ends before its
 * first branch (e), before the call (c), or in "go" (x).
 */
static inline void code_call(struct output *o, uint64_t id, char way)
{
	uint64_t t = id * 1000;
	struct step s = code_step(STEP_ENTRY, CODE_ENTRY, t, id), r;

	output__step(o, &s);
	if (way == 'e')
		return;
	code_branch(o, CODE_JE, t + 1, id, way == '-', "f<\"&>", way == '-' ? 0x1008 : 0x1004);
	if (way == 'c')
		return;
	if (way != '-')
		code_branch(o, CODE_ICALL, t + 2, id, true, way == 'h' ? "hop" : "go",
			    way == 'h' ? 0x3000 : 0x2000);
	if (way == 'x')
		return;
	code_branch(o, CODE_RET, t + 100, id, true, "main", 0x1500);
	r = code_step(STEP_RETURN, CODE_RET, t + 100, id);
	r.has_duration = true;
	r.duration = 100;
	output__step(o, &r);
}

static untraced_vec code_untraced;

/* A call for each letter. */
static inline void code_render_to(struct str *text, const char *format, const char *calls)
{
	struct trace_totals totals = {.functions = 2, .skipped = 3, .events = 15};
	struct output *o;

	code_plan.arch = arch__by_machine(EM_X86_64);
	o = output__new(output__by_name(format), &code_options, &code_plan, code_write, text);
	output__untraced(o, &code_untraced);
	totals.untraced = code_untraced.len;
	for (uint64_t i = 0; calls[i]; i++)
		code_call(o, i + 1, calls[i]);
	output__end(o, &totals);
	output__free(o);
	str__put(text, "", 0);
}

/* The same as a string. The caller frees. */
static inline char *code_render(const char *format, const char *calls)
{
	struct str text = {0};

	code_render_to(&text, format, calls);
	return text.data;
}

#endif
