// SPDX-License-Identifier: BSD-2-Clause
/* The logs and the probes as one source. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "source/inline/merge/clock.h"
#include "source/inline/merge/counted.h"
#include "source/inline/merge/merge.h"
#include "inliner.h"
#include "source/source.h"

/* From this many bytes of the logs on that wait to be decoded, the probes are asked for their
 * events at once, since they hold up the logs. */
#define WAITING_MANY (32u << 20)
#define REST_MANY    (128u << 20)
/* The probes are asked at least this often, ms, and the logs are decoded for this long at a time,
 * ns. */
#define LOOK_MS	 50
#define DEFER_MS 2
#define TURN_NS	 50000000ull
/* A thread whose log is inconsistent holds up the others until it is given up. */
#define WAIT_US 1000
/* The limit of events of the other source that wait while the logs are not read. */
#define QUEUED_MANY 65536
/* Of each thread, bytes, once only what was logged last is wanted. */
#define LAST_BYTES (8u << 20)
/* Events that ask for what was logged before them: the first ones, and the last ones. */
#define WANTED_MOST  16
#define WANTED_FIRST 8

struct inline_source {
	struct source source; /* its inner one: the probes */
	struct inliner *inliner;
	struct merge *merge;
	struct counted *counted;	/* NULL if nothing counts */
	uint64_t reached;		/* ns: everything before it was passed on */
	uint64_t took;			/* ns of CPU, to decode and to pass on */
	bool has_more;			/* there is more to pass on now */
	const struct source_sink *sink; /* set while the probes report something */
	volatile uint64_t stopped;
	volatile bool stopping; /* a stop was requested: see stop_now() */
	struct wanted_at wanted[WANTED_MOST];
	size_t nwanted;	 /* so far */
	bool keeps_last; /* only what was logged last is decoded (inline_options.whole) */
	bool begun;
	bool tried_disarm; /* while it is stopped: disarming was tried */
};

/* ---- costs ---- */

struct cost_call {
	void (*fn)(void *ctx, uint32_t pid, uint64_t ns);
	void *ctx;
};

static void report_cost(void *ctx, const struct log_work *w)
{
	const struct cost_call *c = ctx;

	c->fn(c->ctx, w->pid,
	      w->bytes / sizeof(uint64_t) * LOG_WORD_NS + w->counts * COUNT_NS + w->waited);
}

/* ---- what the probes report ---- */

static bool get(const struct plan *p, const struct event *e, const char *name, uint64_t *out)
{
	struct named_value v;

	if (!plan__named_value(p, e->named->which, name, e->named->data, e->named->len, &v))
		return false;
	*out = v.number;
	return true;
}

/* Returns true if a system call has succeeded whose outcome is asked for; what is written to the
 * standard output matters only at the end. */
static bool is_success(const struct inline_source *s, const struct event *e)
{
	const struct plan *p = s->inliner->options.plan;
	uint64_t result, first;

	return e->type == EVENT_NAMED && p->named.data[e->named->which].kind == NAMED_OUTCOME &&
	       get(p, e, "result", &result) && (int64_t)result >= 0 &&
	       !(get(p, e, "arg0", &first) && first == STDOUT_FILENO);
}

static int queue_event(void *ctx, const struct event *e)
{
	struct inline_source *s = ctx;

	if (s->inliner->options.whole && e->logged && is_success(s, e)) {
		size_t n = s->nwanted++;

		if (n >= WANTED_FIRST)
			n = WANTED_FIRST + (n - WANTED_FIRST) % (WANTED_MOST - WANTED_FIRST);
		s->wanted[n] = (struct wanted_at){e->tid, e->logged - 1};
	}
	merge__add(s->merge, waiting__event(e));
	return 0;
}

static int queue_sideband(void *ctx, const struct sideband_event *e)
{
	merge__add(((struct inline_source *)ctx)->merge, waiting__sideband(e));
	return 0;
}

static int queue_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	merge__add(((struct inline_source *)ctx)->merge, waiting__lost(pid, tid, count));
	return 0;
}

static int queue_counted(void *ctx, const struct count *n)
{
	merge__add(((struct inline_source *)ctx)->merge, waiting__counted(n));
	return 0;
}

/* Missed hits have no time. */
static void pass_missed(void *ctx, const struct missed *missed)
{
	const struct source_sink *sink = ((struct inline_source *)ctx)->sink;

	sink->missed(sink->ctx, missed);
}

