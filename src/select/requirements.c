// SPDX-License-Identifier: BSD-2-Clause
/* What is probed follows from outputs and options in this file alone. */
#include <stdlib.h>
#include "cli/option_values.h"
#include "requirements.h"

/* The needs of a trace file, which any later report may read. */
static const struct output_wants all = {.events = OUTPUT_STEPS,
					.branch_times = true,
					.durations = true,
					.regs = true,
					.tests = true,
					.lines = true,
					.scopes = true};

/* Returns the events that options need, whatever the format shows. */
static unsigned events_of_options(const struct request *req)
{
	unsigned events = 0;

	if (req->record.events_given || req->record.last)
		return OUTPUT_STEPS;
	if (req->show.min_duration || req->how.returns_given)
		events |= PLAN_RETURN;
	if (req->record.conditions.len)
		events |= PLAN_ENTRY | PLAN_RETURN;
	/* a call that began before the trace shows by its branches, and calls others */
	if (!req->command)
		events |= PLAN_BRANCH;
	return events;
}

struct output_wants requirements__of(const struct request *req)
{
	const struct output_format *format = request__format(req);
	struct output_wants w = request__record_name(req) ? all : format->wants;

	w.events = req->record.events & (w.events | events_of_options(req));
	w.branch_times &= !!(w.events & PLAN_BRANCH);
	w.path_times &= !!(w.events & PLAN_BRANCH);
	w.regs = (w.regs || req->record.typed) && w.events & PLAN_ENTRY;
	w.lines &= !req->show.no_src;
	w.scopes &= !req->show.no_src;
	w.variables = w.tests && !req->show.no_src;
	return w;
}

void requirements__read_source(const struct output_wants *w, struct plan *plan)
{
	if (w->late_source)
		return;
	if (w->lines)
		plan__lines(plan);
	if (w->scopes)
		plan__scopes(plan);
	if (w->variables && plan->tests)
		plan__variables(plan);
}

void requirements__settle(struct request *req)
{
	req->record.events = requirements__of(req).events;
}

/* ---- registers ---- */

static bool names_regs(const struct request *req)
{
	return req->record.regs && strcmp(req->record.regs, "args") &&
	       strcmp(req->record.regs, "none");
}

bool requirements__all_regs(const struct request *req)
{
	return request__record_name(req) || names_regs(req);
}

enum requirements_typed requirements__typed(const struct request *req)
{
	const struct output_format *format = request__format(req);

	if (req->record.typed)
		return TYPED_MEMORY;
	if (req->record.regs || req->record.explain || !(req->verb->bit & VERB_FUNCTIONS) ||
	    !(req->record.events & OUTPUT_CALLS) || request__counts(req))
		return TYPED_NONE;
	return request__record_name(req) || format->wants.regs ? TYPED_REGISTERS : TYPED_NONE;
}

#define COPY_DEFAULT 8192
/* glibc's printf of an unbuffered stream has its buffer on the stack (buffered_vfprintf()). */
#define COPY_OUTCOMES 16384

/* True if frame pointers are followed in this object. Go programs keep them, but not on all
 * architectures. */
static bool is_followed(const struct plan *plan, const struct object *o)
{
	const struct arch_dwarf *l = &plan->arch->dwarf;

	return o->go && (l->fp_at || l->go_records);
}

uint32_t requirements__stack_copy(const struct request *req, const struct plan *plan)
{
	const struct plan_object *o;

	if (!(req->record.stack || req->record.freq) || req->record.stack_size != STACK_SIZE_AUTO)
		return req->record.stack || req->record.freq
			       ? (req->record.stack_size + 1023) & ~1023ull
		       : plan__has_named(plan, NAMED_KILLED) && plan->arch->dwarf.nregs
			       ? COPY_DEFAULT
			       : 0;
	if (plan->named.len)
		return !plan->arch->dwarf.nregs		      ? 0
		       : plan__has_named(plan, NAMED_OUTCOME) ? COPY_OUTCOMES
							      : COPY_DEFAULT;
	vec__each (o, &plan->objects)
		if (o->object && !object__is_kernel(o->object) && !is_followed(plan, o->object))
			return plan->arch->dwarf.nregs ? COPY_DEFAULT : 0;
	return 0;
}

