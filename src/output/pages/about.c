// SPDX-License-Identifier: BSD-2-Clause
/* What a page is of: markup, so that it can be read where no script runs. */
#include "about.h"
#include "output/base/paint.h"
#include "output/stats/stats.h"

static void open_row(struct str *s, const char *name)
{
	str__printf(s, "<div><dt>%s</dt><dd>", name);
}

static void close_row(struct str *s)
{
	put(s, "</dd></div>\n");
}

static void put_command(struct str *s, const char *command)
{
	if (!command || !*command)
		return;
	open_row(s, "Command");
	put(s, "<code>");
	str__xml(s, command);
	put(s, "</code>");
	close_row(s);
}

static void put_machine(struct str *s, const struct output_about *a)
{
	if (!a->system || !*a->system)
		return;
	open_row(s, "Machine");
	str__xml(s, a->system);
	if (a->cpus)
		str__printf(s, ", %u CPU%s", a->cpus, a->cpus == 1 ? "" : "s");
	close_row(s);
}

static void put_recorded(struct str *s, const struct output_options *o)
{
	open_row(s, "Recorded");
	str__date(s, o->start_time + o->realtime_offset, o->utc_offset);
	if (o->about.version) {
		put(s, " by bbtrace ");
		str__xml(s, o->about.version);
	}
	if (o->about.others)
		str__printf(s, "; and %u more trace%s", o->about.others,
			    o->about.others == 1 ? "" : "s");
	if (o->about.parts)
		str__printf(s, "; %u earlier part%s of this trace %s not in this page",
			    o->about.parts, o->about.parts == 1 ? "" : "s",
			    o->about.parts == 1 ? "is" : "are");
	close_row(s);
}

/* The summary line without its "bbtrace: ". */
static void put_totals(struct str *s, const struct trace_totals *t)
{
	autofree struct str text = {0};

	totals__text(t, &text);
	open_row(s, "Trace");
	str__xml(s, text.data + strlen("bbtrace: "));
	close_row(s);
}

void about__put(struct str *s, const struct output_options *o, const struct trace_totals *t)
{
	put(s, "<dl class=\"about\">\n");
	put_command(s, o->about.command);
	put_machine(s, &o->about);
	put_recorded(s, o);
	put_totals(s, t);
	put(s, "</dl>\n");
}

void about__put_missing(struct str *s, const struct stats *p, const struct trace_totals *t)
{
	autofree struct str text = {0};

	if (!stats__missing(p, t, &text))
		return;
	put(s, "<p class=\"missing\">Missing: ");
	str__xml(s, text.data);
	put(s, "</p>\n");
}
