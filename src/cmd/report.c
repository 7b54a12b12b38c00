// SPDX-License-Identifier: BSD-2-Clause
/* The verb report: a trace file, through the same replay and outputs as a live trace. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "covered.h"
#include "info.h"
#include "nothing.h"
#include "pager.h"
#include "render.h"
#include "show.h"

/* Bytes that are read first, to detect the form of the file. */
#define PEEK 8

struct report {
	const struct args *args;
	const char *name;
	int fd;
	bool streams; /* the input may still be growing */
	uint8_t peeked[PEEK];
	size_t npeeked, given;
	struct dearmor *dearmor; /* NULL: not armored */
	struct progress progress;
	pid_t pager;
	struct trace_reader *reader;
	struct source *source;
	struct trace_meta meta;
	struct report_filter_options filter;
	bool *functions; /* for the filter */
	bool begun;	 /* the plan was read */
	struct show show;
	struct render render;
	struct info info; /* for --info */
};

/* ---- bytes ---- */

/* Shows all that was read so far before waiting for more bytes. */
static int show_so_far(struct report *r)
{
	struct pollfd p = {.fd = r->fd, .events = POLLIN};

	if (!r->begun || !r->streams || poll(&p, 1, 0))
		return 0;
	return render__flush(&r->render, now_ns(CLOCK_MONOTONIC));
}

