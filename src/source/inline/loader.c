// SPDX-License-Identifier: BSD-2-Clause
/*
 * When objects are loaded. Those that a program is linked to: its system calls are watched from its
 * exec until its entry is reached. Later ones: the loader calls a function that has nothing to do
 * but to be a debugger's breakpoint, when it begins to map an object, and when it has mapped all
 * and executed none of their code (r_debug(5), link.h).
 */
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include "source/inline/tracer.h"

struct auxiliary {
	uint64_t base, phdr, phnum;
};

static bool read_auxiliary(pid_t pid, struct auxiliary *out)
{
	autofree char *bytes = NULL;
	char path[64];
	size_t len;

	*out = (struct auxiliary){0};
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	if (file__read(path, 1u << 16, &bytes, &len))
		return false;
	for (size_t at = 0; at + 16 <= len; at += 16) {
		uint64_t pair[2];

		memcpy(pair, bytes + at, sizeof(pair));
		if (pair[0] == AT_BASE)
			out->base = pair[1];
		else if (pair[0] == AT_PHDR)
			out->phdr = pair[1];
		else if (pair[0] == AT_PHNUM)
			out->phnum = pair[1];
	}
	return true;
}

/* ---- the loader's r_debug ---- */

#define MOST_ENTRIES 512

static uint64_t dynamic_of(const struct space *s, const struct auxiliary *a)
{
	uint64_t bias = 0, at = 0;

	for (uint64_t i = 0; i < a->phnum && i < 64; i++) {
		Elf64_Phdr p;

		if (!space__read(s, a->phdr + i * sizeof(p), &p, sizeof(p)))
			return 0;
		if (p.p_type == PT_PHDR)
			bias = a->phdr - p.p_vaddr;
		else if (p.p_type == PT_DYNAMIC)
			at = p.p_vaddr;
	}
	return at ? at + bias : 0;
}

/* Where the loader puts the address of its struct r_debug. 0: there is no such place. */
static uint64_t find_slot(const struct space *s, const struct auxiliary *a)
{
	uint64_t at = dynamic_of(s, a);
	Elf64_Dyn d;

	for (unsigned i = 0; at && i < MOST_ENTRIES; i++, at += sizeof(d)) {
		if (!space__read(s, at, &d, sizeof(d)) || d.d_tag == DT_NULL)
			return 0;
		if (d.d_tag == DT_DEBUG)
			return at + offsetof(Elf64_Dyn, d_un);
	}
	return 0;
}

/* Is any namespace being added to? */
static bool is_adding(const struct space *s)
{
	uint64_t at = s->debug_state;
	struct {
		struct r_debug base;
		uint64_t next;
	} d;

	for (unsigned i = 0; at && i < 64; i++) {
		if (!space__read(s, at, &d, sizeof(d)))
			return false;
		if (d.base.r_state == RT_ADD)
			return true;
		at = d.base.r_version >= 2 ? d.next : 0;
	}
	return false;
}

/* Has it mapped all that the program is linked to? If this was too early, it calls the trap next.
 */
static void watch_loader(struct thread *t)
{
	struct space *s = t->process->space;
	struct r_debug d;

	if (!s->debug_slot ||
	    !space__read(s, s->debug_slot, &s->debug_state, sizeof(s->debug_state)) ||
	    !s->debug_state || !space__read(s, s->debug_state, &d, sizeof(d)) || !d.r_version ||
	    !d.r_brk || is_adding(s))
		return;
	trap__set(s, t->tracer, &s->debug, d.r_brk);
	s->loading = !s->debug.set;
}

/* ---- from exec on ---- */

static void note_no_area(struct thread *t)
{
	if (!t->process->quiet)
		tracer__say_text(t->tracer, SAY_LET_GO, t->process, 0,
				 "it may not map memory for its log");
}

void loader__begin(struct thread *t)
{
	struct space *s = t->process->space;
	struct auxiliary a;

	if (s->mem < 0 || thread__load_regs(t) || !t->tracer->copies->images.len ||
	    !read_auxiliary(t->process->pid, &a)) {
		s->other = true;
		return;
	}
	s->loading = a.base != 0;
	if (!thread__get_slot(t, 0, 0)) {
		s->loading = false;
		s->other = true;
		note_no_area(t);
		return;
	}
	thread__put_copies(t);
	s->debug_slot = find_slot(s, &a);
}

/* ---- traps ---- */

/* Executes the instruction below the trap, too. Threads that come by meanwhile don't load objects:
 * the loader has a lock. */
static void step_over(struct thread *t, struct trap *trap)
{
	struct space *s = t->process->space;
	uint64_t addr = trap->addr;

	trap__remove(s, t->tracer, trap);
	if (thread__step(t) != OUT_GONE)
		trap__set(s, t->tracer, trap, addr);
}

bool loader__hit(struct thread *t)
{
	struct space *s = t->process->space;
	uint64_t pc;

	if (!s || !s->debug.set)
		return false;
	pc = thread__get(t, TRACEE_PC) - t->tracer->arch->uprobe_breakpoint.len;
	if (pc != s->debug.addr)
		return false;
	thread__set(t, TRACEE_PC, pc);
	thread__store_regs(t);
	t->maps = is_adding(s);
	thread__put_copies(t);
	step_over(t, &s->debug);
	return true;
}

void loader__system_call(struct thread *t, bool entry, uint64_t number, const uint64_t args[6])
{
	const struct space *s = t->process->space;

	if (!s || s->other)
		return;
	if (entry) {
		t->maps_code =
			number == SYS_mmap && args[2] & PROT_EXEC && !(args[3] & MAP_ANONYMOUS);
		if (s->loading)
			watch_loader(t);
		return;
	}
	if (t->maps_code && (s->loading || t->maps))
		thread__put_copies(t);
	t->maps_code = false;
}
