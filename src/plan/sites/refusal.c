// SPDX-License-Identifier: BSD-2-Clause
/* Which instructions can't carry a probe, as far as is known before one is attached. */
#include "plan/plan_private.h"

/* Returns true for the place of ftrace's call, at the start of a function. */
static bool is_ftraces(const struct arch *arch, const struct object *o, uint64_t vaddr)
{
	const struct arch_kernel *kernel = arch->kernel;
	const struct symbol *s;
	const uint8_t *bytes;
	size_t avail;

	if (!kernel || !kernel->ftrace_keeps)
		return false;
	s = object__symbol_at(o, vaddr);
	if (!s || vaddr - s->vaddr >= kernel->ftrace_size)
		return false;
	bytes = object__bytes(o, s->vaddr, &avail);
	return bytes && avail >= kernel->ftrace_size &&
	       !memcmp(bytes, kernel->ftrace_nop, kernel->ftrace_size);
}

enum probe_refusal insn__refusal(const struct arch *arch, const struct object *o, bool kernel,
				 const struct insn *insn)
{
	if (object__noprobe_at(o, insn->addr) || (kernel && is_ftraces(arch, o, insn->addr)))
		return PROBE_BLACKLIST;
	return kernel ? insn->kernel_refusal : insn->user_refusal;
}
