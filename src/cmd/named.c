// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include "named.h"

struct finding {
	struct plan *p;
	size_t found;
	int err;
};

static bool has(const struct plan *p, const char *name)
{
	const struct plan_named *n;

	vec__each (n, &p->named)
		if (!strcmp(n->name, name))
			return true;
	return false;
}

static void add(void *ctx, const char *name)
{
	struct finding *f = ctx;

	f->found++;
	if (!f->err && !has(f->p, name))
		f->err = tracepoint__add(f->p, name);
}

static int add_all(struct plan *p, const char *pattern)
{
	struct finding f = {.p = p};
	int err = tracepoints__each(pattern, add, &f);

	if (err || f.err)
		return err ? err : f.err;
	return f.found ? 0
		       : err__set(
				 ENOENT,
				 "no event '%s'; bbtrace list --events kernel '*%s*' looks for others",
				 pattern,
				 strchr(pattern, ':') ? strchr(pattern, ':') + 1 : pattern);
}

int named__plan(const struct args *a, struct plan *p)
{
	const char *const *with;
	int err = 0;

	for (size_t i = 0; !err && a->verb->bit == VERB_EVENT && i < a->operands.len; i++)
		err = add_all(p, a->operands.data[i]);
	vec__each (with, &a->with)
		if (!err)
			err = add_all(p, *with);
	return err;
}
