// SPDX-License-Identifier: BSD-2-Clause
/*
 * How long attaching takes. Where instructions differ in length, the kernel decodes the function up
 * to the probe for each kprobe, to check that an instruction starts there
 * (arch/x86/kernel/kprobes/core.c, can_probe()), and then the whole function, to check whether the
 * probe may become a jump (opt.c, can_optimize()). For each instruction it looks up the symbol
 * (kernel/trace/ftrace.c, ftrace_location()): by bisection in the kernel itself, by a walk over all
 * symbols in a module (kernel/module/kallsyms.c, find_kallsyms_symbol()).
 */
#include "plan.h"

/* Measured in a guest, in instructions that the kernel executed: 1,700 per decoded instruction, 14
 * per module symbol that it walked over, and 500,000 per probe. */
#define SYMBOLS_PER_INSN 120
#define EACH		 300

static const struct range *range_at(const struct plan_function *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->nranges; i++)
		if (vaddr - f->ranges[i].vaddr < f->ranges[i].size)
			return &f->ranges[i];
	return NULL;
}

uint64_t plan__site_work(const struct plan *p, uint32_t site)
{
	const struct plan_site *s = &p->sites.data[site];
	const struct object *o = p->objects.data[s->object].object;
	const struct range *r = range_at(&p->functions.data[s->function], s->vaddr);
	uint64_t decoded, bytes;

	if (!p->objects.data[s->object].kernel)
		return 1;
	bytes = p->arch->kernel ? p->arch->kernel->decodes : 0;
	/* An entry is probed by ftrace, so nothing is decoded. */
	decoded = r && !s->entry && bytes ? (s->vaddr - r->vaddr + r->size) / bytes : 0;
	return EACH + decoded * (1 + (o ? o->listed / SYMBOLS_PER_INSN : 0));
}

uint64_t plan__attach_work(const struct plan *p)
{
	uint64_t work = 0;

	for (uint32_t i = 0; i < p->sites.len; i++)
		if (plan_site__is_hooked(&p->sites.data[i]))
			work += plan__site_work(p, i);
	return work;
}
