// SPDX-License-Identifier: BSD-2-Clause
/* Checks that the options of a tracing verb are complete and agree with each other. */
#include <errno.h>
#include "cli/usage_hints.h"
#include "select/returns.h"
#include "verbs.h"
#include "select/engine.h"
#include "select/requirements.h"

static int check_stack_size(const struct request *req)
{
	if (!req->record.stack)
		return err__set(EINVAL, "--stack-size is for call stacks: give -k, too");
	if (req->record.stack_size > 64u << 10)
		return err__set(EINVAL, "--stack-size: use 1K to 64K, or 0 for frame pointers");
	if (req->how.buffer && req->how.buffer < 4 * req->record.stack_size)
		return err__set(EINVAL, "--buffer is too small for such stacks: use at least %lluK",
				(unsigned long long)(4 * req->record.stack_size >> 10));
	return 0;
}

static int check_why(const struct request *req)
{
	struct output_wants w = requirements__of(req);

	if (request__counts(req) || !w.tests)
		return err__usage("--why shows the values of each branch: use -F text, -F json or "
				  "a trace file (-o FILE)");
	if (!(w.events & PLAN_BRANCH))
		return err__usage("--why shows the values of branches: -e must have branch");
	return 0;
}

/* Fails if --if can't work: a call has to be over before others are shown, and its entry is
 * needed to judge it. */
static int check_conditions(const struct request *req)
{
	const struct value_condition *c;
	bool of_return = false;

	if (!req->record.conditions.len)
		return 0;
	vec__each (c, &req->record.conditions)
		of_return |= !strcmp(c->left.base, "ret");
	if (req->record.last)
		return err__usage("--if and --last exclude each other: the deciding entry may be "
				  "older than what is kept");
	if (req->how.max_overhead)
		return err__usage("--if and --max-overhead exclude each other: what is left out "
				  "takes time, too, and isn't counted");
	if (req->file.record && req->record.count)
		return err__usage("--if leaves out calls, and --record with -c has counts of "
				  "all: give -o FILE, then bbtrace report -c");
	if (of_return && !(req->record.events & PLAN_RETURN))
		return err__usage("--if with ret needs returns: -e must have return, and not "
				  "--returns none");
	if (!(req->record.events & (PLAN_RETURN | PLAN_BRANCH)))
		return err__usage("--if needs to know when calls are over: -e must have return "
				  "or branch, and not --returns none");
	return 0;
}

static int no_function(const struct request *req)
{
	autofree char *hint = usage_hints__no_function(req);

	return err__set(EINVAL, "no function to trace; %s", hint);
}

static int usage_of(const struct request *req)
{
	const char *name = request__record_name(req);

	if (req->verb->bit & (VERB_NAMED) && usage_hints__command(req))
		return -EINVAL;
	if (!req->operands.len && req->verb->bit == VERB_WATCH)
		return err__set(EINVAL, "nothing to watch; see bbtrace watch --help");
	if (req->operands.len && req->verb->bit == VERB_PROFILE)
		return err__set(EINVAL, "unexpected '%s': a command goes after --",
				req->operands.data[0]);
	if (req->record.freq > 100000)
		return err__set(EINVAL, "--freq: use 1 to 100000");
	if (!req->operands.len && req->verb->bit & VERB_NAMED && req->verb->bit != VERB_PROFILE)
		return err__set(EINVAL,
				"no event to trace; bbtrace list --events kernel shows them");
	if (!req->operands.len && req->verb->bit != VERB_PROFILE && !req->what.covers)
		return no_function(req);
	if (req->record.count && (req->verb->bit & VERB_NAMED || req->what.with.len ||
				  req->what.watch.len || req->record.sched || req->record.freq))
		return err__usage("-c counts the branches of functions; events by name are counted "
				  "by -F summary");
	if (req->record.typed && (req->record.count || request__counts(req)))
		return err__usage("--args shows the arguments of calls, and this only counts");
	if (req->who.user && !req->command)
		return err__set(EINVAL, "-u NAME runs CMD as that user: give a command after --");
	if ((req->file.armor || req->file.max_size) && !name)
		return err__set(EINVAL, "--armor and --max-size are for a trace file: -o FILE "
					"without -F, -c and --last, or --record FILE");
	if (!req->record.last && (req->record.dump_on.len || req->record.dump_on_failure))
		return err__usage("%s shows what --last N keeps: give that, too",
				  req->record.dump_on.len ? "--dump-on" : "--dump-on-failure");
	if (req->file.max_size && !strcmp(name, "-"))
		return err__set(EINVAL, "--max-size needs a file that can be renamed: -o FILE");
	if (req->file.record &&
	    !strcmp(req->file.record, req->show.output ? req->show.output : "-"))
		return err__set(EINVAL,
				"--record %s: the trace itself goes there; give another file",
				req->file.record);
	if (req->command && req->who.filters.pids.len)
		return err__set(EINVAL, "-p and -- CMD exclude each other");
	if (req->when.control_app && req->when.paused)
		return err__set(EINVAL, "--paused waits for bbtrace ctl, --control app for the "
					"program: give one of them");
	if (req->how.attach && !mechanism__exists(req->how.attach))
		return err__set(EINVAL, "unknown attach mechanism '%s'; bbtrace doctor lists them",
				req->how.attach);
	return 0;
}

/* Checks --explain, which shows no events, so neither counts nor last ones. */
static int check_explain(struct request *req)
{
	req->record.why = true;
	if (req->show.format && req->show.format != &explain_sarif &&
	    !output__has_lines(req->show.format))
		return err__usage("--explain has the formats text and json");
	if (req->record.count || req->record.last || req->file.record)
		return err__usage("--explain shows no events: not with %s", req->record.count ? "-c"
									    : req->record.last
										    ? "--last"
										    : "--record");
	return 0;
}

int trace__check(struct request *req)
{
	int err = usage_of(req);

	if (!err && req->record.explain)
		err = check_explain(req);

	if (!err && req->record.stack_size != STACK_SIZE_AUTO)
		err = check_stack_size(req);
	if (!err && req->record.why)
		err = check_why(req);
	req->record.typed |= req->record.conditions.len;
	if (!err)
		err = engine__settle(req);
	if (err)
		return err;
	err = returns__settle(req);
	if (!err)
		err = check_conditions(req);
	if (!err)
		requirements__settle(req);
	return err;
}
