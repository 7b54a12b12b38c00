// SPDX-License-Identifier: BSD-2-Clause
/*
 * The stacks of a core dump's threads, by libdwfl. Runs in the sandbox. A frame is only reported if
 * an unwinding table leads to it: where a function has none, libdwfl would use the frame pointer's
 * register, which may contain anything.
 */
#include <elfutils/libdwfl.h>
#include "core_dump.h"
#include "object/debug/sandbox.h"

struct walk {
	Dwfl *dwfl;
	struct str threads, frames;
	struct core_thread *thread;
	size_t nthreads, nframes;
	bool outermost; /* by its rules, the last frame has no caller */
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

/* Returns true if the tables have a row for the code. *outermost: the row has no return address. */
static bool has_row(Dwfl_Module *module, bool eh, Dwarf_Addr pc, bool *outermost)
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
	ra = dwarf_frame_info(frame, NULL, NULL, NULL);
	*outermost =
		ra >= 0 && !dwarf_frame_register(frame, ra, room, &ops, &n) && !n && ops == room;
	free(frame);
	return true;
}

static bool has_rules(struct walk *w, Dwarf_Addr pc)
{
	Dwfl_Module *module = dwfl_addrmodule(w->dwfl, pc);

	w->outermost = false;
	return module && (has_row(module, true, pc, &w->outermost) ||
			  has_row(module, false, pc, &w->outermost));
}

static int on_frame(Dwfl_Frame *state, void *ctx)
{
	struct walk *w = ctx;
	struct core_frame f = {0};
	Dwarf_Addr pc;
	bool activation;

	if (!dwfl_frame_pc(state, &pc, &activation)) {
		w->thread->end = CORE_STACK_UNREADABLE;
		return DWARF_CB_ABORT;
	}
	if (w->thread->n == CORE_FRAMES) {
		w->thread->end = CORE_STACK_LIMIT;
		return DWARF_CB_ABORT;
	}
	f.pc = pc;
	f.calls = !activation;
	str__put(&w->frames, (const char *)&f, sizeof(f));
	w->thread->n++;
	w->nframes++;
	if (has_rules(w, pc - f.calls))
		return DWARF_CB_OK;
	w->thread->end = CORE_STACK_NO_RULES;
	return DWARF_CB_ABORT;
}

static int on_thread(Dwfl_Thread *thread, void *ctx)
{
	struct walk *w = ctx;
	struct core_thread t = {.tid = dwfl_thread_tid(thread), .first = w->nframes};

	if (w->nthreads == CORE_THREADS)
		return DWARF_CB_ABORT;
	w->thread = &t;
	/* libdwfl also ends where the return address is 0. */
	if (dwfl_thread_getframes(thread, on_frame, w) < 0 ||
	    (t.end == CORE_STACK_WHOLE && !w->outermost))
		t.end = CORE_STACK_UNREADABLE;
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
	add_modules(w.dwfl, s);
	if (dwfl_core_file_attach(w.dwfl, elf) >= 0)
		dwfl_getthreads(w.dwfl, on_thread, &w);
	n = w.nthreads;
	str__put(answer, (const char *)&n, sizeof(n));
	str__put(answer, w.threads.data ? w.threads.data : "", w.threads.len);
	str__put(answer, w.frames.data ? w.frames.data : "", w.frames.len);
	dwfl_end(w.dwfl);
	elf_end(elf);
	str__free(&w.threads);
	str__free(&w.frames);
}
