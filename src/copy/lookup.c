// SPDX-License-Identifier: BSD-2-Clause
/* Lookups in the copies of an object, and their bytes where they run. */
#include "copy/copying.h"

static bool distance(uint64_t from, uint64_t to, uint32_t *out)
{
	int64_t d = to - from;

	*out = (uint32_t)d;
	return d == (int32_t)d;
}

bool copy_image__patch(const struct copy_image *i, const struct arch *arch,
		       const struct copy_patch *p, uint64_t bias, uint64_t base,
		       uint8_t out[PATCH_MAX])
{
	const struct arch_copier *c = arch->copier;
	uint64_t at = p->vaddr + bias;
	uint32_t unused;

	(void)i;
	if (p->kind == PATCH_SHORT) {
		c->put_short(out, at, p->to + bias);
		return true;
	}
	if (!distance(at + p->len, base + p->to, &unused))
		return false;
	if (p->kind == PATCH_JUMP) {
		c->put_jump(out, at, base + p->to);
		return true;
	}
	c->put_nops(out, p->nops);
	c->put_call(out + p->nops, at + p->nops, base + p->to);
	return true;
}

bool copy_image__relocate(const struct copy_image *i, uint64_t bias, uint64_t base, uint8_t *code)
{
	const struct code_fixup *f;
	uint32_t d;

	memcpy(code, i->code.data, i->code.len);
	vec__each (f, &i->fixups) {
		if (!distance(base + f->at + sizeof(d) + f->following, f->to + bias, &d))
			return false;
		memcpy(code + f->at, &d, sizeof(d));
	}
	return true;
}

/* Returns the last pc at or before offset; NULL if there is none. */
static const struct copy_pc *pc_before(const struct copy_image *i, uint32_t offset)
{
	size_t n = bisect(i->pcs.len, i->pcs.data[i_].offset <= offset);

	return n ? &i->pcs.data[n - 1] : NULL;
}

bool copy_image__original(const struct copy_image *i, uint32_t offset, uint64_t *vaddr)
{
	const struct copy_pc *pc = pc_before(i, offset);

	if (!pc || pc->offset != offset || pc->near)
		return false;
	*vaddr = pc->vaddr;
	return true;
}

bool copy_image__is_shown(const struct copy_image *i, uint32_t offset)
{
	const struct copy_pc *pc = pc_before(i, offset);

	return pc && pc->offset == offset && pc->shown;
}

bool copy_image__near(const struct copy_image *i, uint32_t offset, uint64_t *vaddr)
{
	const struct copy_pc *pc = pc_before(i, offset);

	if (!pc || !pc->vaddr || offset >= i->code.len)
		return false;
	*vaddr = pc->vaddr;
	return true;
}

bool copy_image__copy_at(const struct copy_image *i, uint64_t vaddr, uint32_t *offset)
{
	size_t n = bisect(i->by_vaddr.len, i->pcs.data[i->by_vaddr.data[i_]].vaddr < vaddr);
	const struct copy_pc *pc;

	if (n == i->by_vaddr.len)
		return false;
	pc = &i->pcs.data[i->by_vaddr.data[n]];
	*offset = pc->offset;
	return pc->vaddr == vaddr;
}

bool copy_image__is_live(const struct copy_image *i, uint64_t vaddr)
{
	size_t n = bisect(i->live.len, i->live.data[i_] < vaddr);

	return n < i->live.len && i->live.data[n] == vaddr;
}

bool copy_image__has_spring(const struct copy_image *i, uint64_t vaddr)
{
	size_t n = bisect(i->springs.len, i->springs.data[i_] < vaddr);

	return n < i->springs.len && i->springs.data[n] == vaddr;
}

bool copy_image__is_approach(const struct copy_image *i, uint64_t vaddr)
{
	size_t n = bisect(i->approaches.len, i->approaches.data[i_].end <= vaddr);

	return n < i->approaches.len && i->approaches.data[n].start <= vaddr;
}

bool copy_image__is_intact(const struct copy_image *i, uint64_t vaddr)
{
	size_t n = bisect(i->intact.len, i->intact.data[i_].end <= vaddr);

	return n < i->intact.len && i->intact.data[n].start <= vaddr;
}

const struct copy_patch *copy_image__patch_at(const struct copy_image *i, uint64_t vaddr)
{
	size_t n = bisect(i->patches_by_vaddr.len,
			  i->patches.data[i->patches_by_vaddr.data[i_]].vaddr <= vaddr);
	const struct copy_patch *p;

	if (!n)
		return NULL;
	p = &i->patches.data[i->patches_by_vaddr.data[n - 1]];
	return vaddr - p->vaddr < p->len ? p : NULL;
}

uint32_t copy_image__leads_to(const struct copy_image *i, const struct copy_patch *p)
{
	while (p && p->kind == PATCH_SHORT)
		p = copy_image__patch_at(i, p->to);
	return p && p->kind == PATCH_JUMP ? (uint32_t)p->to : 0;
}

bool copy_image__fault(const struct copy_image *i, uint32_t offset, uint32_t *resume)
{
	size_t n = bisect(i->faults.len, i->faults.data[i_].end <= offset);

	if (n == i->faults.len || i->faults.data[n].start > offset)
		return false;
	*resume = i->faults.data[n].resume;
	return true;
}

bool copy_image__time(const struct copy_image *i, uint32_t offset, uint32_t *start)
{
	size_t n = bisect(i->times.len, i->times.data[i_].end <= offset);

	if (n == i->times.len || i->times.data[n].start > offset)
		return false;
	*start = i->times.data[n].start;
	return true;
}

void copy_image__untime(const struct copy_image *i, const struct arch *arch, uint8_t *code)
{
	const struct code_time *t;

	vec__each (t, &i->times) {
		int32_t instead = t->instead == NO_LABEL ? 0 : (int32_t)(t->instead - t->start);

		arch->copier->untime(code + t->start, t->end - t->start, instead);
	}
}
