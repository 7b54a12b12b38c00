// SPDX-License-Identifier: BSD-2-Clause
/* How many hits of each probe of a kprobe event were missed, from tracefs's files. Pure. */
#include <errno.h>
#include "tracefs.h"

/* Copies the next line after *text that is this event's. Returns false if there is none. */
static bool next_line(const char **text, const char *before, const char *event, char *line,
		      size_t size)
{
	const size_t skip = strlen(before), len = strlen(event);

	for (const char *end; (end = strchr(*text, '\n')); *text = end + 1) {
		if (strncmp(*text, before, skip) || strncmp(*text + skip, event, len) ||
		    (*text)[skip + len] != ' ')
			continue;
		snprintf(line, size, "%.*s", (int)(end - *text), *text);
		*text = end + 1;
		return true;
	}
	return false;
}

/*
 * kprobe_profile has a line for each probe: event, hits, misses; kprobe_events its definition. Both
 * have them in the order of definition (kernel/trace/trace_kprobe.c: probes_profile_seq_op and
 * probes_seq_op), so that the nth of an event are of the same probe.
 */
int kprobe_profile__read(const char *profile, const char *definitions, const char *event,
			 missed_fn fn, void *ctx)
{
	autofree char *group = xasprintf("p:%s", event);
	char line[256], definition[256];
	uint64_t sum = 0;
	bool alike = true;

	event = strchr(event, '/') + 1;
	while (next_line(&profile, "  ", event, line, sizeof(line))) {
		unsigned long long hits, misses, at;
		const char *argument;

		if (sscanf(line + 2 + strlen(event), "%llu %llu", &hits, &misses) != 2)
			return -EIO;
		alike &= next_line(&definitions, "", group, definition, sizeof(definition));
		argument = alike ? strstr(definition, " at=\\0x") : NULL;
		if (argument && sscanf(argument, " at=\\0x%llx", &at) == 1)
			fn(ctx, at, misses);
		else
			sum += misses;
	}
	if (sum)
		fn(ctx, 0, sum);
	return 0;
}
