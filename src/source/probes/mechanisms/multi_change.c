// SPDX-License-Identifier: BSD-2-Clause
/*
 * Probes of programs that come and go while a trace runs, by uprobe_multi. Added sites get links of
 * their own. A link can't lose a site: it is replaced by one for the sites that remain (bpf/wire.h,
 * COOKIE_GENERATION_SHIFT), and each of their hits is recorded or counted once.
 */
#include <errno.h>
#include <stdlib.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "multi.h"
#include "bbtrace.skel.h"

/* ---- sites are added ---- */

/* Each object gets a part of its own. */
static void divide_added(struct probe *p)
{
	autofree uint32_t *part_of = xcalloc(p->plan->objects.len + 1, sizeof(*part_of));
	const struct plan_site *s;

	for (size_t i = 0; i < p->asked.len; i++) {
		s = &p->plan->sites.data[p->asked.data[i]];
		if (!part_of[s->object])
			part_of[s->object] = ++p->multi.nparts;
		p->multi.part[p->asked.data[i]] = part_of[s->object] - 1;
		p->multi.attached[p->asked.data[i]] = true;
	}
}

/* Their rets have no probes. */
static int check_returns(const struct probe *p)
{
	const struct plan_site *s;

	for (size_t i = 0; i < p->asked.len && p->plan->return_probes; i++) {
		s = &p->plan->sites.data[p->asked.data[i]];
		if (s->entry && s->refusal == PROBE_KERNEL)
			return err__set(ENOTSUP,
					"the kernel accepts no probe at the entry of %s, so its "
					"returns can't be seen: start a trace with --returns ret",
					p->plan->functions.data[s->function].name);
	}
	return 0;
}

static void drop_parts(struct probe *p, uint32_t from)
{
	struct attachment *a = &p->multi.links;
	size_t kept = 0;

	for (size_t i = 0; i < a->links.len; i++)
		if (a->links.data[i].part >= from)
			bpf_link__destroy(a->links.data[i].link);
		else
			a->links.data[kept++] = a->links.data[i];
	a->links.len = kept;
	p->multi.nparts = from;
}

static void take_back(struct probe *p, uint32_t from)
{
	drop_parts(p, from);
	for (size_t i = 0; i < p->asked.len; i++) {
		p->multi.attached[p->asked.data[i]] = false;
		p->multi.part[p->asked.data[i]] = 0;
	}
}

int uprobe_multi__add(struct probe *p)
{
	uint32_t first = p->multi.nparts;
	int err = 0;

	multi__fit(p);
	divide_added(p);
	for (uint32_t i = first; i < p->multi.nparts; i++)
		multi__find_refused(p, i);
	err = check_returns(p);
	for (uint32_t i = first; !err && i < p->multi.nparts; i++)
		err = multi__attach_part(p, i);
	if (err)
		take_back(p, first);
	return err;
}

/* ---- links are replaced ---- */

/* Moves the links of these parts to others. */
static void take_links(struct probe *p, const bool *parts, struct attachment *to)
{
	struct attachment *from = &p->multi.links;
	size_t kept = 0;

	for (size_t i = 0; i < from->links.len; i++) {
		struct attached link = from->links.data[i];

		if (parts[link.part])
			vec__push(&to->links, link);
		else
			from->links.data[kept++] = link;
	}
	from->links.len = kept;
}

static void choose_generation(struct probe *p, uint64_t generation, uint64_t takes_over)
{
	__atomic_store_n(&p->skel->bss->current, generation << 1 | takes_over, __ATOMIC_SEQ_CST);
}

/* Threads come and go: the table would fill. */
static void forget_marks(struct probe *p)
{
	int map = bpf_map__fd(p->skel->maps.marks);
	uint32_t tid;

	while (!bpf_map_get_next_key(map, NULL, &tid) && !bpf_map_delete_elem(map, &tid))
		;
}