static struct source_sink queue_of(struct inline_source *s, const struct source_sink *sink)
{
	s->sink = sink;
	return (struct source_sink){s,		queue_event, queue_sideband,
				    queue_lost, pass_missed, queue_counted};
}

/* ---- the source ---- */

static void inline__start(struct source *source)
{
	struct inline_source *s = (struct inline_source *)source;

	if (!s->begun) {
		rings__pull(s->inliner->rings);
		merge__begin(s->merge);
		s->begun = true;
	}
	if (s->counted)
		rings__pause(s->inliner->rings);
	rings__start(s->inliner->rings);
	if (s->stopped)
		merge__mute(s->merge, s->stopped, now_ns(CLOCK_MONOTONIC));
	if (s->counted)
		counted__go_on(s->counted);
	s->stopped = 0;
	s->stopping = s->tried_disarm = false;
	s->source.inner->ops->start(s->source.inner);
	if (s->counted)
		rings__go_on(s->inliner->rings);
}

static void inline__stop(struct source *source)
{
	struct inline_source *s = (struct inline_source *)source;

	if ((s->inliner->options.last || s->counted) && !s->stopped) {
		s->stopping = true;
		return;
	}
	if (!s->stopped)
		s->stopped = now_ns(CLOCK_MONOTONIC);
	s->source.inner->ops->stop(s->source.inner);
}

/*
 * Not in a signal's handler: threads would have overwritten what is needed if it were read only
 * later; counters of copies and of probes have to end at the same time. The threads that count are
 * stopped then.
 */
static void stop_now(struct inline_source *s)
{
	if (s->inliner->options.last)
		rings__tail(s->inliner->rings);
	if (s->counted) {
		rings__pause(s->inliner->rings);
		counted__hold(s->counted);
	}
	s->stopping = false;
	s->stopped = now_ns(CLOCK_MONOTONIC);
	s->source.inner->ops->stop(s->source.inner);
}

static void stop_and_go_on(struct inline_source *s)
{
	stop_now(s);
	if (s->counted)
		rings__go_on(s->inliner->rings);
}

static void disarm(struct inline_source *s)
{
	if (s->tried_disarm)
		return;
	s->tried_disarm = true;
	if (!rings__set_disarmed(s->inliner->rings, true))
		note("a thread waits in the kernel and can't be stopped: while recording is "
		     "stopped, copies of functions go on writing their logs");
}

/* Returns true if something holds up what the probes have reported. */
static bool needs_tails(const struct inline_source *s)
{
	return s->inliner->options.last && (s->has_more || merge__queued(s->merge) > QUEUED_MANY ||
					    rings__waiting(s->inliner->rings) > WAITING_MANY);
}

/* With -v: reports what keeping up has cost. */
static void report_log(const struct inline_source *s)
{
	const struct rings_totals t = rings__totals(s->inliner->rings);

	if (t.bytes)
		note_verbose("the log: %.1f MB, replayed in %.2f s of CPU; at most %.1f MB waited",
			     t.bytes / 1e6, s->took / 1e9, t.most / 1e6);
	ticks_clock__report(s->inliner->clock);
}

/* It takes more than a second until it is decoded. */
static bool report_rest(const struct inline_source *s)
{
	size_t n = rings__waiting(s->inliner->rings);

	if (n > REST_MANY)
		note("reading the rest of the log, %.0f MB; Ctrl-C leaves it out", n / 1e6);
	return n > REST_MANY;
}

static void on_rest(void *ctx)
{
	const struct inline_source *s = ctx;

	s->sink->rest(s->sink->ctx, rings__waiting(s->inliner->rings));
}

/* With witnesses it is unknown how many events that would have been. */
static void report_left_out(const struct inline_source *s)
{
	uint64_t bytes = rings__totals(s->inliner->rings).left_out;

	if (bytes)
		note("%.1f MB of the log were left out%s", bytes / 1e6,
		     s->keeps_last
			     ? ": of what ran for long, only the last branches before messages "
			       "and the end are examined"
			     : "");
}

static struct source_sink sink_of(struct inline_source *s, const struct source_sink *sink)
{
	return s->counted ? counted__sink(s->counted, sink) : *sink;
}

/* Returns the time up to which the probes and the logs, whose thread reads them as they are filled,
 * were read. */
