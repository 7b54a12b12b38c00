// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_patches: what other tracers have written into the kernel's code. A call at a function's
 * start replaces ftrace's nop, which is restored. A kprobe is a breakpoint or a jump: if kprobes.c
 * couldn't restore the code, the function can't be decoded.
 */
#include <stdlib.h>
#include "kernel_file.h"

static const char hidden[] =
	"being probed by another tracer, which hides its code until it has ended";

/* ---- kprobes/list: "ADDRESS  k  NAME+0xOFFSET  MODULE [FLAG]..." (report_probe() of
 * kernel/kprobes.c) ---- */

static bool patches_code(const char *line, size_t len)
{
	static const char *const flags[] = {"[DISABLED]", "[GONE]", "[FTRACE]"};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (memmem(line, len, flags[i], strlen(flags[i])))
			return false;
	return true;
}

/* Advances *list past the next line with such a probe. Returns false if there are no more. */
static bool next_probe(const char **list, uint64_t *vaddr)
{
	while (*list && **list) {
		const char *line = *list;
		size_t len = strcspn(line, "\n");
		char *after;

		*list = line[len] ? line + len + 1 : NULL;
		*vaddr = strtoull(line, &after, 16);
		if (after > line && after <= line + len && patches_code(line, len))
			return true;
	}
	return false;
}

bool kernel_probes__patch(const char *list)
{
	uint64_t vaddr;

	return next_probe(&list, &vaddr);
}

void kernel_patches__hide(struct object *o, uint64_t vaddr)
{
	const struct symbol *s = object__symbol_at(o, vaddr);

	if (s)
		vec__push(&o->noprobe,
			  (struct noprobe){.vaddr = s->vaddr, .size = s->size, .reason = hidden});
}

void kernel_probes__apply(const char *list, const struct map64 *proved, struct object *o)
{
	const struct kernel_file *f = kernel_file__of(o);
	uint64_t vaddr;

	while (next_probe(&list, &vaddr))
		if (vaddr >= f->start && vaddr < f->end && !map64__get(proved, vaddr))
			kernel_patches__hide(o, vaddr);
}

/* ---- ftrace ---- */

static bool is_trampoline(const struct symbol *s)
{
	static const char *const names[] = {"ftrace_caller", "ftrace_regs_caller"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(s->name, names[i]))
			return true;
	return false;
}

/* Compiled code calls code of the kernel and the modules. A trampoline made at run time is in
 * neither. */
static bool calls_tracer(const struct kernel_objects *k, uint64_t target)
{
	const struct kernel_file *f = kernel_file__of(k->kernel);
	const struct symbol *s = object__symbol_at(k->kernel, target);

	if (s)
		return s->vaddr == target && is_trampoline(s);
	if (target >= f->start && target < f->end)
		return false;
	for (size_t i = 0; i < k->nmodules; i++)
		if (object__segment_at(k->modules[i], target))
			return false;
	return true;
}

static void restore(const struct kernel_objects *k, uint8_t *p, size_t len, uint64_t vaddr)
{
	const struct arch_kernel *code = kernel_code();
	uint64_t target;

	if (code->ftrace_call(p, len, vaddr, &target) && calls_tracer(k, target))
		memcpy(p, code->ftrace_nop, code->ftrace_size);
}

void kernel_patches__undo(const struct kernel_objects *k, struct object *o)
{
	const struct arch_kernel *code = kernel_code();
	struct kernel_file *f = kernel_file__of(o);
	const size_t landing = code->landing_size;
	const struct symbol *s;

	vec__each (s, &o->symbols) {
		uint8_t *at = f->text + (s->vaddr - f->start);

		if (!code->ftrace_call || !object__segment_at(o, s->vaddr))
			continue;
		restore(k, at, s->size, s->vaddr);
		if (s->size > landing)
			restore(k, at + landing, s->size - landing, s->vaddr + landing);
	}
}