/*
 * The new links are attached, but don't count yet. Then they count, and the old ones wherever a hit
 * doesn't run the new ones' program. When the old ones are closed, no hit is left that runs it for
 * them (uprobe_unregister_sync()).
 */
static void hand_over(struct probe *p, struct attachment *old)
{
	choose_generation(p, p->generation - 1, GENERATION_TAKES_OVER);
	attachment__drop_links(old, 0);
	choose_generation(p, p->generation, 0);
	forget_marks(p);
}

static int attach_parts(struct probe *p, const bool *parts)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < p->multi.nparts; i++)
		if (parts[i])
			err = multi__attach_part(p, i);
	return err;
}

/* wanted: by site, which have a probe then. On an error nothing has changed. */
static int replace(struct probe *p, bool *wanted)
{
	struct multi *m = &p->multi;
	autofree bool *parts = xcalloc(m->nparts + 1, sizeof(*parts));
	struct attachment old = {0}, failed = {0};
	const struct attached *link;
	bool *before = m->attached;
	int err;

	for (size_t i = 0; i < m->len; i++)
		parts[m->part[i]] |= before[i] != wanted[i];
	take_links(p, parts, &old);
	m->attached = wanted;
	p->generation++;
	err = attach_parts(p, parts);
	if (err) {
		take_links(p, parts, &failed);
		vec__each (link, &old.links)
			vec__push(&m->links.links, *link);
		m->attached = before;
		p->generation--;
	} else {
		hand_over(p, &old);
	}
	attachment__drop_links(&failed, 0);
	attachment__free(&failed);
	attachment__free(&old);
	free(err ? wanted : before);
	return err;
}

static bool *copy_attached(const struct probe *p)
{
	bool *copy = xcalloc(p->multi.len + 1, sizeof(*copy));

	memcpy(copy, p->multi.attached, p->multi.len * sizeof(*copy));
	return copy;
}

/* ---- sites are removed ---- */

/* Returns true if the program, run by links of both generations, sees the newer one first. Only
 * then can a hit be recorded once. */
static bool can_replace(struct probe *p)
{
	if (!p->multi.order) {
		p->multi.order = uprobe_multi__check_order(p) ? -1 : 1;
		err__clear();
	}
	return p->multi.order > 0;
}

/* Returns true if a link that has to be closed holds others as well. */
static bool is_shared(const struct probe *p, const bool *wanted)
{
	const struct multi *m = &p->multi;
	autofree bool *goes = xcalloc(m->nparts + 1, sizeof(*goes));

	for (size_t i = 0; i < m->len; i++)
		goes[m->part[i]] |= m->attached[i] && !wanted[i];
	for (size_t i = 0; i < m->len; i++)
		if (wanted[i] && goes[m->part[i]])
			return true;
	return false;
}

int uprobe_multi__remove(struct probe *p)
{
	bool *wanted = copy_attached(p);
	id_vec others = {0}; /* of another mechanism */
	int err;

	for (size_t i = 0; i < p->asked.len; i++) {
		uint32_t site = p->asked.data[i];

		if (site < p->multi.len && wanted[site])
			wanted[site] = false;
		else
			vec__push(&others, site);
	}
	if (is_shared(p, wanted) && !can_replace(p)) {
		vec__free(&others);
		free(wanted);
		return 0;
	}
	err = replace(p, wanted);
	if (!err) {
		vec__free(&p->asked);
		p->asked = others;
	} else {
		vec__free(&others);
	}
	return err;
}

/* ---- sites that retire ---- */

int uprobe_multi__change(struct probe *p)
{
	bool *wanted;

	multi__fit(p);
	wanted = copy_attached(p);
	for (uint32_t i = 0; i < p->multi.len; i++)
		if (p->plan->sites.data[i].probe != PROBE_CHANGING &&
		    !plan__is_kernel_site(p->plan, i))
			wanted[i] = plan_site__is_hooked(&p->plan->sites.data[i]);
	return replace(p, wanted);
}
