// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include "fail_under.h"

/* Returns the ratio to compare: of lines, if the format has them and debug information is there;
 * else of blocks. */
static const struct coverage_ratio *measured(const struct request *req,
					     const struct output_coverage *c, const char **what)
{
	bool lines = c->lines.all + c->lines.unknown;

	if (req->show.fail_under_branch || (req->what.covers && !lines)) {
		*what = req->what.covers ? "branches" : "sides of branches";
		return &c->sides;
	}
	*what = lines ? "lines" : "blocks";
	return lines ? &c->lines : &c->blocks;
}

/* Returns true if the coverage is too low. What is not known counts as not executed. */
static bool is_under(const struct request *req, const struct output_coverage *c)
{
	const char *what;
	const struct coverage_ratio *r = measured(req, c, &what);
	unsigned __int128 all = (unsigned __int128)r->all + r->unknown;

	if ((unsigned __int128)r->ran * ALL_OF_IT >= all * req->show.fail_under)
		return false;
	note("coverage of %s is under %u.%02u%% (--fail-under): %llu of %llu", what,
	     req->show.fail_under / 100, req->show.fail_under % 100, (unsigned long long)r->ran,
	     (unsigned long long)all);
	return true;
}

bool fail_under__is_missed(const struct request *req, const struct output *o)
{
	struct output_coverage c;
	struct str text = {0};
	bool report = o && (req->what.covers || o->format->covers == COVERS_ONLY);

	if (!o || (!req->show.fail_under_given && !report) || !output__coverage(o, &c))
		return false;
	if (req->what.covers)
		output_coverage__sentence(&c, &text);
	else
		output_coverage__text(&c, &text);
	if (text.len)
		note("%s%s", req->what.covers ? "" : "coverage: ", text.data);
	str__free(&text);
	if (report && o->format->wants.lines && !c.lines.all && !c.lines.unknown)
		note("no source lines are known: install the debug symbols, or use -F drcov, summary, "
		     "annotate or html, which do without");
	return req->show.fail_under_given && is_under(req, &c);
}
