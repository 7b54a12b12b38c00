// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which instructions a uprobe's program executes itself, so that a hit takes one trap. Where
 * somebody may put a return probe, these exclude instructions that change the stack pointer: after
 * the programs the kernel would replace another word than the return address
 * (kernel/events/uprobes.c, prepare_uretprobe()).
 */
#include "plan/plan_private.h"

static bool begins_function(const struct plan *p, const struct object *o, uint32_t function,
			    uint64_t vaddr)
{
	const struct plan_function *f;

	if (object__symbols_from(o, vaddr) < o->symbols.len)
		return true;
	f = function == NO_FUNCTION ? NULL : &p->functions.data[function];
	for (size_t i = 0; f && i < f->nranges; i++)
		if (f->ranges[i].vaddr == vaddr)
			return true;
	return false;
}

/* Returns true for a function's first instruction, or the one after a landing instruction there. */
static bool may_have_return_probe(const struct plan *p, const struct object *o, uint32_t function,
				  uint64_t vaddr)
{
	const struct arch_kernel *kernel = p->arch->kernel;
	size_t avail, size = kernel && kernel->landing ? kernel->landing_size : 0;
	const uint8_t *bytes = size ? object__bytes(o, vaddr - size, &avail) : NULL;

	return begins_function(p, o, function, vaddr) ||
	       (bytes && kernel->landing(bytes, avail) == size);
}

bool plan__execution(const struct plan *p, uint32_t object, uint32_t function, uint64_t vaddr,
		     struct execution *out)
{
	const struct object *o = p->objects.data[object].object;
	const uint8_t *bytes;
	size_t avail;

	if (!p->executes || !p->arch->execution || !o || p->objects.data[object].kernel)
		return false;
	bytes = object__bytes(o, vaddr, &avail);
	if (!bytes || !p->arch->execution(bytes, avail, out))
		return false;
	return !(out->moves_sp || p->return_probes) ||
	       !may_have_return_probe(p, o, function, vaddr);
}

void insn__settle(const struct plan *p, uint32_t object, uint32_t function, struct insn *insn)
{
	struct execution e;

	if (!insn->emulated && insn->user_refusal == PROBE_OK &&
	    plan__execution(p, object, function, insn->addr, &e)) {
		insn->emulated = true;
		insn->varies = false;
	}
}
