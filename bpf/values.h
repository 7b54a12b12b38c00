/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The values that a branch's record has: where an indirect one goes, what a ret returns, what a
 * conditional tests. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_VALUES_H
#define BBTRACE_BPF_VALUES_H

/* wire_operand.base: the address after the instruction; of struct wire_test: of the instruction */
#define REG_IP 0xfe

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, struct wire_operand);
} operands SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, struct wire_test);
} tests SEC(".maps");

/* r: where ARCH_REGISTERS is their number, a copy of them: else the stack has no room for one. */
static __always_inline void take_registers(__u64 *r, struct pt_regs *ctx)
{
	if (ARCH_REGISTERS > 1)
		copy_regs(r, ctx);
}

static __always_inline __u64 taken_register(struct pt_regs *ctx, const __u64 *r, __u32 reg)
{
	return ARCH_REGISTERS > 1 ? r[reg & (ARCH_REGISTERS > 1 ? ARCH_GENERAL - 1 : 0)]
				  : arch_register(ctx, reg);
}

/* Without its segment. */
static __always_inline __u64 operand_address(struct pt_regs *ctx, const struct wire_operand *o,
					     const __u64 *r, bool kernel)
{
	__u64 addr = o->disp;

	if (o->base == REG_IP)
		addr += kernel ? arch_kprobe_address(ctx) : arch_ip(ctx);
	else if (o->base < ARCH_GENERAL)
		addr += taken_register(ctx, r, o->base);
	if (o->index < ARCH_GENERAL)
		addr += taken_register(ctx, r, o->index) * o->scale;
	return o->addr32 || config.narrow ? (__u32)addr : addr;
}

/*
 * Loads the target of a branch through memory (struct operand of src/arch/arch.h). If it can't be
 * read, *value is its address, so that user space can look it up.
 */
static __always_inline long load_operand(struct pt_regs *ctx, __u32 index, bool kernel,
					 __u64 *value)
{
	struct wire_operand *o = bpf_map_lookup_elem(&operands, &index);
	__u64 addr, r[ARCH_REGISTERS];
	long err;

	if (!o || (o->seg && kernel)) /* per-CPU data, not a task's segment */
		return -1;
	take_registers(r, ctx);
	addr = operand_address(ctx, o, r, kernel);
	if (o->seg)
		addr = visible(addr + segment_base(o->seg));
	err = load_sized(value, o->size, addr, kernel);
	if (err) {
		value[0] = addr;
		value[1] = arch_ip(ctx);
	}
	return err;
}

/* What a conditional tests: registers as they are when it is executed, and memory, which is read
 * again. Fills value[]; returns wire_event.missing. */
static __always_inline int read_tested(struct pt_regs *ctx, __u32 site, bool kernel, __u64 *value)
{
	struct wire_test *test = bpf_map_lookup_elem(&tests, &site);
	__u64 r[ARCH_REGISTERS];
	int missing = 0;

	value[0] = value[1] = 0;
	if (!test)
		return WIRE_NO_VALUE0 | WIRE_NO_VALUE1;
	take_registers(r, ctx);
	for (int i = 0; i < 2; i++) {
		const struct wire_operand *o = &test->of[i];

		if (test->kind[i] == TESTED_REG)
			value[i] = taken_register(ctx, r, o->base);
		else if (test->kind[i] == TESTED_MEM &&
			 load_sized(&value[i], o->size, operand_address(ctx, o, r, kernel), kernel))
			missing |= i ? WIRE_NO_VALUE1 : WIRE_NO_VALUE0;
	}
	return missing;
}

#include "returns.h"

/* Fills value[] by the site's action. Returns wire_event.missing. Not inlined, to have its own
 * stack frame. */
static __noinline int read_values(struct pt_regs *ctx, __u64 word, bool kernel, __u64 *value)
{
	bool replaced;

	value[0] = value[1] = 0;
	switch (SITE_ACTION(word)) {
	case ACTION_RET:
		value[1] = arch_return_value(ctx);
		return load_return(ctx, arch_sp(ctx), SITE_REG(word), kernel, LOOKUP_INLINED,
				   &value[0], &replaced)
			       ? WIRE_NO_VALUE0
			       : 0;
	case ACTION_REG:
		value[0] = arch_target(arch_register(ctx, SITE_REG(word)) + SITE_DISP(word));
		return 0;
	case ACTION_MEM:
		if (ARCH_LOADS_TARGETS)
			return load_operand(ctx, SITE_OPERAND(word), kernel, value) ? WIRE_NO_VALUE0
										    : 0;
		return 0;
	case ACTION_TEST:
		return config.tests ? read_tested(ctx, SITE_ID(word), kernel, value) : 0;
	}
	return 0;
}

#endif
