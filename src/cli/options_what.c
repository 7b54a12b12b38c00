// SPDX-License-Identifier: BSD-2-Clause
/* Options that answer "what is traced", besides the operands. */
#include "option.h"
#include "resolve/resolve.h"

static int check_watch(struct request *req, const char *v)
{
	struct watch_spec s;
	int err = watch_spec__parse(v, &s);

	if (!err)
		watch_spec__free(&s);
	return err;
}

static int check_debuginfod(struct request *req, const char *v)
{
	return debuginfod__enable();
}

static const struct option_row rows[] = {
	{"exclude", 0, "FUNC",
	 VERB_SHOW | VERB_LIST | VERB_DIFF | VERB_WHY | VERB_COVER | VERB_SLOW, TEXTS(what.exclude),
	 "leave out these functions; may be repeated", .values = ":functions"},
	{"with", 0, "NAME", VERB_TRACE, TEXTS(what.with),
	 "also events of this name, GROUP:NAME with * and ?; may be repeated", .values = ":events",
	 .knob = true},
	{"watch", 0, "WHERE", VERB_TRACE, TEXTS(what.watch),
	 "also accesses of SYMBOL[+OFF], OBJECT:SYMBOL or 0xADDR, [:LEN][:w|rw|x]; may be repeated",
	 check_watch, .knob = true},
	{"user-only", 0, NULL, VERB_TRACE, SWITCH(what.user_only),
	 "watchpoints: leave out what the kernel does for a process", .knob = true},
	{"exported", 0, NULL, VERB_TRACE | VERB_LIST, SWITCH(what.exported),
	 "of the functions that are named, only exported ones", .knob = true},
	{"debuginfod", 0, NULL, VERB_TRACE | VERB_LIST | VERB_WHY | VERB_CORE,
	 SWITCH(what.debuginfod),
	 "fetch missing debug information from the servers of DEBUGINFOD_URLS", check_debuginfod,
	 .knob = true},
};

const struct option_group options_what = {"What is traced", rows, ARRAY_SIZE(rows)};
