// SPDX-License-Identifier: BSD-2-Clause
/* Options of every verb. */
#include "option.h"

static int set_verbose(struct request *req, const char *v)
{
	note__set_level(NOTE_VERBOSE);
	return 0;
}

static int set_quiet(struct request *req, const char *v)
{
	note__set_level(NOTE_QUIET);
	return 0;
}

static const struct option_row rows[] = {
	{"verbose", 'v', NULL, VERB_ALL, OTHER, "print decisions and their reasons", set_verbose,
	 .knob = true},
	{"quiet", 'q', NULL, VERB_ALL, OTHER, "no notes on stderr", set_quiet, .knob = true},
	{"help", 'h', NULL, VERB_ALL, SWITCH(help), "the usual options", .knob = true},
	{"help-all", 0, NULL, VERB_ALL, SWITCH(help_all), "all options", .knob = true},
};

const struct option_group options_general = {"In general", rows, ARRAY_SIZE(rows)};
