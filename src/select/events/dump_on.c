// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include "../bpf/wire_named.h"
#include "dump_on.h"
#include "util/util.h"

/* Returns the number of an errno's name; 0 if it is none. */
static int errno_of(const char *name)
{
	for (int i = 1; i < 4096; i++) {
		const char *known = strerrorname_np(i);

		if (known && !strcmp(known, name))
			return i;
	}
	return 0;
}

static bool parse_value(const char *text, struct dump_on *out)
{
	const char *number = text + (*text == '<' || *text == '>');
	int known = errno_of(text);
	char *end;

	out->when = *text == '<' ? WHEN_LESS : *text == '>' ? WHEN_GREATER : WHEN_EQUAL;
	if (known) {
		out->value = -known;
		return true;
	}
	errno = 0;
	out->value = *number == '-' ? strtoll(number, &end, 0) : (int64_t)strtoull(number, &end, 0);
	return *number && !*end && !errno;
}

/* The last '=' separates the value, since names of functions may contain one. */
void dump_on__parse(const char *text, struct dump_on *out)
{
	const char *value = strrchr(text, '=');

	*out = (struct dump_on){.name = NULL};
	if (value && value > text && parse_value(value + 1, out)) {
		out->name = xstrndup(text, value - text);
		return;
	}
	*out = (struct dump_on){.name = xstrdup(text)};
}
