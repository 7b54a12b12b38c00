// SPDX-License-Identifier: BSD-2-Clause
/* Where code is, as JSON; and the functions that are inlined there. */
#include "output/output.h"

void json__put_place(struct json *j, const struct location *at)
{
	json__member(j, string, "object", at->object);
	if (at->object && at->symbol) {
		json__member(j, string, "symbol", at->symbol);
		json__member(j, unsigned, "offset", at->offset);
	}
	json__member(j, hex, "vaddr", at->object ? at->vaddr : at->addr);
}

void json__put_place_value(struct json *j, const struct location *at)
{
	json__open_object(j);
	json__put_place(j, at);
	json__close_object(j);
}

char *inlined__next(const char **names)
{
	size_t len = *names ? strcspn(*names, "\n") : 0;
	char *name = len ? xstrndup(*names, len) : NULL;

	*names = name && (*names)[len] ? *names + len + 1 : NULL;
	return name;
}
