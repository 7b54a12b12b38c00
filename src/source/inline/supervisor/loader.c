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
#include "tracer.h"

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

/* What a program's headers say, with running addresses. */
struct program {
	uint64_t bias, dynamic;
};

static void read_program(const struct space *s, const struct auxiliary *a, struct program *out)
{
	uint64_t dynamic = 0;
	bool known = false;

	*out = (struct program){0};
	for (uint64_t i = 0; i < a->phnum && i < 64; i++) {
		Elf64_Phdr p;

		if (!space__read(s, a->phdr + i * sizeof(p), &p, sizeof(p)))
			return;
		if (p.p_type == PT_DYNAMIC) {
			dynamic = p.p_vaddr;
		} else if (p.p_type == PT_PHDR) {
			out->bias = a->phdr - p.p_vaddr;
			known = true;
		} else if (p.p_type == PT_LOAD && !p.p_offset && !known) {
			/* they follow the file's header */
			out->bias = a->phdr - sizeof(Elf64_Ehdr) - p.p_vaddr;
		}
	}
	out->dynamic = dynamic ? dynamic + out->bias : 0;
}

/* Finds the entry with this tag. Returns its address; 0 if there is none. */
static uint64_t find_entry(const struct space *s, const struct program *p, int64_t tag,
			   uint64_t *value)
{
	uint64_t at = p->dynamic;
	Elf64_Dyn d;

	for (unsigned i = 0; at && i < MOST_ENTRIES; i++, at += sizeof(d)) {
		if (!space__read(s, at, &d, sizeof(d)) || d.d_tag == DT_NULL)
			return 0;
		if (d.d_tag != tag)
			continue;
		*value = d.d_un.d_val;
		return at;
	}
	return 0;
}

/* The loader's symbol _r_debug, for one that was executed as a program. */
static uint64_t find_symbol(const struct space *s, const struct program *p)
{
	uint64_t symbols, strings;

	if (!find_entry(s, p, DT_SYMTAB, &symbols) || !find_entry(s, p, DT_STRTAB, &strings))
		return 0;
	for (unsigned i = 0; i < MOST_ENTRIES; i++) {
		char name[sizeof("_r_debug")];
		Elf64_Sym symbol;

		if (!space__read(s, p->bias + symbols + i * sizeof(symbol), &symbol,
				 sizeof(symbol)) ||
		    !space__read(s, p->bias + strings + symbol.st_name, name, sizeof(name)))
			return 0;
		if (!memcmp(name, "_r_debug", sizeof(name)) && symbol.st_value)
			return p->bias + symbol.st_value;
	}
	return 0;
}

/* Finds out how the program's objects will be loaded. Returns false if it is static. */
static bool find_loader(struct space *s, const struct auxiliary *a)
{
	struct program p;
	uint64_t value = 0;

	read_program(s, a, &p);
	if (a->base) {
		/* where it puts the address of its struct r_debug */
		s->debug_slot = find_entry(s, &p, DT_DEBUG, &value);
		s->debug_slot += s->debug_slot ? offsetof(Elf64_Dyn, d_un) : 0;
		return true;
	}
	if (!p.dynamic || (find_entry(s, &p, DT_FLAGS_1, &value) && value & DF_1_PIE))
		return false;
	s->debug_state = find_symbol(s, &p);
	return true;
}

/* Returns true if objects are being added to any namespace. */
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

/* ---- the beacon ---- */

/* Checks whether it has mapped all that the program is linked to. If this was too early, it calls
 * its debugger function next. */
static void watch_loader(struct thread *t)
{
	struct space *s = t->process->space;
	struct r_debug d;

	if (s->debug_slot &&
	    !space__read(s, s->debug_slot, &s->debug_state, sizeof(s->debug_state)))
		return;
	if (!s->debug_state || !space__read(s, s->debug_state, &d, sizeof(d)) || !d.r_version ||
	    !d.r_brk || is_adding(s))
		return;
	s->loading = false;
	if (!beacon__light(t, &s->watch, d.r_brk) && !t->process->quiet)
		tracer__notify_text(
			t->tracer, NOTICE_NOTE, t->process, 0,
			"libraries that a process loads while it runs are not copied, since "
			"its loader can't be watched");
}

/* ---- copies of what is mapped ---- */

static void put_copies(struct thread *t)
{
	if (!thread__map_copies(t))
		thread__refuse_gs(t);
	thread__patch(t);
}

/* ---- from exec on ---- */

static void note_untraced(struct thread *t, const char *why)
{
	if (!t->process->quiet)
		tracer__notify_text(t->tracer, NOTICE_DETACHED, t->process, 0, why);
}

void loader__begin(struct thread *t)
{
	struct space *s = t->process->space;
	struct auxiliary a;

	s->other = true;
	/* of another architecture: it can't map what is copied */
	if (!t->tracer->copies->images.len || thread__load_regs(t))
		return;
	if (s->mem < 0 || !read_auxiliary(t->process->pid, &a)) {
		note_untraced(t, "its memory can't be opened");
		return;
	}
	s->loading = find_loader(s, &a);
	thread__open_memory(t);
	if (!thread__get_slot(t, 0, 0)) {
		s->loading = false;
		note_untraced(t, t->tracer->no_log);
		return;
	}
	s->other = false;
	put_copies(t);
}

/* Its system calls show the objects that it is mapping now, the trap those of later. */
void loader__find(struct thread *t)
{
	struct space *s = t->process->space;
	struct auxiliary a;

	if (!read_auxiliary(t->process->pid, &a))
		return;
	s->loading = find_loader(s, &a);
	if (s->loading || s->debug_state)
		watch_loader(t);
}

/* ---- later ---- */

/* It has stopped waiting, and may already execute what it has loaded. */
static void see_late(struct thread *t)
{
	thread__refuse_new(
		t, "it was loaded while the machine was too busy to copy its functions first");
}

bool loader__stopped(struct thread *t)
{
	struct space *s = t->process->space;
	uint64_t pc = thread__get(t, TRACEE_PC);
	bool asked, within;

	if (!s || !s->watch.page)
		return false;
	asked = thread__asks(t);
	within = pc - s->watch.page < BEACON_MAX;
	if (!asked && !within)
		return false;
	thread__take_question(t);
	beacon__leave(t);
	if (s->other || s->detaches || !s->watch.set)
		return within;
	t->maps = is_adding(s);
	if (within)
		put_copies(t);
	else
		see_late(t);
	return within;
}

void tracer__answer(struct tracer *s)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i)))
		if (t->state == THREAD_RUNNING && thread__asks(t))
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
}

static bool changes_features(uint64_t number)
{
#ifdef SYS_arch_prctl
	return number == SYS_arch_prctl;
#else
	return false;
#endif
}

void loader__system_call(struct thread *t, bool entry, uint64_t number, const uint64_t args[6])
{
	const struct space *s = t->process->space;

	if (!s || s->other)
		return;
	if (entry) {
		t->maps_code =
			number == SYS_mmap && args[2] & PROT_EXEC && !(args[3] & MAP_ANONYMOUS);
		t->changes_features = changes_features(number);
		return;
	}
	if (t->changes_features && thread__has_shadow_stack(t->tid)) {
		thread__refuse(t, "it has shadow stacks, which are not supported; use --engine "
				  "probe");
		return;
	}
	if (t->maps_code && (s->loading || t->maps))
		put_copies(t);
	t->maps_code = false;
	if (s->loading)
		watch_loader(t);
}
