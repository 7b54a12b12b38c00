// SPDX-License-Identifier: BSD-2-Clause
/* Whether the options of a tracing verb are complete and agree with each other. */
#include <errno.h>
#include "select/returns.h"
#include "verbs.h"
#include "select/engine.h"
#include "select/requirements.h"

static int check_stack_size(const struct args *a)
{
	if (!a->stack)
		return err__set(EINVAL, "--stack-size is for call stacks: give -k, too");
	if (a->stack_size > 64u << 10)
		return err__set(EINVAL, "--stack-size: use 1K to 64K, or 0 for frame pointers");
	if (a->buffer && a->buffer < 4 * a->stack_size)
		return err__set(EINVAL, "--buffer is too small for such stacks: use at least %lluK",
				(unsigned long long)(4 * a->stack_size >> 10));
	return 0;
}

static int check_why(const struct args *a)
{
	struct output_wants w = requirements__of(a);

	if (args__counts(a) || !w.tests)
		return err__usage("--why tells the values of each branch: use -F text, -F json or "
				  "a trace file (-o FILE)");
	if (!(w.events & PLAN_BRANCH))
		return err__usage("--why tells the values of branches: -e must have branch");
	return 0;
}

/* What is left out has to be over before others are shown, and begun to be judged. */
static int check_conditions(const struct args *a)
{
	const struct value_condition *c;
	bool of_return = false;

	if (!a->conditions.len)
		return 0;
	vec__each (c, &a->conditions)
		of_return |= !strcmp(c->left.base, "ret");
	if (a->last)
		return err__usage("--if and --last exclude each other: the entry that tells may be "
				  "older than what is kept");
	if (a->max_overhead)
		return err__usage("--if and --max-overhead exclude each other: what is left out "
				  "takes time, too, and isn't counted");
	if (a->record && a->count)
		return err__usage("--if leaves out invocations, and --record with -c has counts of "
				  "all: give -o FILE, then bbtrace report -c");
	if (of_return && !(a->events & PLAN_RETURN))
		return err__usage("--if with ret needs returns: -e must have return, and not "
				  "--returns none");
	if (!(a->events & (PLAN_RETURN | PLAN_BRANCH)))
		return err__usage(
			"--if needs to know when invocations are over: -e must have return "
			"or branch, and not --returns none");
	return 0;
}

static int usage_of(const struct args *a)
{
	const char *name = args__record_name(a);

	if (!a->operands.len && a->verb->bit == VERB_WATCH)
		return err__set(EINVAL, "nothing to watch; see bbtrace watch --help");
	if (a->operands.len && a->verb->bit == VERB_PROFILE)
		return err__set(EINVAL, "unexpected '%s': a command goes after --",
				a->operands.data[0]);
	if (a->freq > 100000)
		return err__set(EINVAL, "--freq: use 1 to 100000");
	if (!a->operands.len && a->verb->bit & VERB_NAMED && a->verb->bit != VERB_PROFILE)
		return err__set(EINVAL,
				"no event to trace; bbtrace list --events kernel shows them");
	if (!a->operands.len && a->verb->bit != VERB_PROFILE)
		return err__set(EINVAL, "no function to trace; see bbtrace %s --help",
				a->verb->name);
	if (a->count &&
	    (a->verb->bit & VERB_NAMED || a->with.len || a->watch.len || a->sched || a->freq))
		return err__usage("-c counts the branches of functions; events by name are counted "
				  "by -F summary");
	if (a->typed && (a->count || args__counts(a)))
		return err__usage("--args shows the arguments of calls, and this only counts");
	if (a->user && !a->command)
		return err__set(EINVAL, "-u NAME runs CMD as that user: give a command after --");
	if ((a->armor || a->max_size) && !name)
		return err__set(EINVAL, "--armor and --max-size are for a trace file: -o FILE "
					"without -F, -c and --last, or --record FILE");
	if (!a->last && (a->dump_on.len || a->dump_on_failure))
		return err__usage("%s shows what --last N keeps: give that, too",
				  a->dump_on.len ? "--dump-on" : "--dump-on-failure");
	if (a->max_size && !strcmp(name, "-"))
		return err__set(EINVAL, "--max-size needs a file that can be renamed: -o FILE");
	if (a->record && !strcmp(a->record, a->output ? a->output : "-"))
		return err__set(EINVAL,
				"--record %s: the trace itself goes there; give another file",
				a->record);
	if (a->command && a->filters.pids.len)
		return err__set(EINVAL, "-p and -- CMD exclude each other");
	if (a->control_app && a->paused)
		return err__set(EINVAL, "--paused waits for bbtrace ctl, --control app for the "
					"program: give one of them");
	if (a->attach && !mechanism__exists(a->attach))
		return err__set(EINVAL, "unknown attach mechanism '%s'; bbtrace doctor lists them",
				a->attach);
	return 0;
}

/* It shows no events, so it has neither counts of them nor their last ones. */
static int check_explain(struct args *a)
{
	a->why = true;
	if (a->format && !output__has_lines(a->format))
		return err__usage("--explain has the formats text and json");
	if (a->count || a->last || a->record)
		return err__usage("--explain shows no events: not with %s", a->count  ? "-c"
									    : a->last ? "--last"
										      : "--record");
	return 0;
}

int trace__check(struct args *a)
{
	int err = usage_of(a);

	if (!err && a->explain)
		err = check_explain(a);

	if (!err && a->stack_size != STACK_SIZE_AUTO)
		err = check_stack_size(a);
	if (!err && a->why)
		err = check_why(a);
	a->typed |= a->conditions.len;
	if (!err)
		err = engine__settle(a);
	if (err)
		return err;
	err = returns__settle(a);
	if (!err)
		err = check_conditions(a);
	if (!err)
		requirements__settle(a);
	return err;
}
