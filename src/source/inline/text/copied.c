// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that copies one of its functions as data, and executes that, copies springboards, too.
 * At another address they lead elsewhere, mostly to where nothing is mapped: then the thread
 * faults. The copy gets the bytes that it would have without bbtrace, and the thread continues
 * there.
 */
#include <signal.h>
#include "text.h"

/* Code that is at another address, by this distance. */
struct moved {
	const struct loaded *l;
	const struct copy_patch *patch; /* the patch that the thread came by */
	uint64_t by, start, end;	/* the mapping */
};

static bool is_ours(const struct tracer *s, const struct space *space, const struct loaded *l,
		    const struct copy_patch *p, uint64_t at)
{
	uint8_t is[PATCH_MAX], ours[PATCH_MAX];

	return copy_image__patch(l->image, s->arch, p, l->bias, l->base, ours) &&
	       space__read(space, at, is, p->len) && !memcmp(is, ours, p->len);
}

static bool find_in(const struct tracer *s, const struct space *space, const struct loaded *l,
		    const struct map *m, uint64_t pc, struct moved *out)
{
	const struct copy_patch *p;

	vec__each (p, &l->image->patches) {
		uint64_t by = pc - (l->base + p->to), at = p->vaddr + l->bias + by;

		if (p->kind == PATCH_SHORT || !by || at < m->start || at >= m->end ||
		    !is_ours(s, space, l, p, at))
			continue;
		*out = (struct moved){l, p, by, m->start, m->end};
		return true;
	}
	return false;
}

/* Only where the file's code isn't. */
static bool find_moved(const struct thread *t, uint64_t pc, struct moved *out)
{
	const struct space *space = t->process->space;
	const struct loaded *l;
	const struct map *m;
	map_vec maps = {0};
	bool found = false;

	if (maps__read(t->process->pid, &maps))
		return false;
	vec__each (m, &maps)
		vec__each (l, &space->loaded)
			if (!found && m->exec && !l->refused && l->patched &&
			    (m->ino != l->ino || m->dev != l->dev))
				found = find_in(t->tracer, space, l, m, pc, out);
	maps__free(&maps);
	return found;
}

static uint64_t moved__at(const struct moved *m, const struct copy_patch *p)
{
	return p->vaddr + m->l->bias + m->by;
}

/* All that was copied along. */
static void mend(const struct tracer *s, const struct space *space, const struct moved *m)
{
	const struct copy_image *i = m->l->image;
	const struct copy_patch *p;
	uint8_t ours[PATCH_MAX];

	vec__each (p, &i->patches) {
		uint64_t at = moved__at(m, p);

		if (at >= m->start && at + p->len <= m->end &&
		    copy_image__patch(i, s->arch, p, m->l->bias, m->l->base, ours))
			space__swap(space, at, ours, loaded__original(m->l, p), p->len);
	}
}

/* Returns the short jump that leads to a patch; NULL if there is none. */
static const struct copy_patch *patch_before(const struct moved *m, const struct copy_patch *to)
{
	const struct copy_patch *p;

	vec__each (p, &m->l->image->patches)
		if (p->kind == PATCH_SHORT && p->to == to->vaddr)
			return p;
	return NULL;
}

/* The springboard that the thread was at: that which leads to an island, too. */
static const struct copy_patch *springboard(const struct moved *m)
{
	const struct copy_patch *p = m->patch, *before;

	while ((before = patch_before(m, p)))
		p = before;
	return p;
}

static void note_moved(const struct thread *t, const struct moved *m)
{
	uint32_t f = m->l->image->functions.data[loaded__function_of(m->l, m->patch)].function;
	char text[160];

	if (t->process->quiet)
		return;
	snprintf(
		text, sizeof(text),
		"process %d: the program executes a copy that it has made of %.50s: what that does is "
		"not traced",
		t->process->pid, t->tracer->plan->functions.data[f].name);
	tracer__notify_text(t->tracer, NOTICE_NOTE, t->process, 0, text);
}

bool copied__mend(struct thread *t, const siginfo_t *si)
{
	uint64_t pc = thread__get(t, TRACEE_PC);
	struct space *space = t->process->space;
	const struct copy_patch *p;
	struct moved m = {0};

	if (si->si_signo != SIGSEGV || !space || space->other || !pc ||
	    (uint64_t)(uintptr_t)si->si_addr != pc || !find_moved(t, pc, &m))
		return false;
	if (!thread__stop_others(t, 0))
		return false;
	mend(t->tracer, space, &m);
	p = springboard(&m);
	if (is_ours(t->tracer, space, m.l, p, moved__at(&m, p)))
		return false; /* it can't be written */
	if (p->kind == PATCH_CALL)
		thread__set(t, TRACEE_SP, thread__get(t, TRACEE_SP) + sizeof(uint64_t));
	thread__set(t, TRACEE_PC, moved__at(&m, p));
	thread__store_regs(t);
	note_moved(t, &m);
	return true;
}
