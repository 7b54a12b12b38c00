/* SPDX-License-Identifier: BSD-2-Clause */
/* For the tests of src/output: a small plan made by hand, and steps rendered into a string. */
#ifndef OUTPUT_FIXTURE_H
#define OUTPUT_FIXTURE_H

#include "tap.h"
#include "output/output.h"

#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define LS   "/usr/bin/ls"

enum fixture_site {
	SITE_ENTRY,
	SITE_JNE,
	SITE_LOOP,
	SITE_JMP,
	SITE_CALL,
	SITE_IJMP,
	SITE_ICALL,
	SITE_RET,
	FIXTURE_SITES
};

static const char *const fixture_reg_names[] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
	"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip", "flags",
};
static const uint8_t fixture_args[] = {7, 6};
static const uint8_t fixture_go_args[] = {0, 3};
static const struct arch fixture_arch = {
	.name = "test",
	.nregs = ARRAY_SIZE(fixture_reg_names),
	.reg_names = fixture_reg_names,
	.conventions =
		{
			[CONVENTION_C] = {fixture_args, ARRAY_SIZE(fixture_args)},
			[CONVENTION_GO] = {fixture_go_args, ARRAY_SIZE(fixture_go_args)},
		},
};

static struct plan_object fixture_objects[] = {{.path = LIBC}, {.path = LS}};
/* Tests of several objects use the second ones, too. */
static struct plan_function fixture_functions[] = {{.name = "malloc"},
						   {.name = "main", .object = 1}};
static struct plan_site fixture_sites[FIXTURE_SITES] = {
	[SITE_ENTRY] = {.vaddr = 0x98580, .role = ROLE_ENTRY, .entry = 1},
	[SITE_JNE] = {.vaddr = 0x985a5, .kind = BRANCH_JCC, .mnemonic = "jne"},
	[SITE_LOOP] = {.vaddr = 0x985a7, .kind = BRANCH_LOOP, .mnemonic = "jrcxz"},
	[SITE_JMP] = {.vaddr = 0x985a9, .kind = BRANCH_JMP, .mnemonic = "jmp"},
	[SITE_CALL] = {.vaddr = 0x985b0, .kind = BRANCH_CALL, .mnemonic = "call"},
	[SITE_IJMP] = {.vaddr = 0x985b5, .kind = BRANCH_IJMP, .mnemonic = "jmp"},
	[SITE_ICALL] = {.vaddr = 0x985b8, .kind = BRANCH_ICALL, .mnemonic = "call"},
	[SITE_RET] = {.vaddr = 0x985c0, .kind = BRANCH_RET, .mnemonic = "ret"},
};
/* A tracepoint with fields of each kind, and its data. */
static struct plan_named fixture_named[] = {{.name = "sched:sched_switch"}};
static struct plan_field fixture_fields[] = {
	{.name = "comm", .type = "char", .offset = 8, .size = 16, .kind = TYPE_STRING},
	{.name = "prio", .type = "int", .offset = 24, .size = 4, .kind = TYPE_SIGNED},
	{.name = "addr", .type = "void *", .offset = 32, .size = 8, .kind = TYPE_HEX},
	{.name = "ids", .type = "u16", .offset = 40, .size = 4, .count = 2},
	{.name = "file",
	 .type = "__data_loc char[]",
	 .offset = 44,
	 .size = 4,
	 .kind = TYPE_STRING_AT},
	{.name = "busy", .type = "bool", .offset = 48, .size = 1, .kind = TYPE_BOOL},
	{.name = "raw", .type = "u8[3]", .offset = 49, .size = 3, .kind = TYPE_BYTES},
	{.name = "more", .type = "u64", .offset = 64, .size = 8}, /* the data doesn't have it */
};
static const uint8_t fixture_data[] __attribute__((aligned(8))) = {
	0,    0,    0, 0,    0, 0, 0, 0, 'l',  's',  '"',  0,	 'x', 0, 0, 0,
	0,    0,    0, 0,    0, 0, 0, 0, 0xfb, 0xff, 0xff, 0xff, 0,   0, 0, 0,
	0x34, 0x12, 0, 0,    0, 0, 0, 0, 7,    0,    8,	   1,	 56,  0, 5, 0,
	1,    0xab, 0, 0xcd, 0, 0, 0, 0, '/',  'e',  't',  'c',	 0,
};
static const struct event_named fixture_event = {
	.count = 1,
	.comm = "ls",
	.data = fixture_data,
	.len = sizeof(fixture_data),
};
static struct plan fixture_plan = {
	.arch = &fixture_arch,
	.objects = {.data = fixture_objects, .len = 1},
	.functions = {.data = fixture_functions, .len = 1},
	.sites = {.data = fixture_sites, .len = FIXTURE_SITES},
	.named = {.data = fixture_named, .len = 1},
	.fields = {.data = fixture_fields, .len = ARRAY_SIZE(fixture_fields)},
};
static const uint64_t fixture_regs[EVENT_REGS] = {
	0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0, 0x18,	       0xa8,
	0xa9, 0,    0,	  0,	0,    0,    0, 0x7f0000098580, 0x246,
};
static const struct output_options fixture_options = {
	.start_time = 1000000000,
	.show_regs = true,
};

static inline struct location fixture_at(uint64_t offset)
{
	return (struct location){0x7f0000098580 + offset, LIBC, "malloc", offset, 0x98580 + offset};
}

static inline struct location fixture_main(void)
{
	return (struct location){0x555555554444, LS, "main", 0x24, 0x4444};
}

/* A timed step at 1.000012345 s of thread 7, "ls". */
static inline struct step fixture_step(enum step_type type, enum fixture_site site)
{
	return (struct step){
		.type = type,
		.timed = true,
		.time = 1000012345,
		.cpu = 1,
		.pid = 7,
		.tid = 7,
		.comm = "ls",
		.plan = &fixture_plan,
		.site = site,
		.at = fixture_at(fixture_sites[site].vaddr - 0x98580),
		.named = &fixture_event,
	};
}

static inline struct step fixture_entry(void)
{
	struct step s = fixture_step(STEP_ENTRY, SITE_ENTRY);

	s.regs = fixture_regs;
	return s;
}

static inline struct step fixture_branch(enum fixture_site site, bool taken, struct location to)
{
	struct step s = fixture_step(STEP_BRANCH, site);

	s.taken = taken;
	s.to_known = true;
	s.to = to;
	return s;
}

static inline struct step fixture_return(void)
{
	struct step s = fixture_step(STEP_RETURN, SITE_ENTRY);

	s.site = SITE_RET;
	s.has_value = true;
	s.value = 0x5581a2c0;
	s.has_duration = true;
	s.duration = 1299;
	return s;
}

static inline int fixture_write(void *ctx, const void *data, size_t len)
{
	str__put(ctx, data, len);
	return 0;
}

/* What a format makes of steps. The caller frees. */
static inline char *fixture_render(const char *format, const struct output_options *options,
				   const struct step *steps, size_t n)
{
	struct str text = {0};
	struct output *o =
		output__new(output__by_name(format), options, &fixture_plan, fixture_write, &text);

	for (size_t i = 0; i < n; i++)
		output__step(o, &steps[i]);
	output__settle(o);
	output__free(o);
	str__put(&text, "", 0);
	return text.data;
}

/* Steps render as want. */
#define fixture_shows(format, options, want, what, ...)                                            \
	do {                                                                                       \
		const struct step steps_[] = {__VA_ARGS__};                                        \
		autofree char *got_ = fixture_render(format, options, steps_, ARRAY_SIZE(steps_)); \
		is_str(got_, want, what);                                                          \
	} while (0)

#endif
