// SPDX-License-Identifier: BSD-2-Clause
/*
 * Several sources as one. Events are queued until every source is settled up to their time. The
 * events of a single source are passed on directly.
 */
#include <errno.h>
#include <stdlib.h>
#include "source/source.h"
#include "source/waiting.h"

struct member {
	struct source *source;
	VEC(struct waiting *) queue;
	size_t given;  /* number of the queue's events that were passed on */
	uint64_t last; /* time of the last one queued */
	bool ended;
	const struct source_sink
		*sink; /* during losses: receives missed hits, which have no time */
};

struct sources {
	VEC(struct member) members;
};

struct sources *sources__new(void)
{
	return xcalloc(1, sizeof(struct sources));
}

void sources__add(struct sources *s, struct source *source)
{
	vec__push(&s->members, (struct member){.source = source});
}

/* ---- a queue ---- */

static void push(struct member *m, struct waiting *w)
{
	m->last = w->time = max_of(w->time, m->last);
	vec__push(&m->queue, w);
}

static int queue_event(void *ctx, const struct event *e)
{
	push(ctx, waiting__event(e));
	return 0;
}

static int queue_sideband(void *ctx, const struct sideband_event *e)
{
	push(ctx, waiting__sideband(e));
	return 0;
}

static int queue_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	push(ctx, waiting__lost(pid, tid, count));
	return 0;
}

static int queue_counted(void *ctx, const struct count *n)
{
	push(ctx, waiting__counted(n));
	return 0;
}

static void pass_missed(void *ctx, const struct missed *missed)
{
	const struct source_sink *sink = ((struct member *)ctx)->sink;

	sink->missed(sink->ctx, missed);
}

static void pass_muted(void *ctx, uint64_t invocations, uint64_t hits)
{
	const struct source_sink *sink = ((struct member *)ctx)->sink;

	if (sink->muted)
		sink->muted(sink->ctx, invocations, hits);
}

/* ---- merging ---- */

static struct waiting *first_of(const struct member *m)
{
	return m->given < m->queue.len ? m->queue.data[m->given] : NULL;
}

/* The member whose next event is the oldest; of equals the one added first. NULL: none is queued.
 */
static struct member *oldest(struct sources *s)
{
	struct member *m, *best = NULL;

	vec__each (m, &s->members)
		if (first_of(m) && (!best || first_of(m)->time < first_of(best)->time))
			best = m;
	return best;
}

static void shrink(struct member *m)
{
	if (!m->given)
		return;
	memmove(m->queue.data, m->queue.data + m->given,
		(m->queue.len - m->given) * sizeof(*m->queue.data));
	m->queue.len -= m->given;
	m->given = 0;
}

/* Passes on the events up to this time. */
static int merge(struct sources *s, uint64_t until, const struct source_sink *sink)
{
	struct member *m;
	int err = 0;

	while (!err && (m = oldest(s)) && first_of(m)->time <= until) {
		struct waiting *w = m->queue.data[m->given++];

		err = waiting__give(w, sink);
		waiting__free(w);
	}
	vec__each (m, &s->members)
		shrink(m);
	return err;
}

static struct source_sink queue_of(struct member *m)
{
	return (struct source_sink){m,		 queue_event,	queue_sideband, queue_lost,
				    pass_missed, queue_counted, NULL,		pass_muted};
}

/* ---- all at once ---- */

int sources__attach(struct sources *s)
{
	struct member *m;
	int err;

	vec__each (m, &s->members) {
		err = m->source->ops->attach(m->source);
		if (err)
			return err;
	}
	return 0;
}

void sources__start(struct sources *s)
{
	struct member *m;

	vec__each (m, &s->members)
		m->source->ops->start(m->source);
}

void sources__stop(struct sources *s)
{
	struct member *m;

	vec__each (m, &s->members)
		m->source->ops->stop(m->source);
}

