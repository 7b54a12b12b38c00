// SPDX-License-Identifier: BSD-2-Clause
/* What the supervisor's messages mean for the merged events: threads get logs, and what can't be
 * traced is passed on. */
#include "merge_private.h"

/* Once of each process and function. */
static void note_untraced(struct merge *m, const struct notice *notice, uint32_t object,
			  uint32_t function, const char *why)
{
	const uint64_t key[] = {notice->pid, object, function};
	uint64_t *known = map64__put(&m->blind, map64__hash(key, sizeof(key)));

	if (*known)
		return;
	*known = 1;
	merge__add(m, waiting__sideband(&(struct sideband_event){
			      .type = SIDEBAND_UNTRACED,
			      .time = max_of(now_ns(CLOCK_MONOTONIC), m->last),
			      .pid = notice->pid,
			      .tid = notice->tid ? notice->tid : notice->pid,
			      .object = object,
			      .function = function,
			      .text = why}));
}

static void note_gap(struct merge *m, const struct notice *notice)
{
	merge__add(m, waiting__sideband(&(struct sideband_event){
			      .type = SIDEBAND_GAP,
			      .time = max_of(now_ns(CLOCK_MONOTONIC), m->last),
			      .pid = notice->pid,
			      .tid = notice->tid ? notice->tid : notice->pid}));
}

static void begin_log(struct merge *m, struct stream *s)
{
	struct log_decoder *decoder =
		log_decoder__new(m->options.plan, m->options.log, m->options.clock);
	struct log *l = log__new(m->options.rings, s, decoder);

	l->number = ++m->begun;
	filter_states__begin(m->filter_states, l);
	vec__push(&m->logs, l);
}

static void take_ring(struct merge *m, const struct received *s)
{
	if (*s->notice.text)
		comms__set(&m->comms, s->notice.tid, s->notice.text);
	if (s->stream) {
		begin_log(m, s->stream);
		return;
	}
	note("thread %u of process %u is not traced: its log can't be read", s->notice.tid,
	     s->notice.pid);
	note_gap(m, &s->notice);
	note_untraced(m, &s->notice, UNTRACED_ALL, UNTRACED_ALL,
		      "the log of a thread can't be read");
}

/* Its processes continue, and their threads have no rings of their own from now on. */
static void take_death(struct merge *m, bool given_up)
{
	const char *why = given_up ? "a thread waits in the kernel and can't be stopped"
				   : "the process bbtrace-inline was killed";
	struct log **l;

	if (!given_up)
		note("the process bbtrace-inline was killed: what copied functions do from now on is "
		     "not known");
	vec__each (l, &m->logs)
		if (!(*l)->reported) {
			note_gap(m, &(*l)->stream->ring);
			note_untraced(m, &(*l)->stream->ring, UNTRACED_ALL, UNTRACED_ALL, why);
		}
}

/* Its log has a gap; counters have none. */
static void take_uncertain(struct merge *m, const struct notice *notice)
{
	logs__mark_uncertain(&m->logs, notice);
	if (notice->type == NOTICE_UNLOGGED && m->options.plan->placement == PLACEMENT_COUNT)
		note_untraced(m, notice, notice->object, notice->function,
			      "it ran without its copy while a handler did");
}

static void take_refusal(struct merge *m, const struct notice *notice)
{
	note_gap(m, notice);
	note_untraced(m, notice, notice->type == NOTICE_REFUSED ? notice->object : UNTRACED_ALL,
		      UNTRACED_ALL, notice->text);
}

static void take_message(struct merge *m, const struct received *s)
{
	const struct notice *notice = &s->notice;

	if (notice->type == NOTICE_RING)
		take_ring(m, s);
	else if (notice->type == NOTICE_DIED)
		take_death(m, notice->size);
	else if (notice->type == NOTICE_UNLOGGED || notice->type == NOTICE_LOGGED)
		take_uncertain(m, notice);
	else if (notice__show(notice, m->options.plan))
		take_refusal(m, notice);
	m->placed |= notice->type == NOTICE_MAPPED;
}

void merge__blame_broken(struct merge *m)
{
	struct log **l;

	vec__each (l, &m->logs)
		if ((*l)->stream->broken)
			note_untraced(m, &(*l)->stream->ring, UNTRACED_ALL, UNTRACED_ALL,
				      "the log of a thread was damaged");
}

void merge__receive(struct merge *m)
{
	struct received s;

	while (rings__next_received(m->options.rings, &s))
		take_message(m, &s);
}

bool merge__traces_nothing(const struct merge *m)
{
	return !m->placed && m->blind.len;
}
