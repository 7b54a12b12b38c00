// SPDX-License-Identifier: BSD-2-Clause
/*
 * Merges logs with the other source. A record without a time was written after the thread's last
 * one with a time, before its next one, and before it was read from the ring. It is passed on when
 * the other source has reported all that was before that: so a mapping, or another event of its own
 * thread, is never too late.
 */
#include <stdlib.h>
#include "merge_private.h"

#define LOOK_EVERY   4096 /* events between two looks at the clock */
#define FORK_WAIT_NS 1000000000ull

struct merge *merge__new(const struct merge_options *options)
{
	struct merge *m = xcalloc(1, sizeof(*m));

	m->options = *options;
	m->filter_states = filter_states__new(&options->filters);
	return m;
}

/* ---- events ---- */

/* Looks at the clock now and then. */
static void count_given(struct merge *m, size_t events)
{
	m->given += events;
	if (m->given < LOOK_EVERY)
		return;
	m->given = 0;
	m->turn_over |= m->end && now_ns(CLOCK_MONOTONIC) > m->end;
}

void merge__mute(struct merge *m, uint64_t from, uint64_t to)
{
	m->mute_from = from;
	m->mute_to = to;
}

/* Whether the log's next event isn't recorded. */
static bool is_mute(const struct merge *m, struct log *l)
{
	return m->mute_from && !log__was_before(l, m->mute_from) && l->event->time < m->mute_to &&
	       l->event->type != EVENT_LOST;
}

/* Something is missing before this event. */
static int give_gap(const struct event *e, const struct source_sink *sink)
{
	return sink->sideband(sink->ctx, &(struct sideband_event){.type = SIDEBAND_GAP,
								  .time = e->time,
								  .pid = e->pid,
								  .tid = e->tid});
}

static int give(struct merge *m, struct log *l, const struct source_sink *sink);

struct giving {
	struct merge *m;
	const struct source_sink *sink;
};

static int give_first(void *ctx, struct log *l)
{
	struct giving *g = ctx;

	return give(g->m, l, g->sink);
}

static int run_goroutine(struct merge *m, struct log *l, const struct event *e, uint64_t goroutine,
			 const struct source_sink *sink)
{
	struct giving g = {m, sink};

	return owners__run(&m->owners, &m->logs, l,
			   &(struct goroutine_run){e, goroutine, give_first, &g}, sink);
}

#define REST_EVERY 1024 /* events, or runs of them */

static void report_rest(struct merge *m)
{
	if (m->rest && !(m->steps++ % REST_EVERY))
		m->rest(m->rest_ctx);
}

/* Passes on the next event. */
static int give(struct merge *m, struct log *l, const struct source_sink *sink)
{
	struct event e = *l->event;
	struct event_entry entry;
	bool gap = false, hidden = filter_states__hides(m->filter_states, l, &e, &gap);
	bool doubted = uncertain__at(&l->uncertain, l->position) |
		       uncertain__within(&l->uncertain, &e),
	     mute = is_mute(m, l);
	int err;

	report_rest(m);
	l->event = NULL;
	l->gap |= doubted;
	if (mute)
		return 0;
	if (hidden)
		return gap ? give_gap(&e, sink) : 0;
	/* records that nobody has read were overwritten, or something was not logged */
	err = l->gap ? give_gap(&e, sink) : 0;
	l->gap = false;
	if (!err && e.type != EVENT_LOST)
		err = run_goroutine(m, l, &e, e.goroutine, sink);
	if (err)
		return err;
	if (e.entry) {
		entry = *e.entry;
		entry.comm = comms__of(&m->comms, e.tid);
		e.entry = &entry;
	}
	count_given(m, 1);
	if (e.type == EVENT_ENTRY || e.type == EVENT_BRANCH)
		uncertain__see(&l->uncertain, m->options.plan, &e);
	err = sink->event(sink->ctx, &e);
	return !err && (e.type == EVENT_LOST || doubted) && m->owners.all.len
		       ? owners__forget_runs(&m->owners, l, sink)
		       : err;
}

/* Returns true if all records of the log's next chunk are before or after the time when nothing was
 * recorded. */
static bool is_recorded(const struct merge *m, const struct log *l)
{
	return l->thread.time >= m->mute_to || (l->chunks && l->chunks->time < m->mute_from);
}

/* After an event: passes on what follows in one go, up to this position and this time, if the sink
 * takes it so. */
