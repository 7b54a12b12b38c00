// SPDX-License-Identifier: BSD-2-Clause
/* The commands stop, start and mark: sideband events of the trace itself, which a trace file has as
 * well. All that was recorded before them is passed on first. */
#include <errno.h>
#include <unistd.h>
#include "control.h"
#include "pipeline/record.h"

/* What fails ends the trace. */
static int tell(struct control *c, enum sideband_type type, uint64_t time, uint64_t count,
		const char *text)
{
	const struct sideband_event e = {.type = type, .time = time, .count = count, .text = text};
	int err = c->live->sink.sideband(c->live->sink.ctx, &e);

	if (err)
		c->failed = err;
	return err;
}

/* ---- stop and start ---- */

int control__take_counts(struct control *c)
{
	if (!c->live->show.tally)
		return 0;
	counting__note_cut(c->counting);
	return sources__counts(c->sources, &c->live->sink);
}

int control__has_stopped(struct control *c, uint64_t time, const char *by)
{
	int err = tell(c, SIDEBAND_STOP, time, 0, by);

	c->stopped = c->live->closed = true;
	return err;
}

int control__stop_now(struct control *c, const char *by)
{
	uint64_t now;
	int err;

	sources__stop(c->sources);
	now = now_ns(CLOCK_MONOTONIC);
	err = control__catch_up(c);
	/* a program may have stopped it meanwhile */
	if (err || c->stopped)
		return err;
	err = control__take_counts(c);
	return err ? err : control__has_stopped(c, now, by);
}

int control__prepare_start(struct control *c)
{
	int err = sources__unpark(c->sources);

	if (err)
		c->failed = err;
	/* what happened to processes meanwhile */
	return err ? err : control__catch_up(c);
}

int control__has_started(struct control *c, uint64_t asked, const char *by)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	int err = tell(c, SIDEBAND_START, now, by ? now - min_of(now, asked) : 0, by);

	if (err)
		return err;
	c->stopped = c->live->closed = false;
	counting__note_cut(c->counting);
	sources__start(c->sources);
	return 0;
}

/* ---- the commands ---- */

int control__stop(struct control *c, const char *text, struct str *answer)
{
	int err = control__no_text("stop", text);

	if (err)
		return err;
	if (c->stopped)
		return err__set(EALREADY, "recording is stopped already; start continues it");
	err = control__stop_now(c, NULL);
	return err ? err : sources__park(c->sources);
}

int control__start(struct control *c, const char *text, struct str *answer)
{
	int err = control__no_text("start", text);

	if (err)
		return err;
	if (!c->stopped)
		return err__set(EALREADY, "recording goes on; stop stops it");
	err = control__prepare_start(c);
	return err ? err : control__has_started(c, 0, NULL);
}

int control__begin_stopped(struct control *c, uint64_t time)
{
	if (!c->server && c->args->paused)
		return err__set(ENOENT, "--paused: without a control socket nobody can start it; "
					"--control-socket PATH makes one");
	if (c->args->paused)
		note("nothing is recorded until bbtrace ctl %d start", getpid());
	return control__has_stopped(c, time, NULL);
}

/* ---- marks ---- */

static bool shows_marks(const struct control *c)
{
	return c->live->recorder || (c->render->output && c->render->output->format->marks);
}

/* What was counted until now is that of the mark before. */
static int name_counts(struct control *c, const char *text)
{
	int err;

	if (!c->live->recorder)
		return err__set(EINVAL, "this trace counts: with --record FILE, a mark names what "
					"is counted after it");
	if (c->args->once || c->args->retire)
		return err__set(EINVAL, "what %s has seen would be missing after the mark",
				c->args->once ? "--once" : "--retire");
	err = sources__counts(c->sources, &c->live->sink);
	if (err)
		return err;
	show__give_counts(&c->live->show);
	return recorder__name(c->live->recorder, text);
}

int control__mark(struct control *c, const char *text, struct str *answer)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	int err;

	if (!*text)
		return err__usage("mark needs a text");
	if (c->live->show.tally)
		return name_counts(c, text);
	if (!shows_marks(c))
		return err__set(EINVAL,
				"this trace shows no marks: use -F text, json, chrome, perfetto or "
				"html, or a trace file");
	err = control__catch_up(c);
	return err ? err : tell(c, SIDEBAND_MARK, now, 0, text);
}
