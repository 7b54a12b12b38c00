// SPDX-License-Identifier: BSD-2-Clause
/* Where a thread's newest branch meets its stack: only what the plan proves is reported. */
#include "core.h"

/* ---- the newest branch ---- */

/* Called with the newest step first. */
static int on_newest(void *ctx, const struct step *s)
{
	struct core_meet *m = ctx;

	/* nothing follows the thread's end */
	if (s->type == STEP_NAMED && s->plan->named.data[s->named->which].kind == NAMED_KILLED)
		m->how = MEET_NOTHING;
	if (s->type == STEP_UNKNOWN || s->type == STEP_LOST)
		m->how = MEET_GAP;
	if (s->type != STEP_BRANCH)
		return 0;
	kept__take(&m->branch, s);
	m->has_branch = true;
	return 1;
}

/* ---- places ---- */

static bool is_object(const struct object *o, const struct core_file *f)
{
	return f && f->object && object__same_build(o, f->object);
}

/* Returns the plan's object for a file of the dump; UINT32_MAX if there is none. */
static uint32_t object_of(const struct plan *p, const struct core_file *f)
{
	for (uint32_t i = 0; i < p->objects.len; i++)
		if (is_object(p->objects.data[i].object, f))
			return i;
	return UINT32_MAX;
}

/* True if control runs from one address to the other without a branch. */
static bool is_straight(const struct plan *p, uint32_t object, uint64_t from, uint64_t to)
{
	uint32_t f = plan__function_at(p, object, from);

	if (from > to || f == NO_FUNCTION || plan__function_at(p, object, to) != f)
		return false;
	for (size_t i = plan__sites_from(p, object, from); i < p->sites.len; i++) {
		const struct plan_site *s = &p->sites.data[p->sites_by_address.data[i]];

		if (s->object != object || s->vaddr >= to)
			break;
		if (s->role == ROLE_BRANCH)
			return false;
	}
	return true;
}

static bool is_same_symbol(const struct location *a, const struct location *b)
{
	return a->symbol && b->symbol && !strcmp(a->symbol, b->symbol) &&
	       a->vaddr - a->offset == b->vaddr - b->offset;
}

/* ---- one frame ---- */

static enum core_meet_how meet(const struct step *s, const struct core_frame *f,
			       const struct core_place *place)
{
	const struct plan *p = s->plan;
	const struct plan_site *site = &p->sites.data[s->site];
	uint32_t object = object_of(p, place->of);

	if (f->calls && object == site->object && place->at.vaddr == site->vaddr + site->len)
		return MEET_CALL;
	if (!s->to_known)
		return MEET_APART;
	if (!f->calls && s->to.addr == f->pc && s->to.addr)
		return MEET_STRAIGHT;
	if (!s->to.object || !place->at.object || strcmp(s->to.object, place->at.object))
		return MEET_APART;
	if (object != UINT32_MAX && plan__function_at(p, object, s->to.vaddr) != NO_FUNCTION)
		return !f->calls && is_straight(p, object, s->to.vaddr, place->at.vaddr)
			       ? MEET_STRAIGHT
			       : MEET_APART;
	return is_same_symbol(&s->to, &place->at) ? MEET_INTO : MEET_APART;
}

void core_meet__find(struct show *s, uint32_t pid, uint32_t tid, const struct core *c,
		     const struct core_thread *t, const struct core_place *places,
		     struct core_meet *m)
{
	const struct step *branch;

	*m = (struct core_meet){.how = MEET_NOTHING};
	show__give_thread(s, pid, tid, true, on_newest, m);
	if (!m->has_branch || m->how == MEET_GAP)
		return;
	m->how = MEET_APART;
	branch = kept__step(&m->branch);
	for (size_t i = 0; i < t->n && m->how == MEET_APART; i++) {
		m->how = meet(branch, &c->frames.data[t->first + i], &places[t->first + i]);
		m->frame = i;
	}
}

void core_meet__free(struct core_meet *m)
{
	if (m->has_branch)
		kept__free(&m->branch);
	m->has_branch = false;
}