static int give_run(struct merge *m, struct log *l, uint64_t stop, uint64_t before,
		    const struct source_sink *sink)
{
	struct event_run run;
	size_t n = 0;
	int err;

	if (!sink->run || m->options.log->timed || m->filter_states || !is_recorded(m, l) ||
	    !uncertain__is_over(&l->uncertain) ||
	    !log__run(l, min_of(stop, uncertain__next(&l->uncertain)), &run))
		return 0;
	run.comm = comms__of(&m->comms, run.tid);
	run.before = before;
	err = sink->run(sink->ctx, &run, &n);
	log__skip(l, n);
	count_given(m, n);
	return err;
}

size_t merge__queued(const struct merge *m)
{
	return m->queue.len;
}

/* ---- all that was before a time ---- */

/* What may have happened later waits until more was read, unless it is now (last) or never. */
static bool may_pass(struct log *l, uint64_t time, bool last)
{
	const struct event *e = log__peek(l);

	return e && e->time < time && l->position < log__stop(l) &&
	       (last ? log__was_before(l, time) : !e->untimed || l->read <= time);
}

/* The next event, and what follows, had happened by then and is not younger than the next one of
 * another thread. */
static int give_before(struct merge *m, struct log *l, uint64_t time, uint64_t next, bool last,
		       const struct source_sink *sink)
{
	int err = give(m, l, sink);
	bool known = l->chunks && l->chunks->time <= time;
	uint64_t stop = known ? log__stop(l) : last ? min_of(log__stop(l), log__known(l, time)) : 0;

	return err ? err : give_run(m, l, stop, min_of(time, next + 1), sink);
}

/* The two whose next events are the oldest. */
static struct log *oldest(struct merge *m, uint64_t time, bool last, uint64_t *next)
{
	struct log *best = NULL, **l;

	*next = time;
	vec__each (l, &m->logs) {
		if (!may_pass(*l, time, last))
			continue;
		if (!best || (*l)->event->time < best->event->time) {
			if (best)
				*next = best->event->time;
			best = *l;
		} else {
			*next = min_of(*next, (*l)->event->time);
		}
	}
	return best;
}

/* last: there will be no other occasion. */
static int pass_before(struct merge *m, uint64_t time, bool last, const struct source_sink *sink)
{
	struct log *l;
	uint64_t next;
	int err = 0;

	while (!err && !m->turn_over && (l = oldest(m, time, last, &next)))
		do
			err = give_before(m, l, time, next, last, sink);
		while (!err && !m->turn_over && may_pass(l, time, last) && l->event->time <= next);
	return err;
}

static int pass_up_to(struct merge *m, struct log *l, uint64_t position,
		      const struct source_sink *sink)
{
	int err = 0;

	while (!err && log__peek(l) && l->position < position) {
		err = give(m, l, sink);
		if (!err)
			err = give_run(m, l, min_of(position, log__stop(l)), UINT64_MAX, sink);
	}
	return err;
}

/* After its last event, too, something may not have been logged. */
static int give_last_gap(struct log *l, const struct source_sink *sink)
{
	const struct event end = {
		.time = l->thread.time, .pid = l->thread.pid, .tid = l->thread.tid};

	return uncertain__at(&l->uncertain, UINT64_MAX) ? give_gap(&end, sink) : 0;
}

/* l may be NULL. */
static int pass_whole(struct merge *m, struct log *l, const struct source_sink *sink)
{
	int err = l ? pass_up_to(m, l, UINT64_MAX, sink) : 0;

	return err || !l ? err : give_last_gap(l, sink);
}

void merge__begin(struct merge *m)
{
	merge__receive(m);
	filter_states__ask(m->filter_states, &m->logs);
}

bool merge__has_hidden(const struct merge *m)
{
	return filter_states__has_hidden(m->filter_states);
}

/* ---- the other source ---- */

/* Events of different threads may be reported out of order of time. */
void merge__add(struct merge *m, struct waiting *w)
{
	struct queued *q;
	size_t i = m->queue.len;

	w->time = w->time ? w->time : m->last;
	m->last = max_of(m->last, w->time);
	while (i > m->taken && waiting__may_swap(m->queue.data[i - 1].waiting, w))
		i--;
	if (i > m->taken && waiting__add_loss(m->queue.data[i - 1].waiting, w)) {
		waiting__free(w);
		return;
	}
	vec__push(&m->queue, (struct queued){});
	q = &m->queue.data[i];
	memmove(q + 1, q, (m->queue.len - 1 - i) * sizeof(*q));
	*q = (struct queued){.waiting = w};
}

