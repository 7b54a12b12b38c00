// SPDX-License-Identifier: BSD-2-Clause
/* Options that answer "how it is shown": formats, selection, colours. */
#include <errno.h>
#include "option.h"
#include "option_values.h"

#define STYLES "rel abs delta none" /* in the order of enum time_style */
#define COLORS "auto always never"

static int set_time(struct request *req, const char *v)
{
	unsigned i;
	int err = value__word(STYLES, v, &i);

	req->show.time = i;
	req->show.time_given = true;
	return err;
}

static int check_color(struct request *req, const char *v)
{
	unsigned i;

	return value__word(COLORS, v, &i);
}

static int check_depth(struct request *req, const char *v)
{
	return req->show.depth && req->show.depth <= UINT32_MAX
		       ? 0
		       : err__set(EINVAL, "must be at least 1");
}

/* "80", "87.5", "99.95" */
static int parse_percent(const char *text, size_t len, unsigned *out)
{
	unsigned value = 0, decimals = 0;
	bool point = false, digits = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.' && !point && digits) {
			point = true;
			continue;
		}
		if (text[i] < '0' || text[i] > '9' || value > ALL_OF_IT || decimals == 2)
			return -EINVAL;
		value = 10 * value + (text[i] - '0');
		decimals += point;
		digits = true;
	}
	if (!digits || (point && !decimals))
		return -EINVAL;
	for (; decimals < 2; decimals++)
		value *= 10;
	*out = value;
	return value <= ALL_OF_IT ? 0 : -EINVAL;
}

static int set_fail_under(struct request *req, const char *v)
{
	const char *comma = strchrnul(v, ',');

	req->show.fail_under_branch = !strcmp(comma, ",branch");
	if ((*comma && !req->show.fail_under_branch) ||
	    parse_percent(v, comma - v, &req->show.fail_under))
		return err__set(EINVAL,
				"'%s' is not a percentage from 0 to 100 with at most two decimals, "
				"followed by \",branch\" for branches: 80, 87.5,branch",
				v);
	req->show.fail_under_given = true;
	return 0;
}

static const struct option_row rows[] = {
	{"format", 'F', "FMT", VERB_TEXT & ~VERB_COVER, OTHER,
	 "text (default), json, ...: see below", formats__set, .values = ":formats"},
	{"format", 'F', "FMT", VERB_COVER, OTHER, "coverage (default), lcov, ...: see below",
	 formats__set, .values = ":formats"},
	{"output", 'o', "FILE", VERB_SHOW | VERB_MERGE, FILE_NAME(show.output),
	 "write a trace file for bbtrace report; with -F, or named x.html, that format",
	 .values = ":files"},
	{"output", 'o', "FILE", VERB_SLOW | VERB_DIFF, FILE_NAME(show.output),
	 "write to FILE instead of stdout", .values = ":files"},
	{"output", 'o', "FILE", VERB_COVER, FILE_NAME(show.output),
	 "write .info (lcov), .xml, .html, .drcov or .json by its suffix; else a trace file",
	 .values = ":files"},
	{"time", 'T', "STYLE", VERB_SHOW | VERB_CORE, OTHER, "rel (default), abs, delta or none",
	 set_time, .values = STYLES, .knob_of = VERB_SHOW},
	{"color", 0, "WHEN", VERB_SHOW | VERB_DIFF | VERB_CORE, TEXT(show.color),
	 "auto (default), always or never", check_color, .values = COLORS, .knob = true},
	{"depth", 0, "N", VERB_SHOW | VERB_DIFF, NUMBER(show.depth),
	 "only N levels of calls of traced functions", check_depth},
	{"min-duration", 0, "TIME", VERB_SHOW, TIME(show.min_duration),
	 "only calls at least this long: 20us, 1.5ms"},
	{"from", 0, "TIME", VERB_REPORT | VERB_DIFF, TIME(show.from),
	 "from this long after the trace's beginning on"},
	{"to", 0, "TIME", VERB_REPORT | VERB_DIFF, DURATION(show.to),
	 "up to this long after the trace's beginning"},
	{"no-fold", 0, NULL, VERB_SHOW | VERB_CORE, SWITCH(show.no_fold),
	 "text: show every iteration of loops", .knob = true},
	{"all", 0, NULL, VERB_SHOW, SWITCH(show.all),
	 "text of counts: also branches that weren't executed; --last: also what ran after main",
	 .knob = true},
	{"no-src", 0, NULL, VERB_SHOW | VERB_LIST | VERB_WHY | VERB_CORE | VERB_STACK | VERB_SLOW,
	 SWITCH(show.no_src), "no source lines; doesn't read debug information for them",
	 .knob = true},
	{"full-names", 0, NULL,
	 VERB_SHOW | VERB_LIST | VERB_DIFF | VERB_WHY | VERB_CORE | VERB_STACK | VERB_SLOW,
	 SWITCH(show.full_names), "on a terminal: whole names and lines, however wide it is",
	 .knob = true},
	{"addresses", 0, NULL, VERB_SHOW | VERB_LIST | VERB_DIFF | VERB_WHY, SWITCH(show.addresses),
	 "show kernel addresses (root always sees them)", .knob = true},
	{"fail-under", 0, "PERCENT[,branch]", VERB_SHOW | VERB_COVER, OTHER,
	 "exit with 3 if less of the lines, or blocks, or branches, ran", set_fail_under,
	 .knob_of = VERB_SHOW},
};

const struct option_group options_show = {"How it is shown", rows, ARRAY_SIZE(rows)};
