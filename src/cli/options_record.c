// SPDX-License-Identifier: BSD-2-Clause
/* Options that answer "what is recorded": events, values, counts, samples. */
#include <errno.h>
#include "option.h"
#include "option_values.h"

static int add_event(struct request *req, const char *part)
{
	static const struct {
		const char *name;
		unsigned bit;
	} rows[] = {{"entry", PLAN_ENTRY}, {"branch", PLAN_BRANCH}, {"return", PLAN_RETURN}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(part, rows[i].name)) {
			req->record.events |= rows[i].bit;
			return 0;
		}
	if (!strcmp(part, "sched") && req->verb->bit & VERB_TRACE) {
		req->record.sched = true;
		return 0;
	}
	return err__set(EINVAL, "unknown event '%s': use entry, branch, return%s", part,
			req->verb->bit & VERB_TRACE ? " or sched" : "");
}

static int set_events(struct request *req, const char *v)
{
	unsigned before = req->record.events;
	int err;

	req->record.events = 0;
	err = value__each(req, v, add_event);
	req->record.events_given |= req->record.events;
	/* -e sched alone adds to the other events */
	req->record.events = req->record.events ? req->record.events : before;
	return err;
}

static int set_args(struct request *req, const char *v)
{
	req->record.typed = true;
	return v ? expressions__parse(v, &req->record.expressions) : 0;
}

static int set_if(struct request *req, const char *v)
{
	return conditions__parse(v, &req->record.conditions);
}

static int check_interval(struct request *req, const char *v)
{
	return req->record.interval_ns >= 1000000 ? 0 : err__set(EINVAL, "must be at least 1ms");
}

#define LAST_MAX 100000

static int check_last(struct request *req, const char *v)
{
	if (!req->record.last || req->record.last > LAST_MAX)
		return err__set(EINVAL, "invalid number '%s': use 1 to %d branches", v, LAST_MAX);
	return 0;
}

static const struct option_row rows[] = {
	{"events", 'e', "LIST", VERB_SHOW, OTHER, "any of entry,branch,return (default: all three)",
	 set_events, .values = ",entry branch return sched", .knob_of = VERB_REPORT},
	{"regs", 'r', "LIST", VERB_SHOW | VERB_CORE, TEXT(record.regs),
	 "registers on entry instead of arguments: none, args, all, or names",
	 .values = ",:registers", .knob = true},
	{"args", 0, "", VERB_FUNCTIONS, OTHER,
	 "also strings and arguments in memory; =EXPR,...: these, as path->dentry", set_args},
	{"if", 0, "CONDITION", VERB_FUNCTIONS | VERB_REPORT, OTHER,
	 "only calls whose arguments or results match: 'size > 4096 && ret < 0'; may be repeated",
	 set_if, .values = ":conditions"},
	{"why", 0, NULL, VERB_FUNCTIONS, SWITCH(record.why),
	 "also the values that each conditional compares"},
	{"explain", 0, NULL, VERB_FUNCTIONS, SWITCH(record.explain),
	 "instead of events: for each failed call, the kernel's branch that made it fail",
	 .knob = true},
	{"stack", 'k', NULL, VERB_TRACE, SWITCH(record.stack), "record the call stack on entry"},
	{"kernel", 'k', NULL, VERB_STACK, SWITCH(record.stack),
	 "show the kernel's part of each stack"},
	{"stack-size", 0, "SIZE", VERB_TRACE, COUNT(record.stack_size),
	 "-k: bytes of the stack to copy (default: 8K); 0: follow frame pointers", .knob = true},
	{"freq", 0, "HZ", VERB_TRACE, POSITIVE(record.freq),
	 "also take this many samples a second on each CPU (profile: 99)",
	 .knob_of = VERB_TRACE & ~VERB_PROFILE},
	{"timeline", 0, NULL, VERB_PROFILE, SWITCH(record.timeline),
	 "each sample is an event, also with --stack-size 0"},
	{"count", 'c', NULL, VERB_SHOW, SWITCH(record.count),
	 "count edges instead of listing events"},
	{"interval", 0, "SEC", VERB_TRACE, TIME(record.interval_ns),
	 "-c: print the counts so far every SEC, as at SIGUSR1", check_interval, .knob = true},
	{"reset", 0, NULL, VERB_TRACE, SWITCH(record.reset),
	 "-c: set the counts to 0 each time they have been printed", .knob = true},
	{"once", 0, NULL, VERB_TRACE, SWITCH(record.once),
	 "counts: remove a probe once it was hit; of a conditional once both sides were seen",
	 .knob = true},
	{"retire", 0, "N", VERB_TRACE, POSITIVE(record.retire),
	 "counts: remove each probe after N hits", .knob = true},
	{"last", 0, "N", VERB_SHOW | VERB_CORE, COUNT(record.last),
	 "keep the last N branches of each thread; show them at the end, and when it is killed",
	 check_last, .knob_of = VERB_REPORT},
	{"dump-on", 0, "FUNC[=VALUE]", VERB_TRACE, TEXTS(record.dump_on),
	 "--last: also when this is called, or returns VALUE: N, <N, >N, an errno; may be repeated",
	 .values = ":functions", .knob = true},
	{"dump-on-failure", 0, NULL, VERB_TRACE, SWITCH(record.dump_on_failure),
	 "--last: also show them when a process exits with a status other than 0", .knob = true},
};

const struct option_group options_record = {"What is recorded", rows, ARRAY_SIZE(rows)};
