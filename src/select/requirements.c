// SPDX-License-Identifier: BSD-2-Clause
/* The only place where outputs and options decide what is probed. */
#include <stdlib.h>
#include "cli/option_values.h"
#include "requirements.h"

/* Of a trace file, for any later report. */
static const struct output_wants all = {.events = OUTPUT_STEPS,
					.branch_times = true,
					.durations = true,
					.regs = true,
					.tests = true,
					.lines = true,
					.scopes = true};

/* Events that an option needs, whatever the format shows. */
static unsigned events_of_options(const struct args *a)
{
	unsigned events = 0;

	if (a->events_given || a->last)
		return OUTPUT_STEPS;
	if (a->min_duration || a->returns_given)
		events |= PLAN_RETURN;
	if (a->conditions.len)
		events |= PLAN_ENTRY | PLAN_RETURN;
	/* a call that has begun before shows by its branches, and is the caller of others */
	if (!a->command)
		events |= PLAN_BRANCH;
	return events;
}

struct output_wants requirements__of(const struct args *a)
{
	const struct output_format *format = args__format(a);
	struct output_wants w = args__record_name(a) ? all : format->wants;

	w.events = a->events & (w.events | events_of_options(a));
	w.branch_times &= !!(w.events & PLAN_BRANCH);
	w.path_times &= !!(w.events & PLAN_BRANCH);
	w.regs = (w.regs || a->typed) && w.events & PLAN_ENTRY;
	w.lines &= !a->no_src;
	w.scopes &= !a->no_src;
	w.variables = w.tests && !a->no_src;
	return w;
}

void requirements__read_source(const struct output_wants *w, struct plan *plan)
{
	if (w->lines)
		plan__lines(plan);
	if (w->scopes)
		plan__scopes(plan);
	if (w->variables && plan->tests)
		plan__variables(plan);
}

void requirements__settle(struct args *a)
{
	a->events = requirements__of(a).events;
}

/* ---- registers ---- */

static bool names_regs(const struct args *a)
{
	return a->regs && strcmp(a->regs, "args") && strcmp(a->regs, "none");
}

bool requirements__all_regs(const struct args *a)
{
	return args__record_name(a) || names_regs(a);
}

#define COPY_DEFAULT 8192

/* Go programs keep frame pointers, but not on all architectures. */
static bool is_followed(const struct plan *plan, const struct object *o)
{
	const struct arch_dwarf *l = &plan->arch->dwarf;

	return o->go && (l->fp_at || l->go_records);
}

uint32_t requirements__stack_copy(const struct args *a, const struct plan *plan)
{
	const struct plan_object *o;

	if (!(a->stack || a->freq) || a->stack_size != STACK_SIZE_AUTO)
		return a->stack || a->freq ? (a->stack_size + 1023) & ~1023ull
		       : plan__has_named(plan, NAMED_KILLED) && plan->arch->dwarf.nregs
			       ? COPY_DEFAULT
			       : 0;
	if (plan->named.len)
		return plan->arch->dwarf.nregs ? COPY_DEFAULT : 0;
	vec__each (o, &plan->objects)
		if (o->object && !object__is_kernel(o->object) && !is_followed(plan, o->object))
			return plan->arch->dwarf.nregs ? COPY_DEFAULT : 0;
	return 0;
}

static bool wants_flags(const struct args *a)
{
	return a->regs && (strstr(a->regs, "flags") || strstr(a->regs, "all"));
}

/* Those that entries show, a bit each. */
static uint64_t entry_regs(const struct args *a, const struct arch *arch)
{
	const struct convention *c = &arch->conventions[CONVENTION_C];
	uint64_t regs = 0;

	if (!requirements__of(a).regs || (a->regs && !strcmp(a->regs, "none")))
		return 0;
	if (names_regs(a))
		return regs__parse(a->regs, arch, &regs) ? UINT64_MAX : regs; /* reported later */
	for (unsigned i = 0; i < c->nargs; i++)
		regs |= 1ull << c->args[i];
	return regs;
}

static uint32_t argument_regs(const struct convention *c)
{
	uint32_t regs = 0;

	for (unsigned i = 0; i < c->nargs; i++)
		regs |= 1u << c->args[i];
	return regs;
}

uint32_t requirements__log_regs(const struct args *a, const struct plan *plan)
{
	const struct arch *arch = plan->arch;
	uint32_t regs = 1u << arch->sp_reg;
	const struct plan_object *o;

	if (!requirements__of(a).regs && !a->conditions.len)
		return regs;
	if (requirements__all_regs(
		    a)) /* the log tells the address of the instruction in any case */
		return ((1ull << arch->nregs) - 1) & ~(1ull << arch->ip_reg);
	regs |= argument_regs(&arch->conventions[CONVENTION_C]);
	vec__each (o, &plan->objects)
		if (o->object && o->object->go)
			regs |= argument_regs(&arch->conventions[CONVENTION_GO]);
	return regs;
}

/* ---- the plan ---- */

static enum plan_placement placement_of(const struct args *a)
{
	if (args__counts(a))
		return PLACEMENT_COUNT;
	if (a->placement_given)
		return a->placement;
	if (a->why) /* each conditional tells its own values */
		return requirements__of(a).branch_times ? PLACEMENT_FULL : PLACEMENT_IMPLIED;
	/* a time takes the program longer than the branch: not where the rest takes hardly any */
	if (a->engine == ENGINE_INLINE && args__record_name(a))
		return PLACEMENT_WITNESS;
	return requirements__of(a).branch_times ? PLACEMENT_FULL : PLACEMENT_WITNESS;
}

bool requirements__log_times(const struct args *a)
{
	if (requirements__of(a).path_times)
		return true;
	return requirements__of(a).branch_times && placement_of(a) == PLACEMENT_FULL &&
	       (a->placement_given || !a->last);
}

struct plan_options requirements__plan_options(const struct args *a, const struct arch *arch)
{
	bool retires = a->once || a->retire;
	/* Where the kernel would single-step an entry's first instruction, a later one may report
	 * the entry. Not to a trace file, which has all registers; a call stack begins with the
	 * first instruction. */
	bool late = arch && !args__record_name(a) && !a->stack && !a->typed &&
		    a->engine == ENGINE_PROBE;

	return (struct plan_options){.events = a->events,
				     .placement = placement_of(a),
				     .path_ends = requirements__of(a).path_times,
				     .count_all = a->placement_given || retires,
				     .retire = retires,
				     .tests = a->why,
				     .mutes = a->conditions.len && a->engine == ENGINE_PROBE,
				     .mechanism = a->attach,
				     .return_probes = a->returns == RETURNS_PROBE,
				     .exact_flags = wants_flags(a),
				     .late_entries = late,
				     .entry_regs = late ? entry_regs(a, arch) : 0};
}
