// SPDX-License-Identifier: BSD-2-Clause
/* Hits that ran no program: by site, if the kernel reports that. */
#include "fields.h"

/* Returns the function, and sets the offset in it; NULL if it is no site's. */
static const char *function_of(const struct missed *m, const struct plan *plan, uint64_t *offset)
{
	const struct plan_site *s;

	if (m->site >= plan->sites.len)
		return NULL;
	s = &plan->sites.data[m->site];
	return plan__name_at(plan, s->function, s->vaddr, offset);
}

void missed__name(const struct missed *m, const struct plan *plan, struct str *out)
{
	uint64_t offset = 0;
	const char *name = function_of(m, plan, &offset);

	str__shown(out, name ? name : m->what ? m->what : "?");
	if (name)
		str__printf(out, "+0x%llx", (unsigned long long)offset);
}

/* Without an address, which may have to be hidden. */
static void put_site(const struct missed *m, const struct plan *plan, struct json *j)
{
	uint64_t offset = 0;
	const char *name = function_of(m, plan, &offset);

	if (!name)
		return json__member(j, string, "by", m->what);
	json__member(j, string, "object",
		     plan->objects.data[plan->sites.data[m->site].object].path);
	json__member(j, string, "symbol", name);
	json__member(j, unsigned, "offset", offset);
}

void missed__json(const missed_vec *missed, const struct plan *plan, struct json *j)
{
	const struct missed *m;

	if (!missed || !missed->len)
		return;
	json__key(j, "missed");
	json__open_array(j);
	vec__each (m, missed) {
		json__open_object(j);
		put_site(m, plan, j);
		json__member(j, unsigned, "hits", m->hits);
		json__close_object(j);
	}
	json__close_array(j);
}