static uint64_t settled_now(const struct inline_source *s)
{
	uint64_t probes = s->source.inner->ops->settled(s->source.inner);

	return s->inliner->options.last ? probes
					: min_of(probes, rings__complete(s->inliner->rings));
}

/* Of what was logged until the probes have settled, so that all events of then were read, only the
 * last is decoded, and what these events ask for. Does nothing before much was logged. */
static bool keep_last(struct inline_source *s, uint64_t settled)
{
	uint64_t whole = s->inliner->options.whole;

	s->keeps_last |= whole && rings__totals(s->inliner->rings).bytes > whole;
	if (s->keeps_last)
		merge__keep(s->merge, LAST_BYTES, s->wanted,
			    min_of(s->nwanted, (size_t)WANTED_MOST), settled);
	return s->keeps_last;
}

/* Passes on everything up to that time, and at most up to most. */
static int pass(struct inline_source *s, uint64_t most, const struct source_sink *to)
{
	struct source_sink through = sink_of(s, to), *sink = &through;
	uint64_t settled, began, before = s->reached;
	bool tails = needs_tails(s);
	int err;

	if (s->stopping)
		stop_and_go_on(s);
	if (s->stopped)
		merge__mute(s->merge, s->stopped, UINT64_MAX);
	if (tails)
		rings__tail(s->inliner->rings);
	settled = min_of(settled_now(s), most);
	ticks_clock__sample(s->inliner->clock);
	began = now_ns(CLOCK_THREAD_CPUTIME_ID);
	err = merge__until(s->merge, settled, sink, &s->reached);
	s->took += now_ns(CLOCK_THREAD_CPUTIME_ID) - began;
	s->has_more = s->reached < settled && (tails || !s->inliner->options.last);
	if (!err && s->has_more && s->reached == before)
		usleep(WAIT_US);
	return err;
}

/* Passes on everything up to what the probes have settled by now; threads may log faster than this
 * reads. */
static int pass_all(struct inline_source *s, const struct source_sink *sink)
{
	bool last = s->inliner->options.last;
	uint64_t until = last ? UINT64_MAX : s->source.inner->ops->settled(s->source.inner);
	int err;

	for (;;) {
		rings__pull(s->inliner->rings);
		keep_last(s, s->source.inner->ops->settled(s->source.inner));
		err = pass(s, until, sink);
		if (err || (last ? !s->has_more : s->reached >= until))
			return err;
		if (!s->has_more) /* a thread is between two stores, or there is no room */
			usleep(WAIT_US);
	}
}

/* The program has priority, if nobody looks at what is shown. */
static bool defers(const struct inline_source *s)
{
	return s->inliner->options.later && !s->stopping && !s->stopped &&
	       merge__queued(s->merge) < QUEUED_MANY && rings__hurry(s->inliner->rings);
}

/* Returns true if what was logged need not be decoded now, since only the last of it matters. */
static bool waits_for_last(struct inline_source *s)
{
	return keep_last(s, s->source.inner->ops->settled(s->source.inner)) && !s->stopping &&
	       !s->stopped && merge__queued(s->merge) < QUEUED_MANY;
}

static int inline__take(struct source *source, struct source_wait wait,
			const struct source_sink *sink)
{
	struct inline_source *s = (struct inline_source *)source;
	struct source_sink queue = queue_of(s, sink);
	bool deferred = defers(s);
	int err;

	wait.timeout_ms = min_of(wait.timeout_ms, deferred || s->keeps_last ? DEFER_MS
						  : s->has_more		    ? 0
									    : LOOK_MS);
	err = s->source.inner->ops->take(s->source.inner, wait, &queue);
	if (err || deferred || waits_for_last(s))
		return err;
	if (rings__waiting(s->inliner->rings) > WAITING_MANY)
		err = s->source.inner->ops->catch_up(s->source.inner, &queue);
	return err ? err : pass(s, UINT64_MAX, sink);
}

static uint64_t inline__settled(const struct source *source)
{
	return ((const struct inline_source *)source)->reached;
}

static int inline__catch_up(struct source *source, const struct source_sink *sink)
{
	struct inline_source *s = (struct inline_source *)source;
	struct source_sink queue = queue_of(s, sink);
	int err;

	/* else threads might log faster than this reads */
	if (s->stopped)
		disarm(s);
	if (s->inliner->options.last) { /* all of it is older than what is settled then */
		rings__tail(s->inliner->rings);
		s->has_more = true;
	}
	err = s->source.inner->ops->catch_up(s->source.inner, &queue);
	return err ? err : pass_all(s, sink);
}

