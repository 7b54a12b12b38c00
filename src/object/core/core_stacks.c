// SPDX-License-Identifier: BSD-2-Clause
/*
 * The stacks of a core dump's threads, by libdwfl. Runs in the sandbox. A frame is only reported if
 * an unwinding table leads to it: where a function has none, libdwfl would use the frame pointer's
 * register, which may contain anything. Where a thread called what is no code, the call alone has
 * left something on the stack: the walk continues at the caller.
 */
#include <elfutils/libdwfl.h>
#include "core_dump.h"
#include "core_regs.h"
#include "object/debug/sandbox.h"

struct walk {
	Dwfl *dwfl;
	struct core_regs regs;
	struct str threads, frames;
	struct core_thread *thread;
	size_t nthreads, nframes;
	bool outermost; /* by its rules, the last frame has no caller */
	bool signal;	/* the last frame is that of a signal handler's return */
	uint64_t sp;	/* then: its stack pointer */
	bool called;	/* the next frame is within a call, from a frame that is no code */
};

static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **found, Elf **elf)
{
	return -1; /* The file was passed before. */
}

static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **found)
{
	struct core_module *m = *userdata;
	int fd = m ? m->debug : -1;

	if (fd < 0)
		return -1;
	m->debug = -1;
	*found = xstrdup("");
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static void add_modules(Dwfl *dwfl, const struct core_stacks *s)
{
	char name[32];

	dwfl_report_begin(dwfl);
	for (size_t i = 0; i < s->n; i++) {
		Dwfl_Module *module;
		void **userdata;

		snprintf(name, sizeof(name), "%zu", i); /* others of this name would be the same */
		module = dwfl_report_elf(dwfl, name, "", s->modules[i].own, s->modules[i].bias,
					 true);
		if (module &&
		    dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
			*userdata = &s->modules[i];
	}
	dwfl_report_end(dwfl, NULL, NULL);
}

/* Returns true if the tables have a row for the code. Sets outermost: the row has no return
 * address; and signal. */
static bool has_row(struct walk *w, Dwfl_Module *module, bool eh, Dwarf_Addr pc)
{
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi =
		eh ? dwfl_module_eh_cfi(module, &bias) : dwfl_module_dwarf_cfi(module, &bias);
	Dwarf_Frame *frame = NULL;
	Dwarf_Op room[3], *ops = NULL;
	size_t n = 0;
	int ra;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame))
		return false;
	ra = dwarf_frame_info(frame, NULL, NULL, &w->signal);
	w->outermost =
		ra >= 0 && !dwarf_frame_register(frame, ra, room, &ops, &n) && !n && ops == room;
	free(frame);
	return true;
}

static bool has_rules(struct walk *w, Dwarf_Addr pc)
{
	Dwfl_Module *module = dwfl_addrmodule(w->dwfl, pc);

	w->outermost = w->signal = false;
	return module && (has_row(w, module, true, pc) || has_row(w, module, false, pc));
}

static void put_frame(struct walk *w, const struct core_frame *f)
{
	str__put(&w->frames, (const char *)f, sizeof(*f));
	w->thread->n++;
	w->nframes++;
}

/* Only a jump or a call leads to what is no code, so the walk continues at the caller. */
static void go_to_caller(struct walk *w, Dwfl_Frame *state)
{
	struct core_state at;

	core_regs__of_frame(&w->regs, state, &at);
	w->called = !core_regs__is_code(&w->regs, at.pc) &&
		    core_regs__call(&w->regs, w->thread->tid, &at);
}

/* libdwfl takes 0 for the end of the stack, also where a signal interrupted a call of 0. */
static bool go_to_interrupted(struct walk *w)
{
	struct core_state at;

	if (!w->signal || !core_regs__interrupted(&w->regs, w->sp, &at) || at.pc ||
	    w->thread->n == CORE_FRAMES)
		return false;
	put_frame(w, &(struct core_frame){.pc = at.pc});
	w->called = core_regs__call(&w->regs, w->thread->tid, &at);
	w->thread->end = CORE_STACK_NO_RULES;
	return true;
}

