// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "thread_log.h"

struct log *log__new(struct rings *rings, struct stream *s, struct log_decoder *decoder)
{
	struct log *l = xcalloc(1, sizeof(*l));

	l->stream = s;
	l->rings = rings;
	l->decoder = decoder;
	l->thread =
		(struct log_thread){.pid = s->ring.pid, .tid = s->ring.tid, .time = s->ring.time};
	if (s->ring.sp)
		log_thread__at(&l->thread, s->ring.sp);
	return l;
}

void log__free(struct log *l)
{
	struct chunk *next;

	for (struct chunk *p = l->chunks; p; p = next) {
		next = p->next;
		rings__give_back(l->rings, l->stream, p);
	}
	free(l->expanded);
	free(l->ahead);
	log_decoder__free(l->decoder);
	vec__free(&l->stops);
	uncertain__free(&l->uncertain);
	free(l);
}

/* Its words can be read until this is called for another chunk. */
static const struct chunk *look_into(struct log *l, const struct chunk *p)
{
	if (!p->compressed)
		return p;
	if (l->expanded && l->expanded->position == p->position)
		return l->expanded;
	if (!l->ahead || l->ahead->position != p->position) {
		free(l->ahead);
		l->ahead = rings__expand(l->rings, p);
	}
	return l->ahead;
}

/* The first of the chunks is the next one to be decoded. */
static void expand_first(struct log *l)
{
	free(l->expanded);
	l->expanded = NULL;
	l->words = look_into(l, l->chunks)->data;
	if (l->chunks->compressed) {
		l->expanded = l->ahead;
		l->ahead = NULL;
	}
}

static void see_piece(struct log *l)
{
	const struct chunk *p = l->chunks;
	/* what was written before the trace began isn't missing (rings__start()) */
	uint64_t expected = l->next_piece ? l->next_piece : l->stream->ring.position;

	expand_first(l);
	l->after = l->thread.after = p->after;
	if (p->position != expected) {
		l->gap_from = l->gap ? l->gap_from : expected;
		l->gap = true;
	}
	l->thread.goroutine_known &= p->position == expected;
	l->next_piece = chunk__end(p);
}

static void take_chunks(struct log *l)
{
	l->chunks = rings__take(l->rings, l->stream);
	if (l->chunks)
		see_piece(l);
}

static void drop_piece(struct log *l)
{
	struct chunk *p = l->chunks;

	l->chunks = p->next;
	l->at = 0;
	rings__give_back(l->rings, l->stream, p);
	if (l->chunks)
		see_piece(l);
}

/* At a word that is no record: the rest of its segment is unknown. */
static const struct event *lose(struct log *l, uint64_t count)
{
	l->lost = (struct event){.type = EVENT_LOST,
				 .time = l->thread.time,
				 .pid = l->thread.pid,
				 .tid = l->thread.tid,
				 .sp = l->thread.stacks[0],
				 .cpu = EVENT_NO_CPU,
				 .untimed = true,
				 .count = count};
	return &l->lost;
}

/* Counts what was lost after its last record. */
static void end(struct log *l)
{
	const struct stream *s = l->stream;

	if (l->reported)
		return;
	l->reported = true;
	l->position = s->at;
	l->read = s->dropped		      ? s->dropping
		  : s->end.type == NOTICE_END ? s->end.time
					      : l->thread.until;
	if (s->forged) /* what is missing, and since when, isn't known */
		l->read = s->looked;
	if (s->broken || s->dropped)
		l->event = lose(l, max_of(s->dropped, (uint64_t)1));
}

/* What is left isn't decoded any more. */
static void cut(struct log *l)
{
	uint64_t hits = 0, words = 0, until = 0;

	l->position = l->chunks->position + l->at * sizeof(uint64_t);
	l->read = l->thread.until = l->chunks->time;
	for (; l->chunks; drop_piece(l)) {
		size_t n = l->chunks->n - l->at;

		until = l->chunks->time;
		hits += log_decoder__hits(l->decoder, l->words + l->at, n);
		words += n;
	}
	rings__left_out(l->rings, words * sizeof(uint64_t));
	/* there can't be more than one a nanosecond, whatever a record says */
	hits = min_of(hits, until - min_of(until, l->stream->ring.time) + 1);
	if (hits)
		l->event = lose(l, hits);
}

/* Decodes a record of the first chunk. False: there was no event in it. */
static bool decode(struct log *l)
{
	struct chunk *p = l->chunks;
	int n;

	l->position = p->position + l->at * 8;
	l->read = l->thread.until = p->time;
	if (l->position < l->skip) {
		l->at = min_of(p->n, (l->skip - p->position) / 8);
		return false;
	}
	n = log_decoder__event(l->decoder, &l->thread, l->words + l->at, p->n - l->at, &l->event);
	if (n > 0) {
		l->at += n;
		return l->event;
	}
	l->skip = (l->position / LOG_SEGMENT + 1) * LOG_SEGMENT;
	if (n < 0)
		l->event = lose(l, 1);
	return l->event;
}

const struct event *log__peek(struct log *l)
{
	while (!l->event) {
		/* asked first: there may be more of it when it has ended */
		bool over = !l->chunks && rings__is_over(l->rings, l->stream);

		if (l->chunks && l->at >= l->chunks->n) {
			drop_piece(l);
		} else if (l->chunks && rings__is_cut(l->rings)) {
			cut(l);
		} else if (l->chunks) {
			decode(l);
		} else {
			take_chunks(l);
			if (l->chunks)
				continue;
			if (over)
				end(l);
			break;
		}
	}
	return l->event;
}

