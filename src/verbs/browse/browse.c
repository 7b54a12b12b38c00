// SPDX-License-Identifier: BSD-2-Clause
/* report --tui: passes the files through the replay, as report does, into the browser. */
#include <errno.h>
#include <unistd.h>
#include "browse.h"
#include "pipeline/read/trace_files.h"
#include "pipeline/render.h"
#include "tui/tui.h"

/* ---- options that contradict each other ---- */

static int check_order(struct request *req)
{
	const struct output_format *summary = output__by_name("summary");

	if (!req->show.order_given)
		return 0;
	if (req->show.format && strcmp(req->show.format->name, summary->name) != 0)
		return err__set(EINVAL,
				"--sort sorts the table of functions, and %s has none; give "
				"-F summary or leave -F out",
				req->show.format->name);
	req->show.format = req->record.count && summary->counting ? summary->counting : summary;
	return 0;
}

static int check_grep(const struct request *req)
{
	if (!req->show.grep)
		return 0;
	if (req->show.order_given)
		return err__set(EINVAL, "--grep chooses steps, --sort a table of functions: give "
					"one of them");
	if (req->show.format && !output__has_lines(req->show.format))
		return err__set(EINVAL,
				"--grep chooses lines of -F text or json, not of %s; to "
				"choose functions, name them",
				req->show.format->name);
	if (req->record.count || req->show.info)
		return err__set(EINVAL,
				"--grep chooses steps: it has no meaning with -c or --info");
	return 0;
}

/* Returns an option that --tui can't follow; NULL if there is none. */
static const char *contradicts_tui(const struct request *req)
{
	return req->show.format		    ? "-F"
	       : req->show.output	    ? "-o"
	       : req->show.info		    ? "--info"
	       : req->show.grep		    ? "--grep (its own search is /, its filter &)"
	       : req->show.order_given	    ? "--sort (s sorts)"
	       : req->record.count	    ? "-c"
	       : req->file.tag		    ? "--tag"
	       : req->show.fail_under_given ? "--fail-under"
					    : NULL;
}

static int check_tui(const struct request *req)
{
	const char *other = contradicts_tui(req);

	if (!req->show.tui)
		return 0;
	if (other)
		return err__set(EINVAL, "--tui shows the trace in the terminal, without %s", other);
	if (req->files > 2)
		return err__set(EINVAL, "--tui shows one trace file, or two side by side; bbtrace "
					"diff compares more");
	for (size_t i = 0; i < req->files; i++)
		if (!strcmp(req->operands.data[i], "-"))
			return err__set(EINVAL,
					"--tui needs stdin for its keys: write the trace to "
					"a file, and give its name");
	return tui__check();
}

int browse__check(struct request *req)
{
	int err = check_tui(req);

	if (!err)
		err = check_order(req);
	return err ? err : check_grep(req);
}

/* ---- from files to the browser ---- */

struct browsed {
	struct request request;
	struct trace_files files;
	struct render render;
	struct output *sink;
	struct tui *tui;
	struct output_options options;
	int64_t realtime_offset; /* of the first file */
	bool begun;
};

/* The state of an output that passes steps to the browser. */
struct sink_state {
	struct tui *tui;
};

static int on_step(struct output *o, const struct step *s)
{
	return tui__step(((struct sink_state *)o->state)->tui, s);
}

static const struct output_format tui_sink = {
	.name = "tui", .size = sizeof(struct sink_state), .marks = true, .step = on_step};

static int on_begin(void *ctx, const struct replay *p)
{
	static const struct output_options none;
	struct browsed *b = ctx;
	const struct plan *plan = merged_plan__plan(b->files.joined);
	struct output_options o;

	if (p->meta.counts)
		return err__set(EINVAL,
				"%s has only counts, and no steps to browse; report -F "
				"summary or html shows them",
				p->in->name);
	if (!b->begun) {
		b->render.sink.is_terminal = true;
		render__options(&b->render, &b->request, &p->meta, 0, &b->options);
		b->realtime_offset = p->meta.realtime_offset;
		b->sink = output__new(&tui_sink, &none, plan, NULL, NULL);
		((struct sink_state *)b->sink->state)->tui = b->tui;
		b->files.output = b->sink;
		b->begun = true;
	}
	o = b->options;
	o.start_time = p->meta.start_time + (p->meta.realtime_offset - b->realtime_offset);
	return tui__begin(b->tui, p->in->name, plan, &o);
}

static int on_extended(void *ctx, const struct plan_increment *i)
{
	struct browsed *b = ctx;

	if (b->begun)
		tui__plan_extended(b->tui);
	return 0;
}

static int on_add(void *ctx, const struct replay *p, const struct trace_counts *c)
{
	return 0;
}

static void on_end(void *ctx, const struct replay *p, const struct trace_totals *totals)
{
	tui__end(((struct browsed *)ctx)->tui, totals);
}

static void close_browsed(struct browsed *b)
{
	tui__free(b->tui);
	output__free(b->sink);
	render__close(&b->render);
	trace_files__close(&b->files);
}

static int read_files(struct browsed *b)
{
	int err = trace_files__find_counts(&b->files);

	if (err)
		return err;
	if (b->files.counts)
		return err__set(EINVAL, "a file has only counts, and no steps to browse; report -F "
					"summary or html shows them");
	err = trace_files__read(&b->files);
	if (err == 1)
		err = 0;
	return err || b->begun ? err
			       : err__set(ENODATA, "the files have no trace: nothing to browse");
}

int browse__run(const struct request *req)
{
	static const struct files_calls calls = {
		.begin = on_begin, .extended = on_extended, .add = on_add, .end = on_end};
	CLEANUP(close_browsed)
	struct browsed b = {.request = *req, .render.sink.fd = -1, .tui = tui__new()};
	int err;

	b.request.file.by_symbol |= req->files > 1; /* as diff: builds may differ */
	b.files = (struct trace_files){.request = &b.request, .calls = &calls, .ctx = &b};
	err = read_files(&b);
	if (!err)
		err = tui__browse(b.tui, b.options.color);
	if (err)
		return err;
	trace_files__report(&b.files);
	return trace_files__damage(&b.files);
}