void merge__keep(struct merge *m, uint64_t bytes, const struct wanted_at *wanted, size_t n,
		 uint64_t settled)
{
	autofree uint64_t *before = xcalloc(n + 1, sizeof(*before));
	struct wanted_log w = {.bytes = bytes, .before = before, .settled = settled};
	struct log **l;

	merge__receive(m);
	vec__each (l, &m->logs) {
		w.n = 0;
		for (size_t i = 0; i < n; i++)
			if (wanted[i].tid == (*l)->thread.tid)
				before[w.n++] = wanted[i].position;
		log__keep(*l, &w);
	}
}

/* What a thread logs after an event that waits is not passed on before that. */
static void assign(struct merge *m)
{
	for (size_t i = m->taken; i < m->queue.len; i++) {
		struct queued *q = &m->queue.data[i];
		const struct waiting *w = q->waiting;

		if (q->log || w->type != WAITS_EVENT || !w->event.logged)
			continue;
		q->log = logs__find(&m->logs, w->tid, w->time);
		if (q->log)
			vec__push(&q->log->stops, w->event.logged - 1);
	}
}

/* It is reported before the child runs, but perhaps after the kernel's event was read. */
static struct log *await_child(struct merge *m, const struct sideband_event *fork)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t end = now_ns(CLOCK_MONOTONIC) + FORK_WAIT_NS;
	struct log *l = logs__child(&m->logs, fork);

	if (!m->options.follow || m->impatient)
		return l;
	while (!l && !rings__gone(m->options.rings) && now_ns(CLOCK_MONOTONIC) < end) {
		nanosleep(&pause, NULL);
		rings__pull(m->options.rings);
		merge__receive(m);
		l = logs__child(&m->logs, fork);
	}
	m->impatient = !l;
	return l;
}

static int before_fork(struct merge *m, const struct sideband_event *fork,
		       const struct source_sink *sink)
{
	struct log *parent = logs__find(&m->logs, fork->ptid, fork->time), *child;

	comms__inherit(&m->comms, fork->tid, fork->ptid);
	if (!parent || fork->pid == fork->ppid)
		return 0;
	child = await_child(m, fork);
	assign(m);
	return child ? pass_up_to(m, parent, child->stream->ring.forked, sink) : 0;
}

/* All threads of the old program have ended. */
static int before_exec(struct merge *m, const struct sideband_event *exec,
		       const struct source_sink *sink)
{
	int err = 0;

	for (size_t i = 0; !err && i < m->logs.len; i++) {
		struct log *l = m->logs.data[i];

		if (l->thread.pid == exec->pid && l->stream->ring.time < exec->time)
			err = pass_whole(m, l, sink);
	}
	return err;
}

static int before_sideband(struct merge *m, const struct sideband_event *e,
			   const struct source_sink *sink)
{
	int err;

	switch (e->type) {
	case SIDEBAND_FORK:
		return before_fork(m, e, sink);
	case SIDEBAND_EXEC:
	case SIDEBAND_COMM:
		err = e->type == SIDEBAND_EXEC ? before_exec(m, e, sink) : 0;
		comms__set(&m->comms, e->tid, e->text);
		return err;
	case SIDEBAND_EXIT:
		err = pass_whole(m, logs__find(&m->logs, e->tid, e->time), sink);
		comms__forget(&m->comms, e->tid);
		filter_states__forget(m->filter_states, e->tid);
		return err;
	default:
		return 0;
	}
}

static int before_event(struct merge *m, struct queued *q, const struct source_sink *sink)
{
	const struct event *e = &q->waiting->event;
	bool of_site = e->type == EVENT_BRANCH || e->type == EVENT_ENTRY;
	bool own = e->type == EVENT_SIGNAL || e->type == EVENT_RESUME ||
		   (of_site && !plan__is_kernel_site(m->options.plan, e->site));
	int err;

	if (!q->log) /* at its end, because its memory was gone by then */
		return e->type == EVENT_END
			       ? pass_whole(m, logs__find(&m->logs, e->tid, e->time), sink)
			       : 0;
	err = pass_up_to(m, q->log, e->logged - 1, sink);
	if (!err && (uncertain__at(&q->log->uncertain, e->logged - 1) ||
		     log__misses(q->log, e->logged - 1)))
		err = give_gap(e, sink);
	q->log->passed++;
	if (q->log->passed == q->log->stops.len)
		q->log->passed = q->log->stops.len = 0;
	if (own)
		log_thread__at(&q->log->thread, e->sp);
	if (e->type == EVENT_GOROUTINE)
		q->log->probed = e->goroutine;
	else if (!err && of_site && own)
		err = run_goroutine(m, q->log, e, q->log->probed, sink);
	return err;
}

