// SPDX-License-Identifier: BSD-2-Clause
/* The start and the end of copies that log. */
#include <stdlib.h>
#include "inliner.h"
#include "source/kernel_types.h"
#include "source/source.h"

/* A thread whose log makes no sense holds up the others until it is given up. */
#define TORN_NS 1000000000ull

/* Returns the bytes of a thread's log that hold this many of its last branches, each with an entry,
 * even if half of the records show nothing new (witnesses). */
static uint64_t tail_of(const struct inline_options *o)
{
	uint64_t words =
		4 + 6 + __builtin_popcount(o->log.regs) + (o->log.callers ? 1 + LOG_CALLERS : 0);

	return min_of(o->last * 2 * words * sizeof(uint64_t), (uint64_t)LOG_RING);
}

static int open_rings(struct inliner *i, uint64_t (*ticks)(void))
{
	const struct rings_options options = {.socket = supervisor__socket(i->supervisor),
					      .second = ticks_clock__second(i->clock),
					      .ticks = ticks,
					      .max = chunks__room(),
					      .later = i->options.later,
					      .torn = TORN_NS,
					      .counters = i->options.copies->counted.len,
					      .log = i->options.log,
					      .tail = tail_of(&i->options),
					      .waits = true};

	return rings__open(&options, &i->rings);
}

int inlined__start(const struct inline_options *options, struct inliner **out)
{
	const struct supervisor_options s = {.plan = options->plan,
					     .copies = options->copies,
					     .command = options->command,
					     .pids = options->pids,
					     .npids = options->npids,
					     .follow = options->follow,
					     .stacks = options->log.callers,
					     .disarmed = options->disarmed,
					     .drop_privileges = options->drop_privileges,
					     .unfit = options->unfit};
	struct inliner *i = xcalloc(1, sizeof(*i));
	int err;

	i->options = *options;
	i->clock = ticks_clock__new(options->plan->arch->ticks);
	if (kernel_types__read())
		err__clear(); /* who needs them says so */
	/* It is forked before there are threads. */
	err = supervisor__start(&s, &i->supervisor);
	if (!err)
		err = open_rings(i, options->plan->arch->ticks);
	if (err)
		inlined__end(i);
	*out = err ? NULL : i;
	return err;
}

/* The rings' thread reads what the supervisor says until then. */
void inliner__detach(struct inliner *i)
{
	pid_t pid = supervisor__pid(i->supervisor);

	if (rings__gone(i->rings))
		return;
	if (!supervisor__quit(i->supervisor)) {
		note("a traced thread waits in the kernel and can't be stopped: process %d (bbtrace-inline) "
		     "detaches from it as soon as it can be",
		     pid);
		rings__give_up(i->rings);
	}
	while (!rings__gone(i->rings))
		rings__pull(i->rings);
}

void inlined__end(struct inliner *i)
{
	if (!i)
		return;
	if (i->rings)
		inliner__detach(i);
	rings__close(i->rings);
	supervisor__close(i->supervisor);
	ticks_clock__free(i->clock);
	free(i);
}