/* Takes what waits, after what was taken before. */
static void take_more(struct log *l)
{
	struct chunk *last = l->chunks;

	while (last && last->next)
		last = last->next;
	if (last)
		last->next = rings__take(l->rings, l->stream);
	else
		take_chunks(l);
}

/* Returns true if the chunk is among the last bytes before one of these positions. */
static bool is_wanted(const struct chunk *p, const struct wanted_log *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (p->position < w->before[i] && chunk__end(p) + w->bytes > w->before[i])
			return true;
	return false;
}

/* Returns the position up to which the thread had written something then, or before. */
static uint64_t position_at(const struct log *l, uint64_t time)
{
	uint64_t position = l->chunks ? l->chunks->position : 0;

	for (const struct chunk *p = l->chunks; p && p->time <= time; p = p->next)
		position = chunk__end(p);
	return position;
}

void log__keep(struct log *l, const struct wanted_log *w)
{
	uint64_t words = 0, after;
	struct chunk **at, *p;

	take_more(l);
	after = position_at(l, w->settled);
	after -= min_of(after, w->bytes);
	/* the first one may be decoded in part */
	while (l->chunks && chunk__end(l->chunks) < after && !is_wanted(l->chunks, w)) {
		if (!l->gap)
			l->gap_from = l->chunks->position + l->at * sizeof(uint64_t);
		l->gap = true;
		words += l->chunks->n - l->at;
		drop_piece(l);
	}
	for (at = l->chunks ? &l->chunks->next : NULL; at && (p = *at);) {
		if (chunk__end(p) >= after || is_wanted(p, w)) {
			at = &p->next;
			continue;
		}
		words += p->n;
		*at = p->next;
		rings__give_back(l->rings, l->stream, p);
	}
	if (words)
		l->timed = 0;
	rings__left_out(l->rings, words * sizeof(uint64_t));
}

bool log__misses(const struct log *l, uint64_t position)
{
	return l->gap && l->gap_from < position && (l->event || l->chunks) &&
	       (l->event ? l->position : l->chunks->position + l->at * sizeof(uint64_t)) >=
		       position;
}

/* ---- what is known of times ---- */

/* Looks for the next record with a time in a chunk, from where it has looked before on. */
static bool find_time(struct log *l, const struct chunk *p)
{
	const uint64_t *words = look_into(l, p)->data;

	while (l->looked < chunk__end(p)) {
		size_t at = (l->looked - p->position) / sizeof(*words);
		size_t n = log_decoder__look(l->decoder, words + at, p->n - at, &l->timed);

		l->timed_at = l->looked;
		/* there are no more in this segment */
		l->looked = n ? l->looked + n * sizeof(*words)
			      : (p->position / LOG_SEGMENT + 1) * LOG_SEGMENT;
		if (l->timed)
			return true;
	}
	return false;
}

/* Each word is looked at once, as long as times that are asked for don't go back. */
static bool look_ahead(struct log *l)
{
	if (l->timed)
		return true;
	for (const struct chunk *p = l->chunks; p; p = p->next) {
		if (l->looked >= chunk__end(p))
			continue;
		l->looked = max_of(l->looked, p->position);
		if (find_time(l, p))
			return true;
	}
	return false;
}

uint64_t log__known(struct log *l, uint64_t time)
{
	uint64_t here = l->chunks ? l->chunks->position + l->at * sizeof(uint64_t) : 0;

	if (time < l->known_for || l->looked < max_of(here, l->skip)) {
		l->looked = max_of(here, l->skip);
		l->known = l->timed = 0;
	}
	for (l->known_for = time; look_ahead(l) && l->timed < time; l->timed = 0)
		l->known = l->timed_at;
	return l->known;
}

bool log__was_before(struct log *l, uint64_t time)
{
	if (l->event->time >= time)
		return false;
	if (l->event->untimed && l->read > time && l->position < log__known(l, time))
		l->read = time;
	return !l->event->untimed || l->read <= time;
}

bool log__run(struct log *l, uint64_t stop, struct event_run *out)
{
	const struct chunk *p = l->chunks;
	uint64_t position = p ? p->position + l->at * 8 : stop;

	if (l->event || l->gap || l->thread.nobodys || l->thread.goroutine != l->goroutine ||
	    position < l->skip || position >= stop || rings__is_cut(l->rings))
		return false;
	l->thread.until = p->time;
	*out = (struct event_run){.pid = l->thread.pid,
				  .tid = l->thread.tid,
				  .decoder = l->decoder,
				  .thread = &l->thread,
				  .words = l->words + l->at,
				  .n = min_of(p->n - l->at, (stop - position) / 8)};
	return true;
}

void log__skip(struct log *l, size_t words)
{
	l->at += words;
}

/* ---- several ---- */

struct log *logs__find(const log_vec *logs, uint32_t tid, uint64_t time)
{
	for (size_t i = logs->len; i-- > 0;)
		if (logs->data[i]->thread.tid == tid && logs->data[i]->stream->ring.time <= time)
			return logs->data[i];
	return NULL;
}

struct log *logs__child(const log_vec *logs, const struct sideband_event *fork)
{
	struct log **l;

	vec__each (l, logs)
		if ((*l)->thread.tid == fork->tid && (*l)->stream->ring.ptid == fork->ptid &&
		    (*l)->stream->ring.time >= fork->time)
			return *l;
	return NULL;
}

/* A slot may have had other threads before. */
void logs__mark_uncertain(const log_vec *logs, const struct notice *notice)
{
	for (size_t i = logs->len; i-- > 0;) {
		struct log *l = logs->data[i];

		if (l->stream->ring.area != notice->area || l->stream->ring.slot != notice->slot)
			continue;
		uncertain__receive(&l->uncertain, notice);
		return;
	}
}
