// SPDX-License-Identifier: BSD-2-Clause
/* Sets up an output from the options, or from those recorded in a trace file. */
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

static char *conditions_of(const struct args *a)
{
	struct str s = {0};

	conditions__put(&a->conditions, &s);
	return s.data;
}

int meta__of_args(struct trace_meta *m, const struct args *a, const struct arch *arch)
{
	struct tm local = {0};
	time_t now = time(NULL);

	*m = (struct trace_meta){
		.start_time = now_ns(CLOCK_MONOTONIC),
		.time_style = a->time,
		.events = a->events,
		.max_depth = a->depth,
		.min_duration = a->min_duration,
		.limit = a->limit,
		.no_fold = a->no_fold,
		.tag = a->tag,
	};
	describe(m);
	m->conditions = conditions_of(a);
	m->realtime_offset = now_ns(CLOCK_REALTIME) - m->start_time;
	m->utc_offset = localtime_r(&now, &local) ? local.tm_gmtoff : 0;
	return parse_regs(m, a->regs, arch);
}

void meta__free(struct trace_meta *m)
{
	free((char *)m->command);
	free((char *)m->system);
	free((char *)m->host);
	free((char *)m->conditions);
}

int meta__override(struct trace_meta *m, const struct args *a, const struct arch *arch)
{
	if (a->time_given)
		m->time_style = a->time;
	if (a->depth)
		m->max_depth = a->depth;
	if (a->min_duration)
		m->min_duration = a->min_duration;
	if (a->limit)
		m->limit = a->limit;
	if (a->no_fold)
		m->no_fold = true;
	return a->regs ? parse_regs(m, a->regs, arch) : 0;
}

struct trace_options meta__trace_options(const struct trace_meta *m)
{
	return (struct trace_options){
		.events = m->events, .max_depth = m->max_depth, .min_duration = m->min_duration};
}

/* ---- the output ---- */

static bool want_color(const struct render *r, const struct args *a)
{
	if (strcmp(a->color, "auto"))
		return !strcmp(a->color, "always");
	return r->sink.is_terminal && !getenv("NO_COLOR") && !terminal__is_dumb();
}

/* A format that was chosen by the name of the file: says how to choose another one. */
static void report_format(const struct args *a)
{
	const char *name = a->format->name;

	if (args__records(a))
		note("writing %s to %s; for a trace file choose another name, or --record FILE",
		     name, a->output);
	else if (a->format->form != FORM_TEXT)
		note("writing %s to %s, by its name; -F text for text", name, a->output);
}

int render__start(struct render *r, const struct args *a, const struct plan *plan,
		  const struct trace_meta *m, pid_t pid)
{
	const struct output_format *format = args__format(a);
	struct output_options o = {
		.time = min_of(m->time_style, (uint32_t)TIME_NONE),
		.color = want_color(r, a),
		.start_time = m->start_time,
		.realtime_offset = m->realtime_offset,
		.utc_offset = m->utc_offset,
		.regs = m->regs,
		.show_regs = m->show_regs,
		.line_buffered = isatty(r->sink.fd),
		.events = m->events,
		.source = source_lines__line,
		.width = r->sink.width,
		.unobserved = a->verb->bit == VERB_LIST,
		.fold = !m->no_fold,
		.no_src = a->no_src,
		.hide_addresses = args__hides_addresses(a),
		.explaining = a->explaining,
		.about = {.command = m->command,
			  .system = m->system,
			  .host = m->host,
			  .version = m->version,
			  .tag = m->tag,
			  .cpus = m->cpus,
			  .parts = m->part,
			  .others = a->files > 1 && !a->tag ? a->files - 1 : 0},
	};

	if (format->binary && r->sink.is_terminal)
		return err__set(
			EINVAL,
			"refusing to write binary %s data to a terminal: use -o FILE, or a pipe",
			format->name);
	if (a->format_by_name)
		report_format(a);
	r->sources = o.source_ctx = source_lines__new(pid);
	r->output = output__new(format, &o, plan, sink__write, &r->sink);
	return 0;
}

bool newest_first(const struct args *a)
{
	return output__form(a->format) == FORM_TEXT;
}

/* Pending repetitions are shown after a while for a live viewer. Not in a regular file, where the
 * text must depend on the events only. */
#define SETTLE_NS 200000000

int render__flush(struct render *r, uint64_t now)
{
	if (r->sink.is_file || now - r->settled < SETTLE_NS)
		return output__flush(r->output);
	r->settled = now;
	return output__settle(r->output);
}

void render__close(struct render *r)
{
	output__free(r->output);
	source_lines__free(r->sources);
	sink__close(&r->sink);
}
