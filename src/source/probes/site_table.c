// SPDX-License-Identifier: BSD-2-Clause
/* The maps sites and operands. See site_table.h. */
#include <errno.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/stream/counters.h"
#include "site_table.h"
#include "bbtrace.skel.h"

/* How many sites may be added while the trace runs, and how many of these may read memory. */
#define MORE_SITES    65536
#define MORE_OPERANDS 16384

#define NOT_ENTERED UINT64_MAX

uint32_t site_table__signals(const struct plan *plan)
{
	if (plan->placement == PLACEMENT_COUNT) /* they may cut paths */
		return plan__has_programs(plan) ? 2 : 0;
	return plan->late_entries ? 3 : plan->unprobed_rets;
}

/* Returns true if its probe may be attached. A ret without one gets it if the kernel refuses its
 * function's entry. */
static bool may_be_hit(const struct probe *p, const struct plan_site *s)
{
	return plan_site__is_hooked(s) || s->probe == PROBE_CHANGING ||
	       (p->options->retires && s->role == ROLE_WITNESS) ||
	       (p->plan->return_probes && s->kind == BRANCH_RET && s->refusal == PROBE_OK);
}

/* How many sites may be added. */
static uint32_t room_for_more(const struct probe *p)
{
	uint32_t left = PLAN_MAX_SITES - min_of(PLAN_MAX_SITES, (uint32_t)p->plan->sites.len);

	if (!p->options->grows)
		return 0;
	return min_of(left, probe__counts(p) ? counters__more(p) : MORE_SITES);
}

void site_table__size(struct probe *p)
{
	struct site_table *t = &p->table;
	const struct plan_site *s;

	vec__each (s, &p->plan->sites)
		t->operand_room += may_be_hit(p, s) && action__needs_operand(s);
	t->operand_room += p->options->grows ? MORE_OPERANDS : 0;
	t->room = p->plan->sites.len + 1 + room_for_more(p);
	t->actions = xcalloc(t->room, sizeof(*t->actions));
	memset(t->actions, 0xff, t->room * sizeof(*t->actions));
}

static int fill_operand(struct probe *p, const struct plan_site *s)
{
	struct wire_operand o = action__operand(s);
	uint32_t n = p->table.noperands;

	if (bpf_map__update_elem(p->skel->maps.operands, &n, 4, &o, sizeof(o), BPF_ANY))
		return err__set(errno, "cannot fill the operand table: %s", strerror(errno));
	p->table.noperands++;
	return 0;
}

static int fill_test(struct probe *p, uint32_t site)
{
	const struct plan_site *s = &p->plan->sites.data[site];
	struct wire_test t;

	if (!p->plan->tests || !s->test)
		return 0;
	t = action__test(s);
	if (bpf_map__update_elem(p->skel->maps.tests, &site, 4, &t, sizeof(t), BPF_ANY))
		return err__set(errno, "cannot fill the table of tests: %s", strerror(errno));
	return 0;
}

static int put(struct probe *p, uint32_t site, uint64_t action)
{
	if (p->table.actions[site] == action)
		return 0;
	if (bpf_map__update_elem(p->skel->maps.sites, &site, 4, &action, 8, BPF_ANY))
		return err__set(errno, "cannot fill the table of sites: %s", strerror(errno));
	p->table.actions[site] = action;
	return 0;
}

/* A site that is amended keeps its operand. */
static int enter(struct probe *p, uint32_t site)
{
	const struct plan_site *s = &p->plan->sites.data[site];
	uint64_t before = p->table.actions[site];
	bool known = before != NOT_ENTERED;
	uint32_t operand = known ? SITE_OPERAND(before & ~SITE_IGNORED) : p->table.noperands;
	uint64_t action = action__of_site(p->plan, site, operand, p->options->events);
	int err = !known && action__needs_operand(s) ? fill_operand(p, s) : 0;

	err = err || known ? err : fill_test(p, site);
	err = err || known ? err : execution__fill(p, site);
	return err ? err : put(p, site, action | (known ? before & SITE_IGNORED : 0));
}

int site_table__fill(struct probe *p)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < p->plan->sites.len; i++)
		if (may_be_hit(p, &p->plan->sites.data[i]))
			err = enter(p, i);
	return err;
}

static int check_room(const struct probe *p, const uint32_t *sites, size_t n)
{
	size_t operands = 0;

	for (size_t i = 0; i < n; i++)
		operands += action__needs_operand(&p->plan->sites.data[sites[i]]);
	if (p->plan->sites.len < p->table.room &&
	    operands <= p->table.operand_room - p->table.noperands)
		return 0;
	return err__set(ENOSPC,
			"this trace can't take %zu more probes: trace these functions by "
			"another bbtrace",
			n);
}

int site_table__add(struct probe *p, const uint32_t *sites, size_t n)
{
	uint32_t signals = site_table__signals(p->plan);
	int err = check_room(p, sites, n);

	for (size_t i = 0; !err && i < n; i++)
		err = enter(p, sites[i]);
	for (uint32_t i = 0; !err && i < p->plan->sites.len; i++)
		if (p->table.actions[i] != NOT_ENTERED || may_be_hit(p, &p->plan->sites.data[i]))
			err = enter(p, i);
	counters__add_sites(p);
	if (!err && signals > p->skel->bss->signals)
		__atomic_store_n(&p->skel->bss->signals, signals, __ATOMIC_SEQ_CST);
	return err;
}

int site_table__ignore(struct probe *p, uint32_t site, bool ignored)
{
	uint64_t action = p->table.actions[site];

	return put(p, site, ignored ? action | SITE_IGNORED : action & ~SITE_IGNORED);
}

bool site_table__is_ignored(const struct probe *p, uint32_t site)
{
	return p->table.actions[site] != NOT_ENTERED && p->table.actions[site] & SITE_IGNORED;
}
