// SPDX-License-Identifier: BSD-2-Clause
/* The beacon: a page of code that the loader jumps to in place of its function for debuggers. A
 * thread in it rings the bell, and waits until the supervisor has looked at what was loaded. */
#include "space.h"

/* Returns the address where code that only returns has room for a jump; 0 if there is none. */
static uint64_t room_for_jump(const struct tracer *tracer, const struct space *s, uint64_t addr)
{
	const struct arch *arch = tracer->arch;
	uint8_t bytes[2 * PATCH_MAX];
	size_t skip, at;
	struct insn insn;

	if (!space__read(s, addr, bytes, sizeof(bytes)))
		return 0;
	skip = arch->copier->landing(bytes, sizeof(bytes));
	for (at = skip; at < skip + arch->copier->jump_size; at += insn.len)
		if (arch->decode(bytes + at, sizeof(bytes) - at, addr + at, false, &insn) ||
		    (at == skip ? insn.kind != BRANCH_RET : !insn.padding))
			return 0;
	return addr + skip;
}

static uint64_t map_beacon(struct thread *t, uint64_t near)
{
	map_vec maps = {0};
	uint64_t at = 0;

	if (!maps__read(t->process->pid, &maps))
		at = thread__map_near(t, &maps, near, true, LOG_PAGE);
	maps__free(&maps);
	return at;
}

bool space__has_bell(struct space *s, const struct tracer *tracer)
{
	struct area *first = s->areas.len ? s->areas.data[0] : NULL;

	if (first && !first->bell)
		first->bell = bell__new(tracer->rung, first->mem);
	return first && first->bell;
}

bool beacon__light(struct thread *t, struct watch *w, uint64_t addr)
{
	const struct arch *arch = t->tracer->arch;
	struct space *s = t->process->space;
	uint8_t code[BEACON_MAX], jump[PATCH_MAX];
	size_t n = t->tracer->tracee->beacon(code);
	uint64_t at;

	w->jump = room_for_jump(t->tracer, s, addr);
	/* what it does may not be allowed */
	if (!n || !w->jump || !thread__may_call(t))
		return false;
	if (!space__has_bell(s, t->tracer))
		return false;
	at = w->page = map_beacon(t, addr);
	if (!at || !space__write(s, at, code, n) ||
	    !space__read(s, w->jump, w->old, arch->copier->jump_size))
		return false;
	arch->copier->put_jump(jump, w->jump, at);
	w->set = space__swap(s, w->jump, w->old, jump, arch->copier->jump_size);
	return w->set;
}

void beacon__remove(struct space *s, const struct tracer *tracer)
{
	uint8_t jump[PATCH_MAX];

	/* what the program has put there stays */
	if (s->watch.set) {
		tracer->arch->copier->put_jump(jump, s->watch.jump, s->watch.page);
		space__swap(s, s->watch.jump, jump, s->watch.old, tracer->arch->copier->jump_size);
	}
	s->watch.set = false;
}

static bool read_memory(const void *space, uint64_t addr, void *out, size_t n)
{
	return space__read(space, addr, out, n);
}

void beacon__leave(struct thread *t)
{
	const struct tracee_memory memory = {t->process->space, read_memory, NULL};
	const struct watch *w = &t->process->space->watch;
	uint64_t offset = thread__get(t, TRACEE_PC) - w->page;

	if (!w->page || offset >= BEACON_MAX ||
	    !t->tracer->tracee->leave_beacon(t->regs, offset, &memory))
		return;
	t->changed = true;
	thread__store_regs(t);
}
