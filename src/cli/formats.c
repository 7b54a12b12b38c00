// SPDX-License-Identifier: BSD-2-Clause
/* Which formats a verb has: -F, the name of -o's file, --help. */
#include <errno.h>
#include "explain/explain.h"
#include "args.h"

/* What differs by verb from the format's own help. */
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
	{VERB_CTL, FORM_TEXT, "columns, or lines of a name and a value"},
	{VERB_CTL, FORM_JSON, "one object per trace, or what the command has as JSON"},
	{VERB_WHY, FORM_TEXT, "each failure in a few lines"},
	{VERB_WHY, FORM_JSON, "one object per failure"},
	{VERB_DOCTOR, FORM_TEXT, "what there is, and how to enable the rest"},
	{VERB_DOCTOR, FORM_JSON, "one object per row"},
};

static bool has_format(const struct verb *verb, const struct output_format *f)
{
	if (f->tagged)
		return verb->bit & VERB_REPORT;
	if (verb->bit == VERB_DIFF && f->form == FORM_PAGE)
		return true;
	return verb->bit & VERB_SHOW || output__has_lines(f) || (verb->bit == VERB_LIST && f->code);
}

int formats__set(struct args *a, const char *v)
{
	struct str names = {0};
	int err;

	a->format = output__by_name(v);
	if (a->format && a->format->tagged && !has_format(a->verb, a->format))
		return err__set(EINVAL, "%s is of recorded counts: bbtrace report FILE... -F %s",
				a->format->name, a->format->name);
	if (a->format && !has_format(a->verb, a->format))
		return err__set(EINVAL, "%s has the formats text%s", a->verb->name,
				a->verb->bit == VERB_LIST   ? ", json, annotate and dot"
				: a->verb->bit == VERB_DIFF ? ", json and html"
							    : " and json");
	if (a->format)
		return 0;
	for (size_t i = 0; output_formats[i]; i++)
		if (has_format(a->verb, output_formats[i]))
			str__printf(&names, "%s%s", names.len ? ", " : "", output_formats[i]->name);
	err = err__set(EINVAL, "unknown format '%s'; formats: %s", v, names.data);
	str__free(&names);
	return err;
}

/* From --record, or from -o if no option says how to show the trace. */
const char *args__record_name(const struct args *a)
{
	if (a->format || !args__records(a))
		return a->record;
	return a->output ? a->output : a->armor ? "-" : NULL;
}

bool args__records(const struct args *a)
{
	return a->verb->bit & VERB_TRACE && !a->record && !a->count && !a->last && !a->explain;
}

/* Stacks by frame pointers need no copy, so samples of the same one are the same. */
bool args__adds_samples_up(const struct args *a)
{
	return a->verb->bit == VERB_PROFILE && !a->stack_size && !a->timeline && !a->last;
}

const struct output_format *args__format(const struct args *a)
{
	const char *usual = args__adds_samples_up(a) ? "summary" : "text";
	const struct output_format *format = a->format ? a->format : output__by_name(usual);

	if (a->explain)
		return format->form == FORM_JSON ? &explain_json : &explain_text;
	return a->count ? output__counting(format) : format;
}

bool args__counts(const struct args *a)
{
	const struct output_format *format = args__format(a);
	bool steps = a->depth || a->min_duration || a->conditions.len || a->limit || a->last ||
		     a->max_overhead || (a->record && !a->count) ||
		     (a->placement_given && a->placement != PLACEMENT_FULL) ||
		     !(a->events & (format->entries ? PLAN_ENTRY | PLAN_BRANCH : PLAN_BRANCH));

	return format->count && !steps;
}

/* -o x.html without -F means html. */
static void choose_by_name(struct args *a)
{
	bool is_shown = !args__records(a) || !(a->armor || a->max_size);

	if (a->format || !a->output || a->info || !is_shown || a->verb->bit & VERB_MERGE)
		return;
	a->format = output__by_file_name(a->output);
	a->format_by_name = a->format;
}

/* Counts can be printed now and then if the kernel keeps them. */
static int check_interval(const struct args *a)
{
	const char *option = a->interval_ns ? "--interval"
			     : a->reset	    ? "--reset"
			     : a->once	    ? "--once"
					    : "--retire";
	bool retires = a->once || a->retire;

	if (!a->interval_ns && !a->reset && !retires)
		return 0;
	if (retires && a->reset)
		return err__set(EINVAL, "--reset would count again what %s has seen",
				a->once ? "--once" : "--retire");
	if (!a->count && !(retires && !a->interval_ns && args__format(a)->count))
		return err__set(EINVAL, "%s is of counts: add -c, in text or json", option);
	if (!args__counts(a))
		return err__set(
			EINVAL,
			"%s needs counts that are kept in the kernel: not with --depth, "
			"--min-duration, --if, --limit, --last, --max-overhead, --record, or --placement "
			"witness or implied",
			option);
	return 0;
}

/* Paths consist of branches, from entries to returns. */
static int check_paths(const struct args *a)
{
	const struct output_format *f = args__format(a);

	if (!f || !f->wants.path_times || (a->events & OUTPUT_STEPS) == OUTPUT_STEPS)
		return 0;
	return err__set(EINVAL, "%s needs entries, branches and returns: not with such an -e",
			f->name);
}

int formats__settle(struct args *a)
{
	choose_by_name(a);
	if (check_paths(a))
		return -EINVAL;
	if (!a->count || !a->format || output__counting(a->format))
		return check_interval(a);
	return err__set(EINVAL,
			"-c counts in text, json, summary and html only; %s has counts of its own",
			a->format->name);
}

static const char *help_of(const struct verb *verb, const struct output_format *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(other_help); i++)
		if (other_help[i].verb == verb->bit && other_help[i].form == f->form)
			return other_help[i].help;
	return f->help;
}

void formats__help(const struct verb *verb, FILE *out)
{
	const struct output_format *const *f;

	fprintf(out, "\nformats:\n");
	for (f = output_formats; *f; f++) {
		if (!has_format(verb, *f))
			continue;
		fprintf(out, "  %-30s %s", (*f)->name, help_of(verb, *f));
		if ((*f)->suffixes && verb->bit & VERB_SHOW)
			fprintf(out, " (%s)", (*f)->suffixes);
		putc('\n', out);
	}
}

int formats__check_coverage(const struct args *a)
{
	if (!a->fail_under_given || args__format(a)->covers)
		return 0;
	return err__set(EINVAL,
			"--fail-under is of coverage: add -F lcov, cobertura, drcov, summary, "
			"annotate or html, or -c");
}