static int pass_queued(struct merge *m, struct queued *q, const struct source_sink *sink)
{
	struct waiting *w = q->waiting;
	int err = 0;

	if (w->type == WAITS_SIDEBAND)
		err = before_sideband(m, &w->sideband, sink);
	else if (w->type == WAITS_EVENT)
		err = before_event(m, q, sink);
	if (!err && w->type == WAITS_EVENT && w->event.type == EVENT_PASSES)
		filter_states__report(m->filter_states, &m->logs, &w->event);
	else if (!err && !(q->log && w->type == WAITS_EVENT && w->event.type == EVENT_GOROUTINE))
		err = waiting__give(w, sink);
	waiting__free(w);
	return err;
}

/* Passes on what waits up to this time, with the logs between them, which nothing is passed on of
 * from stopped on. */
static int pass_queue(struct merge *m, uint64_t time, uint64_t stopped,
		      const struct source_sink *sink)
{
	int err = 0;

	while (!err && m->taken < m->queue.len && m->queue.data[m->taken].waiting->time <= time) {
		struct queued q = m->queue.data[m->taken];

		err = pass_before(m, min_of(q.waiting->time, stopped), waiting__is_end(q.waiting),
				  sink);
		if (err || m->turn_over)
			break;
		m->taken++; /* a fork may add to the queue */
		if (q.waiting->time > stopped && q.waiting->type == WAITS_SIDEBAND)
			err = waiting__give(q.waiting, sink), waiting__free(q.waiting);
		else
			err = pass_queued(m, &q, sink);
	}
	m->queue.len -= m->taken;
	if (m->taken)
		memmove(m->queue.data, m->queue.data + m->taken,
			m->queue.len * sizeof(*m->queue.data));
	m->taken = 0;
	return err;
}

/* ---- the whole ---- */

static bool is_over(const struct log *l)
{
	return l->reported && !l->event && !l->chunks && l->passed == l->stops.len &&
	       uncertain__next(&l->uncertain) == UINT64_MAX;
}

static void drop_logs(struct merge *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->logs.len; i++) {
		struct log *l = m->logs.data[i];
		struct stream *s = l->stream;

		if (!is_over(l) || s->broken) {
			m->logs.data[kept++] = l;
			continue;
		}
		log__free(l);
		rings__forget(m->options.rings, s);
	}
	m->logs.len = kept;
}

int merge__until(struct merge *m, uint64_t time, const struct source_sink *sink, uint64_t *reached)
{
	int err;

	/* the messages before that time were handled */
	time = min_of(time, rings__complete(m->options.rings));
	merge__receive(m);
	filter_states__check(m->filter_states, &m->logs);
	assign(m);
	m->end = m->options.turn ? now_ns(CLOCK_MONOTONIC) + m->options.turn : 0;
	m->turn_over = false;
	err = pass_queue(m, time, UINT64_MAX, sink);
	if (!err && !m->turn_over)
		err = pass_before(m, time, false, sink);
	if (!err && !m->turn_over)
		*reached = max_of(*reached, time);
	if (!err)
		drop_logs(m);
	return err;
}

void merge__watch(struct merge *m, void (*fn)(void *ctx), void *ctx)
{
	m->rest = fn;
	m->rest_ctx = ctx;
}

int merge__end(struct merge *m, uint64_t stopped, const struct source_sink *sink)
{
	struct log **l;
	int err;

	merge__receive(m);
	merge__blame_broken(m);
	filter_states__check(m->filter_states, &m->logs);
	assign(m);
	m->end = 0;
	m->turn_over = false;
	err = pass_queue(m, UINT64_MAX, stopped, sink);
	if (!err)
		err = pass_before(m, stopped, true, sink);
	vec__each (l, &m->logs)
		if (!err)
			err = give_last_gap(*l, sink);
	return err;
}

void merge__free(struct merge *m)
{
	struct queued *q;
	struct log **l;

	if (!m)
		return;
	vec__each (q, &m->queue)
		waiting__free(q->waiting);
	vec__each (l, &m->logs)
		log__free(*l);
	comms__free(&m->comms);
	owners__free(&m->owners);
	map64__free(&m->blind);
	filter_states__free(m->filter_states);
	vec__free(&m->queue);
	vec__free(&m->logs);
	free(m);
}
