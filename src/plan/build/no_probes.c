// SPDX-License-Identifier: BSD-2-Clause
/* Why a plan has no probe: ranges without branches, sites that can't carry one, or -e. */
#include <errno.h>
#include "plan/plan_private.h"

/* Returns the end of the function or cold part that r belongs to. */
static uint64_t end_around(const struct object *o, const struct range *r)
{
	uint64_t end = r->vaddr + r->size;
	struct function around;
	const struct range *part;

	if (!function__around(o, r->vaddr, &around))
		return end;
	vec__each (part, &around.ranges)
		if (r->vaddr - part->vaddr < part->size)
			end = max_of(end, part->vaddr + part->size);
	function__free(&around);
	return end;
}

/* The instructions of a range without branches, and the branch that they lead to. */
struct straight {
	unsigned n;
	uint64_t last; /* the address of the last one */
	bool leads_on;
	struct insn branch;
};

/* The start is proved to be that of an instruction, and so is what follows, up to a branch. */
static void look_ahead(const struct plan *p, uint32_t object, const struct range *r,
		       struct straight *out)
{
	const struct object *o = p->objects.data[object].object;
	uint64_t end = end_around(o, r), addr = r->vaddr;
	struct insn *insn = &out->branch;

	*out = (struct straight){.last = r->vaddr};
	for (; addr < end && insn->flow == FLOW_NEXT && !out->leads_on; addr += insn->len) {
		size_t avail;
		const uint8_t *bytes = object__bytes(o, addr, &avail);

		if (!bytes || p->arch->decode(bytes, avail, object__code_address(o, addr),
					      object__is_kernel(o), insn))
			return;
		out->leads_on = insn->flow == FLOW_BRANCH || insn->flow == FLOW_UNSUPPORTED;
		if (out->leads_on || addr >= r->vaddr + r->size)
			continue;
		out->n++;
		out->last = addr;
	}
}

static void put_place(struct str *s, const struct plan_function *f, const struct range *r,
		      uint64_t vaddr)
{
	uint64_t offset = vaddr - r->vaddr + r->offset;

	str__puts(s, r->name ? r->name : f->name);
	if (offset)
		str__printf(s, "+0x%llx", (unsigned long long)offset);
}

static void put_straight(struct str *s, const struct plan_function *f, const struct range *r,
			 const struct straight *c)
{
	str__puts(s, c->n == 1 ? "the instruction at " : "");
	if (c->n != 1)
		str__printf(s, "the %u instructions from ", c->n);
	put_place(s, f, r, r->vaddr);
	str__puts(s, c->n == 1 ? " is no branch" : " to ");
	if (c->n != 1) {
		put_place(s, f, r, c->last);
		str__puts(s, " have no branch");
	}
	if (!c->leads_on) {
		str__puts(s, ", and none follows");
		return;
	}
	str__printf(s, "; the next one is %s at ", c->branch.mnemonic);
	put_place(s, f, r, c->branch.addr);
}

static bool has_only_ranges(const struct plan *p, size_t *n)
{
	const struct plan_function *f;

	*n = 0;
	vec__each (f, &p->functions) {
		if (!(f->flags & FUNCTION_RANGE) || f->branches)
			return false;
		*n += f->nranges;
	}
	return *n;
}

static int no_branch(const struct plan *p, size_t nranges)
{
	const struct plan_function *f = p->functions.data;
	const struct range *r = f->ranges;
	struct straight c;
	struct str s = {0};
	int err;

	look_ahead(p, f->object, r, &c);
	put_straight(&s, f, r, &c);
	if (nranges > 1)
		str__printf(&s, "; likewise %zu more range%s", nranges - 1,
			    nranges == 2 ? "" : "s");
	err = err__set(ENOENT, "nothing to probe: %s", s.data);
	str__free(&s);
	return err;
}

static const struct plan_site *first_refused(const struct plan *p)
{
	const struct plan_site *s;

	vec__each (s, &p->sites)
		if (s->refusal != PROBE_OK)
			return s;
	return NULL;
}

static int all_refused(const struct plan *p, const struct plan_site *s)
{
	uint64_t offset = 0;
	const char *name = plan__name_at(p, s->function, s->vaddr, &offset);

	return err__set(ENOENT, "nothing to probe: %s+0x%llx can't carry a probe%s: %s", name,
			(unsigned long long)offset,
			p->skipped > 1 ? ", nor can the other sites" : "",
			probe_refusal_text[s->refusal]);
}

int plan__report_no_probes(const struct plan *p)
{
	const struct plan_site *refused = first_refused(p);
	size_t nranges;

	if (has_only_ranges(p, &nranges))
		return no_branch(p, nranges);
	if (p->skipped && refused)
		return all_refused(p, refused);
	return err__set(ENOENT, "nothing to probe: ranges have branches only, and -e leaves these "
				"out");
}
