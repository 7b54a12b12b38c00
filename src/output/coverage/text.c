// SPDX-License-Identifier: BSD-2-Clause
/* Coverage in words, for formats that are text. */
#include "coverage.h"

const char *coverage__unseen_side(const struct coverage *c, uint32_t site)
{
	const struct plan_site *s = &c->plan->sites.data[site];
	const struct stats_site *ps = &c->runs.stats->sites[site];

	if ((s->kind != BRANCH_JCC && s->kind != BRANCH_LOOP) || !c->runs.known || c->runs.all)
		return NULL;
	if (!ps->taken && ps->not_taken && ps->not_taken != COUNT_UNKNOWN)
		return "never taken";
	return !ps->not_taken && ps->taken && ps->taken != COUNT_UNKNOWN ? "always taken" : NULL;
}

void coverage__part(struct str *s, const struct coverage_ratio *r)
{
	if (r->all)
		str__printf(s, "%llu/%llu", (unsigned long long)r->ran, (unsigned long long)r->all);
	else
		str__putc(s, '-');
}

static void put_percent(struct str *s, const struct coverage_ratio *r)
{
	unsigned permille = (unsigned __int128)r->ran * 1000 / r->all;

	str__printf(s, "%u.%u%%", permille / 10, permille % 10);
}

static void put_ratio(struct str *s, const char *what, const struct coverage_ratio *r)
{
	if (!r->all && !r->unknown)
		return;
	str__printf(s, "%s%s ", s->len ? ", " : "", what);
	if (r->all) {
		put_percent(s, r);
		str__printf(s, " (%llu of %llu)", (unsigned long long)r->ran,
			    (unsigned long long)r->all);
	}
	if (r->unknown)
		str__printf(s, "%s%llu not known", r->all ? " and " : "",
			    (unsigned long long)r->unknown);
}

void output_coverage__text(const struct output_coverage *c, struct str *s)
{
	put_ratio(s, "functions", &c->functions);
	put_ratio(s, "lines", &c->lines);
	put_ratio(s, "blocks", &c->blocks);
	put_ratio(s, "sides of branches", &c->sides);
	if (c->without_lines)
		str__printf(s, "; %llu functions have no source lines and are left out",
			    (unsigned long long)c->without_lines);
}