/* Walks on from this frame, with its own return address instead of the signed one. */
static int resume_unsigned(struct walk *w, Dwfl_Frame *state, uint64_t pc)
{
	struct core_state at;

	core_regs__of_frame(&w->regs, state, &at);
	at.pc = pc;
	w->called = core_regs__resume(&w->regs, w->thread->tid, &at);
	w->thread->end = CORE_STACK_NO_RULES;
	return DWARF_CB_ABORT;
}

static int on_frame(Dwfl_Frame *state, void *ctx)
{
	struct walk *w = ctx;
	struct core_frame f = {0};
	Dwarf_Addr pc;
	bool activation, known;

	if (!dwfl_frame_pc(state, &pc, &activation)) {
		w->thread->end = CORE_STACK_UNREADABLE;
		return DWARF_CB_ABORT;
	}
	if (w->thread->n == CORE_FRAMES) {
		w->thread->end = CORE_STACK_LIMIT;
		return DWARF_CB_ABORT;
	}
	if (!activation && core_regs__unsigned(&w->regs, &pc))
		return resume_unsigned(w, state, pc);
	f.pc = pc + w->called;
	f.calls = w->called || !activation;
	f.assumed = w->called;
	w->called = false;
	known = has_rules(w, f.pc - f.calls);
	f.calls &= !w->signal;
	put_frame(w, &f);
	if (w->signal)
		core_regs__sp(&w->regs, state, &w->sp);
	if (known)
		return DWARF_CB_OK;
	w->thread->end = CORE_STACK_NO_RULES;
	if (!f.calls)
		go_to_caller(w, state);
	return DWARF_CB_ABORT;
}

/* Walks on from where the thread's registers are. */
static void walk_on(struct walk *w, Dwfl_Thread *thread)
{
	struct core_thread *t = w->thread;

	t->end = CORE_STACK_WHOLE;
	w->outermost = w->signal = false;
	/* libdwfl also ends where the return address is 0. */
	if (dwfl_thread_getframes(thread, on_frame, w) >= 0 &&
	    (t->end != CORE_STACK_WHOLE || w->outermost))
		return;
	if (t->end != CORE_STACK_WHOLE || !go_to_interrupted(w))
		t->end = CORE_STACK_UNREADABLE;
}

static int on_thread(Dwfl_Thread *thread, void *ctx)
{
	struct walk *w = ctx;
	struct core_thread t = {.tid = dwfl_thread_tid(thread), .first = w->nframes};

	if (w->nthreads == CORE_THREADS)
		return DWARF_CB_ABORT;
	w->thread = &t;
	w->called = false;
	do
		walk_on(w, thread);
	while (w->called && t.end == CORE_STACK_NO_RULES);
	w->nthreads++;
	str__put(&w->threads, (const char *)&t, sizeof(t));
	return DWARF_CB_OK;
}

void core_stacks__read(void *ctx, struct str *answer)
{
	const struct core_stacks *s = ctx;
	struct walk w = {.dwfl = dwfl_begin(&callbacks)};
	uint64_t n;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(s->fd, ELF_C_READ_MMAP, NULL);
	if (!w.dwfl || !elf)
		sandbox__give_up();
	core_regs__open(&w.regs, elf);
	add_modules(w.dwfl, s);
	if (dwfl_core_file_attach(w.dwfl, elf) >= 0)
		dwfl_getthreads(w.dwfl, on_thread, &w);
	n = w.nthreads;
	str__put(answer, (const char *)&n, sizeof(n));
	str__put(answer, w.threads.data ? w.threads.data : "", w.threads.len);
	str__put(answer, w.frames.data ? w.frames.data : "", w.frames.len);
	dwfl_end(w.dwfl);
	core_regs__close(&w.regs);
	elf_end(elf);
	str__free(&w.threads);
	str__free(&w.frames);
}