static ssize_t read_fd(struct report *r, void *data, size_t len)
{
	ssize_t n = show_so_far(r);

	if (n)
		return n;
	do
		n = read(r->fd, data, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err__set(errno, "cannot read %s: %s", r->name, strerror(errno));
	progress__add(&r->progress, n);
	return n;
}

static ssize_t read_plain(void *ctx, void *data, size_t len)
{
	struct report *r = ctx;

	if (r->given == r->npeeked)
		return read_fd(r, data, len);
	len = min_of(len, r->npeeked - r->given);
	memcpy(data, r->peeked + r->given, len);
	r->given += len;
	return len;
}

static void note_damage(void *ctx, const char *text)
{
	struct report *r = ctx;

	progress__end(&r->progress);
	note("%s: %s", r->name, text);
}

static int open_input(struct report *r)
{
	struct stat st;
	ssize_t n = 1;
	with_own_rights;

	r->name = r->args->operands.data[0];
	r->fd = STDIN_FILENO;
	if (!strcmp(r->name, "-"))
		r->name = "stdin";
	else
		r->fd = open(r->name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (r->fd < 0)
		return err__set(errno, "cannot open %s: %s", r->name, strerror(errno));
	if (fstat(r->fd, &st))
		return err__set(errno, "cannot read %s: %s", r->name, strerror(errno));
	r->streams = !S_ISREG(st.st_mode);
	progress__read(&r->progress, note__level() > NOTE_QUIET, r->streams ? 0 : st.st_size);
	while (n > 0 && r->npeeked < PEEK) {
		n = read_fd(r, r->peeked + r->npeeked, PEEK - r->npeeked);
		if (n < 0)
			return n;
		r->npeeked += n;
	}
	if (trace_reader__is_magic(r->peeked, r->npeeked)) {
		r->reader = trace_reader__new(read_plain, r);
		return 0;
	}
	r->dearmor = dearmor__new(read_plain, r, note_damage, r);
	r->reader = trace_reader__new(dearmor__read, r->dearmor);
	return 0;
}

/* A recording bbtrace holds a lock on the file. */
static bool is_growing(const struct report *r)
{
	if (!flock(r->fd, LOCK_SH | LOCK_NB)) {
		flock(r->fd, LOCK_UN);
		return false;
	}
	return errno == EWOULDBLOCK;
}

/* ---- which functions ---- */

/* Does the function have code of that line? */
static bool has_line(const struct spec *spec, const struct plan *plan,
		     const struct plan_function *f)
{
	const struct plan_line *l;

	vec__each (l, &plan->lines) {
		uint64_t end = l + 1 < vec__end(&plan->lines) && l[1].object == l->object
				       ? l[1].vaddr
				       : UINT64_MAX;

		if (l->object != f->object || !l->line ||
		    !spec__is_line(spec, plan->line_files.data[l->file], l->line))
			continue;
		for (size_t i = 0; i < f->nranges; i++)
			if (l->vaddr < f->ranges[i].vaddr + f->ranges[i].size &&
			    f->ranges[i].vaddr < end)
				return true;
	}
	return false;
}

static bool names_function(const struct spec *spec, const struct plan *plan,
			   const struct plan_function *pf)
{
	struct function f = {.object = plan->objects.data[pf->object].object,
			     .name = (char *)pf->name,
			     .raw = (char *)pf->raw,
			     .flags = pf->flags};

	f.ranges.data = (struct range *)pf->ranges;
	f.ranges.len = pf->nranges;
	f.entry = plan__start(pf);
	return spec->kind == SPEC_LINE ? has_line(spec, plan, pf) : spec__matches(spec, &f);
}

/* Marks the functions that text names; -ENOENT: none. */
static int mark_functions(struct report *r, const struct plan *plan, const char *text, bool value)
{
	struct spec spec;
	size_t found = 0;
	int err = spec__parse(text, !plan__has_programs(plan), &spec);

	if (err)
		return err;
	for (size_t i = 0; i < plan->functions.len; i++)
		if (names_function(&spec, plan, &plan->functions.data[i])) {
			r->functions[i] = value;
			found++;
		}
	spec__free(&spec);
	return found ? 0
		     : err__set(ENOENT,
				"%s: no function '%s' was traced; -F summary shows those that ran",
				r->name, text);
}

static int filter_functions(struct report *r, const struct plan *plan)
{
	const struct args *a = r->args;
	int err = 0;

	if (a->operands.len == 1 && !a->exclude.len)
		return 0;
	free(r->functions);
	r->functions = xcalloc(plan->functions.len, sizeof(bool));
	r->filter.functions = r->functions;
	for (size_t i = 0; i < plan->functions.len; i++)
		r->functions[i] = a->operands.len == 1;
	for (size_t i = 1; !err && i < a->operands.len; i++)
		err = mark_functions(r, plan, a->operands.data[i], true);
	for (size_t i = 0; !err && i < a->exclude.len; i++)
		err = mark_functions(r, plan, a->exclude.data[i], false);
	return err;
}

static int fill_filter(struct report *r, const struct plan *plan)
{
	const struct args *a = r->args;

	r->filter = (struct report_filter_options){
		.events = a->events,
		.pids = a->filters.pids.data,
		.npids = a->filters.pids.len,
		.tids = a->filters.tids.data,
		.ntids = a->filters.tids.len,
		.comms = a->filters.comms.data,
		.ncomms = a->filters.comms.len,
		.from = a->from ? r->meta.start_time + a->from : 0,
		.to = a->to ? r->meta.start_time + a->to : 0,
		.head = a->head,
		.tail = a->tail,
	};
	return filter_functions(r, plan);
}

static bool filters(const struct report *r)
{
	const struct report_filter_options *o = &r->filter;

	return r->args->events_given || o->npids || o->ntids || o->ncomms || o->functions ||
	       o->from || o->to || o->head || o->tail;
}

/* ---- contents of the file ---- */

static void describe(const struct report *r, const struct plan *plan)
{
	const struct trace_meta *m = &r->meta;
	autofree struct str date = {0};

	if (note__level() < NOTE_VERBOSE)
		return;
	str__date(&date, m->start_time + m->realtime_offset, m->utc_offset);
	note_verbose("recorded at %s by bbtrace %s on %s, %u CPUs: %s", date.data,
		     m->version ? m->version : "", m->system ? m->system : "", m->cpus,
		     m->command ? m->command : "");
	note_verbose("%zu functions, %zu sites, %u probes", plan->functions.len, plan->sites.len,
		     plan->probes);
}

static int on_begin(void *ctx, const struct plan *plan, const struct trace_meta *meta)
{
	struct report *r = ctx;
	struct trace_options options;
	int err;

	r->meta = *meta;
	describe(r, plan);
	err = meta__override(&r->meta, r->args, plan->arch);
	if (err)
		return err;
	err = fill_filter(r, plan);
	if (err)
		return err;
	options = meta__trace_options(&r->meta);
	if (r->filter.functions) { /* depth counts the filtered functions only */
		r->filter.max_depth = options.max_depth;
		options.max_depth = 0;
	}
	err = render__start(&r->render, r->args, plan, &r->meta, 0);
	if (err)
		return err;
	r->render.output->options.functions = r->functions;
	show__open(&r->show, plan, &options, spaces__recorded(), r->render.output, r->meta.limit);
	if (r->args->last)
		show__keep_last(&r->show, r->args->last);
	if (filters(r))
		show__filter(&r->show, &r->filter);
	r->begun = true;
	return sink__begin(&r->render.sink);
}

static int on_plan(void *ctx, const struct plan *plan)
{
	struct report *r = ctx;
	int err = filter_functions(r, plan);

	r->render.output->options.functions = r->functions;
	show__plan_extended(&r->show);
	return err;
}

static int on_object(void *ctx, const struct object *o)
{
	struct report *r = ctx;

	show__object(&r->show, o);
	return 0;
}

static int on_mapped(void *ctx, uint64_t dev, uint64_t ino, const char *path,
		     const struct object *o)
{
	struct report *r = ctx;

	spaces__know(r->show.spaces, dev, ino, path, o);
	return 0;
}

static int on_event(void *ctx, const struct event *e)
{
	struct report *r = ctx;

	return show__event(&r->show, e);
}

static int on_sideband(void *ctx, const struct sideband_event *e)
{
	struct report *r = ctx;

	return show__sideband(&r->show, e);
}

static int on_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	struct report *r = ctx;

	return show__lost(&r->show, pid, tid, count);
}

static void on_missed(void *ctx, const struct missed *m)
{
	struct report *r = ctx;

	show__missed(&r->show, m);
}

/* ---- the run ---- */

/* 1 (the limit is reached) and a closed pipe are not errors. */
static int clean(const struct report *r, int err)
{
	return err == 1 || (err == -EPIPE && r->render.sink.reader_gone) ? 0 : err;
}

/* Is it an error of the file itself? Then what was read before it is shown. */
static bool is_of_file(int err)
{
	return err == -EBADMSG || err == -ENODATA || err == -ENOEXEC || err == -ENOTSUP;
}

/* --info: prints the metadata instead of the trace. */
static int write_info(struct report *r)
{
	info__end(&r->info, trace_reader__end(r->reader));
	return clean(r, sink__write(&r->render.sink, r->info.text.data, r->info.text.len));
}

/* A recording that has just started has an empty file. */
static bool is_unfinished(const struct report *r, int err)
{
	return (err == -ENODATA || (err == -ENOEXEC && !r->npeeked)) && is_growing(r);
}

/* err: the result of reading. */
static int finish(struct report *r, int err)
{
	autofree char *why = is_of_file(err) ? xstrdup(err__text()) : NULL;
	bool growing = is_unfinished(r, err), under = false;
	int end = 0;

	if (r->begun && (!err || err == 1 || why))
		end = show__finish(&r->show, newest_first(r->args));
	end = clean(r, end < 0 ? end : why ? 0 : err);
	if (r->begun && !r->render.sink.reader_gone && !end)
		end = clean(r, output__end(r->render.output, show__totals(&r->show)));
	if (r->info.begun)
		end = write_info(r);
	progress__end(&r->progress);
	sink__close(&r->render.sink);
	pager__wait(r->pager);
	if (r->begun && !why && !end) {
		nothing__tell_report(&r->meta, &r->show);
		under = covered__is_under(r->args, r->render.output);
	}
	if (r->begun)
		show__summary(&r->show);
	if (r->begun && r->meta.part)
		note("%u parts of this trace were written before this file", r->meta.part);
	if (growing)
		note("%s: recording goes on; this is what it has so far", r->name);
	if (!why || growing)
		return end ? end : under ? EXIT_UNDER : 0;
	return err__set(-err, "%s: %s", r->name,
			r->npeeked ? why : "the file is empty; -o FILE records a trace");
}

static bool wants_pager(const struct report *r)
{
	const struct args *a = r->args;

	return !a->output && isatty(STDOUT_FILENO) && strcmp(a->operands.data[0], "-") &&
	       (!a->format || !strcmp(a->format->name, "text"));
}

/* A gap in the armor is the cause. Reads the rest of the file, to report all damage. */
static int tell_damage(struct report *r, int err)
{
	autofree char *why = xstrdup(err__text());
	uint64_t bad = dearmor__finish(r->dearmor);

	return bad ? err__set(-err, "%llu armored line%s damaged or missing: %s",
			      (unsigned long long)bad, bad == 1 ? " is" : "s are", why)
		   : err__set(-err, "%s", why);
}

static int replay(struct report *r)
{
	static const struct trace_calls calls = {
		.begin = on_begin, .plan = on_plan, .object = on_object, .mapped = on_mapped};
	const struct source_sink sink = {r, on_event, on_sideband, on_lost, on_missed};
	int err;

	r->source = recorded__open(r->reader, &calls, r);
	do
		err = r->source->ops->take(r->source, (struct source_wait){0, -1}, &sink);
	while (!err);
	return err == SOURCE_ENDED ? r->source->ops->losses(r->source, &sink) : err;
}

static int report(struct report *r)
{
	int err = open_input(r);

	if (err)
		return err;
	err = sink__open(&r->render.sink, r->args->output);
	if (err)
		return err;
	if (r->render.sink.is_terminal)
		r->progress.shown = false;
	if (wants_pager(r))
		r->pager = pager__start();
	sink__ignore_signals();
	err = r->args->info ? trace_reader__run(r->reader, &info_calls, &r->info) : replay(r);
	return finish(r, r->dearmor && is_of_file(err) ? tell_damage(r, err) : err);
}

static void close_report(struct report *r)
{
	render__close(&r->render);
	if (r->begun)
		show__close(&r->show);
	if (r->source)
		r->source->ops->close(r->source);
	trace_reader__free(r->reader);
	dearmor__free(r->dearmor);
	if (r->fd > STDERR_FILENO)
		close(r->fd);
	free(r->functions);
	str__free(&r->info.text);
}

/* The trace would be gone before it is read. */
static bool is_output(const char *input, const char *output)
{
	struct stat in, out;
	bool is_stdin = !strcmp(input, "-");

	return !(is_stdin ? fstat(STDIN_FILENO, &in) : stat(input, &in)) && !stat(output, &out) &&
	       S_ISREG(in.st_mode) && in.st_ino == out.st_ino && in.st_dev == out.st_dev;
}

int report__check(struct args *a)
{
	const char *name = a->operands.len ? a->operands.data[0] : NULL;

	if (!name)
		return err__set(
			EINVAL,
			"no trace file given; - reads standard input; see bbtrace report --help");
	if (a->output && is_output(name, a->output))
		return err__set(EINVAL, "-o %s: this is the trace file to read; give another file",
				a->output);
	return 0;
}

int report__run(struct args *a)
{
	CLEANUP(close_report) struct report r = {.args = a, .fd = -1, .render.sink.fd = -1};

	return report(&r);
}
