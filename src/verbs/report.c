// SPDX-License-Identifier: BSD-2-Clause
/*
 * The verb report: passes trace files through the same replay and outputs as a live trace. One that
 * has events is shown as it is read; several, and counts, are merged first (read/trace_files.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/option.h"
#include "cli/option_values.h"
#include "cli/exit_status.h"
#include "plan/join/join.h"
#include "verbs.h"
#include "session/process/confine.h"
#include "pipeline/fail_under.h"
#include "pipeline/read/trace_files.h"
#include "info.h"
#include "browse/browse.h"
#include "session/no_events.h"
#include "pipeline/render.h"

struct report {
	struct request request; /* with -c if the files have only counts */
	pid_t pager;
	struct render render;
	struct trace_files files;
	struct replay replay;	 /* used for one file of events */
	struct trace_meta first; /* of several files: that of the first one */
	bool *functions;	 /* of the merged plan; NULL: all */
	bool started, under;
	struct info info; /* for --info */
};

static const struct output_format *format_of(const struct report *r)
{
	return request__format(&r->request);
}

/* ---- errors ---- */

/* Returns 0 in place of 1 (the limit is reached) and of a closed pipe, which are not errors. */
static int error_of(const struct report *r, int err)
{
	return err == 1 || (err == -EPIPE && r->render.sink.reader_gone) ? 0 : err;
}

/* True if the file is empty because its recording has just begun. */
static bool is_unfinished(const struct input *in, int err)
{
	return (err == -ENODATA || (err == -ENOEXEC && !in->npeeked)) && input__is_growing(in);
}

static int of_file(const struct input *in, int err, const char *why)
{
	return err__set(-err, "%s: %s", in->name,
			in->npeeked ? why : "the file is empty; -o FILE records a trace");
}

/* ---- one file of events ---- */

static int begin_one(void *ctx, const struct replay *p, const struct plan *plan,
		     struct output **out)
{
	struct report *r = ctx;
	int err = render__start(&r->render, &r->request, plan, &p->meta, 0);

	if (err)
		return err;
	r->render.output->options.functions = p->functions;
	*out = r->render.output;
	r->started = true;
	return sink__begin(&r->render.sink);
}

static int extend_one(void *ctx, const struct replay *p, const struct plan *plan)
{
	struct report *r = ctx;

	r->render.output->options.functions = p->functions;
	return 0;
}

static int show_so_far(void *ctx)
{
	struct report *r = ctx;

	return r->started ? render__flush(&r->render, now_ns(CLOCK_MONOTONIC)) : 0;
}

/* --info: prints the metadata instead of the trace. */
static int write_info(struct report *r)
{
	info__end(&r->info, trace_reader__end(trace_files__first(&r->files)->reader));
	return error_of(r, sink__write(&r->render.sink, r->info.text.data, r->info.text.len));
}

/* Ends a file. err is the result of reading it. */
static int finish_one(struct report *r, int err)
{
	struct input *in = trace_files__first(&r->files);
	struct replay *p = &r->replay;
	autofree char *why = input__is_of_file(err) ? xstrdup(err__text()) : NULL;
	bool growing = is_unfinished(in, err);
	int end = 0;

	if (p->begun && (!err || err == 1 || why))
		end = show__finish(&p->show, newest_first(&r->request));
	end = error_of(r, end < 0 ? end : why ? 0 : err);
	if (p->begun && !r->render.sink.reader_gone && !end)
		end = error_of(r, output__end(r->render.output, show__totals(&p->show)));
	if (r->info.begun)
		end = write_info(r);
	progress__end(&in->progress);
	sink__close(&r->render.sink);
	pager__wait(r->pager);
	if (p->begun && !why && !end) {
		no_events__explain_report(&p->meta, &p->show);
		r->under = fail_under__is_missed(&r->request, r->render.output);
	}
	if (p->begun)
		show__summary(&p->show);
	if (p->begun && p->meta.part)
		note("%u parts of this trace were written before this file", p->meta.part);
	if (growing)
		note("%s: recording goes on; this is what it has so far", in->name);
	return !why || growing ? end : of_file(in, err, why);
}

static int report_one(struct report *r)
{
	static const struct replay_calls calls = {.begin = begin_one, .extended = extend_one};
	struct input *in = trace_files__first(&r->files);
	int err;

	in->waits = show_so_far;
	in->ctx = r;
	r->info.request = &r->request;
	r->replay = (struct replay){.request = &r->request, .in = in, .calls = &calls, .ctx = r};
	err = r->request.show.info ? trace_reader__run(in->reader, &info_calls, &r->info)
				   : replay__run(&r->replay);
	return finish_one(r, input__is_of_file(err) ? input__report_damage(in, err) : err);
}

/* ---- several files, or counts ---- */

static int choose_functions(struct report *r)
{
	int err;

	free(r->functions);
	err = replay__choose(&r->request, merged_plan__plan(r->files.joined), "these files",
			     &r->functions);
	if (r->render.output)
		r->render.output->options.functions = r->functions;
	return err == -ENOENT ? 0 : err; /* a later file may have it */
}

