// SPDX-License-Identifier: BSD-2-Clause
/* The verb cover: counts what a command and its children run of objects, and shows which lines,
 * functions and branches that was. It is a trace of all functions of these objects, by counts. */
#include <errno.h>
#include "cli/option.h"
#include "cli/usage_hints.h"
#include "verbs.h"

static int check_prefix(struct request *req, const char *v)
{
	const char *equals = strchr(v, '=');

	return equals && equals != v ? 0
				     : err__set(EINVAL,
						"'%s' is not OLD=NEW: the start of paths "
						"in debug information, and what to show "
						"in its place",
						v);
}

static const struct option_row rows[] = {
	{"objects", 0, "GLOB", VERB_COVER, TEXTS(what.objects),
	 "all executables and shared objects that match, as 'build/**'; may be repeated",
	 .values = ":files"},
	{"prefix-map", 0, "OLD=NEW", VERB_COVER, TEXTS(show.prefixes),
	 "show source paths that begin with OLD with NEW instead; may be repeated", check_prefix},
};

const struct option_group options_cover = {"What is traced", rows, ARRAY_SIZE(rows)};

/* What cover is from its check on: a trace of functions, under its own name. */
static const struct verb as_trace = {.name = "cover", .bit = VERB_USER};

int cover__check(struct request *req)
{
	const char *output = req->show.output;

	if (usage_hints__command(req))
		return -EINVAL;
	if (!req->command)
		return err__set(EINVAL,
				"no command to run: bbtrace cover [OBJECT...] -- CMD; counts that "
				"were recorded: bbtrace report FILE -F coverage");
	if (req->show.format && !strcmp(req->show.format->name, "text"))
		req->show.format = output__by_name("coverage");
	req->show.format_by_name = false;
	req->what.covers = true;
	req->record.count = true;
	req->who.filters.follow = true;
	if (!req->show.format && output) { /* any other name: a trace file */
		req->file.record = output;
		req->show.output = NULL;
	}
	if (!req->show.format)
		req->show.format = output__by_name("coverage");
	req->verb = &as_trace;
	return trace__check(req);
}

int cover__run(const struct request *req)
{
	return trace__run(req);
}
