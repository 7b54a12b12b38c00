// SPDX-License-Identifier: BSD-2-Clause
/* Options that answer "from when until when" something is recorded. */
#include <errno.h>
#include "option.h"

static int set_control(struct request *req, const char *v)
{
	req->when.control_app = !strcmp(v, "app") || !strncmp(v, "app:", 4);
	if (req->when.control_app && v[3] && v[4])
		vec__push(&req->when.markers_in, v + 4);
	return req->when.control_app && (!v[3] || v[4])
		       ? 0
		       : err__set(EINVAL, "unknown control '%s': use app, or app:OBJECT", v);
}

static const struct option_row rows[] = {
	{"timeout", 't', "SEC", VERB_TRACE | VERB_SLOW, DURATION(when.timeout_ns),
	 "stop after this long"},
	{"limit", 'l', "N", VERB_SHOW, POSITIVE(when.limit), "stop after N printed events",
	 .knob_of = VERB_REPORT},
	{"paused", 0, NULL, VERB_TRACE, SWITCH(when.paused),
	 "record nothing until bbtrace ctl PID start", .knob = true},
	{"control", 0, "WHO", VERB_TRACE, OTHER,
	 "app, or app:OBJECT: record from BBTRACE_START() to BBTRACE_STOP() (bbtrace.h)",
	 set_control, .values = "app", .knob = true},
	{"start-on", 0, "FUNC", VERB_TRACE, TEXTS(when.start_on),
	 "start recording where this is executed; may be repeated", .values = ":functions",
	 .knob = true},
	{"stop-on", 0, "FUNC", VERB_TRACE, TEXTS(when.stop_on),
	 "stop recording where this is executed; may be repeated", .values = ":functions",
	 .knob = true},
	{"delay", 0, "TIME", VERB_TRACE, DURATION(when.delay_ns),
	 "start recording this long after the start was requested, or the trace began",
	 .knob = true},
	{"for", 0, "TIME", VERB_TRACE, DURATION(when.for_ns), "stop this long after each start",
	 .knob = true},
	{"control-socket", 0, "PATH", VERB_TRACE, FILE_NAME(when.control_socket),
	 "the socket for bbtrace ctl; none: no socket", .values = ":files", .knob = true},
};

const struct option_group options_when = {"From when until when", rows, ARRAY_SIZE(rows)};
