// SPDX-License-Identifier: BSD-2-Clause
/* Copies that were made before their process was stopped (prepare.c): taken, or unmapped. */
#include <sys/mman.h>
#include <sys/syscall.h>
#include "text.h"

/* Mappings that are next to each other may have become one. */
static bool is_there(const map_vec *maps, const struct loaded *l)
{
	const struct map *m;

	vec__each (m, maps)
		if (m->start <= l->base && l->base + l->size <= m->end)
			return m->exec && !m->ino;
	return false;
}

bool thread__take_prepared(struct thread *t, const map_vec *maps, struct loaded *l)
{
	struct prepared *p;

	vec__each (p, &t->tracer->prepared) {
		const struct loaded *c = &p->copies;

		if (p->pid != t->process->pid || c->refused || c->image != l->image ||
		    c->bias != l->bias || c->start != l->start || !is_there(maps, c) ||
		    thread__call(t, SYS_madvise, c->base, c->size, MADV_DOFORK, 0, 0, 0))
			continue;
		loaded__free_states(l);
		*l = *c;
		l->prepared = true;
		p->pid = 0;
		return true;
	}
	return false;
}

void thread__unmap_prepared(struct thread *t)
{
	struct prepared *p;
	map_vec maps = {0};

	if (maps__read(t->process->pid, &maps))
		return;
	vec__each (p, &t->tracer->prepared) {
		if (p->pid != t->process->pid)
			continue;
		if (is_there(&maps, &p->copies))
			thread__call(t, SYS_munmap, p->copies.base, p->copies.size, 0, 0, 0, 0);
		loaded__drop_text(&p->copies);
		loaded__free_states(&p->copies);
		p->pid = 0;
	}
	maps__free(&maps);
}