int sources__park(struct sources *s)
{
	struct member *m;
	int err = 0;

	vec__each (m, &s->members)
		if (!err && m->source->ops->park)
			err = m->source->ops->park(m->source);
	return err;
}

int sources__unpark(struct sources *s)
{
	struct member *m;
	int err = 0;

	vec__each (m, &s->members)
		if (!err && m->source->ops->unpark)
			err = m->source->ops->unpark(m->source);
	return err;
}

void sources__cut(struct sources *s)
{
	struct member *m;

	vec__each (m, &s->members)
		if (m->source->ops->cut)
			m->source->ops->cut(m->source);
}

uint64_t sources__settled(const struct sources *s)
{
	const struct member *m;
	uint64_t settled = UINT64_MAX;

	vec__each (m, &s->members)
		if (!m->ended)
			settled = min_of(settled, m->source->ops->settled(m->source));
	return settled;
}

/* Waits for events of the first source that has not ended; the others are polled. */
static int fill(struct sources *s, struct source_wait wait)
{
	struct member *m;

	vec__each (m, &s->members) {
		struct source_sink queue = queue_of(m);
		int err = m->ended ? SOURCE_ENDED : m->source->ops->take(m->source, wait, &queue);

		if (err == SOURCE_ENDED)
			m->ended = true;
		else if (err)
			return err;
		else
			wait.timeout_ms = 0;
	}
	return 0;
}

static bool all_ended(const struct sources *s)
{
	const struct member *m;

	vec__each (m, &s->members)
		if (!m->ended)
			return false;
	return true;
}

int sources__take(struct sources *s, struct source_wait wait, const struct source_sink *sink)
{
	struct source *only = s->members.len == 1 ? s->members.data[0].source : NULL;
	int err;

	if (only)
		return only->ops->take(only, wait, sink);
	err = fill(s, wait);
	if (!err)
		err = merge(s, sources__settled(s), sink);
	return err ? err : all_ended(s) ? SOURCE_ENDED : 0;
}

typedef int (*pass_fn)(struct source *s, const struct source_sink *sink);

static pass_fn catch_up_of(const struct source *s)
{
	return s->ops->catch_up;
}

static pass_fn counts_of(const struct source *s)
{
	return s->ops->counts;
}

/* One of their operations, of several sources at once. */
static int pass_all(struct sources *s, pass_fn (*fn_of)(const struct source *s),
		    const struct source_sink *sink)
{
	struct source *only = s->members.len == 1 ? s->members.data[0].source : NULL;
	struct member *m;
	int err = 0;

	if (only)
		return fn_of(only) ? fn_of(only)(only, sink) : 0;
	vec__each (m, &s->members) {
		struct source_sink queue = queue_of(m);

		if (!err && fn_of(m->source))
			err = fn_of(m->source)(m->source, &queue);
	}
	return err ? err : merge(s, UINT64_MAX, sink);
}

int sources__catch_up(struct sources *s, const struct source_sink *sink)
{
	return pass_all(s, catch_up_of, sink);
}

int sources__counts(struct sources *s, const struct source_sink *sink)
{
	return pass_all(s, counts_of, sink);
}

void sources__misses(struct sources *s, const struct source_sink *sink)
{
	struct member *m;

	vec__each (m, &s->members)
		if (m->source->ops->misses)
			m->source->ops->misses(m->source, sink);
}

int sources__losses(struct sources *s, const struct source_sink *sink)
{
	struct source *only = s->members.len == 1 ? s->members.data[0].source : NULL;
	struct member *m;
	int err;

	if (only)
		return only->ops->losses(only, sink);
	vec__each (m, &s->members) {
		struct source_sink queue = queue_of(m);

		m->sink = sink;
		err = m->source->ops->losses(m->source, &queue);
		if (err)
			return err;
	}
	return merge(s, UINT64_MAX, sink);
}

/* ---- operations of each source that has them (source_ops) ---- */

