// SPDX-License-Identifier: BSD-2-Clause
/* Sets up an output by the options, or by those that a trace file has. */
#include <errno.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "cli/option_values.h"
#include "source_lines.h"
#include "pager.h"
#include "render.h"

/* ---- options ---- */

static int parse_regs(struct trace_meta *m, const char *regs, const struct arch *arch)
{
	m->show_regs = !regs || strcmp(regs, "none");
	return regs__parse(regs ? regs : "args", arch, &m->regs);
}

static void describe(struct trace_meta *m)
{
	struct utsname u = {0};

	uname(&u);
	m->command = command_line__quoted();
	m->system = xasprintf("%s %s %s %s", u.sysname, u.release, u.version, u.machine);
	m->host = xstrdup(u.nodename);
	m->version = BBTRACE_VERSION;
	m->cpus = sysconf(_SC_NPROCESSORS_CONF);
}

static char *conditions_of(const struct request *req)
{
	struct str s = {0};

	conditions__put(&req->record.conditions, &s);
	return s.data;
}

int meta__of_args(struct trace_meta *m, const struct request *req, const struct arch *arch)
{
	struct tm local = {0};
	time_t now = time(NULL);

	*m = (struct trace_meta){
		.start_time = now_ns(CLOCK_MONOTONIC),
		.time_style = req->show.time,
		.events = req->record.events,
		.max_depth = req->show.depth,
		.min_duration = req->show.min_duration,
		.limit = req->when.limit,
		.no_fold = req->show.no_fold,
		.tag = req->file.tag,
	};
	describe(m);
	m->conditions = conditions_of(req);
	m->realtime_offset = now_ns(CLOCK_REALTIME) - m->start_time;
	m->utc_offset = localtime_r(&now, &local) ? local.tm_gmtoff : 0;
	return parse_regs(m, req->record.regs, arch);
}

void meta__free(struct trace_meta *m)
{
	free((char *)m->command);
	free((char *)m->system);
	free((char *)m->host);
	free((char *)m->conditions);
}

/* Refuses registers that the trace doesn't have of all entries. */
static int override_regs(struct trace_meta *m, const char *regs, const struct arch *arch)
{
	int err = parse_regs(m, regs, arch);

	if (err || !m->logged_regs || !(m->regs & ~m->logged_regs))
		return err;
	return err__set(ENOTSUP,
			"--regs %s: this trace has only the arguments of functions that ran as "
			"copies; record with --regs all",
			regs);
}

int meta__override(struct trace_meta *m, const struct request *req, const struct arch *arch)
{
	if (req->show.time_given)
		m->time_style = req->show.time;
	if (req->show.depth)
		m->max_depth = req->show.depth;
	if (req->show.min_duration)
		m->min_duration = req->show.min_duration;
	if (req->when.limit)
		m->limit = req->when.limit;
	if (req->show.no_fold)
		m->no_fold = true;
	return req->record.regs ? override_regs(m, req->record.regs, arch) : 0;
}

struct trace_options meta__trace_options(const struct trace_meta *m)
{
	return (struct trace_options){
		.events = m->events, .max_depth = m->max_depth, .min_duration = m->min_duration};
}

/* ---- the output ---- */

static bool want_color(const struct render *r, const struct request *req)
{
	if (strcmp(req->show.color, "auto"))
		return !strcmp(req->show.color, "always");
	return r->sink.is_terminal && !getenv("NO_COLOR") && !terminal__is_dumb();
}

/* If the file's suffix chose the format: notes how to choose another one. */
static void report_format(const struct request *req)
{
	const char *name = req->show.format->name;

	if (request__records(req))
		note("writing %s to %s; for a trace file choose another name, or --record FILE",
		     name, req->show.output);
	else if (req->show.format->form != FORM_TEXT)
		note("writing %s to %s, by its name; -F text for text", name, req->show.output);
}

void render__options(struct render *r, const struct request *req, const struct trace_meta *m,
		     pid_t pid, struct output_options *o)
{
	r->folder = realpath(".", NULL);
	r->sources = source_lines__new(pid);
	*o = (struct output_options){
		.time = min_of(m->time_style, (uint32_t)TIME_NONE),
		.color = want_color(r, req),
		.start_time = m->start_time,
		.realtime_offset = m->realtime_offset,
		.utc_offset = m->utc_offset,
		.regs = m->regs,
		.show_regs = m->show_regs,
		.line_buffered = isatty(r->sink.fd),
		.events = m->events,
		.source = source_lines__line,
		.source_ctx = r->sources,
		.exists = source_lines__exists,
		.folder = r->folder,
		.prefixes = req->show.prefixes.data,
		.nprefixes = req->show.prefixes.len,
		.width = r->sink.width,
		.height = r->sink.height,
		.clears = req->show.screens,
		.rows = req->show.rows,
		.unobserved = req->verb->bit == VERB_LIST,
		.fold = !m->no_fold,
		.zeros = req->show.all,
		.no_src = req->show.no_src,
		.grep = req->show.grep,
		.order = req->show.order,
		.hide_addresses = request__hides_addresses(req),
		.explaining = r->explaining,
		.about = {.command = m->command,
			  .system = m->system,
			  .host = m->host,
			  .version = m->version,
			  .tag = m->tag,
			  .cpus = m->cpus,
			  .parts = m->part,
			  .others = req->files > 1 && !req->file.tag ? req->files - 1 : 0},
	};
}

int render__start(struct render *r, const struct request *req, const struct plan *plan,
		  const struct trace_meta *m, pid_t pid)
{
	const struct output_format *format = request__format(req);
	struct output_options o;

	if (format->binary && r->sink.is_terminal)
		return err__set(
			EINVAL,
			"refusing to write binary %s data to a terminal: use -o FILE, or a pipe",
			format->name);
	if (req->show.format_by_name)
		report_format(req);
	render__options(r, req, m, pid, &o);
	r->output = output__new(format, &o, plan, sink__write, &r->sink);
	return 0;
}

bool newest_first(const struct request *req)
{
	return output__form(req->show.format) == FORM_TEXT;
}

/* After this time, pending repetitions are shown to a live viewer. Not in a regular file, whose
 * text must depend only on the events. */
#define SETTLE_NS 200000000

int render__flush(struct render *r, uint64_t now)
{
	render__resize(r);
	if (r->sink.is_file || now - r->settled < SETTLE_NS)
		return output__flush(r->output);
	r->settled = now;
	return output__settle(r->output);
}

void render__resize(struct render *r)
{
	sink__measure(&r->sink);
	r->output->options.width = r->sink.width;
	r->output->options.height = r->sink.height;
}

void render__close(struct render *r)
{
	output__free(r->output);
	source_lines__free(r->sources);
	free(r->folder);
	sink__close(&r->sink);
}
