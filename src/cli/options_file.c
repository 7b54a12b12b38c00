// SPDX-License-Identifier: BSD-2-Clause
/* Options for trace files: written and read. */
#include <errno.h>
#include "option.h"
#include "option_values.h"

static int check_max_size(struct request *req, const char *v)
{
	if (req->file.max_size < 64u << 10)
		return err__set(EINVAL, "invalid size '%s': use at least 64K", v);
	return 0;
}

static const struct option_row rows[] = {
	{"record", 0, "FILE", VERB_TRACE | VERB_SLOW, FILE_NAME(file.record),
	 "also write a trace file while the trace is shown", .values = ":files", .knob = true},
	{"tag", 0, "NAME", VERB_SHOW | VERB_MERGE | VERB_COVER, TEXT(file.tag),
	 "trace file: a name for this run, such as a test's; report: only counts of this name",
	 .knob = true},
	{"by-symbol", 0, NULL, VERB_REPORT | VERB_MERGE, SWITCH(file.by_symbol),
	 "several files: find functions of other builds by their symbols", .knob_of = VERB_REPORT},
	{"max-size", 0, "SIZE", VERB_TRACE, COUNT(file.max_size),
	 "trace file: start a new file at this size, keep the old one as FILE.1", check_max_size,
	 .knob = true},
	{"armor", 0, "", VERB_TRACE | VERB_MERGE, OTHER,
	 "trace file: lines of text that survive a serial console; =redundant: with parity lines",
	 value__armor, .values = "redundant", .knob = true},
};

const struct option_group options_file = {"Trace files", rows, ARRAY_SIZE(rows)};
