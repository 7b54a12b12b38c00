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

struct coverage_ratio coverage__whole(const struct coverage_ratio *r)
{
	return (struct coverage_ratio){.all = r->all + r->unknown, .ran = r->ran};
}

void coverage__percent(struct str *s, const struct coverage_ratio *r)
{
	unsigned permille = r->all ? (unsigned __int128)r->ran * 1000 / r->all : 0;

	if (r->all)
		str__printf(s, "%u.%u%%", permille / 10, permille % 10);
	else
		str__puts(s, "");
}

static void put_ratio(struct str *s, const char *what, const struct coverage_ratio *r)
{
	if (!r->all && !r->unknown)
		return;
	str__printf(s, "%s%s ", s->len ? ", " : "", what);
	if (r->all) {
		coverage__percent(s, r);
		str__printf(s, " (%llu of %llu)", (unsigned long long)r->ran,
			    (unsigned long long)r->all);
	}
	if (r->unknown)
		str__printf(s, "%s%llu not known", r->all ? " and " : "",
			    (unsigned long long)r->unknown);
}

static void put_without_lines(struct str *s, const struct output_coverage *c)
{
	if (c->without_lines)
		str__printf(s, "; %llu functions have no source lines and are left out",
			    (unsigned long long)c->without_lines);
}

void output_coverage__text(const struct output_coverage *c, struct str *s)
{
	put_ratio(s, "functions", &c->functions);
	put_ratio(s, "lines", &c->lines);
	put_ratio(s, "blocks", &c->blocks);
	put_ratio(s, "sides of branches", &c->sides);
	put_without_lines(s, c);
}

/* ---- as a sentence ---- */

/* "1,204" */
static void put_number(struct str *s, uint64_t n)
{
	char digits[24];
	size_t len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			str__putc(s, ',');
		str__putc(s, digits[i]);
	}
}

/* "80 of 95 functions". What is not known counts as not executed. */
static void put_part(struct str *s, const struct coverage_ratio *r, const char *what, bool percent)
{
	struct coverage_ratio all = coverage__whole(r);

	if (!all.all)
		return;
	str__puts(s, s->len ? ", " : "covered ");
	put_number(s, all.ran);
	str__puts(s, " of ");
	put_number(s, all.all);
	str__printf(s, " %s", what);
	if (!percent && !r->unknown)
		return;
	str__puts(s, " (");
	if (percent)
		coverage__percent(s, &all);
	if (r->unknown) {
		str__puts(s, percent ? "; " : "");
		put_number(s, r->unknown);
		str__puts(s, " not known");
	}
	str__putc(s, ')');
}

void output_coverage__sentence(const struct output_coverage *c, struct str *s)
{
	bool lines = c->lines.all + c->lines.unknown;

	put_part(s, lines ? &c->lines : &c->blocks, lines ? "lines" : "blocks", true);
	put_part(s, &c->functions, "functions", false);
	put_part(s, &c->sides, "branches", false);
	if (lines)
		str__printf(s, " in %llu file%s", (unsigned long long)c->files,
			    c->files == 1 ? "" : "s");
	put_without_lines(s, c);
}