struct source_facts sources__facts(const struct sources *s)
{
	static const pid_vec any;
	struct source_facts facts = {.spares = SPARES_ALL, .processes = &any};
	const struct member *m;

	vec__each (m, &s->members)
		if (m->source->ops->facts)
			m->source->ops->facts(m->source, &facts);
	return facts;
}

void sources__mechanisms(const struct sources *s, struct str *out)
{
	const struct member *m;

	vec__each (m, &s->members)
		if (m->source->ops->mechanisms)
			m->source->ops->mechanisms(m->source, out);
}

uint64_t sources__lost_switches(const struct sources *s, size_t *last)
{
	const struct member *m;

	*last = 0;
	vec__each (m, &s->members)
		if (m->source->ops->lost_switches)
			return m->source->ops->lost_switches(m->source, last);
	return 0;
}

void sources__each_cost(struct sources *s, void (*fn)(void *ctx, uint32_t pid, uint64_t ns),
			void *ctx)
{
	struct member *m;

	vec__each (m, &s->members)
		if (m->source->ops->each_cost)
			m->source->ops->each_cost(m->source, fn, ctx);
}

static int cannot(const char *what)
{
	return err__set(ENOTSUP, "no source of this trace can %s", what);
}

/* By each that has this operation, until one fails. */
#define EACH_THAT_CAN(s, operation, what, ...)                                                     \
	({                                                                                         \
		struct member *m_;                                                                 \
		bool can_ = false;                                                                 \
		int err_ = 0;                                                                      \
                                                                                                   \
		vec__each (m_, &(s)->members) {                                                    \
			if (err_ || !m_->source->ops->operation)                                   \
				continue;                                                          \
			can_ = true;                                                               \
			err_ = m_->source->ops->operation(m_->source, ##__VA_ARGS__);              \
		}                                                                                  \
		can_ ? err_ : cannot(what);                                                        \
	})

int sources__change(struct sources *s)
{
	return EACH_THAT_CAN(s, change, "change its probes");
}

int sources__attach_sites(struct sources *s, const uint32_t *sites, size_t n)
{
	return EACH_THAT_CAN(s, attach_sites, "get further probes", sites, n);
}

int sources__detach_sites(struct sources *s, const uint32_t *sites, size_t n)
{
	return EACH_THAT_CAN(s, detach_sites, "remove probes", sites, n);
}

int sources__attach_markers(struct sources *s, size_t from)
{
	return EACH_THAT_CAN(s, attach_markers, "see markers", from);
}

int sources__watch(struct sources *s, const struct probe_watch *w)
{
	return EACH_THAT_CAN(s, watch, "watch memory", w);
}

int sources__drop_privileges(struct sources *s, uint64_t keep, unsigned forbidden)
{
	struct member *m;
	int err = 0;

	vec__each (m, &s->members)
		if (!err && m->source->ops->drop_privileges)
			err = m->source->ops->drop_privileges(m->source, keep, forbidden);
	return err;
}

void sources__note_value(struct sources *s, const struct probe_watch *w)
{
	struct member *m;

	vec__each (m, &s->members)
		if (m->source->ops->note_value)
			m->source->ops->note_value(m->source, w);
}

void sources__exclude(struct sources *s, uint32_t pid, bool excluded)
{
	struct member *m;

	vec__each (m, &s->members)
		if (m->source->ops->exclude)
			m->source->ops->exclude(m->source, pid, excluded);
}

void sources__forget_sideband(struct sources *s)
{
	struct member *m;

	vec__each (m, &s->members)
		if (m->source->ops->forget_sideband)
			m->source->ops->forget_sideband(m->source);
}

void sources__close(struct sources *s)
{
	struct member *m;

	if (!s)
		return;
	vec__each (m, &s->members) {
		m->source->ops->close(m->source);
		for (size_t i = m->given; i < m->queue.len; i++)
			waiting__free(m->queue.data[i]);
		vec__free(&m->queue);
	}
	vec__free(&s->members);
	free(s);
}