/* Where a thread is between two of its counters is not known: it is cut there. */
static int inline__counts(struct source *source, const struct source_sink *sink)
{
	struct inline_source *s = (struct inline_source *)source;
	struct source_sink queue = queue_of(s, sink);
	int err = s->source.inner->ops->counts(s->source.inner, &queue);

	if (!err)
		err = pass_all(s, sink);
	return err || !s->counted ? err : counted__report(s->counted, sink);
}

static int inline__losses(struct source *source, const struct source_sink *sink)
{
	struct inline_source *s = (struct inline_source *)source;
	struct source_sink queue = queue_of(s, sink), through = sink_of(s, sink);
	uint64_t began;
	int err;

	if (s->stopping) /* they are detached as they are */
		stop_now(s);
	inliner__detach(s->inliner);
	rings__pull(s->inliner->rings);
	err = s->source.inner->ops->losses(s->source.inner, &queue);
	keep_last(s, UINT64_MAX);
	if (report_rest(s) && sink->rest)
		merge__watch(s->merge, on_rest, s);
	began = now_ns(CLOCK_THREAD_CPUTIME_ID);
	if (!err)
		err = merge__end(s->merge, s->stopped, &through);
	s->took += now_ns(CLOCK_THREAD_CPUTIME_ID) - began;
	report_log(s);
	report_left_out(s);
	s->inliner->hidden = merge__has_hidden(s->merge);
	s->inliner->nothing = merge__traces_nothing(s->merge);
	return err || !s->counted ? err : counted__report(s->counted, sink);
}

static void inline__close(struct source *source)
{
	struct inline_source *s = (struct inline_source *)source;

	s->source.inner->ops->close(s->source.inner);
	merge__free(s->merge);
	counted__free(s->counted);
	free(s);
}

static void inline__cut(struct source *source)
{
	rings__cut(((struct inline_source *)source)->inliner->rings);
}

static int inline__park(struct source *source)
{
	struct inline_source *s = (struct inline_source *)source;

	if (s->stopping)
		stop_and_go_on(s);
	s->tried_disarm = false;
	disarm(s);
	return s->source.inner->ops->park(s->source.inner);
}

static int inline__unpark(struct source *source)
{
	struct inline_source *s = (struct inline_source *)source;

	s->tried_disarm = true; /* it is about to start */
	if (!rings__set_disarmed(s->inliner->rings, false))
		return err__set(EBUSY, "recording can't be started: a thread waits in the kernel "
				       "and can't be stopped, which copies of functions need");
	return s->source.inner->ops->unpark(s->source.inner);
}

/* ---- the operations ---- */

static void inline__facts(const struct source *source, struct source_facts *f)
{
	const struct inline_source *s = (const struct inline_source *)source;

	s->source.inner->ops->facts(s->source.inner, f);
	f->filtered |= s->inliner->hidden;
	f->nothing |= s->inliner->nothing;
}

static void inline__each_cost(struct source *source,
			      void (*fn)(void *ctx, uint32_t pid, uint64_t ns), void *ctx)
{
	struct cost_call c = {fn, ctx};

	rings__work(((struct inline_source *)source)->inliner->rings, report_cost, &c);
}

static const struct source_ops inline_ops = {
	.start = inline__start,
	.stop = inline__stop,
	.take = inline__take,
	.settled = inline__settled,
	.catch_up = inline__catch_up,
	.counts = inline__counts,
	.losses = inline__losses,
	.close = inline__close,
	.cut = inline__cut,
	.park = inline__park,
	.unpark = inline__unpark,
	.facts = inline__facts,
	.each_cost = inline__each_cost,
};

struct source *inlined__source(struct inliner *i, struct source *inner)
{
	const struct merge_options options = {.plan = i->options.plan,
					      .log = &i->options.log,
					      .clock = {ticks_clock__ns, i->clock},
					      .rings = i->rings,
					      .follow = i->options.follow,
					      .filters = inner->ops->thread_filters(inner),
					      .turn = TURN_NS};
	struct inline_source *s = xcalloc(1, sizeof(*s));

	s->source.ops = &inline_ops;
	s->source.inner = inner;
	s->inliner = i;
	s->merge = merge__new(&options);
	if (i->options.plan->placement == PLACEMENT_COUNT)
		s->counted = counted__new(i->options.plan, i->options.copies, i->rings);
	return &s->source;
}
