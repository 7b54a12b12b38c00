// SPDX-License-Identifier: BSD-2-Clause
/* What is written over the original code, and what it was before. */
#include <errno.h>
#include "source/inline/tracer.h"

static const uint8_t *original_of(const struct loaded *l, const struct copy_patch *p)
{
	size_t avail = 0;
	const uint8_t *bytes = object__bytes(l->object, p->vaddr, &avail);

	return bytes && avail >= p->len ? bytes : NULL;
}

/* Is the code that would be changed still as in the file? */
static bool is_unchanged(const struct space *s, const struct loaded *l)
{
	const struct segment *g;
	bool same = true;

	vec__each (g, &l->object->segments) {
		autofree uint8_t *now = NULL;
		const struct copy_patch *p;

		if (!g->exec)
			continue;
		now = xmalloc(g->size + 1);
		if (!space__read(s, g->vaddr + l->bias, now, g->size))
			return false;
		vec__each (p, &l->image->patches)
			if (p->vaddr >= g->vaddr && p->vaddr + p->len <= g->vaddr + g->size)
				same = same && !memcmp(now + (p->vaddr - g->vaddr),
						       g->bytes + (p->vaddr - g->vaddr), p->len);
	}
	return same;
}

int loaded__patch(struct space *s, const struct tracer *tracer, const struct loaded *l)
{
	const struct copy_patch *p;
	uint8_t bytes[16];

	if (!is_unchanged(s, l))
		return -ESTALE;
	vec__each (p, &l->image->patches)
		if (!original_of(l, p) ||
		    !copy_image__patch(l->image, tracer->arch, p, l->bias, l->base, bytes))
			return -ERANGE;
	vec__each (p, &l->image->patches) {
		copy_image__patch(l->image, tracer->arch, p, l->bias, l->base, bytes);
		if (!space__write(s, p->vaddr + l->bias, bytes, p->len)) {
			loaded__restore(s, tracer, l);
			return -EACCES;
		}
	}
	return 0;
}

/* Entries first: the last patch that was written is the first to go. Only the bytes of the patches
 * are written, since breakpoints of others may come and go beside them. */
void loaded__restore(struct space *s, const struct tracer *tracer, const struct loaded *l)
{
	for (size_t i = l->image->patches.len; i-- > 0;) {
		const struct copy_patch *p = &l->image->patches.data[i];
		const uint8_t *bytes = original_of(l, p);

		if (bytes)
			space__write(s, p->vaddr + l->bias, bytes, p->len);
	}
}

void space__restore(struct space *s, const struct tracer *tracer)
{
	struct loaded *l;

	trap__remove(s, tracer, &s->entry);
	trap__remove(s, tracer, &s->debug);
	vec__each (l, &s->loaded)
		if (!l->refused)
			loaded__restore(s, tracer, l);
}

void trap__set(struct space *s, const struct tracer *tracer, struct trap *t, uint64_t addr)
{
	const struct breakpoint *b = &tracer->arch->uprobe_breakpoint;

	if (t->set || !addr || !space__read(s, addr, t->old, b->len))
		return;
	t->addr = addr;
	t->set = space__write(s, addr, b->bytes, b->len);
}

void trap__remove(struct space *s, const struct tracer *tracer, struct trap *t)
{
	if (t->set)
		space__write(s, t->addr, t->old, tracer->arch->uprobe_breakpoint.len);
	t->set = false;
}
