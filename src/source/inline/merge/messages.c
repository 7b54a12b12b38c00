// SPDX-License-Identifier: BSD-2-Clause
/* What the supervisor's messages mean for the merged events: threads get logs, and what can't be
 * traced is passed on. */
#include "merge_private.h"

/* Once of each process and function. */
static void note_untraced(struct merge *m, const struct say *say, uint32_t object,
			  uint32_t function, const char *why)
{
	const uint64_t key[] = {say->pid, object, function};
	uint64_t *known = map64__put(&m->blind, map64__hash(key, sizeof(key)));

	if (*known)
		return;
	*known = 1;
	merge__add(m, waiting__sideband(&(struct sideband_event){
			      .type = SIDEBAND_UNTRACED,
			      .time = max_of(now_ns(CLOCK_MONOTONIC), m->last),
			      .pid = say->pid,
			      .tid = say->tid ? say->tid : say->pid,
			      .object = object,
			      .function = function,
			      .text = why}));
}

static void note_gap(struct merge *m, const struct say *say)
{
	merge__add(m, waiting__sideband(&(struct sideband_event){
			      .type = SIDEBAND_GAP,
			      .time = max_of(now_ns(CLOCK_MONOTONIC), m->last),
			      .pid = say->pid,
			      .tid = say->tid ? say->tid : say->pid}));
}

static void begin_log(struct merge *m, struct stream *s)
{
	struct log_decoder *decoder =
		log_decoder__new(m->options.plan, m->options.log, m->options.clock);
	struct log *l = log__new(m->options.rings, s, decoder);

	l->number = ++m->begun;
	passing__begin(m->passing, l);
	vec__push(&m->logs, l);
}

static void take_ring(struct merge *m, const struct said *s)
{
	if (*s->say.text)
		comms__set(&m->comms, s->say.tid, s->say.text);
	if (s->stream) {
		begin_log(m, s->stream);
		return;
	}
	note("thread %u of process %u is not traced: its log can't be read", s->say.tid,
	     s->say.pid);
	note_gap(m, &s->say);
	note_untraced(m, &s->say, UNTRACED_ALL, UNTRACED_ALL, "the log of a thread can't be read");
}

/* Its processes go on, and their threads have no rings of their own from now on. */
static void take_death(struct merge *m, bool given_up)
{
	const char *why = given_up ? "a thread waits in the kernel and can't be stopped"
				   : "the process bbtrace-inline was killed";
	struct log **l;

	if (!given_up)
		note("the process bbtrace-inline was killed: what copied functions do from now on is "
		     "not known");
	vec__each (l, &m->logs)
		if (!(*l)->told) {
			note_gap(m, &(*l)->stream->ring);
			note_untraced(m, &(*l)->stream->ring, UNTRACED_ALL, UNTRACED_ALL, why);
		}
}

/* Its log has a gap; of counters there is none. */
static void take_doubt(struct merge *m, const struct say *say)
{
	logs__doubt(&m->logs, say);
	if (say->type == SAY_UNCOVERED && m->options.plan->placement == PLACEMENT_COUNT)
		note_untraced(m, say, say->object, say->function,
			      "it ran without its copy while a handler did");
}

static void take_refusal(struct merge *m, const struct say *say)
{
	note_gap(m, say);
	note_untraced(m, say, say->type == SAY_REFUSED ? say->object : UNTRACED_ALL, UNTRACED_ALL,
		      say->text);
}

static void take_message(struct merge *m, const struct said *s)
{
	const struct say *say = &s->say;

	if (say->type == SAY_RING)
		take_ring(m, s);
	else if (say->type == SAY_DIED)
		take_death(m, say->size);
	else if (say->type == SAY_UNCOVERED || say->type == SAY_COVERED)
		take_doubt(m, say);
	else if (say__note(say, m->options.plan))
		take_refusal(m, say);
	m->placed |= say->type == SAY_MAPPED;
}

void merge__blame_broken(struct merge *m)
{
	struct log **l;

	vec__each (l, &m->logs)
		if ((*l)->stream->broken)
			note_untraced(m, &(*l)->stream->ring, UNTRACED_ALL, UNTRACED_ALL,
				      "the log of a thread was damaged");
}

void merge__hear(struct merge *m)
{
	struct said s;

	while (rings__said(m->options.rings, &s))
		take_message(m, &s);
}

bool merge__traces_nothing(const struct merge *m)
{
	return !m->placed && m->blind.len;
}