static int on_extended(void *ctx, const struct plan_increment *i)
{
	struct report *r = ctx;

	if (r->render.output)
		output__plan_extended(r->render.output);
	return choose_functions(r);
}

static int start_joined(struct report *r, const struct trace_meta *meta)
{
	int err;

	if (r->started)
		return 0;
	r->started = true;
	r->first = *meta;
	if (r->request.files > 1 || r->request.file.tag)
		r->first.tag = r->request.file.tag;
	if (r->request.files > 1) /* each trace has its own */
		r->first.host = NULL;
	err = render__start(&r->render, &r->request, merged_plan__plan(r->files.joined), &r->first,
			    0);
	if (err)
		return err;
	r->files.output = r->render.output;
	r->render.output->options.functions = r->functions;
	return sink__begin(&r->render.sink);
}

/* Marks where another trace begins, with its name. */
static int mark_file(struct report *r, const struct replay *p)
{
	struct step room, s = {.type = STEP_MARK,
			       .timed = true,
			       .time = p->meta.start_time,
			       .cpu = EVENT_NO_CPU,
			       .comm = "",
			       .plan = merged_plan__plan(r->files.joined),
			       .site = NO_SITE,
			       .function = NO_FUNCTION,
			       .text = p->meta.tag ? p->meta.tag : p->in->name};

	if (r->files.counts || !format_of(r)->marks)
		return 0;
	return output__step(r->render.output, merged_plan__step(r->files.joined, &s, &room));
}

static int on_begin(void *ctx, const struct replay *p)
{
	struct report *r = ctx;
	int err = start_joined(r, &p->meta);

	return err ? err : mark_file(r, p);
}

static int on_add(void *ctx, const struct replay *p, const struct trace_counts *c)
{
	struct report *r = ctx;
	struct output *o = r->render.output;
	struct edge_counts part;

	merged_plan__add(r->files.joined, p->show.plan, &c->counts);
	if (!o->format->tagged)
		return 0;
	part = merged_plan__counts(r->files.joined);
	o->format->tagged(o, c->tag ? c->tag : p->in->name, &part);
	merged_plan__clear(r->files.joined);
	return 0;
}

static int check_format(struct report *r)
{
	const struct output_format *f = format_of(r);

	if (r->files.counts && !f->count && f->counting) {
		r->request.record.count = true;
		f = format_of(r);
	}
	if (r->files.counts && !f->count && !f->tagged)
		return err__set(EINVAL,
				"%s shows events, and %s: use text, json, summary, annotate, html, "
				"lcov or another format of counts",
				f->name,
				r->request.file.tag ? "--tag selects counts"
						    : "a file has only counts");
	if (!r->files.counts && r->request.files > 1 && !f->at_end && !output__has_lines(f))
		return err__set(EINVAL, "%s shows one trace: give one file, or another format",
				f->name);
	if (r->files.counts && r->request.show.grep)
		return err__set(EINVAL,
				"--grep looks for steps, and a file has only counts; --sort "
				"sorts these by function");
	if (r->files.counts && r->request.show.order >= ORDER_TOTAL &&
	    r->request.show.order < ORDER_NAME)
		return err__set(EINVAL, "a file has only counts, no times: --sort calls, branches "
					"or name");
	if (r->request.show.info && r->request.files > 1)
		return err__set(EINVAL, "%s shows one file: give only one",
				r->request.show.functions   ? "--functions"
				: r->request.show.arguments ? "--arguments"
							    : "--info");
	return 0;
}

static void give_counts(struct report *r)
{
	struct edge_counts sum = merged_plan__counts(r->files.joined);

	if (!r->render.output->format->count)
		return;
	r->files.totals.events = plan_counts__events(sum.edges, merged_plan__plan(r->files.joined));
	output__count(r->render.output, &sum);
}

static int finish_joined(struct report *r, int err)
{
	autofree bool *chosen = NULL;
	int end = 0;

	err = error_of(r, err);
	if (!err && r->request.file.tag && !r->files.parts)
		err = err__set(ENOENT, "no trace is named '%s'; -F tests shows the names",
			       r->request.file.tag);
	if (r->started && !err && !r->render.sink.reader_gone) {
		if (r->files.counts)
			give_counts(r);
		output__untraced(r->render.output, &r->files.untraced);
		err = replay__choose(&r->request, merged_plan__plan(r->files.joined), "these files",
				     &chosen);
		if (!err)
			end = error_of(r, output__end(r->render.output, &r->files.totals));
	}
	sink__close(&r->render.sink);
	pager__wait(r->pager);
	if (r->started && !err && !end) {
		r->under = fail_under__is_missed(&r->request, r->render.output);
		output__note_grep(r->render.output, &r->files.totals);
		trace_files__report(&r->files);
	}
	return err ? err : end ? end : trace_files__damage(&r->files);
}

