// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that copies its own code copies the breakpoints in it. The kernel has no uprobe at the
 * copy's address and sends SIGTRAP. That can't be prevented, but is detected: a breakpoint that
 * isn't a uprobe, followed by the same bytes as a site.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/session.h"
#include "bbtrace.skel.h"

#define LEAST 4 /* bytes that must match */

/* Returns true if these are the bytes at a probe, after its breakpoint. Others may have
 * breakpoints, too. */
static bool is_copy_of(const struct plan *plan, const struct plan_site *s, const uint8_t *copy,
		       size_t len)
{
	const struct breakpoint *b = &plan->arch->uprobe_breakpoint;
	size_t avail, same = 0;
	const uint8_t *own =
		object__bytes(plan->objects.data[s->object].object, s->vaddr + s->probe_at, &avail);

	for (size_t i = b->len; own && i < len && i < avail; i++) {
		if (copy[i] != own[i] && !memchr(b->bytes, copy[i], b->len))
			return false;
		same += copy[i] == own[i];
	}
	return own && same >= LEAST;
}

static const struct plan_site *copied_from(const struct plan *plan, const struct wire_trap *t)
{
	const struct plan_site *s;

	vec__each (s, &plan->sites)
		if (plan_site__is_hooked(s) && is_copy_of(plan, s, t->bytes, sizeof(t->bytes)))
			return s;
	return NULL;
}

static void report(const struct plan *plan, uint32_t pid, const struct wire_trap *t)
{
	const struct plan_site *s = copied_from(plan, t);
	uint64_t offset = 0;
	const char *name = s ? plan__name_at(plan, s->function, s->vaddr, &offset) : NULL;

	if (s)
		note("%.16s-%u ran a copy of its code at 0x%llx, with the breakpoint of %s+0x%llx in it, and got "
		     "a signal %llu times: exclude code that the program copies (--exclude)",
		     t->comm, pid, (unsigned long long)t->addr, name ? name : "?",
		     (unsigned long long)offset, (unsigned long long)t->count);
}

void copies__report(struct probe *p)
{
	int map = bpf_map__fd(p->skel->maps.traps);
	uint32_t pid, *before = NULL;
	struct wire_trap t;

	while (!bpf_map_get_next_key(map, before, &pid)) {
		before = &pid;
		if (!bpf_map_lookup_elem(map, &pid, &t))
			report(p->plan, pid, &t);
	}
}
