// SPDX-License-Identifier: BSD-2-Clause
/* The commands counts and reset. An output of their own renders what they print, so that the
 * trace's output is unchanged. */
#include <errno.h>
#include "control.h"

static int put(void *answer, const void *data, size_t len)
{
	str__put(answer, data, len);
	return 0;
}

/* Returns an output for the client, in this format. */
static struct output *output_for(const struct control *c, const struct output_format *format,
				 struct str *answer)
{
	struct output_options o = c->render->output->options;

	o.color = o.line_buffered = false;
	o.width = 0;
	return output__new(format, &o, c->plan, put, answer);
}

/* ---- counts ---- */

/* Reads all counters at one moment. */
static int count(struct control *c)
{
	int err = source__counts(c->recording->source, &c->recording->live->sink);

	if (err)
		return err;
	source__misses(c->recording->source, &c->recording->live->sink);
	show__give_counts(&c->recording->live->show);
	return 0;
}

static int put_counts(struct control *c, struct str *answer)
{
	const struct output_format *format =
		c->json ? output__by_name("json")->counting : c->render->output->format;
	struct output *o;
	int err = count(c);

	if (err)
		return err;
	o = output_for(c, format, answer);
	show__pass_counts(&c->recording->live->show, o);
	err = output__end(o, show__totals(&c->recording->live->show));
	output__free(o);
	return err;
}

/* Appends the totals: of events, those of the summary. */
static int put_totals(struct control *c, struct str *answer)
{
	const struct trace_totals *t = show__totals(&c->recording->live->show);
	const struct output o = {.plan = c->plan,
				 .missed = &c->recording->live->show.missed,
				 .untraced = &c->recording->live->show.untraced,
				 .options = {.realtime_offset = c->meta->realtime_offset,
					     .about.host = c->meta->host}};

	if (c->json) {
		json__put_summary(answer, t, &o);
		return 0;
	}
	totals__text(t, answer);
	str__putc(answer, '\n');
	return 0;
}

int control__counts(struct control *c, const char *text, struct str *answer)
{
	int err = control__no_text("counts", text);

	if (err)
		return err;
	if (c->recording->live->show.tally)
		return put_counts(c, answer);
	err = recording__catch_up(c->recording);
	if (err)
		return err;
	source__misses(c->recording->source, &c->recording->live->sink);
	return put_totals(c, answer);
}

/* ---- reset ---- */

int control__reset(struct control *c, const char *text, struct str *answer)
{
	int err = control__no_text("reset", text);

	if (err)
		return err;
	if (c->request->record.once || c->request->record.retire)
		return err__set(EINVAL, "reset would clear counts of probes that %s has removed",
				c->request->record.once ? "--once" : "--retire");
	if (c->recording->live->show.tally) {
		err = count(c);
		if (!err)
			show__reset_counts(&c->recording->live->show);
		return err;
	}
	err = recording__catch_up(c->recording);
	if (err)
		return err;
	show__add_up(&c->recording->live->show);
	if (c->recording->live->show.last)
		show__keep_last(&c->recording->live->show, c->request);
	else if (!c->render->output || !output__restart(c->render->output))
		return err__set(EINVAL,
				"what this trace has written can't be taken back; reset is of "
				"counts (-c), --last and formats such as -F summary");
	return 0;
}