/* ---- the run ---- */

static bool wants_pager(const struct report *r)
{
	const struct request *req = &r->request;

	return !req->show.output && isatty(STDOUT_FILENO) && strcmp(req->operands.data[0], "-") &&
	       output__form(req->show.format) == FORM_TEXT;
}

static int report(struct report *r)
{
	int err = trace_files__find_counts(&r->files);
	bool joins;

	if (err)
		return err;
	r->files.counts |= format_of(r)->tagged || (r->request.file.tag && !r->request.show.info);
	joins = !r->request.show.info && (r->files.counts || r->request.files > 1);
	err = check_format(r);
	if (err)
		return err;
	err = sink__open(&r->render.sink, r->request.show.output, NULL);
	if (err)
		return err;
	if (r->render.sink.is_terminal)
		trace_files__first(&r->files)->progress.shown = false;
	if (wants_pager(r))
		r->pager = pager__start();
	sink__ignore_signals();
	return joins ? finish_joined(r, trace_files__read(&r->files)) : report_one(r);
}

static void close_report(struct report *r)
{
	render__close(&r->render);
	replay__close(&r->replay);
	trace_files__close(&r->files);
	free(r->functions);
	str__free(&r->info.text);
}

/* Fails if the output would overwrite the trace before it is read. */
static bool is_output(const char *input, const char *output)
{
	struct stat in, out;
	bool is_stdin = !strcmp(input, "-");

	return !(is_stdin ? fstat(STDIN_FILENO, &in) : stat(input, &in)) && !stat(output, &out) &&
	       S_ISREG(in.st_mode) && in.st_ino == out.st_ino && in.st_dev == out.st_dev;
}

int operands__check_output(const struct request *req)
{
	for (size_t i = 0; i < req->files && req->show.output; i++)
		if (is_output(req->operands.data[i], req->show.output))
			return err__set(EINVAL,
					"-o %s: this is the trace file to read; give another file",
					req->show.output);
	return 0;
}

/* ---- options ---- */

static int set_order(struct request *req, const char *v)
{
	req->show.order_given = true;
	return value__word(SUMMARY_ORDERS, v, &req->show.order);
}

static int check_pattern(struct request *req, const char *v)
{
	return pattern__check(v);
}

/* They are a part of what --info reads. */
static int set_names(struct request *req, const char *v)
{
	req->show.info = true;
	return 0;
}

static const struct option_row option_rows[] = {
	{"head", 0, "N", VERB_REPORT, POSITIVE(show.head), "only the first N events"},
	{"tail", 0, "N", VERB_REPORT, POSITIVE(show.tail), "only the last N events"},
	{"functions", 0, NULL, VERB_REPORT, SWITCH(show.functions),
	 "show the names of the functions in the file instead of the trace", set_names,
	 .knob = true},
	{"arguments", 0, NULL, VERB_REPORT, SWITCH(show.arguments),
	 "show the names that --if takes for the functions in the file, with their types",
	 set_names, .knob = true},
	{"info", 0, NULL, VERB_REPORT, SWITCH(show.info),
	 "show the file's metadata instead of the trace"},
	{"tui", 0, NULL, VERB_REPORT, SWITCH(show.tui),
	 "browse it in the terminal: functions, calls, steps; two files: compare them"},
	{"sort", 0, "KEY", VERB_REPORT, OTHER,
	 "show the table of functions (-F summary) sorted by KEY: " SUMMARY_ORDERS, set_order,
	 .values = SUMMARY_ORDERS},
	{"grep", 0, "PATTERN", VERB_REPORT, TEXT(show.grep),
	 "only steps whose text matches this extended regular expression, and their calls",
	 check_pattern},
};

const struct option_group options_report = {"Of bbtrace report", option_rows,
					    ARRAY_SIZE(option_rows)};

/* The first operand is a file, and so are those after it that are trace files. */
int report__check(struct request *req)
{
	int err;

	if (!req->operands.len)
		return err__set(
			EINVAL,
			"no trace file given: bbtrace report FILE; bbtrace user FUNC... -o FILE -- CMD "
			"records one; - reads standard input");
	for (req->files = 1; req->files < req->operands.len; req->files++)
		if (!input__is_trace(req->operands.data[req->files]))
			break;
	err = browse__check(req);
	return err ? err : operands__check_output(req);
}

int report__run(const struct request *req)
{
	static const struct files_calls calls = {on_begin, on_extended, on_add};
	CLEANUP(close_report) struct report r = {.request = *req, .render.sink.fd = -1};
	int err;

	if (req->show.tui)
		return browse__run(req);
	r.files = (struct trace_files){
		.request = &r.request, .calls = &calls, .ctx = &r, .only = req->file.tag};
	/* an operand that is no function may be a file, which the message mentions */
	if (!format_of(&r)->wants.source_text && req->operands.len == req->files)
		r.files.opened = confine__no_files;
	err = report(&r);
	return err ? err : r.under ? EXIT_UNDER : 0;
}
