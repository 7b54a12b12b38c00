// SPDX-License-Identifier: BSD-2-Clause
/* The verb top: which functions keep the machine, or processes, busy, as screens. It is a profile
 * whose samples are shown at intervals. */
#include <errno.h>
#include <unistd.h>
#include "cli/option.h"
#include "cli/usage_hints.h"
#include "output/output.h"
#include "pipeline/pager.h"
#include "verbs.h"

#define EVERY_NS 2000000000ull

static int check_every(struct request *req, const char *v)
{
	return req->show.every_ns >= 100000000 ? 0 : err__set(EINVAL, "must be at least 100ms");
}

static const struct option_row rows[] = {
	{"duration", 'd', "SEC", VERB_TOP, DURATION(when.timeout_ns),
	 "stop after this long (not on a terminal, without CMD: 2)"},
	{"every", 0, "SEC", VERB_TOP, TIME(show.every_ns), "a new screen this often (default: 2)",
	 check_every},
	{"freq", 0, "HZ", VERB_TOP, POSITIVE(record.freq),
	 "take this many samples a second on each CPU (default: 99)"},
	{"rows", 'n', "N", VERB_TOP, POSITIVE(show.rows),
	 "show N functions (default: what fits, or 20)"},
};

const struct option_group options_top = {"Of bbtrace top", rows, ARRAY_SIZE(rows)};

/* What top is from its check on: a profile, under its own name. */
static const struct verb as_profile = {.name = "top", .bit = VERB_PROFILE};

int top__check(struct request *req)
{
	bool screens = isatty(STDOUT_FILENO) && !terminal__is_dumb();

	if (usage_hints__command(req))
		return -EINVAL;
	req->show.format = &output_top;
	if (!req->show.every_ns)
		req->show.every_ns = EVERY_NS;
	if (!screens && !req->command && !req->when.timeout_ns)
		req->when.timeout_ns = EVERY_NS;
	req->show.screens = screens;
	req->record.freq = req->record.freq ? req->record.freq : 99;
	req->record.stack = true;
	req->verb = &as_profile;
	return trace__check(req);
}

int top__run(const struct request *req)
{
	return trace__run(req);
}
