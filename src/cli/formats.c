// SPDX-License-Identifier: BSD-2-Clause
/* The formats of a verb: for -F, for the suffix of -o's file, for --help. */
#include <errno.h>
#include "explain/explain.h"
#include "request.h"
#include "util/fit.h"

/* Help of formats where it depends on the verb. */
static const struct {
	unsigned verb;
	enum output_form form;
	const char *help;
} other_help[] = {
	{VERB_LIST, FORM_TEXT, "functions with address, size and branches; --sites: branches"},
	{VERB_LIST, FORM_JSON, "one object per function, or with --sites per branch"},
	{VERB_LIST, FORM_CODE, "disassembly with source"},
	{VERB_LIST, FORM_GRAPH, "control-flow graphs, for graphviz"},
	{VERB_DIFF, FORM_TEXT, "the differences, with the calls that lead there"},
	{VERB_DIFF, FORM_JSON, "one object per difference, function and branch"},
	{VERB_DIFF, FORM_PAGE, "a page with both runs side by side"},
	{VERB_CORE, FORM_TEXT, "stacks and branches, newest first"},
	{VERB_CORE, FORM_JSON, "one object for the dump, per thread and per step, oldest first"},
	{VERB_STACK, FORM_TEXT, "the stack of each thread, and what it waits for"},
	{VERB_STACK, FORM_JSON, "one object for the process, and per thread"},
	{VERB_CTL, FORM_TEXT, "columns, or lines of a name and a value"},
	{VERB_CTL, FORM_JSON, "one object per trace, or what the command has as JSON"},
	{VERB_WHY, FORM_TEXT, "each failure in a few lines"},
	{VERB_WHY, FORM_JSON, "one object per failure"},
	{VERB_COVER, FORM_TEXT, "the same as coverage"},
	{VERB_COVER, FORM_PAGE, "a page to send: the source with its counts"},
	{VERB_COVER, FORM_JSON, "one object per branch with its counts, the last one is a summary"},
	{VERB_DOCTOR, FORM_TEXT, "what there is, and how to enable the rest"},
	{VERB_DOCTOR, FORM_JSON, "one object per row"},
};

static bool has_format(const struct verb *verb, const struct output_format *f)
{
	if (f == &explain_sarif)
		return verb->bit == VERB_WHY;
	if (f->tagged)
		return verb->bit & VERB_REPORT;
	if (verb->bit == VERB_DIFF && f->form == FORM_PAGE)
		return true;
	if (verb->bit == VERB_COVER)
		return output__has_lines(f) || f->covers == COVERS_ONLY || f->form == FORM_PAGE ||
		       f->form == FORM_CODE;
	return verb->bit & VERB_SHOW || output__has_lines(f) ||
	       (verb->bit == VERB_LIST && output__shows_code(f));
}

/* All formats; NULL after the last one. */
static const struct output_format *format_at(size_t i)
{
	size_t n = 0;

	while (output_formats[n])
		n++;
	return i < n ? output_formats[i] : i == n ? &explain_sarif : NULL;
}

