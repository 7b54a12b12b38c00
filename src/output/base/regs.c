// SPDX-License-Identifier: BSD-2-Clause
/* Which registers an entry shows: those of arguments, or those that were asked for. */
#include "fields.h"

static void show_reg(struct reg_list *list, const struct arch *arch, unsigned number)
{
	if (number < EVENT_REGS && number < arch->nregs && arch->reg_names[number] &&
	    list->n < EVENT_REGS)
		list->regs[list->n++] = number;
}

static void show_args(struct reg_list *list, const struct arch *arch, enum convention_kind kind)
{
	for (unsigned i = 0; i < arch->conventions[kind].nargs; i++)
		show_reg(list, arch, arch->conventions[kind].args[i]);
}

/* The argument registers in the order of the calling convention, or the requested ones by
 * number. */
void regs__choose(struct output *o)
{
	const struct arch *arch = o->plan->arch;

	if (!arch)
		return;
	if (!o->options.regs) {
		show_args(&o->regs, arch, CONVENTION_C);
		show_args(&o->go_regs, arch, CONVENTION_GO);
		show_args(&o->kernel_regs, arch, CONVENTION_C);
	}
	for (unsigned i = 0; i < EVENT_REGS; i++)
		if (o->options.regs >> i & 1) {
			show_reg(&o->regs, arch, i);
			show_reg(&o->kernel_regs, arch, i);
		}
}

const struct reg_list *output__regs(const struct output *o, const struct step *step)
{
	static const struct reg_list none;
	bool known = step->function < o->plan->functions.len;
	unsigned flags = known ? o->plan->functions.data[step->function].flags : 0;

	if (known && plan__is_kernel_function(o->plan, step->function))
		return &o->kernel_regs;
	if (!o->options.regs && flags & FUNCTION_NO_ARGS)
		return &none;
	return !o->options.regs && flags & FUNCTION_GO_ARGS ? &o->go_regs : &o->regs;
}
