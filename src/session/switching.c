// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include "switching.h"

/* ---- requests ---- */

static void forget(struct switching *s)
{
	s->asked = 0;
	free(s->by);
	s->by = NULL;
}

static void ask(struct switching *s, uint64_t time, char *by)
{
	forget(s);
	s->asked = max_of(time, (uint64_t)1);
	s->by = by;
}

static char *name_of(const struct probe_marker *w, const struct event *e)
{
	if (!e->tid)
		return xstrdup(w->name);
	return e->pid == e->tid ? xasprintf("%s of %u", w->name, e->pid)
				: xasprintf("%s of %u/%u", w->name, e->pid, e->tid);
}

/* Stops recording here: all earlier events have been passed on, later ones are dropped. */
static int stop_here(struct switching *s, uint64_t time, const char *by)
{
	source__stop(s->recording->source);
	s->parks = true;
	return recording__has_stopped(s->recording, time, by);
}

int switching__switched(void *ctx, const struct event *e)
{
	struct switching *s = ctx;
	const struct probe_marker *w = &s->markers->all.data[e->count];
	autofree char *by = NULL;

	if (w->kind == MARKER_DUMP)
		return e->pid ? dumps__asked(&s->recording->live->dumps, &s->recording->live->show,
					     e, w->name, w->mark.when)
			      : 0;
	if (w->kind == MARKER_START) {
		if (s->recording->stopped && !s->asked)
			ask(s, e->time, name_of(w, e));
		return 0;
	}
	if (s->asked) {
		s->missed++;
		forget(s);
	}
	if (s->recording->stopped)
		return 0;
	by = name_of(w, e);
	return stop_here(s, e->time, by);
}

void switching__mapped(void *ctx, const struct sideband_event *e)
{
	struct switching *s = ctx;

	if (s->request->command || s->request->who.filters.pids.len)
		markers__mapped(s->markers, e->text, e->ino);
}

/* After the ring was full: finds out whether a switch was lost, and which was the last one. */
static int look_for_lost(struct switching *s, uint64_t now)
{
	struct event e = {.type = EVENT_SWITCH, .time = now};
	size_t last;
	uint64_t lost = source__lost_switches(s->recording->source, &last);

	if (lost == s->lost)
		return 0;
	s->lost = lost;
	e.count = last;
	return switching__switched(s, &e);
}

/* ---- what is due ---- */

static bool is_due(const struct switching *s, uint64_t now)
{
	return s->asked && now - min_of(now, s->asked) >= s->request->when.delay_ns;
}

static int start(struct switching *s)
{
	uint64_t asked = s->asked + s->request->when.delay_ns;
	struct recording *r = s->recording;
	int err;

	s->parks = false;
	err = recording__prepare_start(r);
	if (err)
		return err;
	/* preparing takes time: recording may have been stopped before it began */
	if (!s->asked) {
		s->parks = true;
		return 0;
	}
	err = recording__start(r, asked, s->by);
	forget(s);
	s->until = s->request->when.for_ns ? now_ns(CLOCK_MONOTONIC) + s->request->when.for_ns : 0;
	return err;
}

static int end_for(struct switching *s)
{
	int err = recording__stop(s->recording, "the end of --for");

	s->until = 0;
	s->parks = true;
	return err;
}

/* Takes the probes away. A trace that counts reads the rest only now. */
static int park(struct switching *s)
{
	int err = recording__take_counts(s->recording);

	s->parks = false;
	s->recording->quits |= !s->starts_again;
	return err || s->recording->quits ? err : source__park(s->recording->source);
}

/* Attaches markers that were found since. Without them, the trace continues. */
static void attach_found(struct switching *s)
{
	size_t from = s->markers->mapped.len ? markers__look(s->markers) : SIZE_MAX;
	int err;

	if (from >= s->markers->all.len)
		return;
	err = source__attach_markers(s->recording->source, from);
	if (!err)
		return note_verbose("%zu markers that were mapped just now count from here on",
				    s->markers->all.len - from);
	note("%zu markers that were mapped just now don't count: %s", s->markers->all.len - from,
	     err__text());
	err__clear();
}

int switching__tick(struct switching *s, uint64_t now)
{
	int err;

	if (!s->request)
		return 0;
	attach_found(s);
	err = look_for_lost(s, now);
	if (!err && s->until && now >= s->until && !s->recording->stopped)
		err = end_for(s);
	if (!err && is_due(s, now) && s->recording->stopped)
		err = start(s);
	if (!err && s->parks)
		err = park(s);
	return err;
}

int switching__patience_ms(const struct switching *s, uint64_t now, int most)
{
	uint64_t at = UINT64_MAX;

	if (!s->request)
		return most;
	if (s->asked)
		at = s->asked + s->request->when.delay_ns;
	if (s->until)
		at = min_of(at, s->until);
	if (s->parks || s->markers->mapped.len || at <= now)
		return 0;
	return min_of((at - now) / 1000000 + 1, (uint64_t)most);
}

/* ---- begin, end ---- */

static void report_begin(const struct switching *s)
{
	const struct request *req = s->request;

	if (req->when.control_app && !s->markers->switches)
		note("--control app: no BBTRACE_START() or BBTRACE_STOP() in the files known so far; "
		     "recording starts when a library that is loaded later executes one "
		     "(bbtrace.h has them)");
}

int switching__begin(struct switching *s, uint64_t time)
{
	const struct request *req = s->request;

	if (!req)
		return 0;
	s->starts_again = req->when.control_app || req->when.start_on.len;
	report_begin(s);
	if (!s->recording->stopped) {
		s->until = req->when.for_ns ? time + req->when.for_ns : 0;
		return 0;
	}
	if (!s->starts_again && req->when.delay_ns)
		ask(s, time, xstrdup("--delay"));
	return 0;
}

void switching__report(const struct switching *s)
{
	if (!s->request)
		return;
	if (s->request->when.control_app && !s->markers->switches)
		note("--control app: no file of the traced processes has BBTRACE_START() or "
		     "BBTRACE_STOP(): include bbtrace.h, which comes with bbtrace, and execute them "
		     "(man bbtrace, APPLICATION CONTROL)");
	if (s->missed)
		note("%llu times recording was to stop before it had started, since the probes were not "
		     "in place yet: nothing of that is in the trace",
		     (unsigned long long)s->missed);
	if (s->lost)
		note("%llu switches of recording found the buffer full: all but the last are not in "
		     "the trace; --buffer enlarges it",
		     (unsigned long long)s->lost);
}

void switching__free(struct switching *s)
{
	free(s->by);
}