static const struct output_format *by_name(const char *name)
{
	const struct output_format *f;

	for (size_t i = 0; (f = format_at(i)); i++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

int formats__set(struct request *req, const char *v)
{
	const struct output_format *f;
	struct str names = {0};
	int err;

	req->show.format = by_name(v);
	if (req->show.format && req->show.format->tagged &&
	    !has_format(req->verb, req->show.format))
		return err__set(EINVAL, "%s needs recorded counts: bbtrace report FILE... -F %s",
				req->show.format->name, req->show.format->name);
	if (req->show.format == &explain_sarif && req->verb->bit != VERB_WHY)
		return err__set(EINVAL, "sarif is a format of why");
	if (req->show.format && !has_format(req->verb, req->show.format))
		return err__set(EINVAL, "%s has the formats text%s", req->verb->name,
				req->verb->bit == VERB_LIST   ? ", json, annotate and dot"
				: req->verb->bit == VERB_DIFF ? ", json and html"
				: req->verb->bit == VERB_WHY  ? ", json and sarif"
							      : " and json");
	if (req->show.format)
		return 0;
	for (size_t i = 0; (f = format_at(i)); i++)
		if (has_format(req->verb, f))
			str__printf(&names, "%s%s", names.len ? ", " : "", f->name);
	err = err__set(EINVAL, "unknown format '%s'; formats: %s", v, names.data);
	str__free(&names);
	return err;
}

/* The trace file of --record, or of -o if no option chooses how to show the trace. */
const char *request__record_name(const struct request *req)
{
	if (req->show.format || !request__records(req))
		return req->file.record;
	return req->show.output ? req->show.output : req->file.armor ? "-" : NULL;
}

bool request__records(const struct request *req)
{
	return req->verb->bit & VERB_TRACE && !req->file.record && !req->record.count &&
	       !req->record.last && !req->record.explain;
}

/* Samples are shown as tables, unless each is to be seen. */
static bool tabulates(const struct request *req)
{
	return req->verb->bit == VERB_PROFILE && !req->record.timeline && !req->record.last;
}

/* Stacks by frame pointers have no copy of memory, so samples of the same stack are equal. */
bool request__adds_samples_up(const struct request *req)
{
	return tabulates(req) && !req->record.stack_size;
}

/* Counts of calls alone, which are no edges. */
static bool counts_calls(const struct request *req)
{
	return req->record.count && req->record.events_given && !(req->record.events & PLAN_BRANCH);
}

const struct output_format *request__format(const struct request *req)
{
	const char *usual = req->verb->bit == VERB_COVER	  ? "coverage"
			    : tabulates(req) || counts_calls(req) ? "summary"
								  : "text";
	const struct output_format *format =
		req->show.format ? req->show.format : output__by_name(usual);

	if (req->record.explain)
		return format == &explain_sarif	   ? format
		       : format->form == FORM_JSON ? &explain_json
						   : &explain_text;
	return req->record.count ? format->counting : format;
}

bool request__counts(const struct request *req)
{
	const struct output_format *format = request__format(req);
	bool steps =
		req->show.depth || req->show.min_duration || req->record.conditions.len ||
		req->when.limit || req->record.last || req->how.max_overhead ||
		(req->file.record && !req->record.count) ||
		(req->how.placement_given && req->how.placement != PLACEMENT_FULL) ||
		!(req->record.events & (format->entries ? PLAN_ENTRY | PLAN_BRANCH : PLAN_BRANCH));

	return format->count && !steps;
}

/* Chooses the format by the suffix of -o's file: x.html means html. */
static void choose_by_name(struct request *req)
{
	bool is_shown = !request__records(req) || !(req->file.armor || req->file.max_size);

	if (req->show.format || !req->show.output || req->show.info || !is_shown ||
	    req->verb->bit & VERB_MERGE)
		return;
	req->show.format = output__by_file_name(req->show.output);
	req->show.format_by_name = req->show.format;
}

/* Fails if counts can't be printed at intervals, which needs counts in the kernel. */
static int check_interval(const struct request *req)
{
	const char *option = req->record.interval_ns ? "--interval"
			     : req->record.reset     ? "--reset"
			     : req->record.once	     ? "--once"
						     : "--retire";
	bool retires = req->record.once || req->record.retire;

	if (!req->record.interval_ns && !req->record.reset && !retires)
		return 0;
	if (retires && req->record.reset)
		return err__set(EINVAL, "--reset would clear counts of probes that %s has removed",
				req->record.once ? "--once" : "--retire");
	if (!req->record.count &&
	    !(retires && !req->record.interval_ns && request__format(req)->count))
		return err__set(EINVAL, "%s needs counts: add -c, in text or json", option);
	if (!request__counts(req))
		return err__set(
			EINVAL,
			"%s needs counts that are kept in the kernel: not with --depth, "
			"--min-duration, --if, --limit, --last, --max-overhead, --record, or --placement "
			"witness or implied",
			option);
	return 0;
}

/* Fails if events are missing of which paths consist: entries, branches, returns. */
static int check_paths(const struct request *req)
{
	const struct output_format *f = request__format(req);

	if (!f || !f->wants.path_times || (req->record.events & OUTPUT_STEPS) == OUTPUT_STEPS)
		return 0;
	return err__set(EINVAL,
			"%s needs entries, branches and returns: -e leaves some of them out",
			f->name);
}

int formats__settle(struct request *req)
{
	choose_by_name(req);
	if (check_paths(req))
		return -EINVAL;
	if (!req->record.count || !req->show.format || req->show.format->counting)
		return check_interval(req);
	return err__set(
		EINVAL,
		"-c counts in text, json, summary, html and coverage only; %s has counts of its "
		"own",
		req->show.format->name);
}

static const char *help_of(const struct verb *verb, const struct output_format *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(other_help); i++)
		if (other_help[i].verb == verb->bit && other_help[i].form == f->form)
			return other_help[i].help;
	return f->help;
}

void formats__list(const struct verb *verb, FILE *out)
{
	const struct output_format *f;
	const char *blank = "";

	for (size_t i = 0; (f = format_at(i)); i++) {
		if (!has_format(verb, f))
			continue;
		fprintf(out, "%s%s", blank, f->name);
		blank = " ";
	}
}

static void put_format(const struct verb *verb, const struct output_format *f, FILE *out)
{
	bool named = f->suffixes && verb->bit & (VERB_SHOW | VERB_COVER);
	autofree char *text = named ? xasprintf("%s (%s)", help_of(verb, f), f->suffixes)
				    : xstrdup(help_of(verb, f));

	help__row(f->name, text, out);
}

#define HELP_INDENT 2
#define FORMATS	    "formats: "
#define HELP_WIDTH  79

static void help_names(const struct verb *verb, FILE *out)
{
	CLEANUP(str__free) struct str names = {0}, lines = {0};
	const struct output_format *f;

	for (size_t i = 0; (f = format_at(i)); i++)
		if (has_format(verb, f))
			str__printf(&names, "%s%s", names.len ? ", " : "", f->name);
	str__printf(&names, "; --help-all explains them");
	fit__wrap(&lines, names.data, strlen(FORMATS), HELP_INDENT,
		  help__columns(out) ?: HELP_WIDTH);
	fprintf(out, FORMATS "%s\n", lines.data);
}

void formats__help(const struct verb *verb, bool all, FILE *out)
{
	const struct output_format *f;

	putc('\n', out);
	if (!all) {
		help_names(verb, out);
		return;
	}
	fprintf(out, "formats:\n");
	for (size_t i = 0; (f = format_at(i)); i++) {
		if (!has_format(verb, f))
			continue;
		put_format(verb, f, out);
	}
}

int formats__check_coverage(const struct request *req)
{
	if (!req->show.fail_under_given || request__format(req)->covers)
		return 0;
	return err__set(EINVAL,
			"--fail-under needs coverage: add -F lcov, cobertura, drcov, summary, "
			"annotate or html, or -c");
}
