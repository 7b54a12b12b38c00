// SPDX-License-Identifier: BSD-2-Clause
/* All tables of copies as bytes. What a new member needs is decided here: the sizes are asserted.
 */
#include <stdlib.h>
#include "copy/copy.h"

_Static_assert(sizeof(struct copies) == 72 || sizeof(void *) != 8, "is the new member packed?");
_Static_assert(sizeof(struct copy_image) == 344 || sizeof(void *) != 8, "is the new one packed?");

/* Of an image. */
/* clang-format off */
#define TABLES(x) \
	x(code) x(fixups) x(faults) x(times) x(patches) x(order) x(patches_by_vaddr) x(pcs) \
	x(by_vaddr) x(functions) x(live) x(springs) x(approaches) x(intact)
/* clang-format on */

/* What copying changes of a site. */
struct changed {
	uint8_t probe, logs, probe_at;
};

void copies__pack(const struct copies *c, const struct plan *p, const struct pack_sink *out)
{
	VEC(struct changed) sites = {0};
	uint64_t n = c->images.len;
	const struct copy_image *i;
	const struct plan_site *s;
	struct pack k = {.sink = out};

	vec__reserve(&sites, p->sites.len);
	vec__each (s, &p->sites)
		vec__push(&sites, (struct changed){s->probe, s->logs, s->probe_at});
	pack__rows(&k, &sites);
	vec__free(&sites);
	pack__rows(&k, &c->counted);
	pack__rows(&k, &c->refusals);
	pack__value(&k, &n);
	vec__each (i, &c->images) {
		pack__value(&k, &i->object);
#define PACK(table) pack__rows(&k, &i->table);
		TABLES(PACK)
	}
	pack__end(&k);
}

static void unpack_image(struct unpack *u, struct copy_image *i)
{
	unpack__value(u, &i->object);
#define UNPACK(table) unpack__rows(u, &i->table);
	TABLES(UNPACK)
}

struct copies *copies__unpack(const void *bytes, size_t len, struct plan *p)
{
	struct copies *c = xcalloc(1, sizeof(*c));
	VEC(struct changed) sites = {0};
	struct unpack u;
	uint64_t n;
	bool whole;

	unpack__begin(&u, bytes, len);
	unpack__rows(&u, &sites);
	unpack__rows(&u, &c->counted);
	unpack__rows(&u, &c->refusals);
	unpack__value(&u, &n);
	for (uint64_t i = 0; i < n && !u.bad; i++)
		unpack_image(&u, vec__add(&c->images));
	whole = unpack__is_whole(&u) && sites.len == p->sites.len &&
		c->refusals.len == p->functions.len;
	unpack__end(&u);
	for (size_t i = 0; whole && i < sites.len; i++) {
		p->sites.data[i].probe = sites.data[i].probe;
		p->sites.data[i].logs = sites.data[i].logs;
		p->sites.data[i].probe_at = sites.data[i].probe_at;
	}
	vec__free(&sites);
	if (whole)
		return c;
	copies__free(c);
	return NULL;
}
