// SPDX-License-Identifier: BSD-2-Clause
/* The commands stop, start and mark: sideband events of the trace itself, which are also in a
 * trace file. All that was recorded before is passed on first. */
#include <errno.h>
#include <unistd.h>
#include "control.h"
#include "pipeline/write/record.h"

/* ---- stop and start ---- */

int control__stop(struct control *c, const char *text, struct str *answer)
{
	int err = control__no_text("stop", text);

	if (err)
		return err;
	if (c->recording->stopped)
		return err__set(EALREADY, "recording is stopped already; start continues it");
	err = recording__stop(c->recording, NULL);
	return err ? err : source__park(c->recording->source);
}

int control__start(struct control *c, const char *text, struct str *answer)
{
	int err = control__no_text("start", text);

	if (err)
		return err;
	if (!c->recording->stopped)
		return err__set(EALREADY, "recording goes on; stop stops it");
	err = recording__prepare_start(c->recording);
	return err ? err : recording__start(c->recording, 0, NULL);
}

int control__begin_stopped(struct control *c, uint64_t time)
{
	if (!c->server && c->request->when.paused)
		return err__set(ENOENT, "--paused: without a control socket nobody can start it; "
					"--control-socket PATH makes one");
	if (c->request->when.paused)
		note("nothing is recorded until bbtrace ctl %d start", getpid());
	return recording__has_stopped(c->recording, time, NULL);
}

/* ---- marks ---- */

static bool shows_marks(const struct control *c)
{
	return c->recording->live->recorder ||
	       (c->render->output && c->render->output->format->marks);
}

/* Ends the counts of the mark before: the counts from now on belong to this mark. */
static int name_counts(struct control *c, const char *text)
{
	int err;

	if (!c->recording->live->recorder)
		return err__set(EINVAL, "this trace counts: with --record FILE, a mark names what "
					"is counted after it");
	if (c->request->record.once || c->request->record.retire)
		return err__set(
			EINVAL,
			"counts of probes that %s has removed would be missing after the mark",
			c->request->record.once ? "--once" : "--retire");
	err = source__counts(c->recording->source, &c->recording->live->sink);
	if (err)
		return err;
	show__give_counts(&c->recording->live->show);
	return recorder__name(c->recording->live->recorder, text);
}

int control__mark(struct control *c, const char *text, struct str *answer)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	int err;

	if (!*text)
		return err__usage("mark needs a text");
	if (c->recording->live->show.tally)
		return name_counts(c, text);
	if (!shows_marks(c))
		return err__set(EINVAL,
				"this trace shows no marks: use -F text, json, chrome, perfetto or "
				"html, or a trace file");
	err = recording__catch_up(c->recording);
	return err ? err : recording__note(c->recording, SIDEBAND_MARK, now, 0, text);
}
