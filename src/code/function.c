// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies functions, and bounds functions that were reached by control flow.
 */
#include <stdlib.h>
#include "code/code.h"

void function__copy(struct function *to, const struct function *from)
{
	const struct range *r;

	*to = (struct function){.object = from->object,
				.entry = from->entry,
				.flags = from->flags,
				.arguments = from->arguments};
	to->name = from->name ? xstrdup(from->name) : NULL;
	to->raw = from->raw ? xstrdup(from->raw) : NULL;
	vec__each (r, &from->ranges)
		vec__push(&to->ranges,
			  (struct range){r->vaddr, r->size, r->name ? xstrdup(r->name) : NULL,
					 r->offset});
}

void function__free(struct function *f)
{
	struct range *r;

	vec__each (r, &f->ranges)
		free(r->name);
	vec__free(&f->ranges);
	free(f->name);
	free(f->raw);
}

bool function__around(const struct object *o, uint64_t addr, struct function *out)
{
	const struct frame *f;

	memset(out, 0, sizeof(*out));
	if (object__function_at(o, addr, out))
		return true;
	f = object__frame_at(o, addr);
	if (!f)
		return false;
	memset(out, 0, sizeof(*out));
	out->object = o;
	out->entry = f->vaddr;
	out->name = xasprintf("0x%llx", (unsigned long long)f->vaddr);
	vec__push(&out->ranges, (struct range){f->vaddr, f->size, NULL});
	return true;
}
