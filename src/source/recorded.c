// SPDX-License-Identifier: BSD-2-Clause
/* A trace file as a source. */
#include <stdlib.h>
#include "source/source.h"

/* The largest number of items per take. */
#define TAKE_MOST 4096

struct recorded {
	struct source source;
	struct trace_reader *reader;
	const struct trace_calls *calls;
	void *ctx; /* of calls */
	uint64_t settled;
};

static int attach(struct source *s)
{
	return 0;
}

static void nothing(struct source *s)
{
}

static int give_run(struct recorded *r, const struct event_run *run, const struct source_sink *sink)
{
	size_t words = 0;
	int err = sink->run(sink->ctx, run, &words);

	trace_reader__took(r->reader, words);
	r->settled = max_of(r->settled, run->thread->time);
	return err;
}

static int give(struct recorded *r, const struct trace_item *i, const struct source_sink *sink)
{
	switch (i->type) {
	case TRACE_EVENT:
		r->settled = max_of(r->settled, i->event->time);
		return sink->event(sink->ctx, i->event);
	case TRACE_RUN:
		return give_run(r, i->run, sink);
	case TRACE_SIDEBAND:
		return sink->sideband(sink->ctx, i->sideband);
	case TRACE_LOST:
		return sink->lost(sink->ctx, i->pid, i->tid, i->count);
	default:
		return trace_reader__pass(r->reader, i, r->calls, r->ctx);
	}
}

static int take(struct source *s, struct source_wait wait, const struct source_sink *sink)
{
	struct recorded *r = (struct recorded *)s;
	struct trace_item item;

	if (sink->run)
		trace_reader__offer_runs(r->reader);
	for (int i = 0; i < TAKE_MOST; i++) {
		int n = trace_reader__next(r->reader, &item);

		if (n < 0)
			return n;
		if (!n) {
			r->settled = UINT64_MAX;
			return SOURCE_ENDED;
		}
		n = give(r, &item, sink);
		if (n)
			return n;
	}
	return 0;
}

static uint64_t settled(const struct source *s)
{
	return ((const struct recorded *)s)->settled;
}

/* The hits missed while recording. Lost events are items of the file. */
static int losses(struct source *s, const struct source_sink *sink)
{
	const struct trace_end *end = trace_reader__end(((struct recorded *)s)->reader);

	if (end && sink->muted)
		sink->muted(sink->ctx, end->totals.muted, end->totals.muted_hits);
	if (end)
		sink->missed(sink->ctx,
			     &(struct missed){.site = NO_SITE, .hits = end->totals.missed});
	return 0;
}

static void close_recorded(struct source *s)
{
	free(s);
}

static const struct source_ops recorded_ops = {
	.attach = attach,
	.start = nothing,
	.stop = nothing,
	.take = take,
	.settled = settled,
	.losses = losses,
	.close = close_recorded,
};

struct source *recorded__open(struct trace_reader *reader, const struct trace_calls *calls,
			      void *ctx)
{
	struct recorded *r = xcalloc(1, sizeof(*r));

	r->source.ops = &recorded_ops;
	r->reader = reader;
	r->calls = calls;
	r->ctx = ctx;
	return &r->source;
}
