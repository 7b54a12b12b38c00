// SPDX-License-Identifier: BSD-2-Clause
/* Time without tracing, of several calls: added up, and as text. */
#include "output/base/paint.h"
#include "stats.h"

void stats_net__add(struct stats_net *to, const struct stats_net *n, int sign)
{
	to->ns += sign * n->ns;
	to->tracing += sign * n->tracing;
	to->noise += sign * n->noise;
	to->calls += sign * n->calls;
	to->off += sign * n->off;
	to->off_calls += sign * n->off_calls;
}

enum net stats_net__state(const struct stats_net *n, uint64_t *ns)
{
	return n->calls ? net__of(n->ns, n->tracing, n->noise, ns) : NET_UNKNOWN;
}

void put_net_time(struct str *s, const struct stats_net *n, const char *before, const char *after)
{
	uint64_t ns;

	switch (stats_net__state(n, &ns)) {
	case NET_KNOWN:
		str__puts(s, before);
		put_duration(s, ns);
		str__puts(s, after);
		break;
	case NET_NOISE:
		put(s, "noise");
		break;
	default:
		str__putc(s, '-');
	}
}
