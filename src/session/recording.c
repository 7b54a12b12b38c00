// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include "recording.h"

int recording__catch_up(struct recording *r)
{
	int err = source__catch_up(r->source, &r->live->sink);

	if (err)
		r->failed = err;
	return err == 1 ? err__set(ECANCELED, "the trace has just reached its --limit") : err;
}

int recording__note(struct recording *r, enum sideband_type type, uint64_t time, uint64_t count,
		    const char *text)
{
	const struct sideband_event e = {.type = type, .time = time, .count = count, .text = text};
	int err = r->live->sink.sideband(r->live->sink.ctx, &e);

	if (err)
		r->failed = err;
	return err;
}

int recording__take_counts(struct recording *r)
{
	if (!r->live->show.tally)
		return 0;
	counting__note_cut(r->counting);
	return source__counts(r->source, &r->live->sink);
}

int recording__has_stopped(struct recording *r, uint64_t time, const char *by)
{
	int err = recording__note(r, SIDEBAND_STOP, time, 0, by);

	r->stopped = r->live->closed = true;
	return err;
}

int recording__stop(struct recording *r, const char *by)
{
	uint64_t now;
	int err;

	source__stop(r->source);
	now = now_ns(CLOCK_MONOTONIC);
	err = recording__catch_up(r);
	/* a program may have stopped it meanwhile */
	if (err || r->stopped)
		return err;
	err = recording__take_counts(r);
	return err ? err : recording__has_stopped(r, now, by);
}

int recording__prepare_start(struct recording *r)
{
	int err = source__unpark(r->source);

	if (err)
		r->failed = err;
	/* events of processes from meanwhile */
	return err ? err : recording__catch_up(r);
}

int recording__start(struct recording *r, uint64_t asked, const char *by)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	int err = recording__note(r, SIDEBAND_START, now, by ? now - min_of(now, asked) : 0, by);

	if (err)
		return err;
	r->stopped = r->live->closed = false;
	counting__note_cut(r->counting);
	source__start(r->source);
	return 0;
}