static bool wants_flags(const struct request *req)
{
	return req->record.regs &&
	       (strstr(req->record.regs, "flags") || strstr(req->record.regs, "all"));
}

/* The registers that entries show, a bit each. */
static uint64_t entry_regs(const struct request *req, const struct arch *arch)
{
	const struct convention *c = &arch->conventions[CONVENTION_C];
	uint64_t regs = 0;

	if (!requirements__of(req).regs || (req->record.regs && !strcmp(req->record.regs, "none")))
		return 0;
	if (names_regs(req))
		return regs__parse(req->record.regs, arch, &regs) ? UINT64_MAX : regs;
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

uint32_t requirements__log_regs(const struct request *req, const struct plan *plan)
{
	const struct arch *arch = plan->arch;
	uint32_t regs = 1u << arch->sp_reg;
	const struct plan_object *o;

	if (!requirements__of(req).regs && !req->record.conditions.len)
		return regs;
	if (names_regs(req)) /* the log has the instruction's address in any case */
		return ((1ull << arch->nregs) - 1) & ~(1ull << arch->ip_reg);
	regs |= argument_regs(&arch->conventions[CONVENTION_C]);
	vec__each (o, &plan->objects)
		if (o->object && o->object->go)
			regs |= argument_regs(&arch->conventions[CONVENTION_GO]);
	return regs;
}

uint64_t requirements__reported_regs(const struct request *req, const struct plan *plan)
{
	if (req->how.engine != ENGINE_PROBE)
		return requirements__log_regs(req, plan);
	return plan->late_entries ? entry_regs(req, plan->arch) : 0;
}

/* ---- the plan ---- */

static enum plan_placement placement_of(const struct request *req)
{
	if (request__counts(req))
		return PLACEMENT_COUNT;
	if (req->how.placement_given)
		return req->how.placement;
	if (req->record.why) /* each conditional reports its own values */
		return requirements__of(req).branch_times ? PLACEMENT_FULL : PLACEMENT_IMPLIED;
	/* logging a time takes longer than logging the branch: only where the rest takes much
	 * longer; and what ends a flight recorder's program says where that was */
	if (req->how.engine == ENGINE_INLINE && (request__record_name(req) || req->record.last))
		return PLACEMENT_WITNESS;
	return requirements__of(req).branch_times ? PLACEMENT_FULL : PLACEMENT_WITNESS;
}

bool requirements__log_times(const struct request *req)
{
	if (requirements__of(req).path_times)
		return true;
	return requirements__of(req).branch_times && placement_of(req) == PLACEMENT_FULL &&
	       (req->how.placement_given || !req->record.last);
}

#define AFTER_MAIN_RINGS 64
#define AFTER_MAIN_LOGS	 1024

uint64_t requirements__kept_branches(const struct request *req, bool logs)
{
	uint64_t after = req->show.all ? 0 : logs ? AFTER_MAIN_LOGS : AFTER_MAIN_RINGS;

	return req->record.last ? req->record.last + after : 0;
}

struct plan_options requirements__plan_options(const struct request *req, const struct arch *arch)
{
	bool retires = req->record.once || req->record.retire;
	/*
	 * Where the kernel would single-step the first instruction, a later one may report the
	 * entry. Not for a trace file, which has all registers, nor for call stacks, which begin
	 * with the first instruction.
	 */
	bool late = arch && !request__record_name(req) && !req->record.stack &&
		    !req->record.typed && req->how.engine == ENGINE_PROBE;

	return (struct plan_options){.events = req->record.events,
				     .placement = placement_of(req),
				     .path_ends = requirements__of(req).path_times,
				     .count_all = req->how.placement_given || retires,
				     .retire = retires,
				     .tests = req->record.why,
				     .mutes = req->record.conditions.len &&
					      req->how.engine == ENGINE_PROBE,
				     .mechanism = req->how.attach,
				     .return_probes = req->how.returns == RETURNS_PROBE,
				     .exact_flags = wants_flags(req),
				     .late_entries = late,
				     .entry_regs = late ? entry_regs(req, arch) : 0};
}
